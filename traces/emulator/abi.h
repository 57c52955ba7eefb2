// Where kernels of an architecture find what the driver and the launch give them, as nvcc 13.0 compiles them.
#pragma once

#include <cstdint>

namespace tilesim::traces {

struct Abi {
  std::uint32_t shared_base = 0;        ///< where a CTA's shared memory starts in the shared window
  std::uint32_t parameter_offset = 0;   ///< where the parameter block starts in constant bank 0
  std::uint32_t descriptor_offset = 0;  ///< of the 64-bit descriptor of global memory in constant bank 0
};

/// sm_90: the first KiB of shared memory is the system's, and kernels add 0x400 to their offsets. sm_80 to sm_89: it
/// lies outside the window.
[[nodiscard]] constexpr Abi abi_of(int architecture) {
  return architecture >= 90 ? Abi{0x400, 0x210, 0x208} : Abi{0, 0x160, 0x118};
}

}  // namespace tilesim::traces
