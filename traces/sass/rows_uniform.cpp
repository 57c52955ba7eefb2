#include "traces/sass/instruction_rows.h"

namespace tilesim::traces::rows {
namespace {

constexpr std::uint64_t kUniformFlag = high_bit(91);  // the instruction reads a uniform register

constexpr InstructionRow kRows[] = {
    on_uniform(with(row(Opcode::kS2ur, "S2UR", 0x1c3, kForm4, Pipe::kS2r), {},
                    {kUrd, plain(FieldKind::kSpecialRegister, Role::kB)})),
    on_uniform(with(row(Opcode::kUmov, "UMOV", 0x082, forms({4, 6}), Pipe::kUniform), {}, {kUrd, b()})),
    on_uniform(
        with(row(Opcode::kUiadd3, "UIADD3", 0x090, forms({1, 4}), Pipe::kUniform), {kCarry},
             {kUrd, uniform_predicate(kPout), uniform_predicate(kPout2), inverting(FieldKind::kSourceA, Role::kA),
              inverting(FieldKind::kSourceB, Role::kB), inverting(FieldKind::kSourceC, Role::kC),
              uniform_predicate(kCarryIn), uniform_predicate(kCarryIn2)},
             kUniformFlag)),
    on_uniform(
        with(row(Opcode::kUlea, "ULEA", 0x091, forms({1, 4}), Pipe::kUniform),
             {kHigh, kCarry, {Modifier::kSignExtend, 73, 1, kSignExtendNames}},
             {kUrd, uniform_predicate(kPout), complementing_with_carry(a(true)), complementing_with_carry(b(true)),
              source(FieldKind::kSourceC, Role::kC, false), immediate(75, 5), uniform_predicate(kCarryIn)},
             kUniformFlag)),
    on_uniform(with(row(Opcode::kUshf, "USHF", 0x099, forms({1, 4}), Pipe::kUniform),
                    {{Modifier::kShiftRight, 76, 1, kShiftSideNames},
                     {Modifier::kShiftWrap, 75, 1, kWrapNames},
                     {Modifier::kShiftType, 73, 2, kShiftTypeNames},
                     kHigh},
                    {kUrd, a(), b(), c()}, kUniformFlag)),
    on_uniform(with(row(Opcode::kUlop3, "ULOP3.LUT", 0x092, forms({1, 4}), Pipe::kUniform), {},
                    {uniform_predicate(kPout), kUrd, a(), b(), c(), immediate(72, 8), uniform_predicate(kPin)},
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
    on_uniform(with(row(Opcode::kUimad, "UIMAD", 0x0a4, forms({1, 4}), Pipe::kUniform), {kSigned, kCarry},
                    {kUrd, a(), b(false, Format::kSignedHex), inverting(FieldKind::kSourceC, Role::kC),
                     uniform_predicate(kCarryIn)},
                    kUniformFlag | kNoPredicateOut)),
    on_uniform(with(row(Opcode::kUimadWide, "UIMAD.WIDE", 0x0a5, forms({1, 4}), Pipe::kUniform), {kSigned, kCarry},
                    {uniform_at(Role::kDestination, 16, 2), uniform_predicate(kPout), a(), b(false, Format::kSignedHex),
                     wide(inverting(FieldKind::kSourceC, Role::kC)), uniform_predicate(kCarryIn)},
                    kUniformFlag)),
    on_uniform(with(row(Opcode::kUprmt, "UPRMT", 0x096, forms({1, 4}), Pipe::kUniform), {}, {kUrd, a(), b(), c()},
                    kUniformFlag)),
    on_uniform(with(row(Opcode::kUflo, "UFLO", 0x0bd, kForm1, Pipe::kUniform),
                    {kSigned, {Modifier::kShiftAmount, 74, 1, kShiftAmountNames}},
                    {kUrd, uniform_predicate(kPout), complementing(FieldKind::kSpot1, Role::kB)}, kUniformFlag)),
    on_uniform(with(row(Opcode::kUpopc, "UPOPC", 0x0bf, kForm1, Pipe::kUniform), {},
                    {kUrd, complementing(FieldKind::kSpot1, Role::kB)}, kUniformFlag)),
    on_uniform(with(row(Opcode::kUsel, "USEL", 0x087, forms({1, 4}), Pipe::kUniform), {},
                    {kUrd, a(), b(), uniform_predicate(kPin)}, kUniformFlag)),
    on_uniform(
        with(row(Opcode::kVoteu, "VOTEU", 0x086, kForm4, Pipe::kUniform), {{Modifier::kVote, 72, 2, kVoteNames}},
             {shown(kUrd, Show::kUnlessZero), uniform_predicate(predicate(Role::kPredicateOut, 81, false)), kPin})),
    from_hopper(with(row(Opcode::kR2ur, "R2UR", 0x0ca, kForm1, Pipe::kAlu), {}, {kPout, kUrd, a()})),
    until_ada(with(row(Opcode::kR2ur, "R2UR", 0x1c2, kForm1, Pipe::kS2r), {}, {kPout, kUrd, a()})),
    on_uniform(with(row(Opcode::kUldc, "ULDC", 0x0b9, forms({5}), Pipe::kNone), {kConstantWidth},
                    {sized(kUrd), constant(0, 0)})),
};

}  // namespace

std::span<const InstructionRow> uniform() { return kRows; }

}  // namespace tilesim::traces::rows
