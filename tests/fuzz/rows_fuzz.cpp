// libFuzzer entry: rows of microbenchmarks, and what a rule makes of them. Nothing may crash, hang or report an error
// without a message.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/lib/calibration.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilesim;
  static const model::GpuSpec spec = *model::find_gpu_spec("h200");
  static const app::CalibrationTable table = *app::parse_calibration_table(
      "spec_key,row_name,row_param,reduction,scale\nbarrier.base_cycles,cta_turnaround,*,intercept,1\n"
      "dram.latency_spread_ns,dram_latency_group,*,half_range,1\nl2.hit_latency,l2_hit,*,value,1\n",
      "spec_key,reason\n", "fuzz");
  const auto run = app::parse_measured_rows({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!run && run.error().message.empty()) {
    std::abort();
  }
  if (run) {
    const auto calibration = app::calibrate(spec, table, {*run, *run}, "fuzz");
    if (!calibration && calibration.error().message.empty()) {
      std::abort();
    }
  }
  return 0;
}
