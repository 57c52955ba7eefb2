#include "tools/lib/code_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/cubin/parameter_table.h"
#include "traces/emulator/signature.h"
#include "traces/sass/listing_reader.h"

namespace tilesim::app {

CubinFacts facts_of(const traces::CubinKernel& kernel) {
  return {kernel.registers_per_thread,
          static_cast<std::int64_t>(kernel.static_shared_bytes),
          static_cast<std::int64_t>(kernel.local_bytes),
          std::max(1, kernel.barriers),
          static_cast<std::int64_t>(kernel.maximum_threads),
          kernel.parameters};
}

namespace {

Result<CodeFile> load_listing(const std::string& path, const std::string& kernel, traces::Unknown unknown) {
  const auto listing = traces::read_listing(path);
  if (!listing) {
    return tl::unexpected<Error>(listing.error());
  }
  const auto chosen = traces::choose_kernel(*listing, kernel);
  if (!chosen) {
    return tl::unexpected<Error>(chosen.error());
  }
  auto decoded = traces::decode_kernel(**chosen, unknown);
  if (!decoded) {
    return tl::unexpected<Error>(decoded.error());
  }
  return CodeFile{std::move(*decoded), std::nullopt, std::nullopt};
}

Result<traces::CubinKernel> chosen_from_cubin(const std::string& path, const std::string& kernel, int architecture) {
  const auto cubin = traces::read_cubin(path);
  if (!cubin) {
    return tl::unexpected<Error>(cubin.error());
  }
  const auto chosen = traces::choose_kernel(*cubin, kernel, architecture);
  if (!chosen) {
    return tl::unexpected<Error>(chosen.error());
  }
  return **chosen;
}

}  // namespace

Result<CodeFile> load_code(const std::string& path, CodeFormat format, const std::string& kernel, int architecture,
                           traces::Unknown unknown, const std::string& nvdisasm) {
  if (format == CodeFormat::kListing) {
    return load_listing(path, kernel, unknown);
  }
  const auto chosen = chosen_from_cubin(path, kernel, architecture);
  if (!chosen) {
    return tl::unexpected<Error>(chosen.error());
  }
  auto decoded = traces::decode_kernel(*chosen, unknown);
  if (!decoded) {
    return tl::unexpected<Error>(decoded.error());
  }
  CodeFile code{std::move(*decoded), facts_of(*chosen), std::nullopt};
  if (!nvdisasm.empty()) {
    const auto program = find_nvdisasm(nvdisasm);
    if (!program) {
      return tl::unexpected<Error>(program.error());
    }
    auto checked = take_nvdisasm_text(*program, path, *chosen, code.kernel);
    if (!checked) {
      return tl::unexpected<Error>(checked.error());
    }
    code.checked = std::move(*checked);
  }
  return code;
}

int architecture_of(const model::GpuSpec& gpu) {
  return static_cast<int>(10 * gpu.device.compute_capability_major + gpu.device.compute_capability_minor);
}

Result<CubinSummary> load_facts(const std::string& path, const std::string& kernel, int architecture) {
  const auto chosen = chosen_from_cubin(path, kernel, architecture);
  if (!chosen) {
    return tl::unexpected<Error>(chosen.error());
  }
  return CubinSummary{chosen->name, chosen->architecture, facts_of(*chosen)};
}

Result<void> check_architecture(const model::GpuSpec& gpu, int architecture) {
  if (architecture == architecture_of(gpu)) {
    return {};
  }
  return fail(ErrorKind::kUsage,
              fmt::format("the code is for sm_{}, {} has compute capability {}.{}", architecture, gpu.id,
                          gpu.device.compute_capability_major, gpu.device.compute_capability_minor),
              "choose a GPU that the code was compiled for");
}

Result<traces::KernelArguments> arguments_for(const CodeFile& code, const std::string& arguments) {
  auto parsed = traces::parse_arguments(arguments);
  if (!parsed) {
    return parsed;
  }
  if (const auto fits = traces::check_signature(traces::demangle(code.kernel.name), arguments); !fits) {
    return tl::unexpected<Error>(fits.error());
  }
  return code.facts ? traces::place_in_table(std::move(*parsed), code.facts->parameters) : std::move(parsed);
}

}  // namespace tilesim::app
