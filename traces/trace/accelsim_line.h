// Lines of Accel-Sim's grouped text traces (.traceg), tracer versions 1 to 6.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/isa/stream.h"

namespace tilesim::traces::accelsim {

/// The lines before the first '#'.
struct Header {
  std::string kernel;
  isa::Dim3 grid;
  isa::Dim3 block;
  std::uint64_t shared_bytes = 0;  ///< static plus dynamic
  int registers = 0;
  int binary_version = 0;  ///< SM number: 80 for sm_80
  std::uint64_t shared_base = 0;
  std::uint64_t local_base = 0;
  int tracer_version = 0;  ///< 0 if not given
  bool line_info = false;
};

/// Takes a header line in; lines that it does not know are left alone. False for a value that makes no sense: then
/// `problem` says which.
[[nodiscard]] bool read_header_line(std::string_view line, Header& header, std::string& problem);

/// The register number of "R12"; -1 for predicates and uniform registers, which make no dependence.
using Registers = std::vector<int>;

/// One executed instruction. Reused from line to line, so that nothing is allocated.
struct Line {
  std::uint64_t pc = 0;
  std::uint32_t mask = 0;
  Registers destinations;
  std::string_view opcode;  ///< with its modifiers; part of the line
  Registers sources;
  bool has_addresses = false;
  std::array<std::uint64_t, isa::kWarpSize> addresses{};  ///< of active lanes
  std::int64_t immediate = 0;                             ///< 0 if the line ends before it
};

/// Reads an instruction line. False if it does not make sense: then `problem` says why.
[[nodiscard]] bool read_line(std::string_view text, const Header& header, Line& line, std::string& problem);

}  // namespace tilesim::traces::accelsim
