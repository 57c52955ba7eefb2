#include "tools/lib/kernel_list.h"

#include <filesystem>

#include "traces/sass/listing_reader.h"

namespace tilesim::app {

namespace {

/// Causes that have nothing to do with what a file of either kind holds.
Result<void> check_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const std::string remedy = "give a cubin, an object, a program or a SASS listing";
  if (!std::filesystem::exists(status)) {
    return fail(ErrorKind::kUsage, "the file does not exist", remedy, path);
  }
  if (!std::filesystem::is_regular_file(status)) {
    return fail(ErrorKind::kUsage, "this is not a file", remedy, path);
  }
  if (std::filesystem::file_size(path, error) == 0) {
    return fail(ErrorKind::kUsage, "the file is empty", remedy, path);
  }
  return {};
}

}  // namespace

Result<KernelList> list_kernels(const std::string& path) {
  KernelList list;
  list.file = path;
  if (const auto there = check_file(path); !there) {
    return tl::unexpected<Error>(there.error());
  }
  if (traces::is_machine_code(path)) {
    const auto cubin = traces::read_cubin(path);
    if (!cubin) {
      return tl::unexpected<Error>(cubin.error());
    }
    list.format = "cubin";
    for (const traces::CubinKernel& kernel : cubin->kernels) {
      list.kernels.push_back(
          {kernel.name, traces::demangle(kernel.name), kernel.architecture, kernel.code.size(), facts_of(kernel)});
    }
    return list;
  }
  const auto listing = traces::read_listing(path);
  if (!listing) {
    return tl::unexpected<Error>(listing.error());
  }
  list.format = "listing";
  for (const traces::ListedKernel& kernel : listing->kernels) {
    list.kernels.push_back(
        {kernel.name, traces::demangle(kernel.name), kernel.architecture, kernel.instructions.size(), std::nullopt});
  }
  return list;
}

}  // namespace tilesim::app
