// Kernel arguments from their text form, as the command line takes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace tilesim::traces {

/// Memory that a pointer argument points to. Allocations do not touch: a gap lies between them.
struct Allocation {
  std::uint64_t address = 0;          ///< virtual, a multiple of 2 MiB
  std::uint64_t bytes = 0;            ///< as asked for
  std::size_t argument = 0;           ///< position of the pointer among the arguments, from 0
  std::vector<std::byte> contents{};  ///< at the launch, from the first byte on; zeros follow
};

/// Where an argument lies in the parameter block.
struct ArgumentPlace {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// The parameter block as the kernel sees it, and the memory behind its pointers.
struct KernelArguments {
  std::vector<std::byte> block;
  std::vector<Allocation> allocations;
  std::vector<ArgumentPlace> places;  ///< by argument
};

inline constexpr std::uint64_t kAllocationAlignment = std::uint64_t{2} << 20;
inline constexpr std::uint64_t kFirstAllocation = 0x7f0000000000;
inline constexpr std::uint64_t kMaximumAllocationBytes = std::uint64_t{1} << 40;

/// Parses a comma-separated list in parameter order: `i32:-5`, `u32:7`, `i64:..`, `u64:..`, `f32:0.5`, `f64:..`,
/// `ptr:64MiB` (a fresh allocation of that size; KB, MB, GB are powers of 1000, KiB, MiB, GiB of 1024, no suffix
/// bytes), `ptrs:8x4MiB` (a pointer to an array of 8 pointers, each to a fresh allocation of that size), `mem:FILE` (a
/// fresh allocation that holds the file's bytes), `raw:FILE` (the file's bytes, a struct passed by value, aligned to
/// 8). Integers may be hexadecimal. Each argument is placed at the next multiple of its size. An empty string is no
/// arguments. Errors (kUsage) name the offending item.
[[nodiscard]] Result<KernelArguments> parse_arguments(std::string_view text);

/// Parses a byte count: digits with an optional suffix as above. Errors (kUsage) name the value.
[[nodiscard]] Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace tilesim::traces
