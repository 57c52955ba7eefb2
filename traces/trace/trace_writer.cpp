#include "traces/trace/trace_writer.h"

#include <algorithm>
#include <utility>

namespace tilesim::traces {

namespace {

/// Items of a warp that are kept for folding: some tens of trips of a large main loop.
constexpr std::size_t kMostItems = 32768;
/// What a reader has to keep of each resident warp.
constexpr std::size_t kSegmentBytes = 32768;
/// Short segments of several warps go into one block.
constexpr std::size_t kBlockBytes = 262144;

}  // namespace

Result<TraceWriter> TraceWriter::create(const std::filesystem::path& path) {
  auto file = BlockFileWriter::create(path);
  if (!file) {
    return tl::unexpected<Error>(file.error());
  }
  TraceWriter writer;
  writer.file_ = std::move(*file);
  return writer;
}

/// The first open CTA gets its entry in the index.
void TraceWriter::enter() { ctas_.push_back({open_.front()->id, file_->offset(), 0}); }

void TraceWriter::begin_cta(std::uint64_t id, int warps) {
  open_.push_back(spare_ ? std::move(spare_) : std::make_unique<OpenCta>());
  current_ = open_.back().get();
  current_->id = id;
  current_->instructions = 0;
  current_->ended = false;
  current_->warps.resize(static_cast<std::size_t>(warps));
  current_->filters.assign(static_cast<std::size_t>(warps), SpinFilter());
  if (open_.size() == 1) {
    enter();
  }
}

void TraceWriter::resume_cta(std::uint64_t id) {
  if (current_ == nullptr || current_->id != id) {
    current_ = std::find_if(open_.begin(), open_.end(), [id](const auto& cta) { return cta->id == id; })->get();
  }
}

Result<void> TraceWriter::append(OpenCta& cta, int warp, const isa::DynamicInstruction& executed,
                                 const isa::Instruction& instruction) {
  LoopFolder& folder = cta.warps[static_cast<std::size_t>(warp)];
  folder.add(executed, instruction);
  ++cta.instructions;
  ++instructions_;
  return folder.items().size() < kMostItems ? Result<void>{} : flush(cta, warp, false);
}

Result<void> TraceWriter::add(int warp, const isa::DynamicInstruction& executed, const isa::Instruction& instruction,
                              bool polls) {
  OpenCta& cta = *current_;
  SpinFilter& filter = cta.filters[static_cast<std::size_t>(warp)];
  if (polls) {
    filter.activate();
  }
  if (!filter.active()) {
    return append(cta, warp, executed, instruction);
  }
  return filter.add(
      executed, instruction, polls,
      [&](const isa::DynamicInstruction& kept, const isa::Instruction& code) { return append(cta, warp, kept, code); });
}

Result<void> TraceWriter::write(OpenCta& cta, CtaBlockBuilder& block) {
  const std::uint32_t warps = block.warps();
  if (&cta == open_.front().get()) {
    return file_->write(BlockKind::kCta, cta.id, warps, block.take());
  }
  cta.held.emplace_back(warps, block.take());
  return {};
}

/// Writes what a warp has; its last segment waits for those of other warps if it is the warp's end.
Result<void> TraceWriter::flush(OpenCta& cta, int warp, bool last) {
  LoopFolder& folder = cta.warps[static_cast<std::size_t>(warp)];
  std::span<const Item> items(folder.items());
  while (!items.empty()) {
    CtaBlockBuilder own;
    const std::size_t done = own.add(warp, items, folder.patterns(), kSegmentBytes, last);
    if (last && done == items.size()) {
      cta.block.add(warp, items, folder.patterns(), kMaximumBlockBytes, true);
    } else if (auto written = write(cta, own); !written) {
      return written;
    }
    items = items.subspan(done);
  }
  folder.clear();
  return last && cta.block.size() >= kBlockBytes ? write(cta, cta.block) : Result<void>{};
}

Result<void> TraceWriter::end_cta() {
  OpenCta& cta = *current_;
  for (std::size_t warp = 0; warp < cta.warps.size(); ++warp) {
    const auto keep = [&](const isa::DynamicInstruction& kept, const isa::Instruction& code) {
      return append(cta, static_cast<int>(warp), kept, code);
    };
    if (auto done = cta.filters[warp].release(keep); !done) {
      return done;
    }
    left_out_ += cta.filters[warp].left_out();
    if (auto done = flush(cta, static_cast<int>(warp), true); !done) {
      return done;
    }
  }
  if (!cta.block.empty()) {
    if (auto done = write(cta, cta.block); !done) {
      return done;
    }
  }
  cta.ended = true;
  current_ = nullptr;
  while (!open_.empty() && open_.front()->ended) {
    ctas_.back().instructions = open_.front()->instructions;
    spare_ = std::move(open_.front());
    open_.pop_front();
    if (open_.empty()) {
      break;
    }
    enter();
    for (const auto& [warps, content] : open_.front()->held) {
      if (auto done = file_->write(BlockKind::kCta, open_.front()->id, warps, content); !done) {
        return done;
      }
    }
    open_.front()->held.clear();
  }
  return {};
}

Result<void> TraceWriter::finish(const isa::Program& program, const LaunchRecord& launch) {
  Bytes index;
  ByteWriter writer(index);
  writer.number(ctas_.size());
  Entry before;
  for (const Entry& entry : ctas_) {
    writer.number(entry.id - before.id);
    writer.number(entry.offset - before.offset);
    writer.difference(static_cast<std::int64_t>(entry.instructions - before.instructions));
    before = entry;
  }
  const Bytes code = encode_program(program);
  const Bytes record = encode_launch(launch);
  isa::Program program_again;
  LaunchRecord launch_again;
  if (!decode_program(code, program_again) || !decode_launch(record, launch_again)) {
    return fail(ErrorKind::kUsage, "A trace cannot hold this code or launch: a value is out of its range.",
                "Check the architecture, the grid, the block and the sizes of the launch.");
  }
  writer.number(file_->offset());
  if (auto done = file_->write(BlockKind::kProgram, 0, 0, code); !done) {
    return done;
  }
  writer.number(file_->offset());
  if (auto done = file_->write(BlockKind::kLaunch, 0, 0, record); !done) {
    return done;
  }
  return file_->finish(index);
}

}  // namespace tilesim::traces
