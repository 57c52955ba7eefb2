// Simulated time: integer cycles of the SM clock.
#pragma once

#include <cstdint>
#include <limits>

namespace tilesim::sim {

using Cycle = std::int64_t;
inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

/// Stops the program: a broken invariant of the engine (scheduling into the past, time running backwards). Never
/// reached by user input.
[[noreturn]] void engine_bug(const char* what);

}  // namespace tilesim::sim
