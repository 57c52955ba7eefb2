// A kernel compiled for emulation under one launch: constants folded, registers renumbered to those that are needed,
// one step per instruction that says how much of it has to be done.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/result.h"
#include "sim/isa/program.h"
#include "traces/emulator/abi.h"
#include "traces/emulator/launch.h"
#include "traces/emulator/slice.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// A register of a warp: one 32-bit value per lane.
struct alignas(64) LaneRow {
  std::array<std::uint32_t, isa::kWarpSize> lane;
};

/// What the emulator does at an instruction.
enum class Action : std::uint8_t {
  kNothing,  ///< outside the slice: counts and passes
  kCompute,  ///< runs an Operation
  kShared,   ///< access to shared memory
  kGlobal,   ///< access to global memory
  kCopy,     ///< LDGSTS: global to shared
  kAtomic,
  kMatrix,   ///< HMMA, with data
  kLocal,    ///< access to local memory whose data nobody needs
  kSpill,    ///< access to local memory, with data
  kBarrier,  ///< BAR
  kEnlist,   ///< BSSY: the active lanes take part in a convergence barrier
  // From here on control may go elsewhere.
  kBranch,
  kJump,       ///< BRX, RET: to an address in registers
  kMeet,       ///< BSYNC: lanes wait at their convergence barrier
  kMeetLanes,  ///< WARPSYNC
  kExit,
  kEnd,  ///< past the last instruction
};

/// The part of an instruction that every step looks at.
struct Step {
  Action action = Action::kNothing;
  std::uint8_t guard = kPredicatePt;
  bool guard_negated = false;
  bool guard_uniform = false;
  [[nodiscard]] bool always() const { return guard == kPredicatePt && !guard_negated; }
};

enum class Function : std::uint8_t {
  kMove,
  kSelect,
  kAdd3,
  kMultiplyAdd,
  kMultiplyAddWide,
  kLea,
  kLeaHigh,
  kShift,
  kLogic,
  kCompare,
  kPermute,
  kSpecial,
  kMultiplyAddHigh,
  kAbsolute,
  kMinimum,     ///< of a and b, or the maximum where the predicate fails
  kAddMinimum,  ///< of a + b and c
  kPredicateLogic,
  kVote,
  kIntegerToFloat,
  kFloatToInteger,
  kSpecialFunction,
  kFloatFma,
  kFloatAdd,
  kFloatMultiply,
  kFloatMinimum,
  kFloatCompare,
  kDivisionCheck,
  kDoubleFma,
  kDoubleAdd,
  kDoubleMultiply,
  kHalfFma,
  kHalfAdd,
  kHalfMultiply,
  kHalfPack,
  kFloatToFloat,
  kWideIntegerToFloat,
  kFloatToWideInteger,
  kLeadingBit,
  kCountBits,
  kReverseBits,
  kShuffle,
  kTransposeMatrix,
  kToUniform,         ///< R2UR
  kPredicatesToBits,  ///< P2R
  kBitsToPredicates,  ///< R2P
  kIndexedConstant,   ///< LDC with a register
};

/// How a source's bits are changed before use.
enum class Change : std::uint8_t {
  kNone,
  kNegate,
  kInvert,
  kFloatNegate,
  kFloatAbsolute,
  kFloatNegateAbsolute,
  kHalfNegate,
  kHalfAbsolute,
  kHalfNegateAbsolute
};

/// Which 16 bits of a source a packed operation reads.
enum class Halves : std::uint8_t { kBoth, kLowTwice, kHighTwice };

struct Source {
  enum class Kind : std::uint8_t { kConstant, kVector, kUniform } kind = Kind::kConstant;
  Change change = Change::kNone;
  Halves halves = Halves::kBoth;
  std::uint16_t index = 0;  ///< into MicroProgram::constants, the warp's rows, or its uniform registers
};

/// A predicate source; index 7 is true.
struct PredicateSource {
  std::uint8_t index = kPredicatePt;
  bool negated = false;
  bool uniform = false;
};

inline constexpr std::uint16_t kNoDestination = 0xffff;

/// An instruction's computation. Destinations and sources of 64 bits come as pairs (low, high).
struct Operation {
  Function function = Function::kMove;
  bool uniform = false;  ///< on the uniform datapath: one lane, uniform registers and predicates
  bool is_signed = false;
  bool carry_in = false;  ///< .X
  bool high = false;      ///< .HI of a shift
  bool right = false;
  bool wrap = false;
  bool wide = false;          ///< a shift of 64-bit type; an extended compare; a 64-bit source
  bool wide_result = false;   ///< F2F to FP64, HADD2.F32
  bool flush = false;         ///< .FTZ
  bool saturate = false;      ///< .SAT
  bool bfloat = false;        ///< packed operations: BF16 instead of FP16
  bool merge = false;         ///< F2FP.MERGE_C, FMNMX.NAN
  std::uint8_t compare = 0;   ///< Modifier::kCompare
  std::uint8_t boolean = 0;   ///< Modifier::kBoolean
  std::uint8_t rounding = 0;  ///< Modifier::kRounding
  /// Shift amount, LUT, special register, Modifier::kFunction, kIntegerSize, kVote, kShuffle, kPermuteMode, kByte or
  /// kWidth of an indexed constant.
  std::uint8_t immediate = 0;
  std::int32_t offset = 0;  ///< of an indexed constant, in its bank
  std::uint8_t bank = 0;
  std::uint8_t immediate2 = 0;  ///< LUT of the second predicate
  std::array<std::uint16_t, 2> destination{kNoDestination, kNoDestination};
  std::array<Source, 2> a;
  std::array<Source, 2> b;
  std::array<Source, 2> c;
  std::uint8_t predicate_out = kPredicatePt;
  std::uint8_t predicate_out2 = kPredicatePt;
  PredicateSource predicate_in;
  PredicateSource predicate_in2;
  PredicateSource predicate_in3;
};

/// Atomics: what becomes of the word in memory. `words` of the MemoryOperation are the operand's rows.
struct AtomicOperation {
  enum class Kind : std::uint8_t {
    kAdd,
    kMinimum,
    kMaximum,
    kIncrement,
    kDecrement,
    kAnd,
    kOr,
    kExclusiveOr,
    kExchange,
    kCompareSwap,  ///< writes the operand where memory holds the comparand; gives what it held
    kTrySwap,      ///< ATOMS.CAST: the same; gives 1 where it wrote, else 0
  } kind = Kind::kAdd;
  enum class Type : std::uint8_t { kUnsigned, kSigned, kFloat, kHalves, kBfloats } type = Type::kUnsigned;
  bool global = true;
  std::array<std::uint16_t, 2> result{kNoDestination, kNoDestination};
  std::array<std::uint16_t, 2> comparand{kNoDestination, kNoDestination};
};

/// A memory instruction's address and data registers.
struct MemoryOperation {
  std::uint16_t low = kNoDestination;   ///< row of the address (its low word); none = zero
  std::uint16_t high = kNoDestination;  ///< row of the high word of a 64-bit address
  std::uint8_t uniform = kUniformUrz;   ///< uniform register added
  std::uint8_t bytes = 4;               ///< per lane
  bool store = false;
  bool sign = false;       ///< sign-extend a narrow load
  bool moves = false;      ///< its data are needed
  std::uint8_t shift = 0;  ///< shared: the address register is shifted left by so many bits
  std::int32_t offset = 0;
  std::uint16_t shared_low = kNoDestination;  ///< LDGSTS: row of the shared address
  std::int32_t shared_offset = 0;
  bool bypass = false;     ///< LDGSTS: past the L1
  PredicateSource copies;  ///< LDGSTS: lanes where it fails write zeros
  std::array<std::uint16_t, 4> words{kNoDestination, kNoDestination, kNoDestination, kNoDestination};  ///< data rows
  std::uint8_t matrices = 0;  ///< LDSM: how many 8 x 8 matrices of 16-bit elements; 0 for everything else
  bool transposed = false;    ///< LDSM
  AtomicOperation atomic;     ///< of an Action::kAtomic
};

/// HMMA: rows of its registers.
struct MatrixOperation {
  enum class Type : std::uint8_t { kFloat16, kBfloat16, kTf32 } type = Type::kFloat16;
  std::uint8_t depth = 16;        ///< extent of K
  bool half_accumulator = false;  ///< C and D in FP16, else FP32
  std::array<std::uint16_t, 4> a{};
  std::array<std::uint16_t, 2> b{};
  std::array<std::uint16_t, 4> c{};
  std::array<std::uint16_t, 4> d{};
};

struct BranchOperation {
  std::uint32_t target = 0;
  std::uint8_t barrier = 0;                 ///< BSSY, BSYNC
  std::uint32_t lanes = ~std::uint32_t{0};  ///< WARPSYNC
  std::int64_t base = 0;                    ///< BRX, RET: byte address that the register is added to
  std::uint16_t row = kNoDestination;       ///< BRX, RET: of the register's low word
  PredicateSource condition;
};

/// BAR: number and threads, from a register or as they are.
struct BarrierOperation {
  std::uint16_t number_row = kNoDestination;
  std::uint16_t threads_row = kNoDestination;
  std::uint32_t number = 0;
  std::uint32_t threads = 0;
  bool arrives_only = false;
};

struct MicroProgram {
  std::vector<Step> steps;                   ///< one per instruction, then a kEnd
  std::vector<std::uint32_t> operand_index;  ///< per instruction: into operations, memory or branches by its action
  std::vector<Operation> operations;
  std::vector<MemoryOperation> memory;
  std::vector<MatrixOperation> matrices;
  std::vector<BranchOperation> branches;
  std::vector<BarrierOperation> barriers;
  std::vector<std::vector<std::byte>> banks;  ///< constant banks, where the code reads them at an index
  std::vector<LaneRow> constants;             ///< every lane the same value
  DemandedMemory demanded;                    ///< memory whose contents the instructions need
  Abi abi;
  std::uint32_t local_bytes = 0;  ///< local memory per thread; 0 if the code has no access to it
  std::uint16_t row_count = 0;    ///< rows that a warp needs, a scratch row for unneeded results included
  /// Per instruction: the next one, itself included, that computes or transfers control.
  std::vector<std::uint32_t> next_slice;
  /// As next_slice, global accesses included.
  std::vector<std::uint32_t> next_global;
};

enum class Selection {
  kSlice,  ///< timing: the slice and addresses
  kAll,    ///< functional: everything, with data
};

/// Compiles a kernel. Errors (kUsage, "FILE:LINE" in `where`): a constant outside the parameter block ("fewer argument
/// bytes than the code reads", checked for every instruction), a needed driver constant that is not known, a needed
/// instruction or variant that cannot be executed.
[[nodiscard]] Result<MicroProgram> compile(const DecodedKernel& kernel, const LaunchParameters& launch,
                                           Selection selection);

}  // namespace tilesim::traces
