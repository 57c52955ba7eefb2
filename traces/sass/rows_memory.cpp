#include "traces/sass/instruction_rows.h"

namespace tilesim::traces::rows {
namespace {

constexpr std::string_view kExtendedAddressNames[] = {"?", "E"};
constexpr std::string_view kOrderNames[] = {"",  "?",          "?", "?", "CONSTANT",  "STRONG.SM",
                                            "?", "STRONG.GPU", "?", "?", "STRONG.SYS"};
constexpr std::string_view kStoreOrderNames[] = {"",  "?",          "?", "?", "?",         "STRONG.SM",
                                                 "?", "STRONG.GPU", "?", "?", "STRONG.SYS"};
constexpr std::string_view kCopyWidthNames[] = {"?", "?", "?", "?", "", "64", "128"};
constexpr std::string_view kAccessNames[] = {"BYPASS", ""};
constexpr std::string_view kEvictionNames[] = {"EF", "", "EL", "LU", "EU", "NA"};
constexpr std::string_view kZeroFillNames[] = {"", "ZFILL"};
constexpr std::string_view kPrefetchNames[] = {"", "LTC64B", "LTC128B", "LTC256B"};
constexpr std::string_view kMatrixCountNames[] = {"", "2", "4"};
constexpr std::string_view kTransposeNames[] = {"16.M88", "16.MT88"};
constexpr std::string_view kShuffleNames[] = {"IDX", "UP", "DOWN", "BFLY"};
constexpr std::string_view kAtomicNames[] = {"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH"};
constexpr std::string_view kSharedAtomicNames[] = {"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH"};
constexpr std::string_view kReductionNames[] = {"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"};
constexpr std::string_view kFloatReductionNames[] = {"ADD", "?", "MIN", "?", "MAX"};
constexpr std::string_view kAtomicTypeNames[] = {"", "S32", "64", "F32.FTZ.RN", "F16x2.RN", "S64", "F64.RN"};
constexpr std::string_view kIntegerTypeNames[] = {"", "S32", "64", "S64", "128"};
constexpr std::string_view kSharedTypeNames[] = {"", "S32", "64"};
constexpr std::string_view kFloatTypeNames[] = {
    "F16x2.RN", "F16x4.RN",   "F16x8.RN",     "BF16x2.RN",    "BF16x4.RN", "BF16x8.RN", "?",        "?",
    "?",        "F32.FTZ.RN", "F32x2.FTZ.RN", "F32x4.FTZ.RN", "F32.RN",    "F32x2.RN",  "F32x4.RN", "F64.RN"};
constexpr std::string_view kSwapTypeNames[] = {"", "?", "64"};
constexpr std::string_view kSwapNames[] = {"CAS", "CAST", "?", "CAST.SPIN"};

constexpr ModifierField kExtendedAddress{Modifier::kExtendedAddress, 72, 1, kExtendedAddressNames};
constexpr ModifierField kOrder{Modifier::kMemoryOrder, 77, 4, kOrderNames};
constexpr ModifierField kStoreOrder{Modifier::kMemoryOrder, 77, 4, kStoreOrderNames};
constexpr ModifierField kEviction{Modifier::kEviction, 84, 3, kEvictionNames};
constexpr ModifierField kPrefetch{Modifier::kPrefetchSize, 68, 2, kPrefetchNames};

/// Address through desc[UR]: bits 76, 90, 91.
constexpr std::uint64_t kDescriptorFlags = high_bit(76) | high_bit(90) | high_bit(91);
/// The same of atomics: bits 71 and 91, and 90 where there is no result.
constexpr std::uint64_t kReductionFlags = high_bit(71) | high_bit(90) | high_bit(91);
constexpr std::uint64_t kAtomicFlags = high_bit(70) | high_bit(71) | high_bit(91);

constexpr OperandField kLoadAddress = address(Role::kAddress, 24, 40, 24, 32);
constexpr OperandField kStoreAddress = address(Role::kAddress, 24, 40, 24, kStoredUniform);
constexpr OperandField kLocalAddress = address(Role::kAddress, 24, 40, 24, 0);
constexpr OperandField kLoadCondition = bitwise_inverted(predicate(Role::kPredicateIn, 64, true, Show::kUnlessTrue));
constexpr OperandField kData = register_at(Role::kB, 32, 0);

constexpr InstructionRow described(InstructionRow result) {
  result.descriptor = true;
  return result;
}
constexpr InstructionRow load(Opcode opcode, std::string_view mnemonic, int code, OperandField predicate_out) {
  const bool generic = opcode == Opcode::kLd;
  const InstructionRow start = row(opcode, mnemonic, code, kForm4, Pipe::kLsu);
  const std::initializer_list<ModifierField> modifiers{kExtendedAddress, kEviction, kPrefetch, kWidth, kOrder};
  return described(accessing(
      generic ? with(start, modifiers, {sized(kRd), kLoadAddress, kLoadCondition}, kDescriptorFlags)
              : with(start, modifiers, {predicate_out, sized(kRd), kLoadAddress, kLoadCondition}, kDescriptorFlags),
      MemoryOp::kLoadGlobal));
}
constexpr InstructionRow store(Opcode opcode, std::string_view mnemonic, int code) {
  return described(
      accessing(with(row(opcode, mnemonic, code, kForm4, Pipe::kLsu),
                     {kExtendedAddress, kEviction, kWidth, kStoreOrder}, {kStoreAddress, kData}, kDescriptorFlags),
                MemoryOp::kStoreGlobal));
}
constexpr InstructionRow atomic(std::string_view mnemonic, int code, ModifierField type) {
  return described(with(row(Opcode::kAtomg, mnemonic, code, kForm4, Pipe::kLsu),
                        {kExtendedAddress, {Modifier::kAtomic, 87, 4, kAtomicNames}, kEviction, type, kStoreOrder},
                        {kPoutAlways, sized(kRd), kStoreAddress, kData}, kAtomicFlags));
}
constexpr InstructionRow reduction(std::string_view mnemonic, int code, std::span<const std::string_view> operations,
                                   ModifierField type) {
  return described(with(row(Opcode::kRed, mnemonic, code, kForm4, Pipe::kLsu),
                        {kExtendedAddress, {Modifier::kAtomic, 87, 3, operations}, kEviction, type, kStoreOrder},
                        {kStoreAddress, kData}, kReductionFlags));
}

constexpr InstructionRow kRows[] = {
    with(row(Opcode::kLdc, "LDC", 0x182, forms({5}), Pipe::kAdu), {kConstantWidth}, {sized(kRd), constant(24, 0)}),
    accessing(with(row(Opcode::kLds, "LDS", 0x184, kForm4, Pipe::kLsu), {kWidth}, {sized(kRd), scaled(kLoadAddress)}),
              MemoryOp::kLoadShared),
    accessing(
        with(row(Opcode::kSts, "STS", 0x188, forms({1, 4}), Pipe::kLsu), {kWidth}, {scaled(kStoreAddress), kData}),
        MemoryOp::kStoreShared),
    accessing(with(row(Opcode::kLdsm, "LDSM", 0x03b, kForm4, Pipe::kLsu),
                   {{Modifier::kTranspose, 78, 1, kTransposeNames}, {Modifier::kMatrixCount, 72, 2, kMatrixCountNames}},
                   {sized(kRd), kLoadAddress}),
              MemoryOp::kLoadMatrix),
    with(row(Opcode::kMovm, "MOVM.16.MT88", 0x03a, kForm1, Pipe::kXu), {}, {kRd, a()}),
    load(Opcode::kLdg, "LDG", 0x181, kPout),
    load(Opcode::kLd, "LD", 0x180, {}),
    store(Opcode::kStg, "STG", 0x186),
    store(Opcode::kSt, "ST", 0x185),
    local(accessing(
        with(row(Opcode::kLdl, "LDL", 0x183, kForm4, Pipe::kLsu), {kEviction, kWidth}, {sized(kRd), kLocalAddress}),
        MemoryOp::kLoadGlobal)),
    local(accessing(
        with(row(Opcode::kStl, "STL", 0x187, kForm1, Pipe::kLsu), {kEviction, kWidth}, {kLocalAddress, kData}),
        MemoryOp::kStoreGlobal)),
    described(accessing(
        with(row(Opcode::kLdgsts, "LDGSTS", 0x1ae, forms({7}), Pipe::kLsu),
             {{Modifier::kExtendedAddress, 70, 1, kExtendedAddressNames},
              {Modifier::kAccess, 81, 1, kAccessNames},
              kEviction,
              {Modifier::kPrefetchSize, 71, 2, kPrefetchNames},
              {Modifier::kWidth, 73, 3, kCopyWidthNames},
              {Modifier::kZeroFill, 82, 1, kZeroFillNames}},
             {address(Role::kSharedAddress, 16, 44, 20, 0), address(Role::kAddress, 24, 32, 12, 64), kCondition},
             high_bit(76) | high_bit(91)),
        MemoryOp::kCopyAsync)),
    with(row(Opcode::kShfl, "SHFL", 0x189, forms({1, 2, 4, 7}), Pipe::kLsu),
         {{Modifier::kShuffle, 58, 2, kShuffleNames}},
         {kPoutAlways, kRd, a(), plain(FieldKind::kShuffleLane, Role::kB), plain(FieldKind::kShuffleBound, Role::kC)}),
    with(row(Opcode::kAtomsCas, "ATOMS", 0x18d, kForm1, Pipe::kLsu),
         {{Modifier::kAtomic, 87, 2, kSwapNames}, {Modifier::kAtomicType, 73, 3, kSharedTypeNames}},
         {sized(kRd), scaled(kLocalAddress), kData, sized(register_at(Role::kC, 64))}),
    with(row(Opcode::kAtoms, "ATOMS", 0x18c, forms({1, 4}), Pipe::kLsu),
         {{Modifier::kAtomic, 87, 4, kSharedAtomicNames}, {Modifier::kAtomicType, 73, 2, kSharedTypeNames}},
         {sized(kRd), scaled(kStoreAddress), kData}),
    until_ada(atomic("ATOMG", 0x1a8, {Modifier::kAtomicType, 73, 4, kAtomicTypeNames})),
    from_hopper(atomic("ATOMG", 0x1a8, {Modifier::kAtomicType, 73, 3, kIntegerTypeNames})),
    from_hopper(described(with(row(Opcode::kAtomg, "ATOMG", 0x1a3, kForm4, Pipe::kLsu),
                               {kExtendedAddress,
                                {Modifier::kAtomic, 87, 3, kFloatReductionNames},
                                kEviction,
                                {Modifier::kFloatAtomicType, 73, 4, kFloatTypeNames},
                                kStoreOrder},
                               {kPoutAlways, sized(kRd), kStoreAddress, kData}, kAtomicFlags))),
    with(row(Opcode::kAtomgCas, "ATOMG.E.CAS", 0x1a9, kForm1, Pipe::kLsu),
         {kEviction, {Modifier::kAtomicType, 73, 3, kSwapTypeNames}, kStoreOrder},
         {kPoutAlways, sized(kRd), paired(kLocalAddress), kData, sized(register_at(Role::kC, 64))}, high_bit(72)),
    until_ada(reduction("RED", 0x18e, kReductionNames, {Modifier::kAtomicType, 73, 4, kAtomicTypeNames})),
    from_hopper(reduction("REDG", 0x18e, kReductionNames, {Modifier::kAtomicType, 73, 2, kIntegerTypeNames})),
    from_hopper(reduction("REDG", 0x1a6, kFloatReductionNames, {Modifier::kFloatAtomicType, 73, 4, kFloatTypeNames})),
};

}  // namespace

std::span<const InstructionRow> memory() { return kRows; }

}  // namespace tilesim::traces::rows
