// The static half of an instruction stream: what the machine needs to know of each instruction of a kernel, whatever
// front end it came from. Opcode semantics live in the front end (traces/); the simulator sees pipes, registers,
// scoreboards and memory descriptors.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tilesim::isa {

inline constexpr int kWarpSize = 32;
inline constexpr std::uint8_t kNoScoreboard = 7;  ///< encoding of "no scoreboard"
inline constexpr int kScoreboards = 6;            ///< SB0-5
inline constexpr std::uint16_t kRegisterZero = 255;

/// The execution pipe an instruction issues to; names follow Nsight Compute's pipe metrics.
enum class Pipe : std::uint8_t {
  kFma,          ///< FFMA, FADD, FMUL: heavy and lite halves in turn
  kFmaHeavy,     ///< IMAD and relatives: heavy half only
  kFmaWide,      ///< IMAD.WIDE
  kHalf,         ///< HFMA2, HADD2, HMUL2: both halves
  kAlu,          ///< IADD3, LOP3, SHF, LEA, MOV, SEL, ISETP, PRMT, ...
  kUniform,      ///< the uniform datapath
  kTensorHalf,   ///< HFMA2.MMA on the tensor pipe
  kTensor,       ///< HMMA m16n8k16, and m16n8k8 of TF32
  kTensorShort,  ///< HMMA of half that depth
  kFp64,
  kXu,      ///< MUFU, POPC, F2I
  kS2r,     ///< S2R, S2UR
  kAdu,     ///< LDC
  kLsu,     ///< LDS, STS, LDSM, LDG, STG, LDGSTS, SHFL: through the MIO queue
  kBranch,  ///< BRA, EXIT, BAR
  kNone,    ///< NOP, ULDC: issue slot only
};
inline constexpr int kPipeCount = 16;

enum class MemoryOp : std::uint8_t {
  kNone,
  kLoadShared,
  kStoreShared,
  kLoadMatrix,
  kLoadGlobal,
  kStoreGlobal,
  kCopyAsync
};

/// True for the accesses that go to L1, L2 and DRAM.
[[nodiscard]] constexpr bool is_global(MemoryOp op) {
  return op == MemoryOp::kLoadGlobal || op == MemoryOp::kStoreGlobal || op == MemoryOp::kCopyAsync;
}

/// True for what writes to shared or global memory.
[[nodiscard]] constexpr bool is_store(MemoryOp op) {
  return op == MemoryOp::kStoreShared || op == MemoryOp::kStoreGlobal || op == MemoryOp::kCopyAsync;
}

enum class ControlOp : std::uint8_t {
  kNone,
  kBranch,
  kExit,
  kBarrier,      ///< BAR.SYNC, BAR.ARV: see BarrierCall
  kWaitGroups,   ///< DEPBAR.LE SBn, count
  kCommitGroup,  ///< LDGDEPBAR
};

/// One register read by the operand collector: register number, operand slot (0-2, as encoded a/b/c) and reuse flag.
struct RegisterRead {
  std::uint16_t reg = kRegisterZero;
  std::uint8_t slot = 0;
  bool reuse = false;
};

/// A decoded instruction as the machine sees it.
struct Instruction {
  Pipe pipe = Pipe::kNone;
  MemoryOp memory = MemoryOp::kNone;
  ControlOp control = ControlOp::kNone;

  // Control field of the encoding (bits 105-125).
  std::uint8_t stall = 1;                         ///< cycles until the warp's next instruction may issue; 0 counts as 1
  bool yield = false;                             ///< the scheduler should prefer another warp
  std::uint8_t write_scoreboard = kNoScoreboard;  ///< released when the result is there
  std::uint8_t read_scoreboard = kNoScoreboard;   ///< released when the sources have been read
  std::uint8_t wait_mask = 0;                     ///< scoreboards that must be clear before issue

  std::array<RegisterRead, 3> reads{};  ///< reads through the banked register file by math pipes
  std::uint8_t read_count = 0;
  std::uint8_t mio_registers = 0;  ///< 32-bit source registers sent to the MIO (address and data)
  std::uint8_t access_bytes = 0;   ///< bytes per lane of a memory access: 1, 2, 4, 8, 16
  bool constant_operand = false;   ///< reads c[bank][offset] through the constant cache
  bool reads_predicated = false;   ///< has a guard other than PT

  std::uint8_t barrier_warps = 0;       ///< for kBarrier: warps that take part; 0: all of the CTA that have not exited
  bool barrier_arrives = false;         ///< for kBarrier: the warp does not wait (BAR.ARV)
  bool barrier_from_registers = false;  ///< for kBarrier: number or warps come with each execution

  std::uint32_t branch_target = 0;   ///< instruction index, for kBranch
  std::uint8_t barrier_id = 0;       ///< for kBarrier
  std::uint8_t wait_scoreboard = 0;  ///< for kWaitGroups
  std::uint8_t wait_count = 0;       ///< for kWaitGroups

  std::uint32_t flops_per_lane = 0;  ///< 2 for FFMA; for HMMA the warp's total divided by 32
};

/// A kernel's code.
struct Program {
  std::string name;       ///< as in the listing (mangled)
  int architecture = 90;  ///< SM number of the code, 90 for sm_90
  std::vector<Instruction> instructions;
  std::vector<std::string> text;  ///< SASS text per instruction, for reports
  std::uint32_t bytes_per_instruction = 16;
  int registers_referenced = 0;  ///< highest register read or written, width included, plus one
};

}  // namespace tilesim::isa
