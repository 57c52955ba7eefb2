// libFuzzer entry: profiles of Nsight Compute. Nothing may crash, hang or report an error without a message; what is
// read has finite numbers and can be chosen.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/run_kernel.h"
#include "traces/profile/ncu_profile.h"

using namespace tilesim;
using namespace tilesim::traces;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto profile = parse_ncu_profile({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!profile) {
    fuzz::expect_message(profile.error());
    return 0;
  }
  for (const ProfiledLaunch& launch : profile->launches) {
    for (const auto& [name, metric] : launch.metrics) {
      if (name.empty() || !std::isfinite(metric.value)) {
        std::abort();
      }
    }
    (void)clock_mhz(launch);
  }
  if (const auto chosen = choose_launch(*profile, "", ""); !chosen) {
    fuzz::expect_message(chosen.error());
  }
  return 0;
}
