// Reads cubins: the ELF files of compiled kernels that nvcc -cubin writes (CUDA 13, ABI version 8; CUDA 11 and 12,
// version 7), and fat binaries, objects and programs that hold cubins. Layout read off what ptxas 11.8, 12.4 and 13.0
// write for sm_80 to sm_90: code of kernel F in .text.F, its attributes in .nv.info.F, its shared memory in
// .nv.shared.F, registers by symbol number in .nv.info; the number of barriers in .nv.info.F from CUDA 13 on, before in
// the flags of .text.F.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "traces/sass/decoder.h"
#include "traces/sass/encoding.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

struct CubinParameter {
  std::uint32_t offset = 0;  ///< bytes from the start of the parameter block
  std::uint32_t bytes = 0;
};

struct CubinKernel {
  std::string file;
  std::string name;  ///< mangled
  int architecture = 90;
  std::vector<Encoding> code;
  std::map<int, std::vector<std::byte>> constant_banks;  ///< those that the file fills: literals, jump tables
  int registers_per_thread = 0;                          ///< as ptxas reports them
  std::uint64_t static_shared_bytes = 0;                 ///< without the 1,024 bytes per CTA that the system takes
  std::uint64_t local_bytes = 0;                         ///< stack frame per thread, spills included
  std::uint32_t parameter_base = 0;                      ///< where the parameter block starts in constant bank 0
  std::uint32_t parameter_bytes = 0;
  std::vector<CubinParameter> parameters;  ///< in order
  int barriers = 0;                        ///< named barriers used
  std::uint32_t maximum_threads = 0;       ///< of a CTA, as __launch_bounds__ says; 0 = not given
  std::string unusable;                    ///< why decode_kernel() refuses it (it needs linking); empty = it does not
};

struct Cubin {
  std::string file;
  std::vector<CubinKernel> kernels;  ///< at least one usable, in the file's order, each with at least one instruction
};

/// Largest cubin accepted, in bytes.
inline constexpr std::uintmax_t kMaximumCubinBytes = std::uintmax_t{256} << 20;

/// Reads `path`, which may be compressed (gzip, zstd, xz): a cubin, or a fat binary, object, library or program, whose
/// cubins are joined; of kernels with the same name and architecture the first stays. Errors (kUsage) name the file,
/// what is wrong with it and a remedy: missing, not a regular file, too large, empty, cut, not ELF, ELF for another
/// machine or class, offsets or sizes outside the file, no kernel, code that is not a number of instructions,
/// attributes that do not make sense, nothing but code that other files have to complete; extract_cubins()'s.
[[nodiscard]] Result<Cubin> read_cubin(const std::filesystem::path& path);

/// As read_cubin() on bytes in memory; `file` is used in messages only.
[[nodiscard]] Result<Cubin> parse_cubin(std::span<const std::byte> bytes, const std::string& file);

/// True if the file begins as ELF files or fat binaries do; false if it cannot be read.
[[nodiscard]] bool is_machine_code(const std::filesystem::path& path);

/// The kernel that `choice` names, by the rules of choose_kernel() for listings. A kernel that is there for several
/// architectures is taken for `architecture`; without one of that, for the newest that the instruction table knows.
[[nodiscard]] Result<const CubinKernel*> choose_kernel(const Cubin& cubin, std::string_view choice,
                                                       int architecture = 0);

/// Decodes a kernel of a cubin; the texts are disassemble()'s. Errors as decode_kernel() for listings, with
/// "FILE:NAME+0xOFFSET" in `where`; `unusable`; parameters elsewhere than where sm_90 code has them.
[[nodiscard]] Result<DecodedKernel> decode_kernel(const CubinKernel& kernel, Unknown unknown = Unknown::kIsRefused);

}  // namespace tilesim::traces
