// Machine code of one kernel out of a file, with what the file knows about a launch of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/gpu_spec.h"
#include "model/result.h"
#include "tools/lib/nvdisasm.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/emulator/arguments.h"
#include "traces/sass/decoder.h"
#include "traces/sass/instruction.h"

namespace tilesim::app {

enum class CodeFormat { kListing, kCubin, kTrace };

/// What only a cubin tells.
struct CubinFacts {
  int registers = 0;                 ///< per thread
  std::int64_t static_shared = 0;    ///< bytes of a CTA
  std::int64_t local_bytes = 0;      ///< per thread
  int barriers = 1;                  ///< named barriers, at least 1 as occupancy counts them
  std::int64_t maximum_threads = 0;  ///< of a CTA; 0 = not given
  std::vector<traces::CubinParameter> parameters;
};

[[nodiscard]] CubinFacts facts_of(const traces::CubinKernel& kernel);

struct CodeFile {
  traces::DecodedKernel kernel;
  std::optional<CubinFacts> facts;
  std::optional<DisassemblyCheck> checked;
};

/// 90 for compute capability 9.0.
[[nodiscard]] int architecture_of(const model::GpuSpec& gpu);

/// Reads a listing, or a cubin or what holds some, chooses the kernel (traces::choose_name(); of several architectures
/// the given one) and decodes it. `nvdisasm`: with whose text a cubin's is compared (find_nvdisasm()); empty: none.
/// Errors: the readers', the decoder's and nvdisasm's.
[[nodiscard]] Result<CodeFile> load_code(const std::string& path, CodeFormat format, const std::string& kernel,
                                         int architecture, traces::Unknown unknown, const std::string& nvdisasm);

/// The facts alone: needs no decoder, so that a kernel with unknown instructions has an occupancy too.
struct CubinSummary {
  std::string name;  ///< mangled
  int architecture = 0;
  CubinFacts facts;
};
[[nodiscard]] Result<CubinSummary> load_facts(const std::string& path, const std::string& kernel, int architecture);

/// Code for another compute capability than the GPU's is an error (kUsage).
[[nodiscard]] Result<void> check_architecture(const model::GpuSpec& gpu, int architecture);

/// Parses the arguments and holds them against what is known of the parameters: the cubin's table, else the C++
/// signature. Errors (kUsage) name the argument.
[[nodiscard]] Result<traces::KernelArguments> arguments_for(const CodeFile& code, const std::string& arguments);

}  // namespace tilesim::app
