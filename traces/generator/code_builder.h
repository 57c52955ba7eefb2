// Builds the blocks of a tile kernel: the parts that all families share. What they multiply and how they store C is
// theirs (simt_code.h, mma_code.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/tile_config.h"
#include "traces/generator/block.h"
#include "traces/generator/tile_accesses.h"

namespace tilesim::traces::generator {

class CodeBuilder {
 public:
  /// `sums` accumulator values of `sum_width` registers each live all through the kernel: values 0, 1, ...
  CodeBuilder(const model::TileConfig& config, TileAccesses& accesses, std::int64_t sums, int sum_width);

  /// The block built so far; a new one starts.
  [[nodiscard]] Block take();

  /// Integer work of `count` operations in chains of `depth`; the last of them feed memory addresses.
  void integers(int count, int depth, isa::Pipe pipe = isa::Pipe::kAlu, const char* name = "IADD3");
  /// What the kernel starts with: indices, parameters, addresses (`integers` operations), accumulators to zero
  /// (`zeroed` registers at a time).
  void start(int integers, int zeroed);
  /// Loads of a slice into registers. Returns the staged values of A, then B.
  std::vector<int> load_slice(std::int64_t slice);
  void store_slice(const std::vector<int>& staged, std::int64_t slice);
  /// Asynchronous copies of a slice, and the end of their group.
  void copy_slice(std::int64_t slice);
  void wait_groups(std::int64_t left);
  /// After all stores and loads of the block so far; before everything that follows it in shared memory.
  void barrier();
  /// Values in local memory: `loads` and `stores` of them, spread over the loads of the block from shared memory
  /// (direct: from global memory), which wait for what is loaded.
  void spill(std::int64_t values, std::int64_t loads, std::int64_t stores);
  /// Back to the start of the loop; after everything.
  void branch();
  /// After everything.
  void exit();

 protected:
  [[nodiscard]] const model::TileConfig& config() const { return c_; }
  [[nodiscard]] bool in_bounds() const { return accesses_.in_bounds(); }
  [[nodiscard]] static Operation operation(isa::Pipe pipe, std::string name);
  /// An access of `bytes` per lane that sends `registers` to the memory pipe.
  [[nodiscard]] Operation memory(isa::MemoryOp kind, std::string name, std::int64_t bytes, int registers,
                                 std::int64_t slice, const Access& access);
  /// A load of one element from global memory; returns the value.
  int load_element(const Access& access, std::int64_t slice);
  /// A load from shared memory into `width` registers; returns the value.
  int load_fragment(isa::MemoryOp kind, std::string name, std::int64_t bytes, int width, std::int64_t slice,
                    const Access& access);
  /// A part of C goes to memory: `bytes` per lane, `sums` of them, by itself or as alpha A B + beta C. Between
  /// begin_row() calls ptxas keeps reads of C in front of the stores.
  void begin_row();
  void store_sums(std::int64_t bytes, const std::vector<Use>& sums, const Access& access);
  void end_row();
  /// "LDS.64" for 8 bytes; 4 bytes go without saying.
  [[nodiscard]] static std::string width_name(const char* opcode, std::int64_t bytes);
  void push(Operation op) { block_.operations.push_back(std::move(op)); }

 private:
  /// A store to C that waits for the end of its row.
  struct PendingStore {
    std::int64_t bytes = 0;
    std::vector<Use> sums;
    Access access;
    int read = -1;  ///< the value of C, if it is read
  };

  void restart();
  void after_all(Operation& op) const;
  int new_value(int width);
  [[nodiscard]] std::vector<int> after_barrier() const;
  [[nodiscard]] int next() const { return static_cast<int>(block_.operations.size()); }

  const model::TileConfig& c_;
  TileAccesses& accesses_;
  std::int64_t element_bytes_;
  std::vector<Value> fixed_;
  int address_ = 0;
  Block block_;
  std::vector<int> stores_, loads_, fragments_;
  std::vector<PendingStore> row_;
  std::vector<int> row_stores_;  ///< of the row before
  int barrier_ = -1;
};

}  // namespace tilesim::traces::generator
