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

void TraceWriter::begin_cta(std::uint64_t id, int warps) {
  ctas_.push_back({id, file_->offset(), instructions_});
  warps_.resize(static_cast<std::size_t>(warps));
}

Result<void> TraceWriter::add(int warp, const isa::DynamicInstruction& executed, const isa::Instruction& instruction) {
  LoopFolder& folder = warps_[static_cast<std::size_t>(warp)];
  folder.add(executed, instruction);
  ++instructions_;
  return folder.items().size() < kMostItems ? Result<void>{} : flush(warp, false);
}

Result<void> TraceWriter::write(CtaBlockBuilder& block) {
  const std::uint32_t warps = block.warps();
  return file_->write(BlockKind::kCta, ctas_.back().id, warps, block.take());
}

/// Writes what a warp has; its last segment waits for those of other warps if it is the warp's end.
Result<void> TraceWriter::flush(int warp, bool last) {
  LoopFolder& folder = warps_[static_cast<std::size_t>(warp)];
  std::span<const Item> items(folder.items());
  while (!items.empty()) {
    CtaBlockBuilder own;
    const std::size_t done = own.add(warp, items, folder.patterns(), kSegmentBytes, last);
    if (last && done == items.size()) {
      block_.add(warp, items, folder.patterns(), kMaximumBlockBytes, true);
    } else if (auto written = write(own); !written) {
      return written;
    }
    items = items.subspan(done);
  }
  folder.clear();
  return last && block_.size() >= kBlockBytes ? write(block_) : Result<void>{};
}

Result<void> TraceWriter::end_cta() {
  for (std::size_t warp = 0; warp < warps_.size(); ++warp) {
    if (auto done = flush(static_cast<int>(warp), true); !done) {
      return done;
    }
  }
  ctas_.back().instructions = instructions_ - ctas_.back().instructions;
  return block_.empty() ? Result<void>{} : write(block_);
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
