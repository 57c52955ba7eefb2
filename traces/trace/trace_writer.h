// Writes traces: CTA by CTA, what each warp executed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "model/result.h"
#include "sim/isa/stream.h"
#include "traces/trace/block_file.h"
#include "traces/trace/cta_block.h"
#include "traces/trace/launch_record.h"
#include "traces/trace/loop_folder.h"

namespace tilesim::traces {

/// Memory: what the warps of one CTA executed since their loops last folded, at most a few MB a warp.
class TraceWriter {
 public:
  /// Errors (kUsage): a path that cannot be written. The file is there after finish() only.
  [[nodiscard]] static Result<TraceWriter> create(const std::filesystem::path& path);

  /// Begins CTA `id` with warps 0 to `warps` - 1. Ids grow.
  void begin_cta(std::uint64_t id, int warps);
  /// Appends an executed instruction of a warp. Errors (kFailed): the disk is full or the like.
  [[nodiscard]] Result<void> add(int warp, const isa::DynamicInstruction& executed,
                                 const isa::Instruction& instruction);
  [[nodiscard]] Result<void> end_cta();
  /// Writes what belongs to all CTAs and completes the file. Errors: kUsage: code or launch that a reader would refuse;
  /// kFailed: the disk is full or the like.
  [[nodiscard]] Result<void> finish(const isa::Program& program, const LaunchRecord& launch);

  [[nodiscard]] std::uint64_t bytes() const { return file_->offset(); }
  /// Warp instructions so far.
  [[nodiscard]] std::uint64_t instructions() const { return instructions_; }

 private:
  TraceWriter() = default;
  [[nodiscard]] Result<void> flush(int warp, bool last);
  [[nodiscard]] Result<void> write(CtaBlockBuilder& block);

  struct Entry {
    std::uint64_t id = 0;
    std::uint64_t offset = 0;
    std::uint64_t instructions = 0;
  };
  std::unique_ptr<BlockFileWriter> file_;
  std::vector<LoopFolder> warps_;
  CtaBlockBuilder block_;  ///< the last segments of the warps
  std::vector<Entry> ctas_;
  std::uint64_t instructions_ = 0;
};

}  // namespace tilesim::traces
