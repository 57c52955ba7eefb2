// Shipped specs and small builders for the tests of the analytic model.
#pragma once

#include <string>

#include "model/gpu_spec.h"
#include "model/tile_config.h"
#include "tests/support/catch.h"

namespace tilesim::model {

inline GpuSpec shipped_gpu(const std::string& id) {
  auto spec = find_gpu_spec(id);
  REQUIRE(spec);
  return *std::move(spec);
}

/// The H200's numbers with another compute capability and SM count: the device facts that a published case names.
inline GpuSpec gpu_of(int major, int minor, std::int64_t sm_count = 132) {
  GpuSpec spec = shipped_gpu("h200");
  spec.device.compute_capability_major = major;
  spec.device.compute_capability_minor = minor;
  spec.device.sm_count = sm_count;
  return spec;
}

inline Problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, DataType dtype = DataType::kF32) {
  Problem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.dtype = dtype;
  return problem;
}

inline TileConfig mma_tile(std::int64_t bm, std::int64_t bn, std::int64_t bk, std::int64_t wm, std::int64_t wn,
                           std::int64_t stages, DataType dtype = DataType::kF16) {
  TileConfig config;
  config.family = Family::kMma;
  config.bm = bm;
  config.bn = bn;
  config.bk = bk;
  config.wm = wm;
  config.wn = wn;
  config.stages = stages;
  config.copy = CopyPath::kAsync;
  config.vec = 16 / element_bytes(dtype);
  config.dtype = dtype;
  config.layout = Layout::kNT;
  return config;
}

}  // namespace tilesim::model
