// The one table of SASS instructions (compute capabilities 8.0, 8.6, 8.9 and 9.0): mnemonic, opcode bits, pipe,
// modifier fields and operand fields, each with its place in the 128-bit word. Decoding, encoding, disassembly and the
// check for bits that nobody understands are driven by it. The rows are in rows_*.cpp.
//
// Layout shared by the rows (read off nvcc output): bits 0-8 opcode, 9-11 operand form, 12-14 guard predicate, 15 its
// negation, 16-23 destination, 24-31 source a, 32-63 source spot 1 (register, 32-bit immediate, constant or uniform
// register by form), 64-71 source spot 2 (register), 105-121 control field, 122-125 reuse flags of a, spot 1, spot 2.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/isa/program.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// Operand forms, bits 9-11: what spot 1 (bits 32-63) holds, and whether it is source b or source c.
enum class Form : std::uint8_t {
  kRegister = 1,    ///< b register at 32, c register at 64
  kImmediateC = 2,  ///< b register at 64, c immediate
  kConstantC = 3,   ///< b register at 64, c constant
  kImmediate = 4,   ///< b immediate, c register at 64
  kConstant = 5,
  kUniform = 6,
  kUniformC = 7,  ///< b register at 64, c uniform register
};

enum class FieldKind : std::uint8_t {
  kNone,
  kRegister,          ///< 8 bits at `first`
  kSourceA,           ///< register at 24; negated by bit 72, absolute by bit 73, reuse bit 122
  kSourceB,           ///< spot 1 or spot 2, by form
  kSourceC,           ///< spot 2 or spot 1, by form
  kSpot1,             ///< spot 1 in every form: two-operand instructions whose immediate uses form 2
  kUniformRegister,   ///< 6 bits at `first`
  kPredicate,         ///< 3 bits at `first`; `count` = 4: the next bit negates
  kUniformPredicate,  ///< as kPredicate
  kImmediate,         ///< `count` bits at `first`
  kConstant,          ///< c[bits 54-58][bits 38-53, register at 24 if `first` is 24]
  kAddress,           ///< register at `first`, offset of `count` bits at `offset`; uniform register at `uniform`
  kSpecialRegister,   ///< 8 bits at 72
  kBranchTarget,      ///< signed distance in words of 4 bytes from the next instruction: 48 bits at 34, below
                      ///< them `count` bits at `first`
  kIndirectTarget,    ///< as kBranchTarget, to which the register pair at 24 is added
  kScoreboard,        ///< 3 bits at 44
  kMixedPredicate,    ///< predicate at `first`, the next bit negates; bit 67 says that it is a uniform one
  kPredicateTable,    ///< PLOP3: bits 64-66 and 72-76
  kSyncTarget,        ///< bits 34-63: signed distance in words of 4 bytes from the next instruction
  kConvergence,       ///< 4 bits at 16
  kShuffleLane,       ///< SHFL: register at 32 (forms 1, 2) or 5 bits at 53
  kShuffleBound,      ///< SHFL: register at 64 (forms 1, 4) or 13 bits at 40
  kBarrierNumber,     ///< BAR: register at 32 (forms 1, 2) or 4 bits at 54
  kBarrierCount,      ///< BAR: register at 32 (forms 1, 4) or 12 bits at 42
  kPredicateSet,      ///< P2R, R2P: all predicates, no bits
};

/// Where stores and atomics have the uniform register of an address: form 4 adds it, form 1 has none.
inline constexpr std::uint8_t kStoredUniform = 64;

/// When the disassembly prints an operand. The field is decoded always.
enum class Show : std::uint8_t {
  kAlways,
  kUnlessTrue,
  kIfCarry,
  kIfExtended,
  kIfPartial,
  kUnlessZero,
  kIfMerged,
  kUnlessMerged,
};

/// When the negation of an integer prints as ~ and means its complement.
enum class Inverts : std::uint8_t { kNever, kWithCarry, kAlways };

/// How the disassembly prints an immediate.
enum class Format : std::uint8_t { kHex, kSignedHex, kFloat, kHalfPair };

struct OperandField {
  FieldKind kind = FieldKind::kNone;
  Role role = Role::kDestination;
  std::uint8_t first = 0;
  std::uint8_t count = 0;
  bool negatable = false;
  bool absolutable = false;
  Show show = Show::kAlways;
  Format format = Format::kHex;
  std::uint8_t registers = 1;  ///< 32-bit registers that the operand spans; 0 = by width or by shape modifier
  std::uint8_t offset = 0;     ///< kAddress: first bit of the offset
  std::uint8_t uniform = 0;    ///< kAddress: first bit of the uniform register or descriptor, 0 = none
  Inverts inverts = Inverts::kNever;
  bool halves = false;    ///< has two bits that choose halves of the register: source a 74, spot 1 60, spot 2 81
  bool scaled = false;    ///< kAddress: bits 78-79 multiply the register by 1, 4, 8 or 16
  bool paired = false;    ///< kAddress: the register is a 64-bit pair without a descriptor
  bool inverted = false;  ///< kPredicate: all bits of the number are inverted, 0 is PT
};

struct ModifierField {
  Modifier id = Modifier::kNone;
  std::uint8_t first = 0;
  std::uint8_t count = 0;
  std::span<const std::string_view> names;  ///< by value; "" prints nothing, "?" is not a known value
  std::uint8_t high_bit = 0;                ///< the bit above the `count` others, where it stands apart; 0 = none
};

struct InstructionRow {
  Opcode opcode = Opcode::kNop;
  std::string_view mnemonic;
  std::uint16_t code = 0;  ///< bits 0-8
  std::uint8_t forms = 0;  ///< bit mask over Form
  isa::Pipe pipe = isa::Pipe::kNone;
  isa::MemoryOp memory = isa::MemoryOp::kNone;
  isa::ControlOp control = isa::ControlOp::kNone;
  bool uniform = false;     ///< runs on the uniform datapath: its guard is a uniform predicate
  bool local = false;       ///< LDL, STL: 32-bit addresses in the thread's local memory
  bool descriptor = false;  ///< its 64-bit address comes with a descriptor in a uniform register
  bool halves = false;      ///< half precision: source in spot 2 is negated by bit 84, absolute by bit 83
  std::uint8_t first_architecture = 80;
  std::uint8_t last_architecture = 90;
  std::array<ModifierField, 6> modifiers{};
  std::array<OperandField, 9> operands{};
  Encoding fixed;  ///< value of the bits that no field covers, but for those of the form
};

/// SM numbers whose code is understood.
inline constexpr std::array<int, 5> kArchitectures{80, 86, 87, 89, 90};
[[nodiscard]] bool is_known_architecture(int architecture);

/// The row of a 12-bit opcode (bits 0-11) on a known architecture, or null.
[[nodiscard]] const InstructionRow* find_row(std::uint16_t opcode_bits, int architecture = 90);

/// Whether the guard is a uniform predicate.
[[nodiscard]] inline bool has_uniform_guard(const InstructionRow& row) {
  return row.uniform && row.opcode != Opcode::kVoteu;
}

/// All rows, for tests and tools.
[[nodiscard]] std::span<const InstructionRow> instruction_table();

/// All bits of the word that some field of the row, one of the table's, covers in the form, common fields included.
[[nodiscard]] Encoding covered_bits(const InstructionRow& row, Form form);

/// Value of the bits that no field covers.
[[nodiscard]] Encoding fixed_bits(const InstructionRow& row, Form form);

/// The modifier's bits in a word.
[[nodiscard]] std::uint64_t modifier_value(const ModifierField& modifier, const Encoding& word);

/// Name of a special register (SR_TID.X ...), or empty if unknown.
[[nodiscard]] std::string_view special_register_name(std::int64_t number, int architecture = 90);

inline constexpr int kSrLaneId = 0x00;
inline constexpr int kSrTidX = 0x21;
inline constexpr int kSrTidY = 0x22;
inline constexpr int kSrTidZ = 0x23;
inline constexpr int kSrCtaidX = 0x25;
inline constexpr int kSrCtaidY = 0x26;
inline constexpr int kSrCtaidZ = 0x27;
inline constexpr int kSrEqualMask = 0x38;  // these five: lane masks relative to the reading lane
inline constexpr int kSrLessMask = 0x39;
inline constexpr int kSrLessEqualMask = 0x3a;
inline constexpr int kSrGreaterMask = 0x3b;
inline constexpr int kSrGreaterEqualMask = 0x3c;
inline constexpr int kSrCgaCtaId = 0x88;
inline constexpr int kSrZero = 0xff;

}  // namespace tilesim::traces
