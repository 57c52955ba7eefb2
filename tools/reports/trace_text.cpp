#include "tools/reports/trace_text.h"

#include <fmt/format.h>

#include <bit>

#include "model/counted.h"
#include "sim/isa/lane_address.h"
#include "tools/reports/json_document.h"
#include "tools/reports/text.h"

namespace tilesim::reports {

namespace {

constexpr std::size_t kCodeWidth = 44;

std::string dim3(const isa::Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

double per_instruction(std::uint64_t bytes, std::uint64_t instructions) {
  return instructions == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(instructions);
}

Json extents(const isa::Dim3& d) { return Json::array({d.x, d.y, d.z}); }

/// Addresses of the active lanes: the first and the step to the next, if there is one step; else all of them.
std::string addresses_of(const isa::DynamicInstruction& executed, const isa::Instruction& instruction) {
  std::vector<std::uint64_t> addresses;
  for (std::uint32_t lanes = executed.active_mask; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t packed = executed.addresses[static_cast<std::size_t>(std::countr_zero(lanes))];
    addresses.push_back(instruction.memory == isa::MemoryOp::kCopyAsync ? isa::CopyLane::of(packed).global : packed);
  }
  bool regular = true;
  for (std::size_t i = 2; i < addresses.size(); ++i) {
    regular = regular && addresses[i] - addresses[i - 1] == addresses[1] - addresses[0];
  }
  if (regular) {
    const auto step = addresses.size() > 1 ? static_cast<std::int64_t>(addresses[1] - addresses[0]) : 0;
    return fmt::format("0x{:x} {:+d}", addresses.front(), step);
  }
  std::string text;
  for (const std::uint64_t address : addresses) {
    text += fmt::format("{}0x{:x}", text.empty() ? "" : " ", address);
  }
  return text;
}

}  // namespace

std::string size_line(const app::RecordingEstimate& e, bool warning) {
  return fmt::format("{}writing {} of {}: about {} warp instructions, {}{}\n", warning ? "warning: " : "", e.ctas,
                     counted(static_cast<std::int64_t>(e.grid_ctas), "CTA"),
                     si(static_cast<double>(e.instructions), ""), si(static_cast<double>(e.bytes), "B"),
                     e.seconds > 0.0 ? fmt::format(", {:.0f} s", e.seconds) : std::string());
}

std::string recordings_text(const std::vector<app::Recording>& recordings) {
  std::string text;
  for (const app::Recording& r : recordings) {
    text += fmt::format("{}: {}, {} warp instructions, {} ({} B per instruction).\n", r.file,
                        counted(static_cast<std::int64_t>(r.ctas), "CTA"), si(static_cast<double>(r.instructions), ""),
                        si(static_cast<double>(r.bytes), "B"), plain(per_instruction(r.bytes, r.instructions), 3));
  }
  return text;
}

std::string recordings_json(const std::string& command, const std::vector<app::Recording>& recordings) {
  Json json = json_envelope(command);
  json["files"] = Json::array();
  for (const app::Recording& r : recordings) {
    json["files"].push_back(
        Json{{"file", r.file}, {"ctas", r.ctas}, {"instructions", r.instructions}, {"bytes", r.bytes}});
  }
  return json_text(json);
}

std::string trace_info_text(const traces::TraceFile& trace, const app::TraceOnDisk& disk, bool verified,
                            const cli::Palette& palette) {
  const traces::LaunchRecord& l = trace.launch();
  const std::string format =
      disk.accelsim ? "Accel-Sim's text" : fmt::format("format version {}", traces::kTraceVersion);
  std::string text = palette.bold(fmt::format("{} is a trace of {}.", disk.name, l.kernel)) + "\n\n";
  text += fmt::format("Code       {} instructions for sm_{}, {}{}\n", trace.program().instructions.size(),
                      trace.program().architecture, l.code,
                      l.origin.empty() ? std::string() : fmt::format(", from {} {}", l.origin_kind, l.origin));
  text += fmt::format("Launch     grid {}, block {}, {}{}, {} B shared\n", dim3(l.grid), dim3(l.block),
                      counted(l.registers, "register"), l.registers_assumed ? " (assumed)" : "", l.shared_bytes);
  text += l.arguments.empty() ? std::string() : fmt::format("Arguments  {}\n", l.arguments);
  text += fmt::format("Holds      {} of {}, {} warp instructions\n", trace.ctas().size(),
                      counted(static_cast<std::int64_t>(l.grid.count()), "CTA"),
                      si(static_cast<double>(trace.instructions()), ""));
  if (l.loop_branch) {
    text += fmt::format("Main loop  {}, ended by instruction {}\n",
                        counted(static_cast<std::int64_t>(l.loop_trips), "trip"), *l.loop_branch);
  }
  text += fmt::format("Size       {}: {} B per warp instruction; {}{}\n", si(static_cast<double>(disk.bytes), "B"),
                      plain(per_instruction(disk.bytes, trace.instructions()), 3), format,
                      verified ? "; every block is good" : "");
  for (const std::string& note : l.notes) {
    text += paragraph("Note       ", note);
  }
  return text;
}

std::string trace_info_json(const traces::TraceFile& trace, const app::TraceOnDisk& disk, bool verified) {
  const traces::LaunchRecord& l = trace.launch();
  Json json = json_envelope("trace info");
  json["file"] = disk.name;
  json["format_version"] = disk.accelsim ? Json(nullptr) : Json(traces::kTraceVersion);
  json["bytes"] = disk.bytes;
  json["verified"] = verified;
  json["kernel"] = Json{{"name", l.kernel},
                        {"code", l.code},
                        {"origin", l.origin},
                        {"origin_kind", l.origin_kind},
                        {"architecture", trace.program().architecture},
                        {"instructions", trace.program().instructions.size()}};
  json["launch"] = Json{{"grid", extents(l.grid)},
                        {"block", extents(l.block)},
                        {"shared_bytes", l.shared_bytes},
                        {"registers_per_thread", l.registers},
                        {"registers_assumed", l.registers_assumed},
                        {"arguments", l.arguments}};
  json["ctas"] = trace.ctas().size();
  json["instructions"] = trace.instructions();
  json["loop_trips"] = l.loop_trips;
  json["loop_branch"] = l.loop_branch ? Json(*l.loop_branch) : Json(nullptr);
  json["notes"] = l.notes;
  return json_text(json);
}

std::string executed_line(const isa::DynamicInstruction& executed, const isa::Program& program) {
  const isa::Instruction& instruction = program.instructions[executed.index];
  const std::string& code = program.text[executed.index];
  std::string line = fmt::format("{:>6} {:08x}  {}", executed.index, executed.active_mask, code);
  if (executed.branch_taken) {
    line += "  (taken)";
  } else if (instruction.memory != isa::MemoryOp::kNone && executed.active_mask != 0) {
    line += std::string(code.size() < kCodeWidth ? kCodeWidth - code.size() : 0, ' ') + "  " +
            addresses_of(executed, instruction);
  }
  return line + "\n";
}

}  // namespace tilesim::reports
