#include "traces/cubin/cubin_patcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/isa/barrier_call.h"
#include "traces/cubin/cubin_attributes.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/cubin/elf_file.h"
#include "traces/sass/assembler.h"
#include "traces/sass/decoder.h"
#include "traces/sass/dependences.h"

namespace tilesim::traces {
namespace {

constexpr std::uint64_t kInstructionBytes = 16;
constexpr std::uint8_t kAbiOfCuda13 = 8;

tl::unexpected<Error> wrong(const std::string& file, std::string message, std::string remedy) {
  return fail(ErrorKind::kUsage, std::move(message), std::move(remedy), file);
}

// What the code needs.
struct Needs {
  std::vector<std::uint32_t> exits;  // byte offsets
  int registers = 0;
  int barriers = 0;
};

int registers_of(const SassInstruction& instruction) {
  int most = 0;
  const Dependences used = dependences(instruction);
  for (const RegisterRanges& ranges : {used.reads, used.writes}) {
    for (const RegisterRange& range : ranges) {
      if (range.file == RegisterFile::kGeneral) {
        most = std::max(most, range.first + range.count);
      }
    }
  }
  return most;
}

Result<Needs> needs_of(const CubinKernel& kernel, std::span<const Encoding> code) {
  Needs needs;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const auto instruction = decode(code[i], i * kInstructionBytes, kernel.architecture);
    if (!instruction) {
      return wrong(
          kernel.file,
          fmt::format("Instruction {} for {} cannot be decoded: {}", i, kernel.name, instruction.error().message),
          instruction.error().remedy);
    }
    needs.registers = std::max(needs.registers, registers_of(*instruction));
    if (instruction->opcode == Opcode::kExit) {
      needs.exits.push_back(static_cast<std::uint32_t>(i * kInstructionBytes));
    }
    if (instruction->opcode == Opcode::kBar) {
      const Operand& number = instruction->operand(Role::kImmediate);
      const bool is_known = number.kind == OperandKind::kImmediate;
      needs.barriers = std::max(needs.barriers,
                                is_known ? static_cast<int>(number.value) + 1 : static_cast<int>(isa::kBarriersPerCta));
    }
  }
  return needs;
}

/// Changes a copy of the file's bytes at the places of the original.
class Patcher {
 public:
  Patcher(std::span<const std::byte> original, const ElfFile& elf, const CubinKernel& kernel)
      : original_(original), elf_(elf), kernel_(kernel), patched_(original.begin(), original.end()) {}

  void code(std::span<const Encoding> words);
  Result<void> registers(int count);
  Result<void> exits(const std::vector<std::uint32_t>& offsets);
  Result<void> barriers(int count);
  [[nodiscard]] std::vector<std::byte> take() { return std::move(patched_); }

 private:
  [[nodiscard]] std::uint64_t place(const std::byte* at) const {
    return static_cast<std::uint64_t>(at - original_.data());
  }
  void write(std::uint64_t offset, std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      patched_[static_cast<std::size_t>(offset + i)] = static_cast<std::byte>(value >> (8 * i) & 0xff);
    }
  }
  [[nodiscard]] Result<std::vector<AttributeEntry>> attributes(const std::string& section) const;
  [[nodiscard]] std::string own_section() const { return ".nv.info." + kernel_.name; }

  std::span<const std::byte> original_;
  const ElfFile& elf_;
  const CubinKernel& kernel_;
  std::vector<std::byte> patched_;
};

// parse_cubin() has read the same sections, so that they are there.
Result<std::vector<AttributeEntry>> Patcher::attributes(const std::string& section) const {
  return read_attributes(*elf_.find(section), kernel_.file);
}

void Patcher::code(std::span<const Encoding> words) {
  static const Encoding kNop = assemble_line("[B------:R-:W-:Y:S00] NOP", 0).value();
  const std::uint64_t first = place(elf_.find(".text." + kernel_.name)->bytes.data());
  for (std::size_t i = 0; i < kernel_.code.size(); ++i) {
    const Encoding& word = i < words.size() ? words[i] : kNop;
    write(first + i * kInstructionBytes, word.low, 8);
    write(first + i * kInstructionBytes + 8, word.high, 8);
  }
}

Result<void> Patcher::registers(int count) {
  const auto entries = attributes(".nv.info");
  if (!entries) {
    return tl::unexpected<Error>(entries.error());
  }
  for (const AttributeEntry& entry : *entries) {
    const auto symbol = ByteView(entry.bytes).number(0, 4);
    if (entry.id == Attribute::kRegisterCount && symbol &&
        elf_.symbols[static_cast<std::size_t>(*symbol)].name == kernel_.name) {
      write(place(entry.bytes.data()) + 4, static_cast<std::uint64_t>(count), 4);
    }
  }
  return {};
}

Result<void> Patcher::exits(const std::vector<std::uint32_t>& offsets) {
  const auto entries = attributes(own_section());
  if (!entries) {
    return tl::unexpected<Error>(entries.error());
  }
  for (const AttributeEntry& entry : *entries) {
    const std::size_t places = entry.id == Attribute::kExits ? entry.bytes.size() / 4 : 0;
    if (places != 0 && (offsets.empty() || offsets.size() > places)) {
      return wrong(kernel_.file,
                   fmt::format("The code for {} has {} EXIT instructions, its placeholder {}.", kernel_.name,
                               offsets.size(), places),
                   "Branch to one EXIT at the end.");
    }
    for (std::size_t i = 0; i < places; ++i) {
      write(place(entry.bytes.data()) + 4 * i, offsets[std::min(i, offsets.size() - 1)], 4);
    }
  }
  return {};
}

Result<void> Patcher::barriers(int count) {
  if (count <= kernel_.barriers) {
    return {};
  }
  const auto entries = attributes(own_section());
  if (!entries) {
    return tl::unexpected<Error>(entries.error());
  }
  for (const AttributeEntry& entry : *entries) {
    if (entry.id == Attribute::kBarrierCount) {
      write(place(elf_.find(own_section())->bytes.data()) + entry.offset + 2, static_cast<std::uint64_t>(count), 1);
      return {};
    }
  }
  return wrong(kernel_.file, fmt::format("The code for {} has {} barriers, its placeholder none.", kernel_.name, count),
               "Use a barrier in the placeholder.");
}

}  // namespace

Result<std::size_t> room_of(std::span<const std::byte> cubin, const std::string& file, const std::string& kernel) {
  const auto parsed = parse_cubin(cubin, file);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  return choose_kernel(*parsed, kernel).map([](const CubinKernel* found) { return found->code.size(); });
}

Result<std::vector<std::byte>> patch_cubin(std::span<const std::byte> cubin, const std::string& file,
                                           const CubinPatch& patch) {
  const auto parsed = parse_cubin(cubin, file);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  const auto chosen = choose_kernel(*parsed, patch.kernel);
  if (!chosen) {
    return tl::unexpected<Error>(chosen.error());
  }
  const CubinKernel& kernel = **chosen;
  const auto elf = parse_elf(cubin, file);
  if (!elf) {
    return tl::unexpected<Error>(elf.error());
  }
  if (elf->abi_version != kAbiOfCuda13) {
    return wrong(file, fmt::format("Cubin {} has CUDA ABI version {}, not {}.", file, elf->abi_version, kAbiOfCuda13),
                 "Make the placeholder with nvcc 13.");
  }
  if (patch.code.size() > kernel.code.size()) {
    return wrong(file,
                 fmt::format("The code has {} instructions, the placeholder {} room for {}.", patch.code.size(),
                             kernel.name, kernel.code.size()),
                 "Compile a longer placeholder.");
  }
  const auto needs = needs_of(kernel, patch.code);
  if (!needs) {
    return tl::unexpected<Error>(needs.error());
  }
  const int registers = patch.registers != 0 ? patch.registers : kernel.registers_per_thread;
  if (needs->registers > registers) {
    return wrong(
        file,
        fmt::format("The code for {} uses R{} and has {} registers.", kernel.name, needs->registers - 1, registers),
        fmt::format("Write .registers {}.", needs->registers));
  }
  Patcher patcher(cubin, *elf, kernel);
  patcher.code(patch.code);
  for (const auto& done :
       {patcher.registers(registers), patcher.exits(needs->exits), patcher.barriers(needs->barriers)}) {
    if (!done) {
      return tl::unexpected<Error>(done.error());
    }
  }
  return patcher.take();
}

}  // namespace tilesim::traces
