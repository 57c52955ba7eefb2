#include "traces/sass/instruction_rows.h"

namespace tilesim::traces::rows {
namespace {

constexpr std::string_view kBarrierModeNames[] = {"SYNC", "ARV"};
constexpr std::string_view kDeferNames[] = {"", "DEFER_BLOCKING"};
constexpr std::string_view kLessEqualNames[] = {"?", "LE"};
constexpr std::string_view kNoIncrementNames[] = {"", "NOINC"};
constexpr std::string_view kNoDecrementNames[] = {"", "NODEC"};
constexpr std::string_view kExtendedAddressNames[] = {"", "E"};
constexpr std::string_view kCacheNames[] = {"PF1", "PF2", "?", "?", "IVALL"};
constexpr std::string_view kFenceNames[] = {"SC", "ALL", ""};
constexpr std::string_view kScopeNames[] = {"CTA", "SM", "GPU", "SYS", "?", "VC"};

// Distances of branches: until sm_89 the word's upper part holds them, in sm_90 the low byte stands at 16.
constexpr OperandField target(FieldKind kind, bool low_byte) {
  OperandField field = plain(kind, Role::kB);
  field.first = low_byte ? 16 : 0;
  field.count = low_byte ? 8 : 0;
  return field;
}
constexpr InstructionRow branch(Opcode opcode, std::string_view mnemonic, int code, FieldKind kind, bool low_byte,
                                std::initializer_list<ModifierField> modifiers) {
  const InstructionRow result =
      with(row(opcode, mnemonic, code, kForm4, Pipe::kBranch), modifiers, {kCondition, target(kind, low_byte)});
  return low_byte ? from_hopper(result) : until_ada(result);
}
constexpr InstructionRow bra(bool low_byte) {
  return controlling(branch(Opcode::kBra, "BRA", 0x147, FieldKind::kBranchTarget, low_byte, {}), ControlOp::kBranch);
}
constexpr InstructionRow brx(bool low_byte) {
  return branch(Opcode::kBrx, "BRX", 0x149, FieldKind::kIndirectTarget, low_byte, {});
}
constexpr InstructionRow call(bool low_byte) {
  return branch(Opcode::kCall, "CALL.REL", 0x144, FieldKind::kBranchTarget, low_byte,
                {{Modifier::kCallDepth, 86, 1, kNoIncrementNames}});
}
constexpr InstructionRow ret(bool low_byte) {
  return branch(Opcode::kRet, "RET.REL", 0x150, FieldKind::kIndirectTarget, low_byte,
                {{Modifier::kCallDepth, 86, 1, kNoDecrementNames}});
}

constexpr InstructionRow kRows[] = {
    controlling(with(row(Opcode::kLdgdepbar, "LDGDEPBAR", 0x1af, kForm4, Pipe::kLsu), {}, {}), ControlOp::kCommitGroup),
    controlling(with(row(Opcode::kDepbar, "DEPBAR", 0x11a, kForm4, Pipe::kNone),
                     {{Modifier::kLessEqual, 47, 1, kLessEqualNames}},
                     {plain(FieldKind::kScoreboard, Role::kA), immediate(38, 6)}),
                ControlOp::kWaitGroups),
    controlling(
        with(row(Opcode::kBar, "BAR", 0x11d, forms({1, 2, 4, 5}), Pipe::kBranch),
             {{Modifier::kBarrierMode, 77, 3, kBarrierModeNames}, {Modifier::kDeferBlocking, 80, 1, kDeferNames}},
             {plain(FieldKind::kBarrierNumber, Role::kImmediate),
              shown(plain(FieldKind::kBarrierCount, Role::kImmediate2), Show::kUnlessZero)}),
        ControlOp::kBarrier),
    bra(false),
    bra(true),
    brx(false),
    brx(true),
    call(false),
    call(true),
    ret(false),
    ret(true),
    with(row(Opcode::kBssy, "BSSY", 0x145, kForm4, Pipe::kBranch), {},
         {kCondition, plain(FieldKind::kConvergence, Role::kA), plain(FieldKind::kSyncTarget, Role::kB)}),
    with(row(Opcode::kBsync, "BSYNC", 0x141, kForm4, Pipe::kBranch), {},
         {kCondition, plain(FieldKind::kConvergence, Role::kA)}),
    until_ada(
        with(row(Opcode::kWarpsync, "WARPSYNC", 0x148, kForm4, Pipe::kBranch), {}, {kCondition, immediate(32, 32)})),
    from_hopper(with(row(Opcode::kWarpsync, "WARPSYNC.ALL", 0x148, kForm4, Pipe::kBranch), {}, {kCondition})),
    with(row(Opcode::kYield, "YIELD", 0x146, kForm4, Pipe::kBranch), {}, {kCondition}),
    controlling(with(row(Opcode::kExit, "EXIT", 0x14d, kForm4, Pipe::kBranch), {}, {kCondition}), ControlOp::kExit),
    with(row(Opcode::kNop, "NOP", 0x118, kForm4, Pipe::kNone), {}, {}),
    with(row(Opcode::kMembar, "MEMBAR", 0x192, kForm4, Pipe::kLsu),
         {{Modifier::kFence, 79, 2, kFenceNames}, {Modifier::kScope, 76, 3, kScopeNames}}, {}),
    with(row(Opcode::kErrbar, "ERRBAR", 0x1ab, kForm4, Pipe::kNone), {}, {}),
    from_hopper(with(row(Opcode::kErrbar, "CGAERRBAR", 0x1ab, forms({2}), Pipe::kNone), {}, {})),
    with(row(Opcode::kCctl, "CCTL", 0x18f, kForm4, Pipe::kLsu),
         {{Modifier::kExtendedAddress, 72, 1, kExtendedAddressNames}, {Modifier::kCacheOperation, 87, 3, kCacheNames}},
         {paired(address(Role::kAddress, 24, 32, 32, 0))}),
    with(row(Opcode::kNanosleep, "NANOSLEEP", 0x15d, kForm4, Pipe::kBranch), {}, {kCondition, immediate(32, 32)}),
};

}  // namespace

std::span<const InstructionRow> control() { return kRows; }

}  // namespace tilesim::traces::rows
