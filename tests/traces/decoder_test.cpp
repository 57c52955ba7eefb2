#include "traces/sass/decoder.h"

#include "tests/support/catch.h"
#include "tests/traces/test_kernels.h"
#include "traces/sass/disassembler.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

std::string normalised(const std::string& text) {
  std::string result;
  for (const char character : text) {
    if (character != ' ' || (!result.empty() && result.back() != ' ')) {
      result += character;
    }
  }
  return result;
}

SassInstruction decoded(std::uint64_t low, std::uint64_t high, std::uint64_t address = 0) {
  const auto instruction = decode({low, high}, address);
  REQUIRE(instruction.has_value());
  return *instruction;
}

void check_listing(const std::string& name) {
  const auto listing = read_listing(calibration_path(name + ".sass"));
  REQUIRE(listing.has_value());
  for (const ListedInstruction& listed : listing->kernels.front().instructions) {
    const auto instruction = decode(listed.encoding, listed.address);
    INFO(name << " line " << listed.line << ": " << listed.text);
    REQUIRE(instruction.has_value());
    REQUIRE(disassemble(*instruction) == normalised(listed.text));
  }
}

}  // namespace

TEST_CASE("every instruction of the calibration listings disassembles to its listing text") {
  for (const auto* kernels : {&sgemm_kernels(), &hgemm_kernels()}) {
    for (const TestKernel& kernel : *kernels) {
      check_listing(kernel.name);
    }
  }
}

TEST_CASE("control fields are read as encoded") {
  // FFMA R138, R37, R24.reuse, R92: stall 1, no yield, waits for SB0.
  const SassInstruction ffma = decoded(0x00000018258a7223, 0x081fe2000000005c);
  CHECK(ffma.control.stall == 1);
  CHECK(ffma.control.yield_bit);
  CHECK(ffma.control.write_scoreboard == 7);
  CHECK(ffma.control.read_scoreboard == 7);
  CHECK(ffma.control.wait_mask == 1);
  CHECK_FALSE(ffma.operand(Role::kA).reuse);
  CHECK(ffma.operand(Role::kB).reuse);

  // LDG.E.128.CONSTANT R32, desc[UR16][R14.64]: write scoreboard 2.
  const SassInstruction ldg = decoded(0x000000100e207981, 0x000ea2000c1e9d00);
  CHECK(ldg.control.write_scoreboard == 2);
  CHECK(ldg.control.stall == 1);
  CHECK(ldg.operand(Role::kAddress).wide);
  CHECK(ldg.operand(Role::kAddress).descriptor == 16);

  // STG.E desc[UR16][R2.64+0x4], R13: read scoreboard 1.
  const SassInstruction stg = decoded(0x0000040d02007986, 0x0003e2000c101910);
  CHECK(stg.control.read_scoreboard == 1);
  CHECK(stg.control.write_scoreboard == 7);
  CHECK(stg.operand(Role::kAddress).value == 4);
  CHECK(stg.operand(Role::kB).index == 13);

  // DEPBAR.LE SB0, 0x1: stall 12, yield bit clear asks for another warp.
  const SassInstruction depbar = decoded(0x000080400000791a, 0x000fd80000000000);
  CHECK(depbar.control.stall == 12);
  CHECK_FALSE(depbar.control.yield_bit);
}

TEST_CASE("what ptxas needs for tiles in any order and at edges disassembles in its spelling") {
  struct Word {
    std::uint64_t low, high;
    const char* text;
  };
  const Word words[] = {
      {0x000000100f00788c, 0x000fc4000bf26270, "UISETP.GE.AND UP1, UPT, UR15, 0x10, UPT"},
      {0x000000000000781c, 0x000fe40003f0f028, "PLOP3.LUT P0, PT, PT, PT, UP2, 0x80, 0x0"},
      {0x0000000f050a72a5, 0x000fc6000f8e023f, "UIMAD.WIDE UR10, UR5, UR15, URZ"},
      {0x0000003f04047287, 0x000fe20008000000, "USEL UR4, UR4, URZ, UP0"},
      {0x00000000003f7886, 0x000fe20001000100, "VOTEU.ANY UP0, P2"},
      {0x0000000809047848, 0x001fca0003fe0100, "VIMNMX R4, R9, 0x8, PT"},
      {0x8000000b090d7246, 0x000fe20003800104, "VIADDMNMX R13, R9, -R11, R4, PT"},
      {0x00000005000b7213, 0x000fe20000000000, "IABS R11, R5"},
      {0x0000000b00067306, 0x000e300000209400, "I2F.RP R6, R11"},
      {0x0000000600067308, 0x001e240000001000, "MUFU.RCP R6, R6"},
      {0x0000000200037305, 0x000064000021f000, "F2I.FTZ.U32.TRUNC.NTZ R3, R2"},
      {0x0000000703037227, 0x000fe200078e0002, "IMAD.HI.U32 R3, R3, R7, R2"},
      {0x0000028000007945, 0x000fe20003800000, "BSSY B0, 0x290"},
      {0x0000000000007941, 0x000fea0003800000, "BSYNC B0"},
      {0x00000400011b7983, 0x000ea20000300800, "LDL.LU R27, [R1+0x4]"},
      {0x0000501c01007387, 0x0001e20000100c00, "STL.128 [R1+0x50], R28"},
      {0x00000000040d7fae, 0x0003e2000b921846, "LDGSTS.E [R13], desc[UR6][R4.64]"},
      {0x01000000020d7fae, 0x000fe20009121c46, "LDGSTS.E.128 [R13+0x1000], desc[UR6][R2.64], P2"},
      {0x01000000080d7fae, 0x000fe80008941c46, "LDGSTS.E.BYPASS.128.ZFILL [R13+0x1000], desc[UR6][R8.64], P1"},
      {0x00000400020d7fae, 0x000fe8000b901dc6, "LDGSTS.E.BYPASS.LTC256B.128 [R13], desc[UR6][R2.64+0x400]"},
  };
  for (const Word& word : words) {
    CHECK(disassemble(decoded(word.low, word.high)) == word.text);
  }
}

// What other kernels than the corpus' have; texts by nvdisasm 12.4 -b SM90.
TEST_CASE("half-precision arithmetic, conversions and prefetches disassemble in nvdisasm's spelling") {
  struct Word {
    std::uint64_t low, high;
    const char* text;
  };
  const Word words[] = {
      {0x3c003c0003097835, 0x010fe2000000000a, "HFMA2.MMA R9, R3, 1, 1, R10"},
      {0x0000000b060b7235, 0x000fe20003a08006, "HFMA2.MMA.BF16_V2.RELU R11, R6, R11, R6"},
      {0x8000000000057421, 0x000fc80000000000, "FADD R5, R0, -0.0"},
      {0x8000000000057831, 0x000fca0000000005, "HFMA2 R5, R0, -0.0 , 0, R5"},
      {0x8000000b060f7230, 0x000fe20000200000, "HADD2.BF16_V2 R15, R6, -R11"},
      {0x0000000a03007240, 0x000fd20003800000, "HMNMX2 R0, R3, R10, PT"},
      {0x2000001100007234, 0x004fda0003f0e802, "HSETP2.BF16_V2.GEU.AND P0, PT, R0.H0_H0, R17.H0_H0, PT"},
      {0x000000050412723e, 0x0c0fe400000010ff, "F2FP.BF16.F32.PACK_AB R18, R4.reuse, R5.reuse"},
      {0x00000008ff08723e, 0x008fca00000180ff, "F2FP.F16.F32.PACK_AB.RZ R8, RZ, R8"},
      {0x0000000a000d7245, 0x001fca0000201400, "I2FP.F32.S32 R13, R10"},
      {0x00000012000e7307, 0x004e700000209000, "FRND.CEIL R14, R18"},
      {0x0000018c0200798f, 0x000fe80000000100, "CCTL.E.PF1 [R2+0x18c]"},
      {0x00000000ff00798f, 0x000fe40002000000, "CCTL.IVALL"},
      {0x000000640000795d, 0x000fea0003800000, "NANOSLEEP 0x64"},
      {0x00000011121379a3, 0x000ea200081ef3ca, "ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU PT, R19, desc[UR10][R18.64], R17"},
      {0x0000081a041573a9, 0x000ea200001ee51b, "ATOMG.E.CAS.64.STRONG.GPU PT, R21, [R4+0x8], R26, R27"},
      {0x00000c06ff07738c, 0x000e680004000000, "ATOMS.EXCH R7, [0xc], R6"},
      {0x0000065408047896, 0x002fe20008000005, "UPRMT UR4, UR8, 0x654, UR5"},
      {0x00000004000472bd, 0x000fcc00080e0000, "UFLO.U32 UR4, UR4"},
      {0x0000000c000672bf, 0x000fe20008000000, "UPOPC UR6, UR12"},
  };
  for (const Word& word : words) {
    CHECK(disassemble(decoded(word.low, word.high)) == word.text);
  }
}

TEST_CASE("operands of carry chains, constants and branches") {
  const SassInstruction add = decoded(0x0000000bff0b7210, 0x000fe400017fe4ff);  // IADD3.X R11, RZ, R11, RZ, P2, !PT
  CHECK(add.modifier(Modifier::kCarry) == 1);
  CHECK(add.operand(Role::kPredicateIn).index == 2);
  CHECK(add.operand(Role::kPredicateIn2).index == kPredicatePt);
  CHECK(add.operand(Role::kPredicateIn2).negated);

  const SassInstruction load = decoded(0x0000880000087ab9, 0x000fe20000000a00);  // ULDC.64 UR8, c[0x0][0x220]
  CHECK(load.operand(Role::kB).kind == OperandKind::kConstant);
  CHECK(load.operand(Role::kB).value == 0x220);

  const SassInstruction back = decoded(0xffffffb8001c8947, 0x001fea000383ffff, 0x5340);  // @!P0 BRA 0xbc0
  CHECK(back.guard.predicate == 0);
  CHECK(back.guard.negated);
  CHECK(back.operand(Role::kB).value < 0x5340);

  const SassInstruction wide = decoded(0xaaaaaaab03088825, 0x000fe200078e00ff);  // IMAD.WIDE.U32 by -0x55555555
  CHECK(wide.operand(Role::kB).value == 0xaaaaaaab);
  CHECK(wide.modifier(Modifier::kSigned) == 0);
}

TEST_CASE("an unknown opcode is named with its text and line") {
  std::string text = calibration_text("sgemm_32_32_32_2_2_s1_p0.sass");
  const std::string known = "S2R R5, SR_TID.X ;                                               /* 0x0000000000057919 */";
  const std::string unknown =
      "QSPC.E.G P0, RZ, [R5] ;                                          /* 0x00000000000573aa */";
  text.replace(text.find(known), known.size(), unknown);
  const auto listing = parse_listing(text, "k.sass");
  REQUIRE(listing.has_value());
  const auto kernel = decode_kernel(listing->kernels.front());
  REQUIRE_FALSE(kernel.has_value());
  CHECK(kernel.error().message.find("QSPC.E.G") != std::string::npos);
  CHECK(kernel.error().message.find("0x3aa") != std::string::npos);
  CHECK(kernel.error().where == "k.sass:5");
}

TEST_CASE("bits and modifiers that are not understood are refused") {
  CHECK_FALSE(decode({0x000000191c647223, 0x000fe20000800061}, 0).has_value());  // FFMA with bit 87
  CHECK_FALSE(decode({0x00001000131c7984, 0x000e620000000e00}, 0).has_value());  // LDS of width 7
}

TEST_CASE("a branch out of the function is refused") {
  std::string text = calibration_text("sgemm_32_32_32_2_2_s1_p0.sass");
  const std::string word = "0x0000000c00e48947";
  text.replace(text.find(word), word.size(), "0x0000fffc00e48947");
  const auto listing = parse_listing(text, "k.sass");
  REQUIRE(listing.has_value());
  const auto kernel = decode_kernel(listing->kernels.front());
  REQUIRE_FALSE(kernel.has_value());
  CHECK(kernel.error().message.find("Branch target") != std::string::npos);
}

TEST_CASE("table rows do not overlap and their fixed bits lie outside their fields") {
  for (const InstructionRow& row : instruction_table()) {
    for (unsigned form = 0; form < 8; ++form) {
      if ((row.forms >> form & 1) == 0) {
        continue;
      }
      INFO(row.mnemonic << " form " << form);
      for (const int architecture : kArchitectures) {
        const InstructionRow* found = find_row(static_cast<std::uint16_t>(row.code | form << 9), architecture);
        const bool has = row.first_architecture <= architecture && architecture <= row.last_architecture;
        CHECK((found == &row) == has);
      }
      const Encoding both = covered_bits(row, static_cast<Form>(form)) & row.fixed;
      CHECK((both == Encoding{} || row.uniform));
    }
  }
}

TEST_CASE("an instruction of another architecture is refused by name") {
  const Encoding viadd{0x0000044006047836, 0x000fe20000000000};  // VIADD R4, R6, 0x440
  CHECK(decode(viadd, 0, 90).has_value());
  const auto older = decode(viadd, 0, 86);
  REQUIRE_FALSE(older.has_value());
  CHECK(older.error().message == "VIADD (opcode 0x836) is no instruction of sm_86.");
  const auto unknown = decode(viadd, 0, 75);
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().message == "Code for sm_75 is not understood.");
}

}  // namespace tilesim::traces
