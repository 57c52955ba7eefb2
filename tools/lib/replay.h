// The question "how does this nvcc-built kernel run on that GPU": from its code and a launch to named results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/gpu_spec.h"
#include "model/result.h"
#include "sim/isa/stream.h"
#include "tools/lib/code_file.h"
#include "tools/lib/kernel_result.h"

namespace tilesim::app {

inline constexpr std::int64_t kMaxSharedBytes = std::int64_t{1} << 30;  ///< of a CTA or an SM; any GPU's limit is below

struct ReplayRequest {
  std::string file;  ///< path of the code, or of a trace, which brings kernel and launch
  CodeFormat format = CodeFormat::kListing;
  std::string kernel;  ///< name or unique substring; empty if the file holds one kernel
  isa::Dim3 grid;
  isa::Dim3 block;
  std::int64_t shared_bytes = 0;    ///< static plus dynamic for a listing, dynamic for a cubin
  std::optional<int> registers;     ///< per thread; listing only; none = highest referenced + 3
  std::optional<int> carveout_kb;   ///< none = the largest
  std::string arguments;            ///< as parse_arguments() takes them
  std::optional<double> clock_mhz;  ///< none = the spec's for the pipe that the code uses
  bool other_architecture = false;  ///< time code of another architecture than the GPU's, and say so
  std::string nvdisasm;             ///< cubin only: whose text the decoder's is compared with; "auto": find one
  bool unknown_is_nop = false;      ///< go on where the decoder does not know an instruction, and say so
  bool detailed = false;            ///< every SM, every instruction
  int threads = 1;                  ///< host threads
};

/// Replays the kernel. Errors: the code's, the launch's, an access outside its allocation, a kernel that does not
/// fit.
[[nodiscard]] Result<KernelResult> replay(const model::GpuSpec& gpu, const ReplayRequest& request);

}  // namespace tilesim::app
