#include "traces/sass/instruction_rows.h"

namespace tilesim::traces::rows {
namespace {

constexpr std::string_view kFloatCompareNames[] = {"F",   "LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "NUM",
                                                   "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T"};
constexpr std::string_view kSaturateNames[] = {"", "SAT"};
constexpr std::string_view kNotANumberNames[] = {"", "NAN"};
constexpr std::string_view kWideResultNames[] = {"", "F32"};
constexpr std::string_view kPackedTypeNames[] = {"", "BF16_V2"};
constexpr std::string_view kMatrixShapeNames[] = {"1688", "16816", "1684"};
constexpr std::string_view kAccumulatorNames[] = {"F16", "F32"};
constexpr std::string_view kMatrixTypeNames[] = {"", "BF16", "TF32"};
constexpr std::string_view kFunctionNames[] = {"COS", "SIN",    "EX2",    "LG2",  "RCP",
                                               "RSQ", "RCP64H", "RSQ64H", "SQRT", "TANH"};
constexpr std::string_view kHalfTypeNames[] = {"", "BF16"};
constexpr std::string_view kHalfTypeFromFloatNames[] = {"F16.F32", "BF16.F32"};
constexpr std::string_view kMergeNames[] = {"PACK_AB", "MERGE_C"};
constexpr std::string_view kFloatSizeNames[] = {"?", "?", "F32", "F64"};

constexpr std::string_view kReluNames[] = {"", "RELU"};
constexpr std::string_view kPackRoundingNames[] = {"", "?", "?", "RZ"};
// HFMA2: bits 87-89 hold PT where bit 79 says RELU, else nothing.
constexpr std::string_view kHalfReluNames[] = {"",  "?", "?", "?", "?", "?", "?", "?",
                                               "?", "?", "?", "?", "?", "?", "?", "RELU"};

constexpr ModifierField kHalfRelu{Modifier::kRelu, 87, 3, kHalfReluNames, 79};
constexpr ModifierField kRounding{Modifier::kRounding, 78, 2, kRoundingNames};
constexpr ModifierField kSaturate{Modifier::kSaturate, 77, 1, kSaturateNames};
constexpr ModifierField kPackedType{Modifier::kPackedType, 85, 1, kPackedTypeNames};
constexpr ModifierField kCompare{Modifier::kCompare, 76, 4, kFloatCompareNames};
constexpr ModifierField kBoolean{Modifier::kBoolean, 74, 2, kBooleanNames};

constexpr OperandField kA = floating(FieldKind::kSourceA, Role::kA);
// Both halves always.
constexpr OperandField whole(OperandField field) {
  field.halves = false;
  return field;
}
constexpr OperandField kSpot1 = floating(FieldKind::kSpot1, Role::kB);

// The pipe is not measured; that it has reuse flags tells that it is none of the slow ones.
constexpr InstructionRow pack_row(std::span<const std::string_view> types) {
  return with(row(Opcode::kF2fp, "F2FP", 0x03e, kTwoOperandForms, Pipe::kAlu),
              {{Modifier::kRelu, 75, 1, kReluNames},
               {Modifier::kHalfType, 76, 1, types},
               {Modifier::kMerge, 78, 1, kMergeNames},
               {Modifier::kRounding, 79, 2, kPackRoundingNames}},
              {kRd, shown(source(FieldKind::kSourceA, Role::kA, false), Show::kUnlessMerged),
               source(FieldKind::kSourceB, Role::kB, false, Format::kFloat),
               shown(source(FieldKind::kSourceC, Role::kC, false), Show::kIfMerged)});
}

constexpr InstructionRow tensor_halves(std::initializer_list<ModifierField> modifiers) {
  return on_halves(with(row(Opcode::kHfma2Mma, "HFMA2.MMA", 0x035, forms({1, 2, 3, 4, 5}), Pipe::kTensorHalf),
                        modifiers,
                        {kRd, whole(packed(FieldKind::kSourceA, Role::kA)),
                         whole(packed(FieldKind::kSourceB, Role::kB)), whole(packed(FieldKind::kSourceC, Role::kC))}));
}
constexpr InstructionRow add_halves(std::initializer_list<ModifierField> modifiers) {
  return on_halves(with(row(Opcode::kHadd2, "HADD2", 0x030, kSpot1Forms, Pipe::kHalf), modifiers,
                        {kRd, packed(FieldKind::kSourceA, Role::kA), packed(FieldKind::kSpot1, Role::kB)}));
}
constexpr InstructionRow compare_halves(std::initializer_list<ModifierField> modifiers) {
  return on_halves(with(row(Opcode::kHsetp2, "HSETP2", 0x034, kSpot1Forms, Pipe::kHalf), modifiers,
                        {kPoutAlways, predicate(Role::kPredicateOut2, 84, false), packed(FieldKind::kSourceA, Role::kA),
                         packed(FieldKind::kSpot1, Role::kB), kPin}));
}
constexpr InstructionRow multiply_halves(std::initializer_list<ModifierField> modifiers) {
  return on_halves(with(row(Opcode::kHmul2, "HMUL2", 0x032, kTwoOperandForms, Pipe::kHalf), modifiers,
                        {kRd, packed(FieldKind::kSourceA, Role::kA), packed(FieldKind::kSpot1, Role::kB)}));
}

constexpr InstructionRow kRows[] = {
    with(row(Opcode::kFfma, "FFMA", 0x023, kAllForms, Pipe::kFma), {kFlush, kRounding, kSaturate},
         {kRd, kA, floating(FieldKind::kSourceB, Role::kB), floating(FieldKind::kSourceC, Role::kC)}),
    with(row(Opcode::kFadd, "FADD", 0x021, kSpot1Forms, Pipe::kFma), {kFlush, kRounding, kSaturate}, {kRd, kA, kSpot1}),
    with(row(Opcode::kFmul, "FMUL", 0x020, kTwoOperandForms, Pipe::kFma), {kFlush, kRounding, kSaturate},
         {kRd, kA, kSpot1}, high_bit(86)),
    with(row(Opcode::kFsel, "FSEL", 0x008, kTwoOperandForms, Pipe::kAlu), {kFlush}, {kRd, kA, kSpot1, kPin}),
    with(row(Opcode::kFmnmx, "FMNMX", 0x009, kTwoOperandForms, Pipe::kAlu),
         {kFlush, {Modifier::kNotANumber, 81, 1, kNotANumberNames}}, {kRd, kA, kSpot1, kPin}),
    with(row(Opcode::kFsetp, "FSETP", 0x00b, kTwoOperandForms, Pipe::kAlu), {kCompare, kFlush, kBoolean},
         {kPoutAlways, predicate(Role::kPredicateOut2, 84, false), kA, kSpot1, kPin}),
    with(row(Opcode::kFchk, "FCHK", 0x102, kTwoOperandForms, Pipe::kXu), {}, {kPoutAlways, kA, kSpot1}),
    with(row(Opcode::kMufu, "MUFU", 0x108, kTwoOperandForms, Pipe::kXu), {{Modifier::kFunction, 74, 4, kFunctionNames}},
         {kRd, kSpot1}),
    with(
        row(Opcode::kDfma, "DFMA", 0x02b, kForm1, Pipe::kFp64), {kRounding},
        {kRd2, wide(kA), wide(floating(FieldKind::kSourceB, Role::kB)), wide(floating(FieldKind::kSourceC, Role::kC))}),
    with(row(Opcode::kDadd, "DADD", 0x029, kForm1, Pipe::kFp64), {kRounding},
         {kRd2, wide(kA), wide(floating(FieldKind::kSourceC, Role::kB))}),
    with(row(Opcode::kDmul, "DMUL", 0x028, forms({1, 5, 6}), Pipe::kFp64), {kRounding}, {kRd2, wide(kA), wide(kSpot1)}),
    until_ada(tensor_halves({kFlush, kHalfRelu})),
    from_hopper(tensor_halves({kPackedType, kFlush, kHalfRelu})),
    on_halves(with(row(Opcode::kHfma2, "HFMA2", 0x031, kAllForms, Pipe::kHalf),
                   {kPackedType, kFlush, kHalfRelu, kSaturate},
                   {kRd, packed(FieldKind::kSourceA, Role::kA), packed(FieldKind::kSourceB, Role::kB),
                    packed(FieldKind::kSourceC, Role::kC)})),
    until_ada(add_halves({{Modifier::kWideResult, 78, 1, kWideResultNames}, kFlush, kSaturate})),
    from_hopper(add_halves({kPackedType, {Modifier::kWideResult, 78, 1, kWideResultNames}, kFlush, kSaturate})),
    on_halves(with(row(Opcode::kHmnmx2, "HMNMX2", 0x040, kTwoOperandForms, Pipe::kHalf),
                   {kPackedType, kFlush, {Modifier::kNotANumber, 81, 1, kNotANumberNames}},
                   {kRd, packed(FieldKind::kSourceA, Role::kA), packed(FieldKind::kSpot1, Role::kB), kPin})),
    until_ada(compare_halves({kCompare, kFlush, {Modifier::kBoolean, 69, 2, kBooleanNames}})),
    from_hopper(compare_halves({{Modifier::kPackedType, 65, 1, kPackedTypeNames},
                                kCompare,
                                kFlush,
                                {Modifier::kBoolean, 69, 2, kBooleanNames}})),
    until_ada(multiply_halves({kFlush, kSaturate})),
    from_hopper(multiply_halves({kPackedType, kFlush, kSaturate})),
    with(row(Opcode::kHmma, "HMMA", 0x03c, kForm1, Pipe::kTensor),
         {{Modifier::kMatrixShape, 75, 1, kMatrixShapeNames, 78},
          {Modifier::kAccumulator, 76, 1, kAccumulatorNames},
          {Modifier::kMatrixType, 82, 2, kMatrixTypeNames}},
         {sized(kRd), sized(a()), sized(b()), sized(c())}),
    on(80, 88, pack_row(kHalfTypeNames)),
    on(89, 90, pack_row(kHalfTypeFromFloatNames)),
    with(row(Opcode::kF2f, "F2F", 0x110, kForm1, Pipe::kXu),
         {kFlush,
          {Modifier::kFloatSize, 75, 2, kFloatSizeNames},
          {Modifier::kSourceSize, 84, 2, kFloatSizeNames},
          kRounding},
         {sized(kRd), sized(kSpot1)}),
};

}  // namespace

std::span<const InstructionRow> floating_point() { return kRows; }

}  // namespace tilesim::traces::rows
