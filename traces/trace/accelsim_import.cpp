#include "traces/trace/accelsim_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <optional>
#include <string>

#include "model/counted.h"
#include "sim/isa/lane_address.h"
#include "traces/sass/listing_reader.h"
#include "traces/trace/accelsim_line.h"
#include "traces/trace/accelsim_program.h"
#include "traces/trace/spin_filter.h"
#include "traces/trace/trace_writer.h"

namespace tilesim::traces {

namespace {

using accelsim::Line;

constexpr std::uint64_t kMostThreads = 1024;
constexpr const char* kMakeAnew = "Make the trace anew with Accel-Sim's tracer and post-processing.";

/// Executions of a backward branch by the first warp.
struct BranchCount {
  std::uint32_t target = 0;
  std::uint64_t executions = 0;
};

std::string are(std::uint64_t number, std::string_view thing) {
  return counted(static_cast<std::int64_t>(number), thing) + (number == 1 ? " is" : " are");
}
std::string were(std::uint64_t number, std::string_view thing) {
  return counted(static_cast<std::int64_t>(number), thing) + (number == 1 ? " was" : " were");
}

class Importer {
 public:
  Importer(TextSource& in, TraceWriter& writer) : in_(in), writer_(writer) {}

  Result<ImportSummary> run();

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(const std::string& what, const std::string& remedy = kMakeAnew) const {
    return tl::unexpected<Error>(in_.wrong(what, remedy));
  }
  [[nodiscard]] tl::unexpected<Error> placed(Error error) const {
    error.where = error.where.empty() ? fmt::format("{}:{}", in_.name(), in_.number()) : error.where;
    return tl::unexpected<Error>(std::move(error));
  }
  /// The next line with content; false at the end.
  bool next(std::string_view& line) {
    while (in_.line(line)) {
      const std::size_t begin = line.find_first_not_of(" \t");
      if (begin != std::string_view::npos) {
        line.remove_prefix(begin);
        return true;
      }
    }
    return false;
  }

  Result<void> read_header();
  Result<void> read_block();
  Result<void> read_warp(std::uint64_t warp);
  Result<void> take_line(std::string_view text, int warp);
  Result<void> end_instruction(int warp, std::optional<std::uint32_t> next);
  void place_copies(const isa::Instruction& code);
  void place_local();
  [[nodiscard]] LaunchRecord launch(const isa::Program& program) const;

  TextSource& in_;
  TraceWriter& writer_;
  accelsim::Header header_;
  accelsim::ProgramBuilder program_;
  ImportSummary summary_;
  Line line_;
  std::string problem_;
  int warps_ = 1;
  std::uint32_t warps_seen_ = 0;
  bool open_ = false;  ///< a CTA has begun in the writer
  // The instruction that waits for the next line, which tells where it went.
  isa::DynamicInstruction pending_;
  isa::Instruction* pending_code_ = nullptr;
  bool pending_polls_ = false;
  std::map<std::uint32_t, BranchCount> branches_;  ///< of the first warp
  bool any_global_ = false;
  bool any_global_address_ = false;
};

Result<void> Importer::read_header() {
  std::string_view line;
  bool any = false;
  bool text = false;
  while (next(line)) {
    text = true;
    if (line.starts_with('#') || (!any && !line.starts_with('-'))) {
      break;
    }
    any = true;
    if (!accelsim::read_header_line(line, header_, problem_)) {
      return wrong(problem_);
    }
  }
  if (!in_.error().message.empty()) {
    return tl::unexpected<Error>(in_.error());
  }
  if (!text) {
    return wrong("the trace is empty",
                 "Accel-Sim's post-processing writes empty files for kernels that it leaves out.");
  }
  if (!any || header_.kernel.empty()) {
    return fail(
        ErrorKind::kUsage,
        "the file is no trace: it begins neither as those of 'tilesim trace record' nor, with '-kernel name = ', "
        "as Accel-Sim's",
        "Read are .tst files and Accel-Sim's grouped text traces (.traceg), plain or as .gz, .zst or .xz; not "
        ".trace and .tracez.",
        in_.name());
  }
  if (header_.block.count() > kMostThreads || header_.grid.count() > (std::uint64_t{1} << 40)) {
    return wrong(fmt::format("a block of {} threads and a grid of {} CTAs are out of CUDA's limits",
                             header_.block.count(), header_.grid.count()));
  }
  constexpr int kNewestTracer = 6;
  if (header_.tracer_version > kNewestTracer) {
    return wrong(fmt::format("tracer version {} is not known", header_.tracer_version),
                 "Versions 1 to 6 are read; use a newer TileSim.");
  }
  program_.set_architecture(header_.binary_version);
  warps_ = static_cast<int>((header_.block.count() + isa::kWarpSize - 1) / isa::kWarpSize);
  return {};
}

/// Copies are one line with their global addresses; on the shared side lanes are taken to lie side by side.
void Importer::place_copies(const isa::Instruction& code) {
  const bool bypass = line_.opcode.find(".BYPASS") != std::string::npos;
  for (std::uint32_t lane = 0; lane < isa::kWarpSize; ++lane) {
    isa::CopyLane copy;
    copy.global = pending_.addresses[lane] & (isa::CopyLane::kGlobalLimit - 1) & ~std::uint64_t{3};
    copy.shared = lane * code.access_bytes;
    copy.bypass = bypass;
    pending_.addresses[lane] = copy.packed();
  }
}

/// Local memory lies in a window of its own. Lanes that name the same address mean each its own word there.
void Importer::place_local() {
  constexpr std::uint64_t kMask = isa::kLocalWindow - 1;
  const auto first = static_cast<std::size_t>(std::countr_zero(pending_.active_mask));
  const auto same = [&](std::size_t lane) {
    return (pending_.active_mask >> lane & 1U) == 0 || line_.addresses[lane] == line_.addresses[first];
  };
  bool own = std::popcount(pending_.active_mask) > 1;
  for (std::size_t lane = 0; lane < isa::kWarpSize; ++lane) {
    own = own && same(lane);
  }
  for (std::size_t lane = 0; lane < isa::kWarpSize; ++lane) {
    const std::uint64_t address = line_.addresses[lane];
    const std::uint64_t place = (address >= header_.local_base ? address - header_.local_base : address) & kMask;
    pending_.addresses[lane] = own ? isa::local_address(place / 4 & kMask >> 8, static_cast<unsigned>(lane), place % 4)
                                   : isa::kLocalWindow + place;
  }
}

/// Hands the instruction that waited to the writer.
Result<void> Importer::end_instruction(int warp, std::optional<std::uint32_t> next) {
  if (pending_code_ == nullptr) {
    return {};
  }
  isa::Instruction& code = *pending_code_;
  pending_code_ = nullptr;
  const bool jumps = next && *next != pending_.index + 1;
  pending_.branch_taken = code.control == isa::ControlOp::kBranch && jumps;
  if (pending_.branch_taken) {
    code.branch_target = *next;
  }
  if (code.control == isa::ControlOp::kBranch && summary_.ctas == 0 && warp == 0) {
    BranchCount& branch = branches_[pending_.index];
    ++branch.executions;
    branch.target = pending_.branch_taken ? *next : branch.target;
  }
  return writer_.add(warp, pending_, code, pending_polls_);
}

Result<void> Importer::take_line(std::string_view text, int warp) {
  if (!accelsim::read_line(text, header_, line_, problem_)) {
    return wrong(problem_);
  }
  const auto known = program_.instruction(line_);
  if (!known) {
    return placed(known.error());
  }
  isa::Instruction& code = **known;
  const auto index = static_cast<std::uint32_t>(line_.pc / accelsim::kInstructionBytes);
  if (auto done = end_instruction(warp, index); !done) {
    return done;
  }
  pending_.index = index;
  pending_.active_mask = line_.mask;
  if (code.control == isa::ControlOp::kBarrier && line_.opcode.find(".ARV") != std::string_view::npos) {
    return wrong(
        fmt::format("{} arrives at a barrier of a part of the CTA; such traces do not say which", line_.opcode),
        "Replay the kernel's cubin instead.");
  }
  if (code.memory != isa::MemoryOp::kNone && line_.mask != 0) {
    if (!line_.has_addresses) {
      return wrong(fmt::format("{} has no addresses", line_.opcode));
    }
    pending_.addresses = line_.addresses;
    if (isa::is_global(code.memory)) {
      any_global_ = true;
      any_global_address_ =
          any_global_address_ || line_.addresses[static_cast<std::size_t>(std::countr_zero(line_.mask))] != 0;
    }
    if (code.memory == isa::MemoryOp::kCopyAsync) {
      place_copies(code);
    } else if (accelsim::is_local(line_.opcode)) {
      place_local();
    }
  }
  pending_code_ = &code;
  pending_polls_ = polls_memory(line_.opcode);
  summary_.without_lanes += line_.mask == 0 ? 1 : 0;
  ++summary_.instructions;
  return {};
}

std::optional<std::uint64_t> value_of(std::string_view line, std::string_view key) {
  const std::size_t equals = line.find('=');
  if (!line.starts_with(key) || equals == std::string_view::npos) {
    return std::nullopt;
  }
  line.remove_prefix(std::min(line.find_first_not_of(" \t", equals + 1), line.size()));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

Result<void> Importer::read_warp(std::uint64_t warp) {
  if (warp >= static_cast<std::uint64_t>(warps_) || (warps_seen_ >> warp & 1U) != 0) {
    return wrong(fmt::format("warp {} is there twice, or the block has no such warp", warp));
  }
  warps_seen_ |= 1U << warp;
  std::string_view line;
  const auto count = next(line) ? value_of(line, "insts") : std::nullopt;
  if (!count) {
    return wrong("'insts = ' does not follow the warp");
  }
  if (*count == 0) {
    return {};
  }
  if (!open_) {
    writer_.begin_cta(summary_.ctas, warps_);
    open_ = true;
  }
  const int number = static_cast<int>(warp);
  for (std::uint64_t i = 0; i < *count; ++i) {
    if (!next(line) || line.starts_with('#') || line.starts_with("warp")) {
      return in_.error().message.empty()
                 ? wrong(fmt::format("the trace is cut: warp {} has {} of {} instructions", warp, i, *count))
                 : tl::unexpected<Error>(in_.error());
    }
    if (auto done = take_line(line, number); !done) {
      return done;
    }
  }
  return end_instruction(number, std::nullopt);
}

Result<void> Importer::read_block() {
  std::string_view line;
  std::uint64_t before = summary_.instructions;
  std::uint32_t with_code = 0;
  warps_seen_ = 0;
  open_ = false;
  for (;;) {
    if (!next(line)) {
      return in_.error().message.empty() ? wrong("the trace is cut: a thread block has no #END_TB")
                                         : tl::unexpected<Error>(in_.error());
    }
    if (line.starts_with("#END_TB")) {
      break;
    }
    if (const auto warp = value_of(line, "warp")) {
      if (auto done = read_warp(*warp); !done) {
        return done;
      }
      with_code |= summary_.instructions != before ? 1U << *warp : 0U;
      before = summary_.instructions;
    }
  }
  if (!open_) {
    ++summary_.empty_ctas;
    return {};
  }
  // A warp without lines ends at once.
  for (int warp = 0; warp < warps_; ++warp) {
    if ((with_code >> warp & 1U) != 0) {
      continue;
    }
    if (!program_.exit()) {
      return wrong(fmt::format("warp {} is empty, and no EXIT was seen yet that could end it", warp));
    }
    isa::DynamicInstruction end;
    end.index = *program_.exit();
    end.active_mask = ~0U;
    if (auto done = writer_.add(warp, end, isa::Instruction{}); !done) {
      return done;
    }
  }
  ++summary_.ctas;
  return writer_.end_cta();
}

/// The type of the products that the code makes: that of its matrix instructions, else FP32.
model::DataType math_of(const isa::Program& program) {
  for (const std::string& text : program.text) {
    if (text.starts_with("HMMA")) {
      return text.find("BF16") != std::string::npos   ? model::DataType::kBf16
             : text.find("TF32") != std::string::npos ? model::DataType::kTf32
                                                      : model::DataType::kF16;
    }
  }
  return model::DataType::kF32;
}

LaunchRecord Importer::launch(const isa::Program& program) const {
  constexpr int kMostRegisters = 255;
  LaunchRecord record;
  record.kernel = demangle(header_.kernel);
  record.code = "approximate";
  record.origin = in_.name();
  record.origin_kind = "accelsim_trace";
  record.grid = header_.grid;
  record.block = header_.block;
  record.math = math_of(program);
  record.shared_bytes = static_cast<std::int64_t>(header_.shared_bytes);
  record.registers_assumed = header_.registers < 1;
  record.registers =
      std::clamp(record.registers_assumed ? program.registers_referenced : header_.registers, 1, kMostRegisters);
  std::uint64_t most = 0;
  for (const auto& [index, branch] : branches_) {
    const std::uint64_t work = branch.executions * (std::uint64_t{index} - branch.target + 1);
    if (branch.target <= index && branch.executions > 1 && work > most) {
      most = work;
      record.loop_branch = index;
      record.loop_trips = branch.executions;
    }
  }
  record.notes.emplace_back(
      "approximate: an Accel-Sim trace has no stall counts, scoreboards and register ranges; they were rebuilt");
  if (summary_.without_lanes != 0) {
    record.notes.push_back(fmt::format("{} executed by no lane", were(summary_.without_lanes, "instruction")));
  }
  if (summary_.empty_ctas != 0) {
    record.notes.push_back(fmt::format("{} present but empty: left out", are(summary_.empty_ctas, "thread block")));
  }
  if (writer_.left_out() != 0) {
    record.notes.push_back(
        fmt::format("{} instructions of loops that wait for other CTAs are left out", writer_.left_out()));
  }
  return record;
}

Result<ImportSummary> Importer::run() {
  if (auto done = read_header(); !done) {
    return tl::unexpected<Error>(done.error());
  }
  std::string_view line;
  while (next(line)) {
    if (!line.starts_with("#BEGIN_TB")) {
      continue;
    }
    if (auto done = read_block(); !done) {
      return tl::unexpected<Error>(done.error());
    }
  }
  if (!in_.error().message.empty()) {
    return tl::unexpected<Error>(in_.error());
  }
  if (summary_.ctas == 0) {
    return wrong(
        fmt::format("the trace holds no instructions; {} present but empty", are(summary_.empty_ctas, "thread block")));
  }
  if (summary_.ctas > header_.grid.count()) {
    return wrong(fmt::format("the trace has {} thread blocks, its grid {}", summary_.ctas, header_.grid.count()));
  }
  if (any_global_ && !any_global_address_) {
    return wrong("all addresses of global accesses are zero, so nothing can be said of caches and memory",
                 "Some versions of the tracer do that; make the trace with another one.");
  }
  const isa::Program program = program_.finish(header_.kernel);
  if (auto done = writer_.finish(program, launch(program)); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return summary_;
}

}  // namespace

Result<ImportSummary> import_accelsim(TextSource& in, const std::filesystem::path& out) {
  auto writer = TraceWriter::create(out);
  if (!writer) {
    return tl::unexpected<Error>(writer.error());
  }
  return Importer(in, *writer).run();
}

}  // namespace tilesim::traces
