#include <rapidcheck.h>

#include "tests/support/catch.h"
#include "tests/traces/test_kernels.h"
#include "traces/emulator/arguments.h"
#include "traces/sass/decoder.h"
#include "traces/sass/dependences.h"
#include "traces/sass/disassembler.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

// Whatever decode() makes of a word can be shown and analysed.
void use(const Encoding& word) {
  const auto instruction = decode(word, 64);
  if (!instruction) {
    RC_ASSERT(!instruction.error().message.empty());
    return;
  }
  RC_ASSERT(!disassemble(*instruction).empty());
  for (const RegisterRange& range : dependences(*instruction).writes) {
    RC_ASSERT(range.count >= 1);
  }
  RC_ASSERT(access_bytes(*instruction) <= 16);
}

}  // namespace

TEST_CASE("decoding random words never crashes") {
  CHECK(rc::check([](std::uint64_t low, std::uint64_t high) { use({low, high}); }));
}

TEST_CASE("decoding random words of known opcodes never crashes") {
  CHECK(rc::check([](std::uint64_t low, std::uint64_t high) {
    const auto rows = instruction_table();
    const InstructionRow& row = rows[*rc::gen::inRange<std::size_t>(0, rows.size())];
    const auto form =
        *rc::gen::suchThat(rc::gen::inRange(0U, 8U), [&](unsigned f) { return (row.forms >> f & 1) != 0; });
    Encoding word{low, high};
    word.set_field(0, 9, row.code);
    word.set_field(9, 3, form);
    const Encoding covered = covered_bits(row, static_cast<Form>(form));
    use((word & covered) | (row.fixed & ~covered));
  }));
}

TEST_CASE("flipping one bit of a listing's instruction never gives the same decoding unnoticed") {
  const auto listing = read_listing(calibration_path("sgemm_64_64_16_4_4_s2_p0.sass"));
  REQUIRE(listing.has_value());
  const auto& instructions = listing->kernels.front().instructions;
  CHECK(rc::check([&] {
    const auto& listed = instructions[*rc::gen::inRange<std::size_t>(0, instructions.size())];
    const auto bit = *rc::gen::inRange(0U, 105U);
    Encoding word = listed.encoding;
    word.set_field(bit, 1, word.bit(bit) ? 0 : 1);
    const auto before = decode(listed.encoding, listed.address);
    const auto after = decode(word, listed.address);
    RC_ASSERT(before.has_value());
    if (after && disassemble(*after) == disassemble(*before)) {
      // Only fields that the text does not print may differ silently: predicates that the form does not use.
      RC_ASSERT((covered_bits(*after->row, static_cast<Form>(word.field(9, 3))).bit(bit)));
    }
  }));
}

TEST_CASE("parsing random text as arguments or as a listing never crashes") {
  CHECK(rc::check([](const std::string& text) {
    const auto arguments = parse_arguments(text);
    RC_ASSERT(arguments.has_value() || !arguments.error().message.empty());
    const auto listing = parse_listing(text, "random");
    RC_ASSERT(listing.has_value() || !listing.error().message.empty());
  }));
}

}  // namespace tilesim::traces
