#include "traces/emulator/launch.h"

#include <fmt/format.h>

#include <cstring>

namespace tilesim::traces {
namespace {

Result<void> check_dimension(const char* what, std::uint32_t value, std::uint32_t highest) {
  if (value >= 1 && value <= highest) {
    return {};
  }
  return fail(ErrorKind::kUsage, fmt::format("{} is {}, outside 1 to {}.", what, value, highest),
              "Pass the launch configuration that the kernel was written for.");
}

}  // namespace

Result<void> check_launch(const LaunchParameters& launch) {
  constexpr std::uint32_t kGridX = 0x7fffffff;
  constexpr std::uint32_t kGridYz = 65535;
  constexpr std::uint32_t kThreads = 1024;
  struct Limit {
    const char* what;
    std::uint32_t value;
    std::uint32_t highest;
  };
  const Limit limits[] = {{"Grid x", launch.grid.x, kGridX},     {"Grid y", launch.grid.y, kGridYz},
                          {"Grid z", launch.grid.z, kGridYz},    {"Block x", launch.block.x, kThreads},
                          {"Block y", launch.block.y, kThreads}, {"Block z", launch.block.z, 64}};
  for (const Limit& limit : limits) {
    if (auto checked = check_dimension(limit.what, limit.value, limit.highest); !checked) {
      return checked;
    }
  }
  if (launch.block.count() > kThreads) {
    return fail(ErrorKind::kUsage, fmt::format("A block of {} threads exceeds {}.", launch.block.count(), kThreads),
                "Pass the block size that the kernel was written for.");
  }
  constexpr std::uint64_t kSharedLimit = 227 * 1024;  // compute capability 9.0, per CTA
  if (launch.shared_bytes > kSharedLimit) {
    return fail(
        ErrorKind::kUsage,
        fmt::format("{} bytes of shared memory exceed the {} that a CTA can have.", launch.shared_bytes, kSharedLimit),
        "Pass static plus dynamic bytes of one CTA.");
  }
  return {};
}

std::optional<std::uint32_t> constant_word(const LaunchParameters& launch, int architecture, std::uint32_t offset) {
  const Abi abi = abi_of(architecture);
  if (offset / 8 * 8 == abi.descriptor_offset) {
    return 0;
  }
  switch (offset) {
    case 0x00:
      return launch.block.x;
    case 0x04:
      return launch.block.y;
    case 0x08:
      return launch.block.z;
    case 0x0c:
      return launch.grid.x;
    case 0x10:
      return launch.grid.y;
    case 0x14:
      return launch.grid.z;
    case 0x28:
      return kStackBase;
    default:
      break;
  }
  const auto& block = launch.arguments.block;
  if (offset < abi.parameter_offset || offset - abi.parameter_offset >= block.size()) {
    return std::nullopt;
  }
  const std::size_t first = offset - abi.parameter_offset;
  std::uint32_t word = 0;
  std::memcpy(&word, block.data() + first, std::min(sizeof word, block.size() - first));
  return word;
}

}  // namespace tilesim::traces
