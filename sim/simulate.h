// Runs a kernel on the machine.
#pragma once

#include <cstdint>
#include <vector>

#include "model/gpu_spec.h"
#include "model/result.h"
#include "sim/events.h"
#include "sim/isa/stream.h"
#include "sim/result.h"
#include "sim/sm/sm_parameters.h"

namespace tilesim::sim {

struct SimulationOptions {
  int ctas_per_sm = 1;        ///< CTA slots of an SM, from the occupancy rules
  int l1_bytes = 0;           ///< what the shared-memory carve-out leaves to the L1
  double clock_mhz = 1980.0;  ///< SM clock; DRAM times are held in ns
  /// SMs that run every instruction; empty = all. The others send the requests of their own CTAs, paced by the
  /// simulated SM that has as many CTAs, and have zero counters in the result.
  std::vector<int> detailed_sms;
  std::uint64_t seed = 0;  ///< of the start offsets of request generators
  WarpPolicy policy = WarpPolicy::kGreedyHighestSlot;
  Listener* listener = nullptr;
  /// Host threads that share the SMs. Same result for any number; one thread where streams depend on what other SMs
  /// store, and with a listener.
  int threads = 1;
  /// Visits every cycle of every unit instead of those with something to do: the oracle of the tests. Same result,
  /// slow.
  bool every_cycle = false;
};

/// How the grid falls on the SMs if all run alike: CTAs per SM, by SM number.
[[nodiscard]] std::vector<std::uint64_t> ctas_by_sm(const model::GpuSpec& spec, std::uint64_t ctas, int ctas_per_sm);

/// Simulates the launch from first CTA start to last CTA end. Errors: an instruction that the machine does not model,
/// or the stream's own error (an access outside its allocation). Deterministic: same input, same result.
[[nodiscard]] Result<SimulationResult> simulate(const model::GpuSpec& spec, const isa::KernelStream& kernel,
                                                const SimulationOptions& options);

}  // namespace tilesim::sim
