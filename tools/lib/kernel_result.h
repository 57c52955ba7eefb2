// What a simulation of a kernel tells: named metrics, warp states, access sites, and what was simulated.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/gpu_spec.h"
#include "model/occupancy.h"
#include "model/tile_config.h"
#include "sim/isa/stream.h"
#include "sim/result.h"

namespace tilesim::app {

enum class MetricKind { kSimulated, kAnalytic };

struct Metric {
  double value = 0.0;
  std::string unit;
  MetricKind kind = MetricKind::kSimulated;
};

/// One memory instruction of the code.
struct SiteReport {
  std::uint32_t index = 0;
  std::string text;
  bool shared = false;
  bool store = false;
  double requests = 0.0;
  double wavefronts = 0.0;
  double ideal_wavefronts = 0.0;
  double sectors = 0.0;
  double lines = 0.0;
  [[nodiscard]] double conflicts() const { return wavefronts - ideal_wavefronts; }
};

/// What was simulated and what was extrapolated from it.
struct Coverage {
  bool detailed = false;
  int simulated_sms = 0;
  int sms_with_work = 0;
  std::uint64_t loop_trips = 0;        ///< of the main loop, per warp; 0 without a loop
  std::vector<std::uint64_t> lengths;  ///< trips simulated per run; one entry = nothing extrapolated in time
  std::uint64_t instructions_simulated = 0;
};

/// How the kernel is launched.
struct KernelLaunch {
  isa::Dim3 grid;
  isa::Dim3 block;
  std::int64_t shared_bytes = 0;  ///< static plus dynamic
  int registers = 0;              ///< per thread
  bool registers_assumed = false;
  int barriers = 1;                ///< named barriers of a CTA
  std::optional<int> carveout_kb;  ///< none = the largest
  std::string arguments;           ///< as parse_arguments() takes them; empty for generated code
};

/// What was simulated and how it ran.
struct KernelResult {
  std::string kernel;                   ///< demangled
  std::string code;                     ///< "compiled", "estimated" or "approximate"
  std::string origin;                   ///< file that the code comes from; empty for generated code
  std::string origin_kind = "listing";  ///< what that file is: "listing", "cubin" or "accelsim_trace"
  model::GpuSpec gpu;
  KernelLaunch launch;
  model::Occupancy occupancy;
  double clock_mhz = 0.0;
  double cycles_active_avg = 0.0;   ///< sm__cycles_active.avg, idle SMs included
  double cycles_elapsed_max = 0.0;  ///< sm__cycles_elapsed.max
  double seconds = 0.0;
  double flops = 0.0;
  model::DataType math = model::DataType::kF32;  ///< type whose pipe the peak is of
  double peak_flops_per_second = 0.0;            ///< of that pipe, all SMs, at clock_mhz
  double instructions = 0.0;                     ///< executed by all warps of the launch; not extrapolated
  std::array<double, sim::kWarpStateCount> state_per_issue{};  ///< warp cycles per issued instruction
  double barrier_share = 0.0;                                  ///< barrier cycles over all warp cycles
  std::vector<SiteReport> sites;
  double waves = 0.0;
  std::map<std::string, Metric> metrics;  ///< by Nsight Compute name
  Coverage coverage;
  std::vector<std::string> notes;
};

/// Share of a waiting state in all waiting (selected and not_selected left out), 0 to 1, by state number.
[[nodiscard]] std::array<double, sim::kWarpStateCount> waiting_shares(const KernelResult& result);

/// FLOP/s of the whole run; 0 without time.
[[nodiscard]] double flops_per_second(const KernelResult& result);

/// The same as percent of the pipe's peak at the run's clock.
[[nodiscard]] double percent_of_peak(const KernelResult& result);

/// What multiplies elements of a type: "FP32", "bf16 tensor".
[[nodiscard]] std::string pipe_name(model::DataType math);

/// A metric by name; 0 if there is none.
[[nodiscard]] double metric_value(const KernelResult& result, const std::string& name);

}  // namespace tilesim::app
