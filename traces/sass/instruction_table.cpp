#include "traces/sass/instruction_table.h"

#include <algorithm>

namespace tilesim::traces {
namespace {

using isa::ControlOp;
using isa::MemoryOp;
using isa::Pipe;
using Names = std::span<const std::string_view>;

constexpr std::string_view kCompareNames[] = {"F", "LT", "EQ", "LE", "GT", "NE", "GE", "T"};
constexpr std::string_view kBooleanNames[] = {"AND", "OR", "XOR"};
constexpr std::string_view kUnsignedNames[] = {"U32", ""};
constexpr std::string_view kExtendedNames[] = {"", "EX"};
constexpr std::string_view kHighNames[] = {"", "HI"};
constexpr std::string_view kCarryNames[] = {"", "X"};
constexpr std::string_view kSignExtendNames[] = {"", "SX32"};
constexpr std::string_view kShiftTypeNames[] = {"S64", "U64", "S32", "U32"};
constexpr std::string_view kShiftSideNames[] = {"L", "R"};
constexpr std::string_view kWrapNames[] = {"", "W"};
constexpr std::string_view kWidthNames[] = {"U8", "S8", "U16", "S16", "", "64", "128"};
constexpr std::string_view kExtendedAddressNames[] = {"?", "E"};
constexpr std::string_view kOrderNames[] = {"", "?", "?", "?", "CONSTANT"};
constexpr std::string_view kStoreOrderNames[] = {""};
constexpr std::string_view kAccessNames[] = {"BYPASS", ""};
constexpr std::string_view kEvictionNames[] = {"EF", "", "EL", "LU", "EU", "NA"};
constexpr std::string_view kZeroFillNames[] = {"", "ZFILL"};
constexpr std::string_view kPrefetchNames[] = {"", "?", "LTC128B", "LTC256B"};
constexpr std::string_view kBarrierModeNames[] = {"SYNC"};
constexpr std::string_view kDeferNames[] = {"", "DEFER_BLOCKING"};
constexpr std::string_view kMatrixCountNames[] = {"", "2", "4"};
constexpr std::string_view kTransposeNames[] = {"16.M88", "16.MT88"};
constexpr std::string_view kMatrixShapeNames[] = {"1688", "16816"};
constexpr std::string_view kAccumulatorNames[] = {"F16", "F32"};
constexpr std::string_view kMatrixTypeNames[] = {"", "BF16"};
constexpr std::string_view kPairNames[] = {"32", ""};
constexpr std::string_view kPermuteNames[] = {"", "F4E", "B4E", "RC8", "ECL", "ECR", "RC16"};
constexpr std::string_view kLessEqualNames[] = {"?", "LE"};
constexpr std::string_view kFlushNames[] = {"", "FTZ"};

constexpr std::string_view kRoundingNames[] = {"", "RM", "RP", "RZ"};
constexpr std::string_view kIntegerRoundingNames[] = {"", "FLOOR", "CEIL", "TRUNC"};
constexpr std::string_view kIntegerSizeNames[] = {"8", "16", ""};
constexpr std::string_view kInexactNames[] = {"", "NTZ"};
constexpr std::string_view kFunctionNames[] = {"COS", "SIN", "EX2", "LG2", "RCP", "RSQ", "?", "?", "SQRT", "TANH"};
constexpr std::string_view kVoteNames[] = {"ALL", "ANY"};

constexpr ModifierField kSigned{Modifier::kSigned, 73, 1, kUnsignedNames};
constexpr ModifierField kCarry{Modifier::kCarry, 74, 1, kCarryNames};
constexpr ModifierField kHigh{Modifier::kHigh, 80, 1, kHighNames};
constexpr ModifierField kWidth{Modifier::kWidth, 73, 3, kWidthNames};
constexpr ModifierField kEviction{Modifier::kEviction, 84, 3, kEvictionNames};
constexpr ModifierField kFlush{Modifier::kFlushSubnormals, 80, 1, kFlushNames};

constexpr std::uint8_t forms(std::initializer_list<int> list) {
  unsigned mask = 0;
  for (const int form : list) {
    mask |= 1U << form;
  }
  return static_cast<std::uint8_t>(mask);
}
constexpr std::uint8_t kAllForms = forms({1, 2, 3, 4, 5, 6, 7});
constexpr std::uint8_t kTwoOperandForms = forms({1, 4, 5, 6});
constexpr std::uint8_t kSpot1Forms = forms({1, 2, 3, 7});
constexpr std::uint8_t kForm4 = forms({4});

constexpr OperandField register_at(Role role, int first, int registers = 1) {
  OperandField field{FieldKind::kRegister, role, static_cast<std::uint8_t>(first), 8};
  field.registers = static_cast<std::uint8_t>(registers);
  return field;
}
constexpr OperandField uniform_at(Role role, int first, int registers = 1) {
  OperandField field = register_at(role, first, registers);
  field.kind = FieldKind::kUniformRegister;
  field.count = 6;
  return field;
}
constexpr OperandField kRd = register_at(Role::kDestination, 16);
constexpr OperandField kUrd = uniform_at(Role::kDestination, 16);

constexpr OperandField source(FieldKind kind, Role role, bool negatable, Format format = Format::kHex,
                              int registers = 1) {
  OperandField field{kind, role};
  field.negatable = negatable;
  field.format = format;
  field.registers = static_cast<std::uint8_t>(registers);
  return field;
}
constexpr OperandField floating(FieldKind kind, Role role, bool absolutable) {
  OperandField field = source(kind, role, true, Format::kFloat);
  field.absolutable = absolutable;
  return field;
}
constexpr OperandField inverting(FieldKind kind, Role role) {
  OperandField field = source(kind, role, true, Format::kSignedHex);
  field.inverts = true;
  return field;
}
constexpr OperandField a(bool negatable = false) { return source(FieldKind::kSourceA, Role::kA, negatable); }
constexpr OperandField b(bool negatable = false, Format format = Format::kHex) {
  return source(FieldKind::kSourceB, Role::kB, negatable, format);
}
constexpr OperandField c(bool negatable = false, Format format = Format::kHex, int registers = 1) {
  return source(FieldKind::kSourceC, Role::kC, negatable, format, registers);
}
constexpr OperandField sized(OperandField field) {
  field.registers = 0;
  return field;
}

constexpr OperandField predicate(Role role, int first, bool negatable, Show show = Show::kAlways) {
  OperandField field{FieldKind::kPredicate, role, static_cast<std::uint8_t>(first),
                     static_cast<std::uint8_t>(negatable ? 4 : 3)};
  field.show = show;
  return field;
}
constexpr OperandField uniform_predicate(OperandField field) {
  field.kind = FieldKind::kUniformPredicate;
  return field;
}
constexpr OperandField kPout = predicate(Role::kPredicateOut, 81, false, Show::kUnlessTrue);
constexpr OperandField kPout2 = predicate(Role::kPredicateOut2, 84, false, Show::kUnlessTrue);
constexpr OperandField kCarryIn = predicate(Role::kPredicateIn, 87, true, Show::kIfCarry);
constexpr OperandField kCarryIn2 = predicate(Role::kPredicateIn2, 77, true, Show::kIfCarry);
constexpr OperandField kPin = predicate(Role::kPredicateIn, 87, true);
constexpr OperandField kMixedPin3{FieldKind::kMixedPredicate, Role::kPredicateIn3, 68, 4};

constexpr OperandField uniform_shown(OperandField field) {
  field.show = Show::kUnlessZero;
  return field;
}

constexpr OperandField immediate(int first, int count, Show show = Show::kAlways) {
  OperandField field{FieldKind::kImmediate, Role::kImmediate, static_cast<std::uint8_t>(first),
                     static_cast<std::uint8_t>(count)};
  field.show = show;
  return field;
}
constexpr OperandField second_immediate(int first, int count) {
  OperandField field = immediate(first, count);
  field.role = Role::kImmediate2;
  return field;
}
constexpr OperandField address(Role role, int reg, int offset, int count, int uniform) {
  OperandField field{FieldKind::kAddress, role, static_cast<std::uint8_t>(reg), static_cast<std::uint8_t>(count)};
  field.offset = static_cast<std::uint8_t>(offset);
  field.uniform = static_cast<std::uint8_t>(uniform);
  return field;
}
constexpr OperandField constant(int register_bit, int registers) {
  OperandField field{FieldKind::kConstant, Role::kB, static_cast<std::uint8_t>(register_bit)};
  field.registers = static_cast<std::uint8_t>(registers);
  return field;
}
constexpr OperandField plain(FieldKind kind, Role role) { return OperandField{kind, role}; }

constexpr InstructionRow row(Opcode opcode, std::string_view mnemonic, int code, std::uint8_t form_mask, Pipe pipe) {
  InstructionRow result;
  result.opcode = opcode;
  result.mnemonic = mnemonic;
  result.code = static_cast<std::uint16_t>(code);
  result.forms = form_mask;
  result.pipe = pipe;
  return result;
}
constexpr InstructionRow with(InstructionRow result, std::initializer_list<ModifierField> modifiers,
                              std::initializer_list<OperandField> operands, std::uint64_t fixed_high = 0) {
  std::copy(modifiers.begin(), modifiers.end(), result.modifiers.begin());
  std::copy(operands.begin(), operands.end(), result.operands.begin());
  result.fixed = {0, fixed_high};
  return result;
}
constexpr InstructionRow on_uniform(InstructionRow result) {
  result.uniform = true;
  return result;
}
constexpr InstructionRow accessing(InstructionRow result, MemoryOp memory) {
  result.memory = memory;
  return result;
}
constexpr InstructionRow local(InstructionRow result) {
  result.local = true;
  return result;
}
constexpr InstructionRow controlling(InstructionRow result, ControlOp control) {
  result.control = control;
  return result;
}
constexpr std::uint64_t high_bit(int position) { return std::uint64_t{1} << (position - 64); }
constexpr std::uint64_t kUniformFlag = high_bit(91);  // the instruction reads a uniform register
/// Address through desc[UR]: bits 76, 90, 91; normal eviction priority: bit 84.
constexpr std::uint64_t kDescriptorFlags = high_bit(76) | high_bit(84) | high_bit(90) | high_bit(91);

constexpr InstructionRow kFloatRows[] = {
    with(row(Opcode::kFfma, "FFMA", 0x023, kAllForms, Pipe::kFma), {kFlush},
         {kRd, floating(FieldKind::kSourceA, Role::kA, false), floating(FieldKind::kSourceB, Role::kB, false),
          floating(FieldKind::kSourceC, Role::kC, false)}),
    with(row(Opcode::kFadd, "FADD", 0x021, kSpot1Forms, Pipe::kFma), {kFlush},
         {kRd, floating(FieldKind::kSourceA, Role::kA, true), floating(FieldKind::kSpot1, Role::kB, true)}),
    with(row(Opcode::kFmul, "FMUL", 0x020, kTwoOperandForms, Pipe::kFma), {kFlush},
         {kRd, floating(FieldKind::kSourceA, Role::kA, true), floating(FieldKind::kSpot1, Role::kB, true)},
         high_bit(86)),
    with(row(Opcode::kHfma2Mma, "HFMA2.MMA", 0x035, forms({2}), Pipe::kTensorHalf), {},
         {kRd, a(true), b(), c(false, Format::kHalfPair)}),
    with(row(Opcode::kHmma, "HMMA", 0x03c, forms({1}), Pipe::kTensor),
         {{Modifier::kMatrixShape, 75, 1, kMatrixShapeNames},
          {Modifier::kAccumulator, 76, 1, kAccumulatorNames},
          {Modifier::kMatrixType, 82, 2, kMatrixTypeNames}},
         {sized(kRd), sized(a()), sized(b()), sized(c())}),
};

constexpr InstructionRow kIntegerRows[] = {
    with(row(Opcode::kImad, "IMAD", 0x024, kAllForms, Pipe::kFmaHeavy), {kCarry, kSigned},
         {kRd, kPout, a(), b(false, Format::kSignedHex), c(true, Format::kSignedHex), kCarryIn}),
    with(row(Opcode::kImadWide, "IMAD.WIDE", 0x025, kAllForms, Pipe::kFmaWide), {kSigned, kCarry},
         {register_at(Role::kDestination, 16, 2), kPout, a(), b(false, Format::kSignedHex),
          c(true, Format::kSignedHex, 2), kCarryIn}),
    with(row(Opcode::kImadHigh, "IMAD.HI", 0x027, kAllForms, Pipe::kFmaWide), {kSigned},
         {kRd, kPout, a(), b(false, Format::kSignedHex), c(true, Format::kSignedHex, 2), kCarryIn}),
    with(row(Opcode::kIadd3, "IADD3", 0x010, kTwoOperandForms, Pipe::kAlu), {kCarry},
         {kRd, kPout, kPout2, inverting(FieldKind::kSourceA, Role::kA), inverting(FieldKind::kSourceB, Role::kB),
          inverting(FieldKind::kSourceC, Role::kC), kCarryIn, kCarryIn2}),
    with(row(Opcode::kViadd, "VIADD", 0x036, forms({1, 4, 6}), Pipe::kFmaHeavy), {}, {kRd, a(true), b(true)}),
    with(row(Opcode::kLea, "LEA", 0x011, kTwoOperandForms, Pipe::kAlu),
         {kHigh, kCarry, {Modifier::kSignExtend, 73, 1, kSignExtendNames}},
         {kRd, kPout, a(true), b(true), source(FieldKind::kSourceC, Role::kC, false), immediate(75, 5), kCarryIn}),
    with(row(Opcode::kShf, "SHF", 0x019, kAllForms, Pipe::kAlu),
         {{Modifier::kShiftRight, 76, 1, kShiftSideNames},
          {Modifier::kShiftWrap, 75, 1, kWrapNames},
          {Modifier::kShiftType, 73, 2, kShiftTypeNames},
          kHigh},
         {kRd, a(), b(), c()}),
    with(row(Opcode::kLop3, "LOP3.LUT", 0x012, kTwoOperandForms, Pipe::kAlu), {},
         {kRd, kPout, a(), b(), c(), immediate(72, 8), kPin}),
    with(row(Opcode::kIsetp, "ISETP", 0x00c, kTwoOperandForms, Pipe::kAlu),
         {{Modifier::kCompare, 76, 3, kCompareNames},
          kSigned,
          {Modifier::kBoolean, 74, 2, kBooleanNames},
          {Modifier::kExtended, 72, 1, kExtendedNames}},
         {predicate(Role::kPredicateOut, 81, false), predicate(Role::kPredicateOut2, 84, false), a(),
          b(false, Format::kSignedHex), kPin, predicate(Role::kPredicateIn2, 68, true, Show::kIfExtended)}),
    with(row(Opcode::kPlop3, "PLOP3.LUT", 0x01c, kForm4, Pipe::kAlu), {},
         {predicate(Role::kPredicateOut, 81, false), predicate(Role::kPredicateOut2, 84, false), kPin,
          predicate(Role::kPredicateIn2, 77, true), kMixedPin3, plain(FieldKind::kPredicateTable, Role::kImmediate),
          second_immediate(16, 8)}),
    with(row(Opcode::kIabs, "IABS", 0x013, forms({1}), Pipe::kAlu), {}, {kRd, b()}),
    with(row(Opcode::kVimnmx, "VIMNMX", 0x048, forms({1, 4, 6}), Pipe::kAlu),
         {{Modifier::kSigned, 72, 1, kUnsignedNames}}, {kRd, a(), b(), kPin},
         high_bit(81) | high_bit(82) | high_bit(83) | high_bit(84) | high_bit(85) | high_bit(86)),
    with(row(Opcode::kViaddmnmx, "VIADDMNMX", 0x046, forms({1, 4, 6}), Pipe::kAlu),
         {{Modifier::kSigned, 72, 1, kUnsignedNames}}, {kRd, a(), b(true), c(), kPin}),
    with(row(Opcode::kI2f, "I2F", 0x106, forms({1}), Pipe::kXu),
         {{Modifier::kSigned, 74, 1, kUnsignedNames},
          {Modifier::kIntegerSize, 84, 2, kIntegerSizeNames},
          {Modifier::kRounding, 78, 2, kRoundingNames}},
         {kRd, b()}, high_bit(76)),
    with(row(Opcode::kF2i, "F2I", 0x105, forms({1}), Pipe::kXu),
         {kFlush,
          {Modifier::kSigned, 72, 1, kUnsignedNames},
          {Modifier::kRounding, 78, 2, kIntegerRoundingNames},
          {Modifier::kInexact, 77, 1, kInexactNames}},
         {kRd, floating(FieldKind::kSpot1, Role::kB, true)}, high_bit(76) | high_bit(85)),
    with(row(Opcode::kMufu, "MUFU", 0x108, forms({1}), Pipe::kXu), {{Modifier::kFunction, 74, 4, kFunctionNames}},
         {kRd, floating(FieldKind::kSpot1, Role::kB, true)}),
    with(row(Opcode::kMov, "MOV", 0x002, kTwoOperandForms, Pipe::kAlu), {},
         {kRd, b(), immediate(72, 4, Show::kIfPartial)}),
    with(row(Opcode::kSel, "SEL", 0x007, kTwoOperandForms, Pipe::kAlu), {}, {kRd, a(), b(), kPin}),
    with(row(Opcode::kPrmt, "PRMT", 0x016, kAllForms, Pipe::kAlu), {{Modifier::kPermuteMode, 72, 3, kPermuteNames}},
         {kRd, a(), b(), c()}),
    with(row(Opcode::kCs2r, "CS2R", 0x005, kForm4, Pipe::kAlu), {{Modifier::kPair, 80, 1, kPairNames}},
         {sized(kRd), plain(FieldKind::kSpecialRegister, Role::kB)}),
    with(row(Opcode::kS2r, "S2R", 0x119, kForm4, Pipe::kS2r), {}, {kRd, plain(FieldKind::kSpecialRegister, Role::kB)}),
};

constexpr InstructionRow kUniformRows[] = {
    on_uniform(with(row(Opcode::kS2ur, "S2UR", 0x1c3, kForm4, Pipe::kS2r), {},
                    {kUrd, plain(FieldKind::kSpecialRegister, Role::kB)})),
    on_uniform(with(row(Opcode::kUmov, "UMOV", 0x082, forms({4, 6}), Pipe::kUniform), {}, {kUrd, b()})),
    on_uniform(
        with(row(Opcode::kUiadd3, "UIADD3", 0x090, forms({1, 4}), Pipe::kUniform), {kCarry},
             {kUrd, uniform_predicate(kPout), uniform_predicate(kPout2), inverting(FieldKind::kSourceA, Role::kA),
              inverting(FieldKind::kSourceB, Role::kB), inverting(FieldKind::kSourceC, Role::kC),
              uniform_predicate(kCarryIn), uniform_predicate(kCarryIn2)},
             kUniformFlag)),
    on_uniform(with(row(Opcode::kUlea, "ULEA", 0x091, forms({1, 4}), Pipe::kUniform),
                    {kHigh, kCarry, {Modifier::kSignExtend, 73, 1, kSignExtendNames}},
                    {kUrd, uniform_predicate(kPout), a(true), b(true), source(FieldKind::kSourceC, Role::kC, false),
                     immediate(75, 5), uniform_predicate(kCarryIn)},
                    kUniformFlag)),
    on_uniform(with(row(Opcode::kUshf, "USHF", 0x099, forms({1, 4}), Pipe::kUniform),
                    {{Modifier::kShiftRight, 76, 1, kShiftSideNames},
                     {Modifier::kShiftWrap, 75, 1, kWrapNames},
                     {Modifier::kShiftType, 73, 2, kShiftTypeNames},
                     kHigh},
                    {kUrd, a(), b(), c()}, kUniformFlag)),
    on_uniform(with(row(Opcode::kUlop3, "ULOP3.LUT", 0x092, forms({1, 4}), Pipe::kUniform), {},
                    {kUrd, uniform_predicate(kPout), a(), b(), c(), immediate(72, 8), uniform_predicate(kPin)},
                    kUniformFlag)),
    on_uniform(
        with(row(Opcode::kUisetp, "UISETP", 0x08c, forms({1, 4}), Pipe::kUniform),
             {{Modifier::kCompare, 76, 3, kCompareNames},
              kSigned,
              {Modifier::kBoolean, 74, 2, kBooleanNames},
              {Modifier::kExtended, 72, 1, kExtendedNames}},
             {uniform_predicate(predicate(Role::kPredicateOut, 81, false)),
              uniform_predicate(predicate(Role::kPredicateOut2, 84, false)), a(), b(false, Format::kSignedHex),
              uniform_predicate(kPin), uniform_predicate(predicate(Role::kPredicateIn2, 68, true, Show::kIfExtended))},
             kUniformFlag)),
    on_uniform(with(row(Opcode::kUimad, "UIMAD", 0x0a4, forms({1, 4}), Pipe::kUniform), {kCarry, kSigned},
                    {kUrd, uniform_predicate(kPout), a(), b(false, Format::kSignedHex), c(true, Format::kSignedHex),
                     uniform_predicate(kCarryIn)},
                    kUniformFlag)),
    on_uniform(with(row(Opcode::kUimadWide, "UIMAD.WIDE", 0x0a5, forms({1, 4}), Pipe::kUniform), {kSigned, kCarry},
                    {uniform_at(Role::kDestination, 16, 2), uniform_predicate(kPout), a(), b(false, Format::kSignedHex),
                     c(true, Format::kSignedHex, 2), uniform_predicate(kCarryIn)},
                    kUniformFlag)),
    on_uniform(with(row(Opcode::kUsel, "USEL", 0x087, forms({1, 4}), Pipe::kUniform), {},
                    {kUrd, a(), b(), uniform_predicate(kPin)}, kUniformFlag)),
    on_uniform(with(row(Opcode::kVoteu, "VOTEU", 0x086, kForm4, Pipe::kUniform), {{Modifier::kVote, 72, 2, kVoteNames}},
                    {uniform_shown(kUrd), uniform_predicate(predicate(Role::kPredicateOut, 81, false)), kPin})),
    on_uniform(
        with(row(Opcode::kUldc, "ULDC", 0x0b9, forms({5}), Pipe::kNone), {kWidth}, {sized(kUrd), constant(0, 0)})),
};

constexpr InstructionRow kMemoryRows[] = {
    with(row(Opcode::kLdc, "LDC", 0x182, forms({5}), Pipe::kAdu), {kWidth}, {sized(kRd), constant(24, 0)}),
    accessing(with(row(Opcode::kLds, "LDS", 0x184, kForm4, Pipe::kLsu), {kWidth},
                   {sized(kRd), address(Role::kAddress, 24, 40, 24, 32)}),
              MemoryOp::kLoadShared),
    accessing(with(row(Opcode::kSts, "STS", 0x188, forms({1, 4}), Pipe::kLsu), {kWidth},
                   {address(Role::kAddress, 24, 40, 24, 64), register_at(Role::kB, 32, 0)}),
              MemoryOp::kStoreShared),
    accessing(with(row(Opcode::kLdsm, "LDSM", 0x03b, kForm4, Pipe::kLsu),
                   {{Modifier::kTranspose, 78, 1, kTransposeNames}, {Modifier::kMatrixCount, 72, 2, kMatrixCountNames}},
                   {sized(kRd), address(Role::kAddress, 24, 40, 24, 32)}),
              MemoryOp::kLoadMatrix),
    accessing(with(row(Opcode::kLdg, "LDG", 0x181, kForm4, Pipe::kLsu),
                   {{Modifier::kExtendedAddress, 72, 1, kExtendedAddressNames},
                    kWidth,
                    {Modifier::kMemoryOrder, 77, 4, kOrderNames}},
                   {sized(kRd), kPout, address(Role::kAddress, 24, 40, 24, 32)}, kDescriptorFlags),
              MemoryOp::kLoadGlobal),
    accessing(with(row(Opcode::kStg, "STG", 0x186, kForm4, Pipe::kLsu),
                   {{Modifier::kExtendedAddress, 72, 1, kExtendedAddressNames},
                    kWidth,
                    {Modifier::kMemoryOrder, 77, 4, kStoreOrderNames}},
                   {address(Role::kAddress, 24, 40, 24, 64), register_at(Role::kB, 32, 0)}, kDescriptorFlags),
              MemoryOp::kStoreGlobal),
    local(accessing(with(row(Opcode::kLdl, "LDL", 0x183, kForm4, Pipe::kLsu), {kEviction, kWidth},
                         {sized(kRd), address(Role::kAddress, 24, 40, 24, 0)}),
                    MemoryOp::kLoadGlobal)),
    local(accessing(with(row(Opcode::kStl, "STL", 0x187, forms({1}), Pipe::kLsu), {kEviction, kWidth},
                         {address(Role::kAddress, 24, 40, 24, 0), sized(register_at(Role::kB, 32, 0))}),
                    MemoryOp::kStoreGlobal)),
    accessing(with(row(Opcode::kLdgsts, "LDGSTS", 0x1ae, forms({7}), Pipe::kLsu),
                   {{Modifier::kExtendedAddress, 70, 1, kExtendedAddressNames},
                    {Modifier::kAccess, 81, 1, kAccessNames},
                    {Modifier::kPrefetchSize, 71, 2, kPrefetchNames},
                    kWidth,
                    {Modifier::kZeroFill, 82, 1, kZeroFillNames}},
                   {address(Role::kSharedAddress, 16, 44, 20, 0), address(Role::kAddress, 24, 32, 12, 64),
                    predicate(Role::kPredicateIn, 87, true, Show::kUnlessTrue)},
                   high_bit(76) | high_bit(84) | high_bit(91)),
              MemoryOp::kCopyAsync),
};

constexpr InstructionRow kControlRows[] = {
    controlling(with(row(Opcode::kLdgdepbar, "LDGDEPBAR", 0x1af, kForm4, Pipe::kLsu), {}, {}), ControlOp::kCommitGroup),
    controlling(with(row(Opcode::kDepbar, "DEPBAR", 0x11a, kForm4, Pipe::kNone),
                     {{Modifier::kLessEqual, 47, 1, kLessEqualNames}},
                     {plain(FieldKind::kScoreboard, Role::kA), immediate(38, 6)}),
                ControlOp::kWaitGroups),
    controlling(
        with(row(Opcode::kBar, "BAR", 0x11d, forms({5}), Pipe::kBranch),
             {{Modifier::kBarrierMode, 77, 3, kBarrierModeNames}, {Modifier::kDeferBlocking, 80, 1, kDeferNames}},
             {immediate(54, 4)}),
        ControlOp::kBarrier),
    controlling(
        with(row(Opcode::kBra, "BRA", 0x147, kForm4, Pipe::kBranch), {},
             {predicate(Role::kPredicateIn, 87, true, Show::kUnlessTrue), plain(FieldKind::kBranchTarget, Role::kB)}),
        ControlOp::kBranch),
    with(row(Opcode::kBssy, "BSSY", 0x145, kForm4, Pipe::kBranch), {},
         {plain(FieldKind::kConvergence, Role::kA), plain(FieldKind::kSyncTarget, Role::kB),
          predicate(Role::kPredicateIn, 87, true, Show::kUnlessTrue)}),
    with(row(Opcode::kBsync, "BSYNC", 0x141, kForm4, Pipe::kBranch), {},
         {plain(FieldKind::kConvergence, Role::kA), predicate(Role::kPredicateIn, 87, true, Show::kUnlessTrue)}),
    controlling(with(row(Opcode::kExit, "EXIT", 0x14d, kForm4, Pipe::kBranch), {},
                     {predicate(Role::kPredicateIn, 87, true, Show::kUnlessTrue)}),
                ControlOp::kExit),
    with(row(Opcode::kNop, "NOP", 0x118, kForm4, Pipe::kNone), {}, {}),
};

constexpr std::size_t kRowCount = std::size(kFloatRows) + std::size(kIntegerRows) + std::size(kUniformRows) +
                                  std::size(kMemoryRows) + std::size(kControlRows);

constexpr std::array<InstructionRow, kRowCount> join_rows() {
  std::array<InstructionRow, kRowCount> all{};
  auto* out = all.data();
  const auto append = [&out](std::span<const InstructionRow> part) { out = std::copy(part.begin(), part.end(), out); };
  append(kFloatRows);
  append(kIntegerRows);
  append(kUniformRows);
  append(kMemoryRows);
  append(kControlRows);
  return all;
}
constexpr std::array<InstructionRow, kRowCount> kRows = join_rows();

constexpr std::uint8_t kNoRow = 0xff;
constexpr std::array<std::uint8_t, 4096> index_rows() {
  std::array<std::uint8_t, 4096> index{};
  index.fill(kNoRow);
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    for (unsigned form = 0; form < 8; ++form) {
      if ((kRows[i].forms >> form & 1) != 0) {
        index[kRows[i].code | form << 9] = static_cast<std::uint8_t>(i);
      }
    }
  }
  return index;
}
constexpr std::array<std::uint8_t, 4096> kRowIndex = index_rows();

void cover(Encoding& mask, unsigned first, unsigned count) { mask.set_field(first, count, ~std::uint64_t{0}); }

void cover_spot1(Encoding& mask, const InstructionRow& row, const OperandField& field, Form form) {
  switch (form) {
    case Form::kRegister:
      cover(mask, 32, row.uniform ? 6 : 8);
      cover(mask, 123, 1);
      break;
    case Form::kImmediate:
    case Form::kImmediateC:
      cover(mask, 32, 32);
      return;
    case Form::kConstant:
    case Form::kConstantC:
      cover(mask, 38, 21);
      break;
    case Form::kUniform:
    case Form::kUniformC:
      cover(mask, 32, 6);
      cover(mask, 91, 1);
      break;
  }
  if (field.absolutable) {
    cover(mask, 62, 1);
  }
  if (field.negatable) {
    cover(mask, 63, 1);
  }
}

void cover_spot2(Encoding& mask, const InstructionRow& row, const OperandField& field) {
  cover(mask, 64, row.uniform ? 6 : 8);
  cover(mask, 124, 1);
  if (field.absolutable) {
    cover(mask, 74, 1);
  }
  if (field.negatable) {
    cover(mask, 75, 1);
  }
}

void cover_address(Encoding& mask, const InstructionRow& row, const OperandField& field) {
  cover(mask, field.first, 8);
  cover(mask, field.offset, field.count);
  if (field.uniform != 0) {
    cover(mask, field.uniform, 6);
    if (!isa::is_global(row.memory)) {
      cover(mask, 91, 1);
    }
  }
}

void cover_operand(Encoding& mask, const InstructionRow& row, const OperandField& field, Form form) {
  const bool swapped = form == Form::kImmediateC || form == Form::kConstantC || form == Form::kUniformC;
  switch (field.kind) {
    case FieldKind::kSourceA:
      cover(mask, 24, row.uniform ? 6 : 8);
      cover(mask, 122, 1);
      if (field.negatable) {
        cover(mask, 72, 1);
      }
      if (field.absolutable) {
        cover(mask, 73, 1);
      }
      break;
    case FieldKind::kSpot1:
      cover_spot1(mask, row, field, form);
      break;
    case FieldKind::kSourceB:
      swapped ? cover_spot2(mask, row, field) : cover_spot1(mask, row, field, form);
      break;
    case FieldKind::kSourceC:
      swapped ? cover_spot1(mask, row, field, form) : cover_spot2(mask, row, field);
      break;
    case FieldKind::kConstant:
      cover(mask, 38, 21);
      if (field.first != 0) {
        cover(mask, field.first, 8);
      }
      break;
    case FieldKind::kAddress:
      cover_address(mask, row, field);
      break;
    case FieldKind::kSpecialRegister:
      cover(mask, 72, 8);
      break;
    case FieldKind::kBranchTarget:
      cover(mask, 16, 8);
      cover(mask, 34, 48);
      break;
    case FieldKind::kScoreboard:
      cover(mask, 44, 3);
      break;
    case FieldKind::kMixedPredicate:
      cover(mask, field.first, field.count);
      cover(mask, 67, 1);
      break;
    case FieldKind::kPredicateTable:
      cover(mask, 64, 3);
      cover(mask, 72, 5);
      break;
    case FieldKind::kSyncTarget:
      cover(mask, 34, 30);
      break;
    case FieldKind::kConvergence:
      cover(mask, 16, 4);
      break;
    case FieldKind::kNone:
      break;
    default:
      cover(mask, field.first, field.count);
      break;
  }
}

}  // namespace

const InstructionRow* find_row(std::uint16_t opcode_bits) {
  const std::uint8_t index = kRowIndex[opcode_bits & 0xfffU];
  return index == kNoRow ? nullptr : &kRows[index];
}

std::span<const InstructionRow> instruction_table() { return kRows; }

Encoding covered_bits(const InstructionRow& row, Form form) {
  Encoding mask;
  cover(mask, 0, 16);    // opcode, form, guard
  cover(mask, 105, 17);  // control
  for (const ModifierField& modifier : row.modifiers) {
    cover(mask, modifier.first, modifier.count);
  }
  for (const OperandField& field : row.operands) {
    cover_operand(mask, row, field, form);
  }
  return mask;
}

std::string_view special_register_name(std::int64_t number) {
  switch (number) {
    case kSrLaneId:
      return "SR_LANEID";
    case kSrTidX:
      return "SR_TID.X";
    case kSrTidY:
      return "SR_TID.Y";
    case kSrTidZ:
      return "SR_TID.Z";
    case kSrCtaidX:
      return "SR_CTAID.X";
    case kSrCtaidY:
      return "SR_CTAID.Y";
    case kSrCtaidZ:
      return "SR_CTAID.Z";
    case kSrCgaCtaId:
      return "SR_CgaCtaId";
    case kSrZero:
      return "SRZ";
    default:
      return {};
  }
}

}  // namespace tilesim::traces
