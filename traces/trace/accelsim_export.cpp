#include "traces/trace/accelsim_export.h"

#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <optional>

#include "sim/isa/lane_address.h"
#include "traces/trace/accelsim_program.h"

namespace tilesim::traces {

namespace {

constexpr std::size_t kMostSources = 4;  // what Accel-Sim's reader takes
constexpr std::uint64_t kLocalBase = std::uint64_t{1} << 48;

/// General registers in a piece of SASS text, in order; RZ is 255.
std::vector<int> registers_in(std::string_view text) {
  std::vector<int> registers;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const bool begins = i == 0 || (std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0 && text[i - 1] != '_');
    if (text[i] != 'R' || !begins) {
      continue;
    }
    if (text[i + 1] == 'Z') {
      registers.push_back(isa::kRegisterZero);
      continue;
    }
    int number = 0;
    std::size_t at = i + 1;
    for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0 && number < 1000; ++at) {
      number = number * 10 + (text[at] - '0');
    }
    if (at > i + 1 && number <= isa::kRegisterZero) {
      registers.push_back(number);
    }
  }
  return registers;
}

std::string address_field(std::uint64_t address) {
  return fmt::format("0x{:x}", address >= isa::kLocalWindow ? address - isa::kLocalWindow + kLocalBase : address);
}

/// Base and stride where the active lanes are one unbroken run, else a list: what all readers understand alike.
std::string addresses_of(const isa::DynamicInstruction& executed, bool copy) {
  if (executed.active_mask == 0) {
    return "1 0x0 0";
  }
  const auto address = [&](int lane) {
    const std::uint64_t packed = executed.addresses[static_cast<std::size_t>(lane)];
    return copy ? isa::CopyLane::of(packed).global : packed;
  };
  const int first = std::countr_zero(executed.active_mask);
  const int count = std::popcount(executed.active_mask);
  const auto run = static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1) << first;
  const std::uint64_t stride = count > 1 ? address(first + 1) - address(first) : 0;
  bool regular = executed.active_mask == run;
  for (int lane = first + 1; regular && lane < first + count; ++lane) {
    regular = address(lane) - address(lane - 1) == stride;
  }
  if (regular) {
    return fmt::format("1 {} {}", address_field(address(first)), static_cast<std::int64_t>(stride));
  }
  std::string text = "0";
  for (std::uint32_t lanes = executed.active_mask; lanes != 0; lanes &= lanes - 1) {
    text += " " + address_field(address(std::countr_zero(lanes)));
  }
  return text;
}

}  // namespace

std::string accelsim_header(const isa::Program& program, const LaunchRecord& launch) {
  std::string text;
  const auto add = [&text](std::string_view key, const std::string& value) {
    text += fmt::format("-{} = {}\n", key, value);
  };
  const auto extent = [](const isa::Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); };
  add("kernel name", program.name.empty() ? launch.kernel : program.name);
  add("kernel id", "1");
  add("grid dim", extent(launch.grid));
  add("block dim", extent(launch.block));
  add("shmem", fmt::format("{}", launch.shared_bytes));
  add("nregs", fmt::format("{}", launch.registers));
  add("binary version", fmt::format("{}", program.architecture));
  add("cuda stream id", "0");
  add("shmem base_addr", "0x0000010000000000");
  add("local mem base_addr", fmt::format("0x{:016x}", kLocalBase));
  add("nvbit version", "none");
  add("accelsim tracer version", "5");
  add("enable lineinfo", "0");
  return text +
         "\n#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
         "[adrrescompress?] [mem_addresses] immediate\n";
}

AccelsimText accelsim_text(const isa::Instruction& instruction, const std::string& text) {
  std::string_view rest(text);
  if (rest.starts_with('@')) {
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
  }
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view opcode = rest.substr(0, end);
  std::string_view operands = rest.substr(end);
  operands.remove_prefix(std::min(operands.find_first_not_of(' '), operands.size()));
  // Imported code has an arrow between destination and sources, SASS a comma.
  const std::size_t arrow = operands.find("<-");
  const std::size_t comma = std::min(arrow != std::string_view::npos ? arrow : operands.find(','), operands.size());
  // A destination is a register of its own; stores begin with an address, comparisons with a predicate.
  const std::string_view first = operands.substr(0, comma);
  const std::vector<int> destination =
      first.starts_with('R') && instruction.control == isa::ControlOp::kNone ? registers_in(first) : std::vector<int>{};
  std::vector<int> sources = registers_in(destination.empty() ? operands : operands.substr(comma));
  sources.resize(std::min(sources.size(), kMostSources));
  AccelsimText out;
  out.before = destination.empty() ? " 0" : fmt::format(" 1 R{}", destination.front());
  out.before += fmt::format(" {} {}", opcode.empty() ? std::string_view("NOP") : opcode, sources.size());
  for (const int source : sources) {
    out.before += fmt::format(" R{}", source);
  }
  out.memory = instruction.memory != isa::MemoryOp::kNone;
  out.before += fmt::format(" {}", out.memory ? instruction.access_bytes : 0);
  out.immediate = instruction.control == isa::ControlOp::kWaitGroups ? instruction.wait_count : 0;
  return out;
}

Result<void> export_cta(const isa::KernelStream& kernel, std::uint64_t id, const isa::Dim3& place, TextSink& out) {
  const isa::Program& program = kernel.program();
  std::vector<std::optional<AccelsimText>> texts(program.instructions.size());
  const auto cta = kernel.open(id, nullptr);
  if (auto done = out.write(fmt::format("\n#BEGIN_TB\n\nthread block = {},{},{}\n", place.x, place.y, place.z));
      !done) {
    return done;
  }
  isa::DynamicInstruction executed;
  for (int w = 0; w < cta->warp_count(); ++w) {
    // The number of lines stands before them: a warp's text is counted first. Streams are cheap to run twice.
    std::uint64_t count = 0;
    const auto again = kernel.open(id, nullptr);
    for (isa::WarpStream& warp = again->warp(w); !warp.exited(); ++count) {
      if (!warp.step(executed)) {
        return tl::unexpected<Error>(warp.error());
      }
    }
    std::string text = fmt::format("\nwarp = {}\ninsts = {}\n", w, count);
    for (isa::WarpStream& warp = cta->warp(w); !warp.exited();) {
      if (!warp.step(executed)) {
        return tl::unexpected<Error>(warp.error());
      }
      const isa::Instruction& instruction = program.instructions[executed.index];
      std::optional<AccelsimText>& fixed = texts[executed.index];
      if (!fixed) {
        fixed = accelsim_text(instruction, program.text[executed.index]);
      }
      text += fmt::format("{:04x} {:08x}{}", executed.index * accelsim::kInstructionBytes, executed.active_mask,
                          fixed->before);
      if (fixed->memory) {
        text += " " + addresses_of(executed, instruction.memory == isa::MemoryOp::kCopyAsync);
      }
      text += fmt::format(" {}\n", fixed->immediate);
      constexpr std::size_t kChunk = 1U << 16;
      if (text.size() >= kChunk || warp.exited()) {
        if (auto done = out.write(text); !done) {
          return done;
        }
        text.clear();
      }
    }
  }
  return out.write("\n#END_TB\n");
}

}  // namespace tilesim::traces
