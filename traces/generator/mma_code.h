// What is particular to the code of mma tile kernels (kernels/mma): HMMAs on fragments that LDSM loads.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/generator/code_builder.h"

namespace tilesim::traces::generator {

class MmaBuilder final : public CodeBuilder {
 public:
  MmaBuilder(const model::TileConfig& config, TileAccesses& accesses);

  static constexpr int kZeroed = 1;  ///< registers that one CS2R sets

  /// The products of one slice.
  void multiply(std::int64_t slice);
  /// Stores of C, and the end.
  void store_c();

 private:
  /// The registers of a block, 16 rows of A or 8 columns of B: one use of a value that LDSM loaded, or one per word.
  using Fragment = std::vector<Use>;
  [[nodiscard]] std::vector<Fragment> fragments(bool is_b, std::int64_t k, std::int64_t slice);
  [[nodiscard]] std::vector<Fragment> matrices(bool is_b, std::int64_t k, std::int64_t slice);
  [[nodiscard]] std::vector<Fragment> words(bool is_b, std::int64_t k, std::int64_t slice);
  [[nodiscard]] int sum(std::int64_t row_block, std::int64_t column_block) const;
};

}  // namespace tilesim::traces::generator
