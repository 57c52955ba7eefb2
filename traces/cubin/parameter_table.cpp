#include "traces/cubin/parameter_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/counted.h"

namespace tilesim::traces {

namespace {

/// "4, 4, 8 bytes" for a message.
std::string sizes_of(std::span<const CubinParameter> parameters) {
  constexpr std::size_t kListed = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(parameters.size(), kListed); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", parameters[i].bytes);
  }
  return text + (parameters.size() > kListed ? ", ..." : "") + " bytes";
}

}  // namespace

Result<KernelArguments> place_in_table(KernelArguments arguments, std::span<const CubinParameter> parameters) {
  if (arguments.places.size() != parameters.size()) {
    return fail(ErrorKind::kUsage,
                fmt::format("the kernel takes {}{}, {} given",
                            counted(static_cast<std::int64_t>(parameters.size()), "argument"),
                            parameters.empty() ? std::string() : fmt::format(" ({})", sizes_of(parameters)),
                            arguments.places.size()),
                "list all of them in --args, in parameter order");
  }
  KernelArguments placed;
  placed.allocations = std::move(arguments.allocations);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ArgumentPlace& from = arguments.places[i];
    const CubinParameter& to = parameters[i];
    if (from.bytes != to.bytes) {
      return fail(ErrorKind::kUsage,
                  fmt::format("argument {} has {} bytes, but the kernel's parameter at offset {} has {}", i + 1,
                              from.bytes, to.offset, to.bytes),
                  to.bytes == 4   ? "pass i32:, u32: or f32:"
                  : to.bytes == 8 ? "pass i64:, u64:, f64: or ptr:"
                                  : fmt::format("pass raw:FILE with the {} bytes of the struct", to.bytes));
    }
    placed.block.resize(std::max<std::size_t>(placed.block.size(), std::size_t{to.offset} + to.bytes));
    std::copy_n(arguments.block.begin() + static_cast<std::ptrdiff_t>(from.offset), from.bytes,
                placed.block.begin() + to.offset);
    placed.places.push_back({to.offset, to.bytes});
  }
  return placed;
}

}  // namespace tilesim::traces
