#include "traces/generator/mma_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/tile_layout.h"

namespace tilesim::traces::generator {

using isa::MemoryOp;
using isa::Pipe;

namespace {

constexpr std::int64_t kWordBytes = 4;
constexpr int kSumRegisters = 4;              // of a 16 x 8 tile of C, per lane
constexpr std::int64_t kMatrixRowBytes = 16;  // what a lane names for LDSM
constexpr std::int64_t kPairBytes = 8;        // a lane stores two neighbours of C

}  // namespace

MmaBuilder::MmaBuilder(const model::TileConfig& config, TileAccesses& accesses)
    : CodeBuilder(config, accesses, config.wm / model::kMmaRows * (config.wn / model::kMmaColumns), kSumRegisters) {}

int MmaBuilder::sum(std::int64_t row_block, std::int64_t column_block) const {
  return static_cast<int>(row_block * (config().wn / model::kMmaColumns) + column_block);
}

void MmaBuilder::multiply(std::int64_t slice) {
  const model::TileConfig& c = config();
  const std::int64_t depth = model::mma_depth(c.dtype);
  for (std::int64_t k = 0; k < c.bk; k += depth) {
    const std::vector<Fragment> a = fragments(false, k, slice);
    const std::vector<Fragment> b = fragments(true, k, slice);
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < b.size(); ++j) {
        Operation op = operation(Pipe::kTensor, c.dtype == model::DataType::kTf32  ? "HMMA.1688.F32.TF32"
                                                : c.dtype == model::DataType::kF16 ? "HMMA.16816.F32"
                                                                                   : "HMMA.16816.F32.BF16");
        const int total = sum(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
        op.uses = {a[i].front(), b[j].front(), {total, 0}};
        op.uses.insert(op.uses.end(), a[i].begin() + 1, a[i].end());
        op.uses.insert(op.uses.end(), b[j].begin() + 1, b[j].end());
        op.result = total;
        op.code.flops_per_lane =
            static_cast<std::uint32_t>(2 * model::kMmaRows * model::kMmaColumns * depth / isa::kWarpSize);
        push(std::move(op));
      }
    }
  }
}

void MmaBuilder::store_c() {
  const model::TileConfig& c = config();
  // A lane's sums of a block: two neighbours in a row, and two more eight rows below. At the edges of the matrix they
  // are stored one by one.
  const std::int64_t pieces = in_bounds() ? 1 : 2;
  const std::int64_t bytes = kPairBytes / pieces;
  for (std::int64_t i = 0; i < c.wm / (model::kMmaRows / 2); ++i) {
    begin_row();
    for (std::int64_t j = 0; j < c.wn / model::kMmaColumns; ++j) {
      for (std::int64_t piece = 0; piece < pieces; ++piece) {
        std::vector<Use> sums;
        for (std::int64_t part = piece; part < piece + 2 / pieces; ++part) {
          sums.push_back({sum(i / 2, j), static_cast<int>(i % 2 * 2 + part)});
        }
        store_sums(bytes, sums,
                   {AccessKind::kStoreC, false, i * model::kMmaRows / 2, j * model::kMmaColumns + piece, 2 / pieces});
      }
    }
    end_row();
  }
  exit();
}

std::vector<MmaBuilder::Fragment> MmaBuilder::fragments(bool is_b, std::int64_t k, std::int64_t slice) {
  return model::fragments_by_word(config(), is_b) ? words(is_b, k, slice) : matrices(is_b, k, slice);
}

std::vector<MmaBuilder::Fragment> MmaBuilder::matrices(bool is_b, std::int64_t k, std::int64_t slice) {
  const char* transposed = model::k_contiguous(config(), is_b) ? "M88" : "MT88";
  const std::int64_t extent = is_b ? config().wn : config().wm;
  std::vector<Fragment> blocks;
  for (std::int64_t first = 0; first < extent; first += model::kMmaRows) {
    // Sixteen rows of A, or of B's columns as far as there are so many, as deep as a product: four matrices or two.
    const int count = std::min(extent - first, model::kMmaRows) == model::kMmaRows ? 4 : 2;
    const int value = load_fragment(MemoryOp::kLoadMatrix, fmt::format("LDSM.16.{}.{}", transposed, count),
                                    kMatrixRowBytes, count, slice, {AccessKind::kLoadMatrix, is_b, k, first, count});
    for (int part = 0; part < count; part += is_b ? 2 : 4) {
      blocks.push_back({{value, part}});
    }
  }
  return blocks;
}

std::vector<MmaBuilder::Fragment> MmaBuilder::words(bool is_b, std::int64_t k, std::int64_t slice) {
  const std::int64_t extent = is_b ? config().wn : config().wm;
  const std::int64_t block = is_b ? model::kMmaColumns : model::kMmaRows;
  std::vector<Fragment> blocks;
  for (std::int64_t first = 0; first < extent; first += block) {
    Fragment fragment;
    for (std::int64_t word = 0; word < (is_b ? 2 : 4); ++word) {
      const std::int64_t deeper = (is_b ? word : word / 2) * 4;
      const std::int64_t further = is_b ? 0 : word % 2 * 8;
      fragment.push_back({load_fragment(MemoryOp::kLoadShared, "LDS", kWordBytes, 1, slice,
                                        {AccessKind::kLoadFragment, is_b, k + deeper, first + further, 1}),
                          0});
    }
    blocks.push_back(std::move(fragment));
  }
  return blocks;
}

}  // namespace tilesim::traces::generator
