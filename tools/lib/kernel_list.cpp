#include "tools/lib/kernel_list.h"

#include "traces/sass/listing_reader.h"

namespace tilesim::app {

Result<KernelList> list_kernels(const std::string& path) {
  KernelList list;
  list.file = path;
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
