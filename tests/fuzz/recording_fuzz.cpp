// libFuzzer entry: recordings. Nothing may crash, hang or report an error without a message; what is read makes sense.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/fuzz/run_kernel.h"
#include "traces/recorded/recording.h"

using namespace tilesim;
using namespace tilesim::traces;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto recording = parse_recording(std::string(reinterpret_cast<const char*>(data), size), "folder/fuzz.json");
  if (!recording) {
    fuzz::expect_message(recording.error());
    return 0;
  }
  for (const RecordedRun& run : recording->runs) {
    if (!(recording->clock_mhz(run) > 0.0) || run.grid.count() == 0 || !recording->codes.contains(run.code)) {
      std::abort();
    }
  }
  return 0;
}
