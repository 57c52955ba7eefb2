// A trace that is open for reading: its tables; the CTAs stay on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "model/result.h"
#include "traces/trace/block_file.h"
#include "traces/trace/cta_block.h"
#include "traces/trace/launch_record.h"
#include "traces/trace/segment.h"

namespace tilesim::traces {

/// A CTA's blocks lie one after the other from `begin` to `end`.
struct TracedCta {
  std::uint64_t id = 0;  ///< in the grid, x fastest
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t instructions = 0;  ///< of all its warps
};

class TraceFile {
 public:
  /// Reads the tables. Errors: BlockFile's; tables that do not make sense, with the offset of their block.
  [[nodiscard]] static Result<std::shared_ptr<const TraceFile>> open(const std::filesystem::path& path);

  [[nodiscard]] const BlockFile& file() const { return *file_; }
  [[nodiscard]] const isa::Program& program() const { return program_; }
  [[nodiscard]] const LaunchRecord& launch() const { return launch_; }
  [[nodiscard]] const std::vector<TracedCta>& ctas() const { return ctas_; }
  /// True if every CTA of the grid is there.
  [[nodiscard]] bool whole_grid() const { return ctas_.size() == launch_.grid.count(); }
  [[nodiscard]] int warps_per_cta() const;
  [[nodiscard]] std::uint64_t instructions() const;
  [[nodiscard]] CodeLimits limits() const { return {program_.instructions, next_memory_}; }

  /// The first block of `cta` from `offset` on that has a segment of the warp, and where the next block begins.
  struct FoundBlock {
    std::uint64_t offset = 0;
    std::uint64_t behind = 0;
    BlockHeader header;
  };
  [[nodiscard]] Result<FoundBlock> find(const TracedCta& cta, std::uint32_t warp, std::uint64_t offset) const;
  [[nodiscard]] Result<std::shared_ptr<const CtaBlock>> load(const FoundBlock& block) const;

  /// Reads every block and checks it. Errors: the first damage, with its offset.
  [[nodiscard]] Result<void> verify() const;

 private:
  TraceFile() = default;
  [[nodiscard]] Result<void> read_index();
  [[nodiscard]] Result<void> read_tables(std::uint64_t program_at, std::uint64_t launch_at);
  [[nodiscard]] Result<Bytes> block_at(std::uint64_t offset, BlockKind kind) const;

  std::unique_ptr<BlockFile> file_;
  isa::Program program_;
  LaunchRecord launch_;
  std::vector<TracedCta> ctas_;
  std::vector<std::uint32_t> next_memory_;
};

}  // namespace tilesim::traces
