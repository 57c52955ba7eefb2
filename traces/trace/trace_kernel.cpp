#include "traces/trace/trace_kernel.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sim/isa/barrier_call.h"

namespace tilesim::traces {

namespace {

/// The blocks that warps of a CTA are in, so that those in the same one share it.
class BlockCache {
 public:
  [[nodiscard]] Result<std::shared_ptr<const CtaBlock>> get(const TraceFile& trace,
                                                            const TraceFile::FoundBlock& found) {
    if (auto known = last_.lock(); known && offset_ == found.offset) {
      return known;
    }
    auto loaded = trace.load(found);
    if (loaded) {
      last_ = *loaded;
      offset_ = found.offset;
    }
    return loaded;
  }

 private:
  std::uint64_t offset_ = 0;
  std::weak_ptr<const CtaBlock> last_;
};

class TraceWarp final : public isa::WarpStream {
 public:
  void start(const TraceFile& trace, const TracedCta& cta, std::uint32_t warp, BlockCache& cache,
             const std::optional<TripSkip>& skip) {
    *this = TraceWarp();
    trace_ = &trace;
    cta_ = &cta;
    warp_ = warp;
    cache_ = &cache;
    skip_ = skip;
    next_block_ = cta.begin;
    if (!load()) {
      return;
    }
    advance();
    if (exited_) {
      refuse(cta.begin, fmt::format("warp {} of CTA {} has no instructions", warp, cta.id));
    }
  }

  [[nodiscard]] bool step(isa::DynamicInstruction& out) override {
    if (failed()) {
      return false;
    }
    const bool last = done_ + 1 == item_.count;
    out.index = next_index_;
    out.active_mask = item_.mask;
    out.branch_taken = item_.taken && last;
    if (item_.kind == ItemKind::kAccess) {
      const LanePattern& pattern = block_->patterns[item_.pattern];
      for (std::size_t lane = 0; lane < pattern.size(); ++lane) {
        out.addresses[lane] = item_.base + pattern[lane];
      }
      const isa::Instruction& code = trace_->program().instructions[out.index];
      if (code.barrier_from_registers &&
          !isa::BarrierCall::of(code, out).possible(static_cast<std::uint32_t>(trace_->warps_per_cta()))) {
        refuse(next_block_, fmt::format("warp {} of CTA {} names a barrier that there is not", warp_, cta_->id));
        return false;
      }
    }
    ++done_;
    if (skip_ && out.index == skip_->branch) {
      count_branch(out.branch_taken);
    }
    if (last) {
      advance();
    } else {
      ++next_index_;
    }
    return true;
  }

  [[nodiscard]] bool step_to_global(const isa::Program& program, isa::DynamicInstruction& out) override {
    while (!exited_) {
      if (failed()) {
        return false;
      }
      if (item_.kind == ItemKind::kAccess && isa::is_global(program.instructions[item_.index].memory)) {
        return step(out);
      }
      if (holds_branch()) {
        done_ = skip_->branch - item_.index + 1;
        count_branch(item_.taken && done_ == item_.count);
        if (done_ < item_.count) {
          next_index_ = item_.index + done_;
          continue;
        }
      }
      advance();
    }
    out.active_mask = 0;
    return true;
  }

  [[nodiscard]] const Error& error() const override { return error_; }

 private:
  [[nodiscard]] bool failed() const { return !error_.message.empty(); }

  void refuse(std::uint64_t offset, const std::string& what) {
    error_ = trace_->file().damaged(offset, what);
    exited_ = false;  // the next step tells
  }

  /// The block with the warp's next segment.
  bool load() {
    const auto found = trace_->find(*cta_, warp_, next_block_);
    if (!found) {
      error_ = found.error();
      return false;
    }
    auto block = cache_->get(*trace_, *found);
    if (!block) {
      error_ = block.error();
      return false;
    }
    block_ = std::move(*block);
    const CtaBlock::Segment* segment = block_->find(warp_);
    if (segment == nullptr) {
      refuse(found->offset, fmt::format("the block has no segment of warp {}", warp_));
      return false;
    }
    offset_ = found->offset;
    next_block_ = found->behind;
    last_segment_ = segment->last;
    executed_ += cursor_.instructions();
    cursor_ = SegmentCursor(block_->part(*segment), trace_->limits(), block_->patterns.size());
    return true;
  }

  /// True if the rest of the present item holds the branch whose trips are skipped.
  [[nodiscard]] bool holds_branch() const {
    return skip_ && item_.kind == ItemKind::kRun && skip_->branch >= item_.index + done_ &&
           skip_->branch < item_.index + item_.count;
  }

  /// Reads the next item, over segments. False at the warp's end and after an error.
  bool read_item() {
    done_ = 0;
    while (!cursor_.next(item_)) {
      if (!cursor_.problem().empty()) {
        refuse(offset_, cursor_.problem());
        return false;
      }
      if (last_segment_) {
        exited_ = true;
        executed_ += cursor_.instructions();
        return false;
      }
      if (!load()) {
        return false;
      }
    }
    return true;
  }

  void count_branch(bool taken) {
    cursor_.count_branch();
    taken_ += taken ? 1 : 0;
    if (taken && taken_ == skip_->after) {
      skip_left_ = skip_->trips;
    }
  }

  /// To the next instruction behind the present item, and past the trips that are skipped.
  void advance() {
    while (skip_left_ > 0) {
      cursor_.pass_trips(skip_left_);
      if (skip_left_ == 0) {
        break;
      }
      if (!read_item()) {
        return;
      }
      if (holds_branch()) {
        cursor_.count_branch();
        --skip_left_;
        const std::uint32_t behind = skip_->branch - item_.index + 1;
        if (behind < item_.count || !item_.taken) {  // the loop ends first
          skip_left_ = 0;
          done_ = behind;
          if (done_ < item_.count) {
            next_index_ = item_.index + done_;
            return;
          }
        }
      }
    }
    if (read_item()) {
      next_index_ = item_.index;
    }
  }

  const TraceFile* trace_ = nullptr;
  const TracedCta* cta_ = nullptr;
  BlockCache* cache_ = nullptr;
  std::uint32_t warp_ = 0;
  std::shared_ptr<const CtaBlock> block_;
  std::uint64_t offset_ = 0;      ///< of that block
  std::uint64_t next_block_ = 0;  ///< where to look for the next one
  bool last_segment_ = false;
  SegmentCursor cursor_;
  Item item_;
  std::uint32_t done_ = 0;  ///< instructions of the item
  std::optional<TripSkip> skip_;
  std::uint64_t taken_ = 0;
  std::uint64_t skip_left_ = 0;
  Error error_;
};

class TraceCta final : public isa::CtaStream {
 public:
  void start(std::shared_ptr<const TraceFile> trace, const TracedCta& cta, const std::optional<TripSkip>& skip) {
    trace_ = std::move(trace);
    warps_.resize(static_cast<std::size_t>(trace_->warps_per_cta()));
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      warps_[w].start(*trace_, cta, static_cast<std::uint32_t>(w), cache_, skip);
    }
  }
  [[nodiscard]] int warp_count() const override { return static_cast<int>(warps_.size()); }
  [[nodiscard]] isa::WarpStream& warp(int index) override { return warps_[static_cast<std::size_t>(index)]; }

 private:
  std::shared_ptr<const TraceFile> trace_;
  BlockCache cache_;
  std::vector<TraceWarp> warps_;
};

}  // namespace

isa::Dim3 TraceKernel::grid() const {
  return trace_->whole_grid() ? trace_->launch().grid
                              : isa::Dim3{static_cast<std::uint32_t>(trace_->ctas().size()), 1, 1};
}

std::unique_ptr<isa::CtaStream> TraceKernel::open(std::uint64_t linear_id,
                                                  std::unique_ptr<isa::CtaStream> recycled) const {
  std::unique_ptr<TraceCta> cta;
  if (dynamic_cast<TraceCta*>(recycled.get()) != nullptr) {
    cta.reset(static_cast<TraceCta*>(recycled.release()));
  } else {
    cta = std::make_unique<TraceCta>();
  }
  cta->start(trace_, trace_->ctas()[static_cast<std::size_t>(linear_id)], skip_);
  return cta;
}

}  // namespace tilesim::traces
