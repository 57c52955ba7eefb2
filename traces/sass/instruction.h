// A decoded SASS instruction: opcode, guard, modifiers, operands by role, control field. Produced by decoder.h from the
// 128-bit encoding, through the table of instruction_table.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "traces/sass/encoding.h"

namespace tilesim::traces {

struct InstructionRow;

inline constexpr std::uint8_t kRegisterRz = 255;
inline constexpr std::uint8_t kUniformUrz = 63;
inline constexpr std::uint8_t kStackPointer = 1;  ///< the general register that nvcc keeps it in
inline constexpr std::uint8_t kPredicatePt = 7;   ///< PT and UPT

enum class Opcode : std::uint8_t {
  kFfma,
  kFadd,
  kFmul,
  kImad,
  kImadWide,
  kImadHigh,
  kIadd3,
  kViadd,
  kLea,
  kShf,
  kLop3,
  kIsetp,
  kPlop3,
  kIabs,
  kVimnmx,
  kViaddmnmx,
  kI2f,
  kF2i,
  kMufu,
  kMov,
  kSel,
  kPrmt,
  kCs2r,
  kHfma2Mma,
  kS2r,
  kS2ur,
  kLdc,
  kUldc,
  kUmov,
  kUiadd3,
  kUlea,
  kUshf,
  kUlop3,
  kUisetp,
  kUimad,
  kUimadWide,
  kUsel,
  kUprmt,
  kVoteu,
  kLds,
  kSts,
  kLdsm,
  kLdg,
  kStg,
  kLdl,
  kStl,
  kLdgsts,
  kLdgdepbar,
  kDepbar,
  kBar,
  kBra,
  kBssy,
  kBsync,
  kExit,
  kNop,
  kHmma,
  kFsel,
  kFmnmx,
  kFsetp,
  kFchk,
  kDfma,
  kDadd,
  kDmul,
  kHfma2,
  kHadd2,
  kHmul2,
  kF2fp,
  kF2f,
  kImnmx,
  kI2f64,  ///< I2F of 64-bit integers
  kF2i64,  ///< F2I to 64-bit integers
  kFlo,
  kPopc,
  kBrev,
  kP2r,
  kR2p,
  kVote,
  kR2ur,
  kMovm,
  kLd,  ///< generic address
  kSt,
  kShfl,
  kAtoms,
  kAtomsCas,  ///< ATOMS.CAS, .CAST.SPIN
  kAtomg,
  kRed,  ///< RED, REDG
  kBrx,
  kCall,
  kRet,
  kWarpsync,
  kYield,
  kMembar,
  kErrbar,
  kCctl,
  kHmnmx2,
  kHsetp2,
  kI2fp,
  kFrnd,
  kUflo,
  kUpopc,
  kNanosleep,
  kAtomgCas,
};

/// What a bit field outside the operands means. The value is the field's, as encoded.
inline constexpr std::uint32_t kBarrierArrives = 1;

enum class Modifier : std::uint8_t {
  kNone,
  kSigned,           ///< 1 = signed
  kCompare,          ///< 0 F, 1 LT, 2 EQ, 3 LE, 4 GT, 5 NE, 6 GE, 7 T or NUM; FSETP from 8 on unordered
  kBoolean,          ///< 0 AND, 1 OR, 2 XOR
  kExtended,         ///< ISETP.EX
  kHigh,             ///< .HI
  kCarry,            ///< .X
  kSignExtend,       ///< .SX32
  kShiftType,        ///< 0 S64, 1 U64, 2 S32, 3 U32
  kShiftRight,       ///< 1 = right
  kShiftWrap,        ///< .W
  kWidth,            ///< memory width: 0 U8, 1 S8, 2 U16, 3 S16, 4 32, 5 64, 6 128
  kExtendedAddress,  ///< .E: 64-bit address
  kMemoryOrder,      ///< 0 weak, 4 CONSTANT, 5 STRONG.SM, 7 STRONG.GPU, 10 STRONG.SYS
  kAccess,           ///< LDGSTS: 0 BYPASS
  kEviction,         ///< 0 EF, 1 none, 2 EL, 3 LU (last use), 4 EU, 5 NA
  kZeroFill,         ///< LDGSTS: .ZFILL
  kPrefetchSize,     ///< 0 none, 1 64, 2 128, 3 256 bytes fetched into the L2
  kBarrierMode,      ///< 0 SYNC, kBarrierArrives ARV
  kDeferBlocking,    ///< BAR: .DEFER_BLOCKING
  kMatrixCount,      ///< LDSM: 0 one, 1 two, 2 four matrices
  kTranspose,        ///< LDSM: MT88
  kMatrixShape,      ///< HMMA: 0 1688, 1 16816, 2 1684
  kAccumulator,      ///< HMMA: 1 = F32
  kMatrixType,       ///< HMMA: 0 F16, 1 BF16, 2 TF32
  kPair,             ///< CS2R: 1 = 64 bit
  kPermuteMode,
  kLessEqual,  ///< DEPBAR.LE
  kFlushSubnormals,
  kRounding,     ///< 0 nearest even, 1 down, 2 up, 3 to zero
  kIntegerSize,  ///< I2F: of the source, 0 8 bits, 1 16, 2 32
  kInexact,      ///< F2I: .NTZ, not-a-number to zero
  kFunction,     ///< MUFU: 2 EX2, 3 LG2, 4 RCP, 5 RSQ, 8 SQRT
  kVote,         ///< VOTE, VOTEU: 0 ALL, 1 ANY, 2 EQ
  kSaturate,     ///< .SAT: to [0, 1]
  kNotANumber,   ///< FMNMX.NAN
  kPackedType,   ///< HFMA2, HMUL2: 0 half precision, 1 BF16
  kWideResult,   ///< HADD2: 1 = one FP32 number
  kHalfType,     ///< F2FP: 0 half precision, 1 BF16
  kMerge,        ///< F2FP: 0 packs a and b, 1 puts b beside half of c
  kFloatSize,    ///< F2F: of the result, 2 FP32, 3 FP64
  kSourceSize,   ///< F2F: of the source
  kShiftAmount,  ///< FLO.SH: how far to shift so that the bit is the highest
  kByte,         ///< P2R, R2P: byte of the register
  kShuffle,      ///< SHFL: 0 IDX, 1 UP, 2 DOWN, 3 BFLY
  kAtomic,       ///< 0 ADD, 1 MIN, 2 MAX, 3 INC, 4 DEC, 5 AND, 6 OR, 7 XOR, 8 EXCH; REDG of floats 0 ADD, 2 MIN, 4 MAX
  kAtomicType,   ///< integers and, until sm_89, floats, as the table's names
  kFloatAtomicType,  ///< REDG of floats
  kCallDepth,        ///< .NOINC, .NODEC
  kFence,            ///< MEMBAR: 0 SC, 1 ALL
  kRelu,             ///< .RELU: negative results become 0
  kCacheOperation,   ///< CCTL: 0 PF1, 1 PF2 (prefetch into the L1, the L2), 4 IVALL
  kScope,            ///< MEMBAR: 0 CTA, 1 SM, 2 GPU, 3 SYS
  kCount
};

/// What an operand does for its instruction.
enum class Role : std::uint8_t {
  kDestination,
  kA,
  kB,
  kC,
  kPredicateOut,
  kPredicateOut2,
  kPredicateIn,
  kPredicateIn2,
  kPredicateIn3,   ///< PLOP3
  kImmediate2,     ///< PLOP3: look-up table of its second result; BAR: threads
  kImmediate,      ///< LUT, shift amount of LEA, quad mask of MOV, count of DEPBAR, number of BAR
  kAddress,        ///< of the access; for LDGSTS of its global source
  kSharedAddress,  ///< LDGSTS: its shared destination
  kCount
};

enum class OperandKind : std::uint8_t {
  kNone,
  kRegister,
  kUniformRegister,
  kPredicate,
  kUniformPredicate,
  kImmediate,
  kConstant,         ///< c[bank][register + value]
  kAddress,          ///< [register + uniform + value], 32-bit or a 64-bit register pair
  kSpecialRegister,  ///< number in `value`
  kBranchTarget,     ///< byte address in `value`
  kIndirectTarget,   ///< BRX, RET: byte address in `value`, the register pair `index` is added to it
  kPredicateSet,     ///< P2R, R2P: all predicates
  kScoreboard,       ///< number in `index`
  kConvergence,      ///< barrier of BSSY and BSYNC, number in `index`
};

struct Operand {
  OperandKind kind = OperandKind::kNone;
  std::uint8_t index = 0;                 ///< register, uniform register, predicate or scoreboard number
  std::uint8_t uniform = kUniformUrz;     ///< address: uniform register added to it
  std::uint8_t descriptor = kUniformUrz;  ///< address: uniform register of desc[...]
  std::uint8_t bank = 0;                  ///< constant bank
  bool negated = false;                   ///< -R; !P; ~R with the carry forms, FLO and POPC
  bool absolute = false;
  bool reuse = false;
  bool wide = false;        ///< address: the register is a 64-bit pair
  std::uint8_t halves = 0;  ///< half precision: 0 both, 2 the low one twice, 3 the high one twice
  std::uint8_t scale = 0;   ///< address: the register is multiplied by 1, 4, 8, 16
  std::int64_t value = 0;   ///< immediate (32 bits, zero-extended), offset in bytes, target, special register

  [[nodiscard]] friend bool operator==(const Operand&, const Operand&) = default;
};

/// Guard predicate: the instruction executes where it holds.
struct Guard {
  std::uint8_t predicate = kPredicatePt;
  bool negated = false;
  bool uniform = false;
  [[nodiscard]] bool always() const { return predicate == kPredicatePt && !negated; }
};

/// Bits 105-121, as encoded.
struct Control {
  std::uint8_t stall = 0;
  bool yield_bit = false;  ///< bit 109; 0 asks the scheduler to prefer another warp
  std::uint8_t write_scoreboard = 7;
  std::uint8_t read_scoreboard = 7;
  std::uint8_t wait_mask = 0;
};

struct SassInstruction {
  std::uint64_t address = 0;  ///< byte offset in the function
  Encoding encoding;
  Opcode opcode = Opcode::kNop;
  const InstructionRow* row = nullptr;  ///< static table row; never null after decode()
  std::int16_t architecture = 90;
  std::uint8_t form = 0;  ///< bits 9-11, a Form of the row
  Guard guard;
  Control control;
  std::array<std::uint8_t, static_cast<std::size_t>(Modifier::kCount)> modifiers{};
  std::array<Operand, static_cast<std::size_t>(Role::kCount)> operands{};

  [[nodiscard]] std::uint8_t modifier(Modifier id) const { return modifiers[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const Operand& operand(Role role) const { return operands[static_cast<std::size_t>(role)]; }
};

/// Where an instruction stands: "FILE:LINE", or "FILE:NAME+0xOFFSET" if `line` is 0.
[[nodiscard]] std::string code_place(const std::string& file, const std::string& name, std::uint32_t line,
                                     std::uint64_t address);

/// A kernel ready for lowering and emulation; `text` and `lines` run beside `instructions`.
struct DecodedKernel {
  std::string file;  ///< listing or cubin it came from, for messages
  std::string name;  ///< mangled
  int architecture = 90;
  std::vector<SassInstruction> instructions;
  std::map<int, std::vector<std::byte>> constant_banks;  ///< other than bank 0, which the launch makes; from a cubin
  std::vector<std::string> text;                         ///< listing text, without the semicolon
  std::vector<std::uint32_t> unknown;                    ///< instructions that the table lacks, taken as NOP on request
  std::vector<std::uint32_t> lines;                      ///< 1-based line of the listing; 0 if it came from a cubin

  /// "FILE:LINE" of an instruction, for Error::where; "FILE:NAME+0xOFFSET" in a cubin.
  [[nodiscard]] std::string where(std::size_t index) const {
    return code_place(file, name, lines[index], instructions[index].address);
  }
};

}  // namespace tilesim::traces
