#include "traces/generator/simt_code.h"

#include <utility>

#include "model/tile_layout.h"

namespace tilesim::traces::generator {

using isa::MemoryOp;
using isa::Pipe;

namespace {

constexpr std::int64_t kFloat = 4;

}  // namespace

void SimtBuilder::multiply(std::int64_t slice) { multiply(slice, 0, config().bk); }

void SimtBuilder::multiply(std::int64_t slice, std::int64_t first, std::int64_t count) {
  const model::TileConfig& c = config();
  for (std::int64_t k = first; k < first + count; ++k) {
    const std::vector<Use> a = fragment(false, k, slice);
    const std::vector<Use> b = fragment(true, k, slice);
    for (std::int64_t i = 0; i < c.tm; ++i) {
      for (std::int64_t j = 0; j < c.tn; ++j) {
        Operation op = operation(Pipe::kFma, "FFMA");
        const int sum = static_cast<int>(i * c.tn + j);
        op.uses = {a[static_cast<std::size_t>(i)], b[static_cast<std::size_t>(j)], {sum, 0}};
        op.result = sum;
        op.code.flops_per_lane = 2;
        push(std::move(op));
      }
    }
  }
}

void SimtBuilder::store_c() {
  const model::TileConfig& c = config();
  for (std::int64_t i = 0; i < c.tm; ++i) {
    begin_row();
    for (std::int64_t j = 0; j < c.tn; ++j) {
      store_sums(kFloat, {{static_cast<int>(i * c.tn + j), 0}}, {AccessKind::kStoreC, false, i, j, 1});
    }
    end_row();
  }
  exit();
}

std::vector<Use> SimtBuilder::fragment(bool is_b, std::int64_t k, std::int64_t slice) {
  if (!uses_shared_memory(config())) {
    return direct_fragment(is_b, k, slice);
  }
  const std::int64_t count = is_b ? config().tn : config().tm;
  const std::int64_t width = fragment_width(config(), is_b);
  std::vector<Use> uses;
  for (std::int64_t part = 0; part < count; part += width) {
    const int value = load_fragment(MemoryOp::kLoadShared, width_name("LDS", width * kFloat), width * kFloat,
                                    static_cast<int>(width), slice, {AccessKind::kLoadFragment, is_b, k, part, width});
    for (std::int64_t e = 0; e < width; ++e) {
      uses.push_back({value, static_cast<int>(e)});
    }
  }
  return uses;
}

std::vector<Use> SimtBuilder::direct_fragment(bool is_b, std::int64_t k, std::int64_t slice) {
  std::vector<Use> uses;
  for (std::int64_t part = 0; part < (is_b ? config().tn : config().tm); ++part) {
    uses.push_back({load_element({AccessKind::kLoadDirect, is_b, k, part, 1}, slice), 0});
  }
  return uses;
}

}  // namespace tilesim::traces::generator
