#include "tools/lib/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tilesim::app {

namespace {

/// A calibration kernel (traces/calibration/h200): FP32, both matrices as written, M = N = K = `size`.
struct CalibratedTile {
  std::int64_t bm, bn, bk, tm, tn, stages, pad_a;
  std::int64_t size;
  /// Of sm__cycles_active.avg, generated code against Nsight Compute (tests/accuracy/estimated_test.cpp holds it).
  std::optional<double> error_percent;
};

constexpr const char* kMeasuredGpu = "h200";
constexpr std::array<CalibratedTile, 10> kCalibrated{{{128, 128, 8, 8, 8, 1, 0, 1024, -9.0},
                                                      {128, 128, 8, 8, 8, 1, 0, 4096, 3.5},
                                                      {128, 128, 8, 8, 8, 2, 4, 1024, -0.8},
                                                      {128, 128, 8, 8, 8, 2, 4, 4096, -1.0},
                                                      {128, 128, 16, 8, 8, 2, 0, 1024, -0.4},
                                                      {128, 128, 16, 8, 8, 2, 0, 4096, 7.8},
                                                      {64, 64, 16, 4, 4, 2, 0, 1024, -2.4},
                                                      {64, 64, 16, 4, 4, 2, 0, 4096, -4.2},
                                                      {32, 32, 32, 2, 2, 1, 0, 1024, -1.0},
                                                      {32, 32, 32, 2, 2, 1, 0, 4096, -1.4}}};

bool is_tile(const CalibratedTile& t, const model::TileConfig& c) {
  model::TileConfig measured;  // all else as by default
  measured.bm = t.bm;
  measured.bn = t.bn;
  measured.bk = t.bk;
  measured.tm = t.tm;
  measured.tn = t.tn;
  measured.stages = t.stages;
  measured.pad_a = t.pad_a;
  measured.registers = c.registers;
  return measured == c;
}

bool is_shape(const CalibratedTile& t, const model::Problem& p) {
  return p.m == t.size && p.n == t.size && p.k == t.size && p.split_k == 1 && p.batch == 1;
}

/// The GPU that was measured, no number changed.
bool is_measured_gpu(const model::GpuSpec& gpu) {
  const auto original = model::find_gpu_spec(kMeasuredGpu);
  return original && gpu.id == kMeasuredGpu &&
         std::equal(gpu.provenance.begin(), gpu.provenance.end(), original->provenance.begin(),
                    original->provenance.end(),
                    [](const auto& a, const auto& b) { return a.key == b.key && a.value == b.value; });
}

/// Why nothing is known of this kernel, and where errors on other kernels of its family are.
std::string elsewhere(const std::string& why, const model::TileConfig& config) {
  return fmt::format("{}; 'tilesim validate --run --family {}' prints the errors on recorded kernels", why,
                     to_string(config.family));
}

std::string off(double percent) {
  return fmt::format("{:.1f} % {}", std::abs(percent), percent < 0.0 ? "too short" : "too long");
}

}  // namespace

Trust trust_of(const model::TileConfig& config, const model::Problem& problem, const model::GpuSpec& gpu) {
  Trust trust;
  if (!is_measured_gpu(gpu)) {
    trust.sentence = fmt::format("nothing was measured on {}, only on {}",
                                 gpu.id == kMeasuredGpu ? "this changed spec" : gpu.id, kMeasuredGpu);
    return trust;
  }
  if (problem.split_k != 1 || problem.batch != 1) {
    trust.sentence = elsewhere("no calibration kernel splits K or works on batches", config);
    return trust;
  }
  const CalibratedTile* nearest = nullptr;
  for (const CalibratedTile& tile : kCalibrated) {
    if (is_tile(tile, config) && (nearest == nullptr || is_shape(tile, problem))) {
      nearest = &tile;
    }
  }
  if (nearest == nullptr) {
    trust.sentence = elsewhere("no calibration kernel has this tile", config);
    return trust;
  }
  trust.validated = true;
  trust.error_percent = nearest->error_percent;
  const std::string where = is_shape(*nearest, problem)
                                ? std::string("this tile and shape")
                                : fmt::format("not this shape, but this tile at {0} x {0} x {0}", nearest->size);
  trust.sentence =
      nearest->error_percent
          ? fmt::format("{} was measured: the cycles simulated with generated code are {}", where,
                        off(*nearest->error_percent))
          : fmt::format("{} was measured with nvcc's code; generated code is not compared with it yet", where);
  return trust;
}

}  // namespace tilesim::app
