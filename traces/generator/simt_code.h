// What is particular to the code of SIMT tile kernels: FFMAs on fragments of single elements.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/generator/code_builder.h"

namespace tilesim::traces::generator {

class SimtBuilder final : public CodeBuilder {
 public:
  SimtBuilder(const model::TileConfig& config, TileAccesses& accesses)
      : CodeBuilder(config, accesses, config.tm * config.tn, 1) {}

  static constexpr int kZeroed = 2;  ///< registers that one CS2R sets

  /// The products of one slice, or of `count` steps of K from `first` on.
  void multiply(std::int64_t slice);
  void multiply(std::int64_t slice, std::int64_t first, std::int64_t count);
  /// Stores of C, and the end.
  void store_c();

 private:
  std::vector<Use> fragment(bool is_b, std::int64_t k, std::int64_t slice);
  std::vector<Use> direct_fragment(bool is_b, std::int64_t k, std::int64_t slice);
};

}  // namespace tilesim::traces::generator
