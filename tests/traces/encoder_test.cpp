#include "traces/sass/encoder.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include "tests/support/catch.h"
#include "tests/support/kernel_corpus.h"
#include "tests/traces/corpus_launch.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/sass/decoder.h"
#include "traces/sass/disassembler.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

SassInstruction decoded(const Encoding& word, std::uint64_t address = 0) {
  const auto instruction = decode(word, address);
  REQUIRE(instruction.has_value());
  return *instruction;
}

std::string encoding_error(const SassInstruction& instruction) {
  const auto word = encode(instruction);
  REQUIRE_FALSE(word.has_value());
  return word.error().message;
}

/// A word of the row in one of its forms, its fields at random.
Encoding random_word(const InstructionRow& row) {
  const auto form =
      *rc::gen::suchThat(rc::gen::inRange(0U, 8U), [&row](unsigned f) { return (row.forms >> f & 1) != 0; });
  const Encoding random{*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::uint64_t>()};
  Encoding word = (random & covered_bits(row, static_cast<Form>(form))) | fixed_bits(row, static_cast<Form>(form));
  word.set_field(0, 9, row.code);
  word.set_field(9, 3, form);
  return word;
}

}  // namespace

TEST_CASE("every instruction of the corpus encodes to the word that it was decoded from") {
  std::size_t instructions = 0;
  for (const test::RecordedKernel& recorded : test::recorded_kernels()) {
    const CubinKernel kernel = corpus_code(recorded.source, recorded.name, recorded.architecture);
    for (const Encoding& word : kernel.code) {
      const auto instruction = decode(word, 16 * instructions, recorded.architecture);
      REQUIRE(instruction.has_value());
      INFO(disassemble(*instruction));
      const auto again = encode(*instruction);
      REQUIRE(again.has_value());
      REQUIRE(*again == word);
      ++instructions;
    }
  }
  CHECK(instructions > 60000);
}

TEST_CASE("what decodes encodes to itself, whatever its fields hold") {
  const bool ok = rc::check("decode and encode are inverse", [] {
    const auto rows = instruction_table();
    const InstructionRow& row = rows[*rc::gen::inRange<std::size_t>(0, rows.size())];
    const Encoding word = random_word(row);
    const std::uint64_t address = 16 * *rc::gen::inRange<std::uint64_t>(0, 100000);
    const auto instruction = decode(word, address, row.last_architecture);
    RC_PRE(instruction.has_value());
    const auto again = encode(*instruction);
    RC_LOG() << fmt::format("{}: {:016x} {:016x}", disassemble(*instruction), word.low, word.high);
    RC_ASSERT(again.has_value());
    RC_LOG() << fmt::format(" encodes to {:016x} {:016x}", again->low, again->high);
    RC_ASSERT(*again == word);
  });
  CHECK(ok);
}

TEST_CASE("changed instructions encode as ptxas would") {
  // FFMA R27, R25, R27, R20 -> FFMA.SAT R27, -R25, R27, R20, stall 4
  SassInstruction ffma = decoded({0x0000001b191b7223, 0x001fc60000000014});
  ffma.operands[static_cast<std::size_t>(Role::kA)].negated = true;
  ffma.modifiers[static_cast<std::size_t>(Modifier::kSaturate)] = 1;
  ffma.control.stall = 4;
  const auto changed = encode(ffma);
  REQUIRE(changed.has_value());
  CHECK(disassemble(decoded(*changed)) == "FFMA.SAT R27, -R25, R27, R20");
  CHECK(changed->field(105, 4) == 4);

  // @!P0 BRA 0xbc0 at 0x5340, moved to 0x5000 with the same target.
  SassInstruction branch = decoded({0xffffffb8001c8947, 0x001fea000383ffff}, 0x5340);
  const std::int64_t target = branch.operand(Role::kB).value;
  branch.address = 0x5000;
  const auto moved = encode(branch);
  REQUIRE(moved.has_value());
  CHECK(decoded(*moved, 0x5000).operand(Role::kB).value == target);
}

TEST_CASE("what has no encoding is refused with the reason") {
  SassInstruction lds = decoded({0x0000000012197984, 0x000fe80000000800});  // LDS R25, [R18]
  lds.operands[static_cast<std::size_t>(Role::kAddress)].value = 1 << 23;
  CHECK(encoding_error(lds) == "LDS cannot be encoded: its value 8388608 does not fit 24 bits.");

  SassInstruction ffma = decoded({0x0000001b191b7223, 0x001fc60000000014});
  ffma.control.stall = 16;
  CHECK(encoding_error(ffma) == "FFMA cannot be encoded: stall count 16 does not fit 4 bits.");

  ffma = decoded({0x0000001b191b7223, 0x001fc60000000014});
  ffma.operands[static_cast<std::size_t>(Role::kB)].kind = OperandKind::kImmediate;
  CHECK(encoding_error(ffma) == "FFMA cannot be encoded: an operand is not of the kind that the form has.");

  ffma = decoded({0x0000001b191b7223, 0x001fc60000000014});
  ffma.modifiers[static_cast<std::size_t>(Modifier::kWidth)] = 4;
  CHECK(encoding_error(ffma) == "FFMA cannot be encoded: it has a modifier that the opcode lacks.");

  SassInstruction none;
  CHECK_FALSE(encode(none).has_value());
}

}  // namespace tilesim::traces
