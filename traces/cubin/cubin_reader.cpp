#include "traces/cubin/cubin_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <tuple>

#include "traces/cubin/cubin_attributes.h"
#include "traces/cubin/elf_file.h"
#include "traces/cubin/fat_binary.h"
#include "traces/emulator/launch.h"
#include "traces/sass/decoder.h"
#include "traces/sass/disassembler.h"
#include "traces/sass/instruction_table.h"
#include "traces/sass/listing_reader.h"
#include "traces/trace/text_stream.h"

namespace tilesim::traces {
namespace {

constexpr std::string_view kNoLinking = "Only kernels that stand alone are understood: no global variables, no calls.";
constexpr std::uint64_t kInstructionBytes = 16;
constexpr int kConstantBanks = 18;
constexpr std::uint64_t kSystemSharedBytes = abi_of(90).shared_base;  // part of .nv.shared.F from sm_90 on
constexpr int kFirstWithSystemShared = 90;
constexpr std::uint8_t kAbiOfCuda11 = 7;  // and 12
constexpr std::uint8_t kAbiOfCuda13 = 8;
constexpr std::uint8_t kEntrySymbol = 0x10;  // STO_CUDA_ENTRY in st_other

tl::unexpected<Error> wrong(const std::string& file, std::string what, std::string_view remedy = kMakeCubin) {
  return fail(ErrorKind::kUsage, fmt::format("Cubin {} {}.", file, what), std::string(remedy), file);
}

class CubinParser {
 public:
  CubinParser(const ElfFile& elf, const std::string& file) : elf_(elf), file_(file) {}

  Result<Cubin> run();

 private:
  [[nodiscard]] Result<int> architecture() const;
  [[nodiscard]] Result<void> global_attributes();
  [[nodiscard]] Result<CubinKernel> kernel(const ElfSymbol& symbol);
  [[nodiscard]] Result<void> code(const ElfSection& section, CubinKernel& out);
  [[nodiscard]] Result<void> attributes(CubinKernel& out) const;
  [[nodiscard]] Result<void> attribute(const AttributeEntry& entry, CubinKernel& out) const;
  [[nodiscard]] Result<void> parameter(const AttributeEntry& entry, CubinKernel& out) const;
  [[nodiscard]] Result<void> check_parameters(const CubinKernel& out) const;

  const ElfFile& elf_;
  const std::string& file_;
  int architecture_ = 0;
  std::map<std::string_view, std::uint64_t> registers_;
  std::map<std::string_view, std::uint64_t> frames_;
};

// The SM number stands in byte 0 of the flags up to ABI version 7, in byte 1 from version 8 on.
Result<int> CubinParser::architecture() const {
  if (elf_.abi_version < kAbiOfCuda11 || elf_.abi_version > kAbiOfCuda13) {
    return wrong(file_,
                 fmt::format("has CUDA ABI version {}, not {} or {}", elf_.abi_version, kAbiOfCuda11, kAbiOfCuda13),
                 "Make it with nvcc 11, 12 or 13.");
  }
  return static_cast<int>(elf_.flags >> (elf_.abi_version == kAbiOfCuda13 ? 8 : 0) & 0xff);
}

// .nv.info: pairs of symbol number and value.
Result<void> CubinParser::global_attributes() {
  const ElfSection* section = elf_.find(".nv.info");
  if (section == nullptr) {
    return wrong(file_, "has no section .nv.info");
  }
  const auto entries = read_attributes(*section, file_);
  if (!entries) {
    return tl::unexpected<Error>(entries.error());
  }
  for (const AttributeEntry& entry : *entries) {
    if (entry.id != Attribute::kRegisterCount && entry.id != Attribute::kFrameSize) {
      continue;
    }
    const ByteView view(entry.bytes);
    const auto symbol = view.number(0, 4);
    const auto value = view.number(4, 4);
    if (!value || *symbol >= elf_.symbols.size()) {
      return wrong(file_, "has a broken register count or frame size in .nv.info");
    }
    auto& map = entry.id == Attribute::kRegisterCount ? registers_ : frames_;
    map[elf_.symbols[static_cast<std::size_t>(*symbol)].name] = *value;
  }
  return {};
}

Result<void> CubinParser::code(const ElfSection& section, CubinKernel& out) {
  if (section.bytes.empty() || section.bytes.size() % kInstructionBytes != 0) {
    return wrong(file_, fmt::format("has {} bytes of code in {}, which is no number of instructions of {} bytes",
                                    section.bytes.size(), section.name, kInstructionBytes));
  }
  const ElfSection* relocations = elf_.find(fmt::format(".rela{}", section.name));
  if (relocations != nullptr && relocations->size != 0) {
    out.unusable = fmt::format("needs linking: the code of {} refers to other functions or variables", out.name);
  }
  if (elf_.abi_version < kAbiOfCuda13) {
    constexpr unsigned kBarrierBit = 20;
    out.barriers = static_cast<int>(section.flags >> kBarrierBit & 0x7f);
  }
  const ByteView view(section.bytes);
  out.code.reserve(section.bytes.size() / kInstructionBytes);
  for (std::uint64_t at = 0; at < view.size(); at += kInstructionBytes) {
    out.code.push_back({view.number(at, 8).value_or(0), view.number(at + 8, 8).value_or(0)});
  }
  return {};
}

Result<void> CubinParser::parameter(const AttributeEntry& entry, CubinKernel& out) const {
  // Index, ordinal (2 bytes), offset (2 bytes), then a word with the size from bit 18 on.
  constexpr unsigned kSizeBit = 18;
  constexpr std::uint64_t kMaximumParameters = 4096;
  const ByteView view(entry.bytes);
  const auto ordinal = view.number(4, 2);
  const auto offset = view.number(6, 2);
  const auto word = view.number(8, 4);
  if (!word || *ordinal >= kMaximumParameters) {
    return wrong(file_, fmt::format("has a broken parameter of {}", out.name));
  }
  if (out.parameters.size() <= *ordinal) {
    out.parameters.resize(static_cast<std::size_t>(*ordinal) + 1);
  }
  out.parameters[static_cast<std::size_t>(*ordinal)] = {static_cast<std::uint32_t>(*offset),
                                                        static_cast<std::uint32_t>(*word >> kSizeBit)};
  return {};
}

Result<void> CubinParser::attribute(const AttributeEntry& entry, CubinKernel& out) const {
  const ByteView view(entry.bytes);
  switch (entry.id) {
    case Attribute::kParameter:
      return parameter(entry, out);
    case Attribute::kParameterBank: {
      const auto base = view.number(4, 2);
      const auto size = view.number(6, 2);
      if (!size) {
        return wrong(file_, fmt::format("has a broken parameter block of {}", out.name));
      }
      out.parameter_base = static_cast<std::uint32_t>(*base);
      out.parameter_bytes = static_cast<std::uint32_t>(*size);
      break;
    }
    case Attribute::kMaximumThreads:
    case Attribute::kRequiredThreads: {
      constexpr std::uint64_t kMost = 1024;
      std::uint64_t threads = 1;
      for (unsigned i = 0; i < 3; ++i) {
        const std::uint64_t extent = view.number(4 * i, 4).value_or(0);
        threads = extent >= 1 && extent <= kMost ? threads * extent : 0;
      }
      if (threads < 1 || threads > kMost) {
        return wrong(file_, fmt::format("has a broken number of threads of {}", out.name));
      }
      out.maximum_threads = static_cast<std::uint32_t>(threads);
      break;
    }
    case Attribute::kBarrierCount:
      out.barriers = entry.value & 0xff;
      break;
    default:
      break;
  }
  return {};
}

Result<void> CubinParser::check_parameters(const CubinKernel& out) const {
  std::uint32_t end = 0;
  for (const CubinParameter& parameter : out.parameters) {
    if (parameter.bytes == 0 || parameter.offset < end || parameter.offset + parameter.bytes > out.parameter_bytes) {
      return wrong(file_, fmt::format("has parameters of {} that overlap or do not fit {} bytes", out.name,
                                      out.parameter_bytes));
    }
    end = parameter.offset + parameter.bytes;
  }
  return {};
}

Result<void> CubinParser::attributes(CubinKernel& out) const {
  const ElfSection* section = elf_.find(".nv.info." + out.name);
  if (section == nullptr) {
    return wrong(file_, fmt::format("has no section .nv.info.{}", out.name));
  }
  const auto entries = read_attributes(*section, file_);
  if (!entries) {
    return tl::unexpected<Error>(entries.error());
  }
  for (const AttributeEntry& entry : *entries) {
    if (auto done = attribute(entry, out); !done) {
      return done;
    }
  }
  return check_parameters(out);
}

Result<CubinKernel> CubinParser::kernel(const ElfSymbol& symbol) {
  CubinKernel out;
  out.file = file_;
  out.name = symbol.name;
  out.architecture = architecture_;
  const ElfSection* section = elf_.find(".text." + out.name);
  if (section == nullptr) {
    return wrong(file_, fmt::format("has no code of kernel {}", out.name));
  }
  if (auto done = code(*section, out); !done) {
    return tl::unexpected<Error>(done.error());
  }
  if (auto done = attributes(out); !done) {
    return tl::unexpected<Error>(done.error());
  }
  constexpr std::uint64_t kMostRegisters = 255;
  constexpr std::uint64_t kMostLocal = 512 * 1024;
  const auto registers = registers_.find(symbol.name);
  if (registers == registers_.end() || registers->second == 0 || registers->second > kMostRegisters) {
    return wrong(file_, fmt::format("does not say how many registers {} has", out.name));
  }
  out.registers_per_thread = static_cast<int>(registers->second);
  const auto frame = frames_.find(symbol.name);
  out.local_bytes = frame == frames_.end() ? 0 : frame->second;
  if (out.local_bytes > kMostLocal) {
    return wrong(file_, fmt::format("gives {} a stack of {} bytes", out.name, out.local_bytes));
  }
  constexpr std::uint64_t kMostShared = 228 * 1024;
  if (const ElfSection* shared = elf_.find(".nv.shared." + out.name); shared != nullptr) {
    if (shared->size > kMostShared) {
      return wrong(file_, fmt::format("gives {} {} bytes of shared memory", out.name, shared->size));
    }
    const bool takes_off = architecture_ >= kFirstWithSystemShared && shared->size >= kSystemSharedBytes;
    out.static_shared_bytes = shared->size - (takes_off ? kSystemSharedBytes : 0);
  }
  for (int bank = 1; bank < kConstantBanks; ++bank) {  // the driver fills bank 0 at the launch
    const ElfSection* constants = elf_.find(fmt::format(".nv.constant{}.{}", bank, out.name));
    if (constants != nullptr && !constants->bytes.empty()) {
      out.constant_banks[bank].assign(constants->bytes.begin(), constants->bytes.end());
    }
  }
  return out;
}

Result<Cubin> CubinParser::run() {
  const auto sm = architecture();
  if (!sm) {
    return tl::unexpected<Error>(sm.error());
  }
  architecture_ = *sm;
  if (auto done = global_attributes(); !done) {
    return tl::unexpected<Error>(done.error());
  }
  Cubin cubin;
  cubin.file = file_;
  std::uintmax_t instructions = 0;
  for (const ElfSymbol& symbol : elf_.symbols) {
    if (symbol.type != kSymbolFunction || (symbol.other & kEntrySymbol) == 0) {
      continue;
    }
    const auto same = [&symbol](const CubinKernel& known) { return known.name == symbol.name; };
    if (symbol.name.empty() || std::any_of(cubin.kernels.begin(), cubin.kernels.end(), same)) {
      return wrong(file_, fmt::format("names kernel '{}' twice or not at all", symbol.name));
    }
    auto found = kernel(symbol);
    if (!found) {
      return tl::unexpected<Error>(found.error());
    }
    instructions += found->code.size();
    if (instructions > kMaximumCubinBytes / kInstructionBytes) {
      return wrong(file_, "has code sections that overlap");
    }
    cubin.kernels.push_back(std::move(*found));
  }
  return cubin;
}

Result<Cubin> read_one(std::span<const std::byte> bytes, const std::string& file) {
  const auto elf = parse_elf(bytes, file);
  if (!elf) {
    return tl::unexpected<Error>(elf.error());
  }
  return CubinParser(*elf, file).run();
}

bool is_cubin(std::span<const std::byte> bytes) {
  constexpr std::uint64_t kElfMagic = 0x464c457f;
  constexpr std::uint64_t kMachineCuda = 190;
  const ByteView view(bytes);
  return view.number(0, 4) == kElfMagic && view.number(18, 2) == kMachineCuda;
}

// Of equal kernels, which translation units share, the first stays. A cubin without kernels adds none.
Result<Cubin> read_fat(std::span<const std::byte> bytes, const std::string& file) {
  const auto parts = extract_cubins(bytes, file);
  if (!parts) {
    return tl::unexpected<Error>(parts.error());
  }
  Cubin joined;
  joined.file = file;
  for (const std::vector<std::byte>& part : *parts) {
    auto cubin = read_one(part, file);
    if (!cubin) {
      return cubin;
    }
    for (CubinKernel& kernel : cubin->kernels) {
      const auto same = [&kernel](const CubinKernel& known) {
        return known.name == kernel.name && known.architecture == kernel.architecture;
      };
      if (std::none_of(joined.kernels.begin(), joined.kernels.end(), same)) {
        joined.kernels.push_back(std::move(kernel));
      }
    }
  }
  return joined;
}

}  // namespace

Result<Cubin> parse_cubin(std::span<const std::byte> bytes, const std::string& file) {
  auto cubin = !is_cubin(bytes) && holds_fat_binary(bytes) ? read_fat(bytes, file) : read_one(bytes, file);
  if (!cubin) {
    return cubin;
  }
  if (cubin->kernels.empty()) {
    return wrong(file, "holds no kernel", "Compile a source with a __global__ function.");
  }
  const auto is_usable = [](const CubinKernel& kernel) { return kernel.unusable.empty(); };
  if (std::none_of(cubin->kernels.begin(), cubin->kernels.end(), is_usable)) {
    return wrong(file, cubin->kernels.front().unusable, kNoLinking);
  }
  return cubin;
}

Result<Cubin> read_cubin(const std::filesystem::path& path) {
  const std::string file = path.string();
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status)) {
    return wrong(file, "does not exist", "Check the path.");
  }
  if (!std::filesystem::is_regular_file(status)) {
    return wrong(file, "is not a file", "Pass what 'nvcc -arch=sm_90 -cubin' writes.");
  }
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  if (code || size > kMaximumCubinBytes) {
    return wrong(file, fmt::format("is larger than {} MiB", kMaximumCubinBytes >> 20),
                 "Pass what 'nvcc -arch=sm_90 -cubin' writes for one source.");
  }
  const auto bytes = TextSource::read_all(path, kMaximumCubinBytes);
  if (!bytes) {
    return wrong(file, fmt::format("cannot be read ({})", bytes.error().message),
                 "Check its permissions, or copy it again.");
  }
  return parse_cubin(std::as_bytes(std::span(*bytes)), file);
}

namespace {

bool begins_machine_code(std::string_view bytes) {
  return bytes.starts_with(
             "\x7f"
             "ELF") ||
         holds_fat_binary(std::as_bytes(std::span(bytes)));
}

}  // namespace

bool is_machine_code(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::array<char, 4> magic{};
  if (!stream.read(magic.data(), magic.size())) {
    return false;
  }
  const std::string_view begin(magic.data(), magic.size());
  const bool compressed = begin.starts_with("\x1f\x8b") || begin == "\x28\xb5\x2f\xfd" || begin == "\xfd\x37zX";
  if (!compressed) {
    return begins_machine_code(begin);
  }
  const auto bytes = TextSource::read_all(path, kMaximumCubinBytes);
  return bytes && begins_machine_code(std::string_view(*bytes).substr(0, magic.size()));
}

Result<const CubinKernel*> choose_kernel(const Cubin& cubin, std::string_view choice, int architecture) {
  std::vector<std::string> names;
  for (const CubinKernel& kernel : cubin.kernels) {
    if (std::find(names.begin(), names.end(), kernel.name) == names.end()) {
      names.push_back(kernel.name);
    }
  }
  const auto chosen = choose_name(names, cubin.file, choice);
  if (!chosen) {
    return tl::unexpected<Error>(chosen.error());
  }
  const auto rank = [architecture](const CubinKernel& kernel) {
    return std::tuple(kernel.architecture == architecture, is_known_architecture(kernel.architecture),
                      kernel.architecture);
  };
  const CubinKernel* best = nullptr;
  for (const CubinKernel& kernel : cubin.kernels) {
    if (kernel.name == names[*chosen] && (best == nullptr || rank(*best) < rank(kernel))) {
      best = &kernel;
    }
  }
  return best;
}

Result<DecodedKernel> decode_kernel(const CubinKernel& kernel, Unknown unknown) {
  if (!kernel.unusable.empty()) {
    return wrong(kernel.file, kernel.unusable, kNoLinking);
  }
  ListedKernel listed;
  listed.file = kernel.file;
  listed.name = kernel.name;
  listed.architecture = kernel.architecture;
  if (kernel.parameter_bytes != 0 && kernel.parameter_base != abi_of(kernel.architecture).parameter_offset) {
    return wrong(kernel.file,
                 fmt::format("has the parameters of {} at 0x{:x} of constant bank 0, not at 0x{:x}", kernel.name,
                             kernel.parameter_base, abi_of(kernel.architecture).parameter_offset),
                 "Compile with nvcc 12 or 13.");
  }
  for (const Encoding& word : kernel.code) {
    const std::uint64_t address = listed.instructions.size() * kInstructionBytes;
    const auto decoded = decode(word, address, kernel.architecture);
    listed.instructions.push_back({address, decoded ? disassemble(*decoded) : std::string(), word, 0});
  }
  auto decoded_kernel = decode_kernel(listed, unknown);
  if (decoded_kernel) {
    decoded_kernel->constant_banks = kernel.constant_banks;
  }
  return decoded_kernel;
}

}  // namespace tilesim::traces
