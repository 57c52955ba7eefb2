#include "traces/generator/tile_accesses.h"

#include <algorithm>

#include "sim/isa/lane_address.h"

namespace tilesim::traces::generator {

namespace {

constexpr std::int64_t kOutputBytes = 4;  // C is FP32
constexpr std::uint64_t kAlignment = std::uint64_t{1} << 21;
/// Where the shared window starts; the first KB of a CTA belongs to the system, as on sm_90.
constexpr std::uint64_t kSharedStart = 1024;

std::uint64_t aligned(std::int64_t elements, std::int64_t element_bytes, std::int64_t batch) {
  const auto bytes = static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(batch * element_bytes);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

TileAccesses::TileAccesses(const model::TileConfig& config, const model::Problem& problem)
    : config_(config), problem_(problem), element_bytes_(model::element_bytes(config.dtype)) {
  const std::int64_t leading_a = a_transposed(config.layout) ? problem.m : problem.k;
  const std::int64_t leading_b = b_transposed(config.layout) ? problem.k : problem.n;
  global_[0] = model::global_tile(config, false, leading_a);
  global_[1] = model::global_tile(config, true, leading_b);
  shared_[0] = model::shared_tile_a(config);
  shared_[1] = model::shared_tile_b(config);
  for (int i = 0; i < 2 && uses_shared_memory(config); ++i) {
    stage_bytes_[i] = static_cast<std::uint64_t>(shared_[i].bytes());
  }
  shared_base_[0] = kSharedStart;
  shared_base_[1] = kSharedStart + (stage_bytes_[0] * static_cast<std::uint64_t>(config.stages) + 15) / 16 * 16;
  space_.a = std::uint64_t{1} << 33;
  space_.b = space_.a + aligned(problem.m * problem.k, element_bytes_, problem.batch);
  space_.c = space_.b + aligned(problem.k * problem.n, element_bytes_, problem.batch);
  in_bounds_ =
      problem.m % config.bm == 0 && problem.n % config.bn == 0 && problem.k % (config.bk * problem.split_k) == 0;
}

TileAccesses::Lane TileAccesses::lane(const Access& access, std::int64_t thread) const {
  const int which = access.is_b ? 1 : 0;
  Lane lane;
  switch (access.kind) {
    case AccessKind::kLoadOperand:
    case AccessKind::kCopyOperand:
    case AccessKind::kStoreOperand: {
      const model::GlobalTile& tile = global_[which];
      const std::int64_t element = (thread + access.first * threads_per_cta(config_)) * config_.vec;
      const std::int64_t row = element / tile.columns;
      const std::int64_t column = element % tile.columns + access.second;
      lane.row = static_cast<std::int32_t>(row);
      lane.column = static_cast<std::int32_t>(column);
      lane.offset = (row * tile.leading + column) * element_bytes_;
      lane.shared = copy_transposes(config_, access.is_b)
                        ? model::shared_offset(shared_[which], config_.swizzle, column, row)
                        : model::shared_offset(shared_[which], config_.swizzle, row, column);
      break;
    }
    case AccessKind::kLoadDirect: {
      const model::TileElement element =
          model::direct_element(config_, access.is_b, thread, access.first, access.second);
      lane.row = static_cast<std::int32_t>(element.row);
      lane.column = static_cast<std::int32_t>(element.column);
      lane.offset = (element.row * global_[which].leading + element.column) * element_bytes_;
      break;
    }
    case AccessKind::kLoadFragment:
    case AccessKind::kLoadMatrix:
      return fragment_lane(access, thread);
    case AccessKind::kStoreC:
      return c_lane(access, thread);
    case AccessKind::kLocal:
      break;
  }
  return lane;
}

TileAccesses::Lane TileAccesses::fragment_lane(const Access& access, std::int64_t thread) const {
  model::TileElement element;
  if (config_.family == model::Family::kSimt) {
    const model::TileElement sums = model::simt_sum_element(config_, thread);
    element = {access.first, (access.is_b ? sums.column : sums.row) + access.second};
  } else {
    element = model::mma_fragment_element(config_, access.is_b, thread, access.first, access.second,
                                          access.kind == AccessKind::kLoadMatrix ? access.width : 0);
  }
  Lane lane;
  lane.shared = model::shared_offset(shared_[access.is_b ? 1 : 0], config_.swizzle, element.row, element.column);
  return lane;
}

TileAccesses::Lane TileAccesses::c_lane(const Access& access, std::int64_t thread) const {
  const model::TileElement corner = config_.family == model::Family::kSimt ? model::simt_sum_element(config_, thread)
                                                                           : model::mma_sum_element(config_, thread);
  Lane lane;
  lane.row = static_cast<std::int32_t>(corner.row + access.first);
  lane.column = static_cast<std::int32_t>(corner.column + access.second);
  lane.offset = (lane.row * problem_.n + lane.column) * kOutputBytes;
  return lane;
}

int TileAccesses::add(const Access& access) {
  const auto found = std::find(accesses_.begin(), accesses_.end(), access);
  if (found != accesses_.end()) {
    return static_cast<int>(found - accesses_.begin());
  }
  accesses_.push_back(access);
  spilled_ = access.kind == AccessKind::kLocal ? std::max(spilled_, access.first + 1) : spilled_;
  std::vector<Lane>& lanes = lanes_.emplace_back();
  for (std::int64_t thread = 0; thread < threads_per_cta(config_); ++thread) {
    lanes.push_back(lane(access, thread));
  }
  return static_cast<int>(accesses_.size()) - 1;
}

void TileAccesses::describe(int access, int warp, const TilePosition& position, std::int64_t slice,
                            isa::DynamicInstruction& out) const {
  const Access& a = accesses_[static_cast<std::size_t>(access)];
  const Lane* lanes =
      lanes_[static_cast<std::size_t>(access)].data() + static_cast<std::ptrdiff_t>(warp) * isa::kWarpSize;
  if (a.kind == AccessKind::kStoreOperand || a.kind == AccessKind::kLoadFragment || a.kind == AccessKind::kLoadMatrix) {
    const std::uint64_t base = buffer(a, slice);
    const bool half = a.kind == AccessKind::kLoadMatrix && a.width == 2;  // 16 lanes name rows
    out.active_mask = half ? 0xffffU : ~0U;
    for (std::size_t l = 0; l < out.addresses.size(); ++l) {
      out.addresses[l] = base + lanes[l].shared;
    }
    return;
  }
  if (a.kind == AccessKind::kLocal) {
    const std::int64_t warps = threads_per_cta(config_) / isa::kWarpSize;
    const std::int64_t line = (position.cta * warps + warp) * spilled_ + a.first;
    for (unsigned l = 0; l < out.addresses.size(); ++l) {
      out.addresses[l] = isa::local_address(static_cast<std::uint64_t>(line), l, 0);
    }
    return;
  }
  global(a, lanes, position, slice, out);
  if (a.kind == AccessKind::kCopyOperand) {
    if (position.k + slice * config_.bk >= position.k_end) {
      out.active_mask = 0;
    } else {
      copy(a, lanes, slice, out);
    }
  }
}

std::uint64_t TileAccesses::buffer(const Access& access, std::int64_t slice) const {
  const int which = access.is_b ? 1 : 0;
  return shared_base_[which] + static_cast<std::uint64_t>(slice % config_.stages) * stage_bytes_[which];
}

void TileAccesses::copy(const Access& access, const Lane* lanes, std::int64_t slice,
                        isa::DynamicInstruction& out) const {
  constexpr std::int64_t kBypassBytes = 16;  // cp.async.cg
  const std::uint64_t base = buffer(access, slice);
  for (std::size_t l = 0; l < out.addresses.size(); ++l) {
    const bool reads = (out.active_mask >> l & 1U) != 0;
    out.addresses[l] = isa::CopyLane{reads ? out.addresses[l] : 0, static_cast<std::uint32_t>(base) + lanes[l].shared,
                                     access.width * element_bytes_ == kBypassBytes}
                           .packed();
  }
  out.active_mask = ~0U;
}

void TileAccesses::global(const Access& a, const Lane* lanes, const TilePosition& position, std::int64_t slice,
                          isa::DynamicInstruction& out) const {
  const bool is_c = a.kind == AccessKind::kStoreC;
  std::int64_t row = position.row;
  std::int64_t column = position.column;
  std::int64_t rows = problem_.m;
  std::int64_t columns = problem_.n;
  std::int64_t leading = problem_.n;
  std::int64_t bytes = kOutputBytes;
  std::uint64_t base = space_.c;
  if (!is_c) {
    const std::int64_t k = position.k + slice * config_.bk;
    const std::int64_t extent = a.is_b ? position.column : position.row;
    const bool along_k = model::k_contiguous(config_, a.is_b);
    row = along_k ? extent : k;
    column = along_k ? k : extent;
    const std::int64_t size = a.is_b ? problem_.n : problem_.m;
    rows = along_k ? size : position.k_end;
    columns = along_k ? position.k_end : size;
    leading = global_[a.is_b ? 1 : 0].leading;
    base = a.is_b ? space_.b : space_.a;
    bytes = element_bytes_;
    base += static_cast<std::uint64_t>(position.batch * problem_.k * size * bytes);
  } else {
    base += static_cast<std::uint64_t>(model::stored_before(problem_, position.batch, position.part) * problem_.m *
                                       problem_.n * bytes);
  }
  base += static_cast<std::uint64_t>((row * leading + column) * bytes);
  out.active_mask = ~0U;
  for (int l = 0; l < isa::kWarpSize; ++l) {
    out.addresses[static_cast<std::size_t>(l)] = base + static_cast<std::uint64_t>(lanes[l].offset);
  }
  if (!in_bounds_) {
    for (int l = 0; l < isa::kWarpSize; ++l) {
      const bool inside = row + lanes[l].row < rows && column + lanes[l].column < columns;
      out.active_mask &= inside ? ~0U : ~(1U << l);
    }
  }
}

}  // namespace tilesim::traces::generator
