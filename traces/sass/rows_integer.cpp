#include "traces/sass/instruction_rows.h"

namespace tilesim::traces::rows {
namespace {

constexpr std::string_view kPairNames[] = {"32", ""};
constexpr std::string_view kPermuteNames[] = {"", "F4E", "B4E", "RC8", "ECL", "ECR", "RC16"};
constexpr std::string_view kFloorNames[] = {"", "FLOOR", "CEIL", "TRUNC"};
constexpr std::string_view kUnsigned64Names[] = {"U64", "S64"};
constexpr std::string_view kSigned32Names[] = {"U32", "S32"};
constexpr std::string_view kIntegerSizeNames[] = {"8", "16", ""};
constexpr std::string_view kInexactNames[] = {"", "NTZ"};
constexpr std::string_view kByteNames[] = {"", "B1", "B2", "B3"};

constexpr ModifierField kSignedAt72{Modifier::kSigned, 72, 1, kUnsignedNames};
constexpr ModifierField kFloor{Modifier::kRounding, 78, 2, kFloorNames};
constexpr ModifierField kInexact{Modifier::kInexact, 77, 1, kInexactNames};
constexpr ModifierField kByte{Modifier::kByte, 76, 2, kByteNames};
constexpr OperandField kMixedPin3{FieldKind::kMixedPredicate, Role::kPredicateIn3, 68, 4};
constexpr OperandField kPredicateSet = plain(FieldKind::kPredicateSet, Role::kImmediate2);

constexpr std::uint8_t kWideForms = forms({1, 3, 4, 5, 6, 7});  // no immediate of 64 bits

constexpr InstructionRow kRows[] = {
    with(row(Opcode::kImad, "IMAD", 0x024, kAllForms, Pipe::kFmaHeavy), {kSigned, kCarry},
         {kRd, a(), b(false, Format::kSignedHex), inverting(FieldKind::kSourceC, Role::kC), kCarryIn}, kNoPredicateOut),
    with(row(Opcode::kImadWide, "IMAD.WIDE", 0x025, kWideForms, Pipe::kFmaWide), {kSigned, kCarry},
         {kRd2, kPout, a(), b(false, Format::kSignedHex), wide(inverting(FieldKind::kSourceC, Role::kC)), kCarryIn}),
    with(row(Opcode::kImadHigh, "IMAD.HI", 0x027, kWideForms, Pipe::kFmaWide), {kSigned},
         {kRd, kPout, a(), b(false, Format::kSignedHex), c(true, Format::kSignedHex, 2), kCarryIn}),
    with(row(Opcode::kIadd3, "IADD3", 0x010, kTwoOperandForms, Pipe::kAlu), {kCarry},
         {kRd, kPout, kPout2, inverting(FieldKind::kSourceA, Role::kA), inverting(FieldKind::kSourceB, Role::kB),
          inverting(FieldKind::kSourceC, Role::kC), kCarryIn, kCarryIn2}),
    from_hopper(with(row(Opcode::kViadd, "VIADD", 0x036, kTwoOperandForms, Pipe::kFmaHeavy), {}, {kRd, a(), b(true)})),
    with(row(Opcode::kLea, "LEA", 0x011, kTwoOperandForms, Pipe::kAlu),
         {kHigh, kCarry, {Modifier::kSignExtend, 73, 1, kSignExtendNames}},
         {kRd, kPout, complementing_with_carry(a(true)), complementing_with_carry(b(true)),
          source(FieldKind::kSourceC, Role::kC, false), immediate(75, 5), kCarryIn}),
    with(row(Opcode::kShf, "SHF", 0x019, kAllForms, Pipe::kAlu),
         {{Modifier::kShiftRight, 76, 1, kShiftSideNames},
          {Modifier::kShiftWrap, 75, 1, kWrapNames},
          {Modifier::kShiftType, 73, 2, kShiftTypeNames},
          kHigh},
         {kRd, a(), b(), c()}),
    with(row(Opcode::kLop3, "LOP3.LUT", 0x012, kTwoOperandForms, Pipe::kAlu), {},
         {kPout, kRd, a(), b(), c(), immediate(72, 8), kPin}),
    with(row(Opcode::kIsetp, "ISETP", 0x00c, kTwoOperandForms, Pipe::kAlu),
         {{Modifier::kCompare, 76, 3, kCompareNames},
          kSigned,
          {Modifier::kBoolean, 74, 2, kBooleanNames},
          {Modifier::kExtended, 72, 1, kExtendedNames}},
         {kPoutAlways, predicate(Role::kPredicateOut2, 84, false), a(), b(false, Format::kSignedHex), kPin,
          predicate(Role::kPredicateIn2, 68, true, Show::kIfExtended)}),
    with(row(Opcode::kPlop3, "PLOP3.LUT", 0x01c, kForm4, Pipe::kAlu), {},
         {kPoutAlways, predicate(Role::kPredicateOut2, 84, false), kPin, predicate(Role::kPredicateIn2, 77, true),
          kMixedPin3, plain(FieldKind::kPredicateTable, Role::kImmediate),
          with_role(immediate(16, 8), Role::kImmediate2)}),
    with(row(Opcode::kIabs, "IABS", 0x013, kTwoOperandForms, Pipe::kAlu), {}, {kRd, b(false, Format::kSignedHex)}),
    until_ada(with(row(Opcode::kImnmx, "IMNMX", 0x017, kTwoOperandForms, Pipe::kAlu), {kSigned},
                   {kRd, a(), b(false, Format::kSignedHex), kPin})),
    from_hopper(with(row(Opcode::kVimnmx, "VIMNMX", 0x048, kTwoOperandForms, Pipe::kAlu), {kSignedAt72},
                     {kRd, a(), b(false, Format::kSignedHex), kPin},
                     kNoPredicateOut | high_bit(84) | high_bit(85) | high_bit(86))),
    from_hopper(with(row(Opcode::kViaddmnmx, "VIADDMNMX", 0x046, kAllForms, Pipe::kAlu), {kSignedAt72},
                     {kRd, a(), b(true), c(), kPin})),
    with(row(Opcode::kI2f, "I2F", 0x106, forms({1, 5, 6}), Pipe::kXu),
         {{Modifier::kSigned, 74, 1, kUnsignedNames},
          {Modifier::kIntegerSize, 84, 2, kIntegerSizeNames},
          {Modifier::kRounding, 78, 2, kRoundingNames}},
         {kRd, b(false, Format::kSignedHex)}, high_bit(76)),
    with(row(Opcode::kI2f64, "I2F", 0x112, forms({1, 5, 6}), Pipe::kXu),
         {{Modifier::kSigned, 74, 1, kUnsigned64Names}, {Modifier::kRounding, 78, 2, kRoundingNames}},
         {kRd, wide(b(false, Format::kSignedHex))}, high_bit(76) | high_bit(84) | high_bit(85)),
    with(row(Opcode::kF2i, "F2I", 0x105, kTwoOperandForms, Pipe::kXu), {kFlush, kSignedAt72, kFloor, kInexact},
         {kRd, floating(FieldKind::kSpot1, Role::kB)}, high_bit(76) | high_bit(85)),
    with(row(Opcode::kF2i64, "F2I", 0x111, kTwoOperandForms, Pipe::kXu),
         {kFlush, {Modifier::kSigned, 72, 1, kUnsigned64Names}, kFloor, kInexact},
         {kRd2, floating(FieldKind::kSpot1, Role::kB)}, high_bit(75) | high_bit(76) | high_bit(85)),
    on(86, 90,
       with(row(Opcode::kI2fp, "I2FP.F32", 0x045, forms({1, 5, 6}), Pipe::kAlu),
            {{Modifier::kSigned, 74, 1, kSigned32Names}}, {kRd, b()}, high_bit(76) | high_bit(85))),
    with(row(Opcode::kFrnd, "FRND", 0x107, forms({1, 5, 6}), Pipe::kXu), {kFlush, kFloor},
         {kRd, floating(FieldKind::kSpot1, Role::kB)}, high_bit(76) | high_bit(85)),
    with(row(Opcode::kFlo, "FLO", 0x100, kTwoOperandForms, Pipe::kXu),
         {kSigned, {Modifier::kShiftAmount, 74, 1, kShiftAmountNames}},
         {kRd, kPout, complementing(FieldKind::kSpot1, Role::kB)}),
    with(row(Opcode::kPopc, "POPC", 0x109, kTwoOperandForms, Pipe::kXu), {},
         {kRd, complementing(FieldKind::kSpot1, Role::kB)}),
    with(row(Opcode::kBrev, "BREV", 0x101, kTwoOperandForms, Pipe::kXu), {}, {kRd, b()}),
    with(row(Opcode::kMov, "MOV", 0x002, kTwoOperandForms, Pipe::kAlu), {},
         {kRd, b(), immediate(72, 4, Show::kIfPartial)}),
    with(row(Opcode::kSel, "SEL", 0x007, kTwoOperandForms, Pipe::kAlu), {}, {kRd, a(), b(), kPin}),
    with(row(Opcode::kPrmt, "PRMT", 0x016, kAllForms, Pipe::kAlu), {{Modifier::kPermuteMode, 72, 3, kPermuteNames}},
         {kRd, a(), b(), c()}),
    with(row(Opcode::kP2r, "P2R", 0x003, kTwoOperandForms, Pipe::kAlu), {kByte},
         {kRd, kPredicateSet, a(), b(false, Format::kSignedHex)}),
    with(row(Opcode::kR2p, "R2P", 0x004, kTwoOperandForms, Pipe::kAlu), {}, {kPredicateSet, a(), b()}),
    with(row(Opcode::kVote, "VOTE", 0x006, kForm4, Pipe::kAlu), {{Modifier::kVote, 72, 2, kVoteNames}},
         {shown(kRd, Show::kUnlessZero), kPoutAlways, kPin}),
    with(row(Opcode::kCs2r, "CS2R", 0x005, kForm4, Pipe::kAlu), {{Modifier::kPair, 80, 1, kPairNames}},
         {sized(kRd), plain(FieldKind::kSpecialRegister, Role::kB)}),
    with(row(Opcode::kS2r, "S2R", 0x119, kForm4, Pipe::kS2r), {}, {kRd, plain(FieldKind::kSpecialRegister, Role::kB)}),
};

}  // namespace

std::span<const InstructionRow> integer() { return kRows; }

}  // namespace tilesim::traces::rows
