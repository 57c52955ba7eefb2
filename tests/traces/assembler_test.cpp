#include "traces/sass/assembler.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <filesystem>

#include "tests/support/catch.h"
#include "tests/support/kernel_corpus.h"
#include "tests/traces/corpus_launch.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/sass/decoder.h"
#include "traces/sass/listing_reader.h"

namespace tilesim::traces {
namespace {

/// Compares every word with what its own text assembles to; the number of words.
std::size_t check_words(const std::vector<SassInstruction>& instructions) {
  for (const SassInstruction& instruction : instructions) {
    const std::string line = assembly_line(instruction);
    const auto word = assemble_line(line, instruction.address, instruction.architecture);
    INFO("sm_" << instruction.architecture << " " << line);
    INFO((word ? "" : word.error().message));
    REQUIRE(word.has_value());
    INFO(fmt::format("{:016x} {:016x} became {:016x} {:016x}", instruction.encoding.low, instruction.encoding.high,
                     word->low, word->high));
    REQUIRE(*word == instruction.encoding);
  }
  return instructions.size();
}

std::string error_of(const std::string& text) {
  const auto kernels = assemble(text, "k.txt");
  REQUIRE_FALSE(kernels.has_value());
  CHECK_FALSE(kernels.error().remedy.empty());
  return kernels.error().where + ": " + kernels.error().message;
}

}  // namespace

TEST_CASE("every instruction of the corpus assembles from its own text") {
  std::size_t instructions = 0;
  for (const test::RecordedKernel& recorded : test::recorded_kernels()) {
    const CubinKernel kernel = corpus_code(recorded.source, recorded.name, recorded.architecture);
    const auto decoded = decode_kernel(kernel);
    REQUIRE(decoded.has_value());
    instructions += check_words(decoded->instructions);
  }
  CHECK(instructions > 60000);
}

TEST_CASE("every instruction of the calibration listings assembles from its own text") {
  std::size_t listings = 0;
  const std::filesystem::path folder = TILESIM_CALIBRATION_FOLDER;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".sass") {
      continue;
    }
    const auto listing = read_listing(entry.path());
    REQUIRE(listing.has_value());
    for (const ListedKernel& kernel : listing->kernels) {
      const auto decoded = decode_kernel(kernel);
      REQUIRE(decoded.has_value());
      CHECK(check_words(decoded->instructions) > 100);
      ++listings;
    }
  }
  CHECK(listings >= 8);
}

TEST_CASE("words with random fields assemble from their text") {
  std::size_t words = 0;
  for (const int architecture : test::kCorpusArchitectures) {
    std::uint64_t address = 0;
    for (const test::RandomWord& random : test::corpus_words(architecture)) {
      if (const auto instruction = decode({random.low, random.high}, address, architecture)) {
        words += check_words({*instruction});
      }
      address += 16;
    }
  }
  CHECK(words > 1000);
}

TEST_CASE("a changed line is refused, or assembles to what its own text says") {
  const std::vector<std::string> lines{
      "[B01----:R-:W2:Y:S04] @!P0 LDG.E.64.CONSTANT R2, desc[UR4][R6.64+0x10]",
      "[B------:R-:W-:-:S01] FFMA R1, -R2.reuse, 1.5, |R4|",
      "[B------:R0:W-:-:S02] STS.128 [R2.X4+UR5+-0x40], R8",
      "[B------:R-:W-:-:S05] IMAD.WIDE.U32 R2, P1, R3, c[0x0][0x210], R4",
      "[B------:R-:W-:-:S06] HFMA2.BF16_V2 R1, R2.H0_H0, 1, -2, R4",
      "[B-----5:R-:W-:-:S12] BAR.SYNC.DEFER_BLOCKING R3, 0x40",
      "[B------:R-:W1:-:S01] LDSM.16.MT88.4 R12, [R4+UR6+0x200]",
      "[B------:R-:W-:Y:S13] ISETP.GE.U32.AND P1, PT, R2, -0x5, P3",
  };
  const bool ok = rc::check("changed lines", [&lines] {
    std::string line = *rc::gen::elementOf(lines);
    const auto changes = *rc::gen::inRange(1, 4);
    for (int i = 0; i < changes; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, line.size());
      const char byte = *rc::gen::elementOf(std::string("R0123456789xaf,.[]+-|!@:PUTZSW ~;c"));
      line[at] = byte;
    }
    RC_LOG() << line;
    const auto word = assemble_line(line, 0);
    if (!word) {
      RC_ASSERT(!word.error().message.empty());
      RC_ASSERT(!word.error().remedy.empty());
      return;
    }
    const auto decoded = decode(*word, 0);
    RC_ASSERT(decoded.has_value());
    const auto again = assemble_line(assembly_line(*decoded), 0);
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == *word);
  });
  CHECK(ok);
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(assemble_line(line, 0).has_value());
  }
}

TEST_CASE("what the text says twice is refused, not taken once") {
  for (const std::string operands : {"R8, [R2+0x4+0x8]", "R8, [R2+R4]", "R8, [R2.X8.X4]", "R8, [R2+UR4+UR6]"}) {
    INFO(operands);
    CHECK_FALSE(assemble_line("[B------:R-:W2:-:S04] LDS " + operands, 0).has_value());
  }
  CHECK(assemble_line("[B------:R-:W2:-:S04] LDS R8, [R2.X8+UR4+0x4]", 0).has_value());
  CHECK_FALSE(assemble_line("[B------:R-:W-:-:S04] FADD R0, R1, 1e300", 0).has_value());
  CHECK(assemble_line("[B------:R-:W-:-:S04] FADD R0, R1, +INF", 0).has_value());
  CHECK_FALSE(assemble_line("[B------:R-:W-:-:S04] HFMA2 R1, R2, 1, 70000, R4", 0).has_value());
  CHECK_FALSE(assemble_line("[B------:R-:W-:-:S05] BRA -0x7fffffffffffffff", 0).has_value());
  CHECK_FALSE(assemble_line("[B------:R-:W-:-:S05] BRX R2 0x7fffffffffffffff", 0).has_value());
}

TEST_CASE("code with a scoreboard beyond the fifth is no kernel") {
  for (const std::string control : {"[B------:R-:W6:-:S04]", "[B------:R6:W-:-:S04]"}) {
    const auto kernels =
        assemble(".kernel k\n.again:\n" + control + " LDS R8, [R2]\n[B------:R-:W-:-:S05] EXIT\n", "k");
    REQUIRE(kernels.has_value());
    ListedKernel listed;
    listed.name = "k";
    for (const Encoding& word : kernels->front().code) {
      listed.instructions.push_back({listed.instructions.size() * 16, "", word, 0});
    }
    const auto decoded = decode_kernel(listed);
    REQUIRE_FALSE(decoded.has_value());
    CHECK(decoded.error().message.find("scoreboard that there is not") != std::string::npos);
  }
}

TEST_CASE("a text with labels assembles to what ptxas writes") {
  // Words of traces/calibration/h200 and of ptxas 13.0.
  const auto kernels = assemble(R"(
.kernel first  // a comment
.registers 32
[B------:R-:W-:-:S04] FFMA R27, R25, R27, R20 ;
again:
[B01----:R-:W2:Y:S15] LDS R25, [R18]
[B------:R-:W-:-:S05] @!P0 BRA again
[B------:R-:W-:Y:S00] NOP
.kernel second
[B------:R-:W-:-:S05] EXIT
)",
                                "k.txt");
  REQUIRE(kernels.has_value());
  REQUIRE(kernels->size() == 2);
  CHECK(kernels->front().registers == 32);
  CHECK(kernels->back().registers == 0);
  const std::vector<Encoding>& code = kernels->front().code;
  REQUIRE(code.size() == 4);
  CHECK(code[0].low == 0x0000001b191b7223);
  CHECK(code[0].high == 0x000fe80000000014);
  CHECK(code[1].low == 0x0000000012197984);
  CHECK(code[1].high == 0x003e9e0000000800);
  CHECK(assembly_line(*decode(code[2], 32)) == "[B------:R-:W-:-:S05] @!P0 BRA 0x10");
  CHECK(code[3].low == 0x7918);
}

TEST_CASE("numbers may be written in either base, and blanks anywhere between operands") {
  const auto spelled = assemble_line("[B------:R-:W-:-:S06]   @PT  MOV R1 ,16", 0);
  const auto printed = assemble_line("[B------:R-:W-:-:S06] MOV R1, 0x10", 0);
  REQUIRE(spelled.has_value());
  CHECK(*spelled == *printed);
  CHECK(*assemble_line("[B------:R-:W-:-:S04] IMAD.MOV.U32 R1, RZ, RZ, R2", 0) ==
        *assemble_line("[B------:R-:W-:-:S04] IMAD.U32 R1, RZ, RZ, R2", 0));
}

TEST_CASE("texts that mean nothing are refused with line and remedy") {
  const std::string head = ".kernel k\n";
  const std::string control = "[B------:R-:W-:-:S04] ";
  CHECK(error_of("") == "k.txt:0: There is no kernel.");
  CHECK(error_of(control + "NOP") == "k.txt:1: Code stands before the first kernel.");
  CHECK(error_of(head) == "k.txt:1: Kernel k has no code.");
  CHECK(error_of(head + control + "NOP\n" + head) == "k.txt:3: Kernel name 'k' is no name or is there already.");
  CHECK(error_of(head + ".registers 256") == "k.txt:2: '.registers 256' is no directive.");
  CHECK(error_of(head + "a:\na:\n") == "k.txt:3: Label a is there already.");
  CHECK(error_of(head + "NOP") == "k.txt:2: 'NOP' does not begin with a control field.");
  CHECK(error_of(head + "[B1-----:R-:W-:-:S04] NOP") ==
        "k.txt:2: '[B1-----:R-:W-:-:S04] NOP' does not begin with a control field.");
  CHECK(error_of(head + "[B------:R-:W-:-:S16] NOP") ==
        "k.txt:2: '[B------:R-:W-:-:S16] NOP' does not begin with a control field.");
  CHECK(error_of(head + control + "FFMO R1, R2, R3, R4") ==
        "k.txt:2: 'FFMO' is no instruction of sm_90 that the table knows.");
  CHECK(error_of(head + control + "FFMA R1, R2, R3") == "k.txt:2: FFMA does not take the operands 'R1, R2, R3'.");
  CHECK(error_of(head + control + "FFMA R1, R2, R3, P4") ==
        "k.txt:2: FFMA does not take the operands 'R1, R2, R3, P4'.");
  CHECK(error_of(head + control + "HFMA2 R1, R2,, 1, R4") ==
        "k.txt:2: HFMA2 does not take the operands 'R1, R2, , 1, R4'.");
  CHECK(error_of(head + control + "MOV R1, R2,") == "k.txt:2: MOV does not take the operands 'R1, R2, '.");
  CHECK(error_of(head + control + "FFMA R256, R2, R3, R4") ==
        "k.txt:2: FFMA does not take the operands 'R256, R2, R3, R4'.");
  CHECK(error_of(head + control + "@P8 NOP") == "k.txt:2: '@P8' is no guard of NOP.");
  CHECK(error_of(head + control + "LDS R1, [R2+0x800000]") ==
        "k.txt:2: LDS cannot be encoded: its value 8388608 does not fit 24 bits.");
  CHECK(error_of(head + control + "BRA nowhere") == "k.txt:2: BRA does not take the operands 'nowhere'.");
  CHECK(error_of(head + control + "BRA 0x3") ==
        "k.txt:2: BRA cannot be encoded: its target 0x3 is no multiple of 4 bytes away.");
}

}  // namespace tilesim::traces
