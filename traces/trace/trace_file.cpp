#include "traces/trace/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/isa/barrier_call.h"

namespace tilesim::traces {

Result<std::shared_ptr<const TraceFile>> TraceFile::open(const std::filesystem::path& path) {
  auto file = BlockFile::open(path);
  if (!file) {
    return tl::unexpected<Error>(file.error());
  }
  std::shared_ptr<TraceFile> trace(new TraceFile);
  trace->file_ = std::move(*file);
  if (const auto done = trace->read_index(); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return std::shared_ptr<const TraceFile>(std::move(trace));
}

Result<Bytes> TraceFile::block_at(std::uint64_t offset, BlockKind kind) const {
  const auto header = file_->header(offset);
  if (!header) {
    return tl::unexpected<Error>(header.error());
  }
  if (header->kind != kind) {
    return tl::unexpected<Error>(file_->damaged(offset, "another block lies there than should"));
  }
  return file_->content(offset, *header);
}

Result<void> TraceFile::read_index() {
  const std::uint64_t at = file_->index_offset();
  const auto content = block_at(at, BlockKind::kIndex);
  if (!content) {
    return tl::unexpected<Error>(content.error());
  }
  ByteReader reader(*content);
  const std::uint64_t count = reader.number();
  constexpr std::uint64_t kLeastBytes = 3;
  if (count > reader.left() / kLeastBytes) {
    return tl::unexpected<Error>(file_->damaged(at, "the index is cut"));
  }
  ctas_.resize(static_cast<std::size_t>(count));
  TracedCta before;
  bool ordered = true;
  for (TracedCta& cta : ctas_) {
    cta.id = before.id + reader.number();
    cta.begin = before.begin + reader.number();
    cta.instructions = before.instructions + static_cast<std::uint64_t>(reader.difference());
    ordered = ordered && cta.begin > before.begin && (&cta == ctas_.data() || cta.id > before.id);
    before = cta;
  }
  const std::uint64_t program_at = reader.number();
  const std::uint64_t launch_at = reader.number();
  ordered = ordered && before.begin < program_at && program_at < launch_at && launch_at < at;
  if (reader.failed() || reader.left() != 0 || !ordered) {
    return tl::unexpected<Error>(file_->damaged(at, "the index does not make sense"));
  }
  for (std::size_t i = 0; i < ctas_.size(); ++i) {
    ctas_[i].end = i + 1 < ctas_.size() ? ctas_[i + 1].begin : program_at;
  }
  return read_tables(program_at, launch_at);
}

Result<void> TraceFile::read_tables(std::uint64_t program_at, std::uint64_t launch_at) {
  const auto program = block_at(program_at, BlockKind::kProgram);
  if (!program) {
    return tl::unexpected<Error>(program.error());
  }
  if (!decode_program(*program, program_)) {
    return tl::unexpected<Error>(file_->damaged(program_at, "the code does not make sense"));
  }
  const auto launch = block_at(launch_at, BlockKind::kLaunch);
  if (!launch) {
    return tl::unexpected<Error>(launch.error());
  }
  const bool decoded = decode_launch(*launch, launch_);
  if (!decoded || (launch_.loop_branch && *launch_.loop_branch >= program_.instructions.size()) ||
      (!ctas_.empty() && ctas_.back().id >= launch_.grid.count())) {
    return tl::unexpected<Error>(file_->damaged(launch_at, "the launch does not make sense"));
  }
  const auto fits = [warps = static_cast<unsigned>(warps_per_cta())](const isa::Instruction& in) {
    return in.barrier_warps <= warps;
  };
  if (!std::all_of(program_.instructions.begin(), program_.instructions.end(), fits)) {
    return tl::unexpected<Error>(file_->damaged(program_at, "a barrier is for more warps than a CTA has"));
  }
  const auto count = static_cast<std::uint32_t>(program_.instructions.size());
  next_memory_.assign(std::size_t{count} + 1, count);
  for (std::uint32_t i = count; i-- > 0;) {
    next_memory_[i] = isa::carries_addresses(program_.instructions[i]) ? i : next_memory_[i + 1];
  }
  return {};
}

int TraceFile::warps_per_cta() const {
  return static_cast<int>((launch_.block.count() + isa::kWarpSize - 1) / isa::kWarpSize);
}

std::uint64_t TraceFile::instructions() const {
  return std::accumulate(ctas_.begin(), ctas_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const TracedCta& cta) { return sum + cta.instructions; });
}

Result<TraceFile::FoundBlock> TraceFile::find(const TracedCta& cta, std::uint32_t warp, std::uint64_t offset) const {
  while (offset < cta.end) {
    const auto header = file_->header(offset);
    if (!header) {
      return tl::unexpected<Error>(header.error());
    }
    const std::uint64_t behind = BlockFile::behind(offset, *header);
    if (header->kind != BlockKind::kCta || header->cta != cta.id || behind > cta.end) {
      return tl::unexpected<Error>(file_->damaged(offset, fmt::format("the block is not one of CTA {}", cta.id)));
    }
    if ((header->warps >> warp & 1U) != 0) {
      return FoundBlock{offset, behind, *header};
    }
    offset = behind;
  }
  return tl::unexpected<Error>(file_->damaged(cta.end, fmt::format("warp {} of CTA {} has no end", warp, cta.id)));
}

Result<std::shared_ptr<const CtaBlock>> TraceFile::load(const FoundBlock& found) const {
  auto content = file_->content(found.offset, found.header);
  if (!content) {
    return tl::unexpected<Error>(content.error());
  }
  auto block = std::make_shared<CtaBlock>();
  if (!parse_cta_block(std::move(*content), *block)) {
    return tl::unexpected<Error>(file_->damaged(found.offset, "the block's tables do not make sense"));
  }
  return std::shared_ptr<const CtaBlock>(std::move(block));
}

Result<void> TraceFile::verify() const {
  for (const TracedCta& cta : ctas_) {
    for (std::uint64_t offset = cta.begin; offset < cta.end;) {
      const auto header = file_->header(offset);
      if (!header) {
        return tl::unexpected<Error>(header.error());
      }
      if (const auto block = load({offset, BlockFile::behind(offset, *header), *header}); !block) {
        return tl::unexpected<Error>(block.error());
      }
      offset = BlockFile::behind(offset, *header);
    }
  }
  return {};
}

}  // namespace tilesim::traces
