// Writes traces: CTA by CTA, what each warp executed.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "model/result.h"
#include "sim/isa/stream.h"
#include "traces/trace/block_file.h"
#include "traces/trace/cta_block.h"
#include "traces/trace/launch_record.h"
#include "traces/trace/loop_folder.h"
#include "traces/trace/spin_filter.h"

namespace tilesim::traces {

/// Memory: what the warps of one CTA executed since their loops last folded, at most a few MB a warp; of CTAs that are
/// recorded side by side, what all but the first of them executed, folded and encoded.
class TraceWriter {
 public:
  /// Errors (kUsage): a path that cannot be written. The file is there after finish() only.
  [[nodiscard]] static Result<TraceWriter> create(const std::filesystem::path& path);

  /// Begins CTA `id` with warps 0 to `warps` - 1; it is the current one. Ids grow. Earlier ones may still be open.
  void begin_cta(std::uint64_t id, int warps);
  /// Makes an open CTA the current one.
  void resume_cta(std::uint64_t id);
  /// Appends an executed instruction of a warp of the current CTA; `polls` as polls_memory() says. Trips of loops that
  /// only wait are left out (spin_filter.h). `instruction` must live as long as the CTA is open. Errors (kFailed): the
  /// disk is full or the like.
  [[nodiscard]] Result<void> add(int warp, const isa::DynamicInstruction& executed, const isa::Instruction& instruction,
                                 bool polls = false);
  /// Ends the current CTA.
  [[nodiscard]] Result<void> end_cta();
  /// Writes what belongs to all CTAs and completes the file. Errors: kUsage: code or launch that a reader would refuse;
  /// kFailed: the disk is full or the like.
  [[nodiscard]] Result<void> finish(const isa::Program& program, const LaunchRecord& launch);

  [[nodiscard]] std::uint64_t bytes() const { return file_->offset(); }
  /// Warp instructions so far.
  [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
  /// Warp instructions of waiting loops that were left out, in CTAs that have ended.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  /// A CTA under recording. Blocks of the first one go to the file, those of others wait until it is their turn.
  struct OpenCta {
    std::uint64_t id = 0;
    std::vector<LoopFolder> warps;
    std::vector<SpinFilter> filters;
    CtaBlockBuilder block;  ///< the last segments of the warps
    std::vector<std::pair<std::uint32_t, Bytes>> held;
    std::uint64_t instructions = 0;
    bool ended = false;
  };

  TraceWriter() = default;
  [[nodiscard]] Result<void> append(OpenCta& cta, int warp, const isa::DynamicInstruction& executed,
                                    const isa::Instruction& instruction);
  [[nodiscard]] Result<void> flush(OpenCta& cta, int warp, bool last);
  [[nodiscard]] Result<void> write(OpenCta& cta, CtaBlockBuilder& block);
  void enter();

  struct Entry {
    std::uint64_t id = 0;
    std::uint64_t offset = 0;
    std::uint64_t instructions = 0;
  };
  std::unique_ptr<BlockFileWriter> file_;
  std::deque<std::unique_ptr<OpenCta>> open_;  ///< by rising id; the first has its entry
  OpenCta* current_ = nullptr;
  std::unique_ptr<OpenCta> spare_;  ///< whose storage the next CTA uses
  std::vector<Entry> ctas_;
  std::uint64_t instructions_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace tilesim::traces
