// The kernels of tests/corpus against what nvcc and nvdisasm say of them.
#include <algorithm>
#include <map>
#include <set>

#include "tests/support/catch.h"
#include "tests/support/kernel_corpus.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/sass/decoder.h"
#include "traces/sass/disassembler.h"

namespace tilesim::traces {
namespace {

using test::RecordedKernel;

Cubin cubin_of(const RecordedKernel& recorded) {
  auto cubin = parse_cubin(test::corpus_cubin(recorded.source, recorded.architecture), recorded.source);
  INFO(recorded.source << ": " << (cubin ? "" : cubin.error().message));
  REQUIRE(cubin.has_value());
  return *std::move(cubin);
}

std::string single_spaced(const std::string& text) {
  std::string result;
  for (const char character : text) {
    if (character != ' ' || result.back() != ' ') {
      result += character;
    }
  }
  return result;
}

}  // namespace

TEST_CASE("the corpus has every described kernel for every architecture") {
  std::set<std::pair<std::string, int>> recorded;
  for (const RecordedKernel& kernel : test::recorded_kernels()) {
    recorded.emplace(kernel.name, kernel.architecture);
  }
  std::set<std::pair<std::string, int>> described;
  for (const test::CorpusKernel& kernel : test::corpus_kernels()) {
    for (const int architecture : test::kCorpusArchitectures) {
      described.emplace(kernel.name, architecture);
    }
  }
  CHECK(recorded == described);
  CHECK(described.size() == 4 * test::corpus_kernels().size());
}

TEST_CASE("cubins of the corpus hold what ptxas reported") {
  for (const RecordedKernel& recorded : test::recorded_kernels()) {
    const Cubin cubin = cubin_of(recorded);
    const auto found = choose_kernel(cubin, recorded.name);
    INFO(recorded.name << " sm_" << recorded.architecture);
    REQUIRE(found.has_value());
    CHECK((*found)->architecture == recorded.architecture);
    CHECK((*found)->registers_per_thread == recorded.registers);
    CHECK((*found)->static_shared_bytes == recorded.static_shared);
    CHECK((*found)->code.size() == recorded.instructions);
  }
}

// Every instruction decodes, and its text is nvdisasm's.
TEST_CASE("kernels of the corpus disassemble to nvdisasm's text") {
  for (const RecordedKernel& recorded : test::recorded_kernels()) {
    const Cubin cubin = cubin_of(recorded);
    const auto kernel = choose_kernel(cubin, recorded.name);
    REQUIRE(kernel.has_value());
    const auto listings = test::corpus_text(recorded.source, recorded.architecture);
    const std::vector<std::string>& lines = listings.at(recorded.name);
    REQUIRE((*kernel)->code.size() == lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto decoded = decode((*kernel)->code[i], 16 * i, recorded.architecture);
      INFO(recorded.name << " sm_" << recorded.architecture << " at 0x" << std::hex << 16 * i);
      REQUIRE(decoded.has_value());
      REQUIRE(disassemble(*decoded) == single_spaced(lines[i]));
    }
  }
}

// What decodes means what nvdisasm says. It may refuse more: it looks at stall counts too.
TEST_CASE("words with changed bits disassemble to nvdisasm's text or are refused") {
  for (const int architecture : test::kCorpusArchitectures) {
    const std::vector<test::RandomWord> words = test::corpus_words(architecture);
    std::size_t equal = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto decoded = decode({words[i].low, words[i].high}, 16 * i, architecture);
      if (!decoded || words[i].text.empty()) {
        continue;
      }
      INFO("sm_" << architecture << " word " << i);
      CHECK(disassemble(*decoded) == words[i].text);
      ++equal;
    }
    CHECK(equal > 2 * words.size() / 5);
  }
}

TEST_CASE("terms of the corpus round divisions up") {
  const test::CorpusShape shape{65, 32, 7, 3, 2};
  CHECK(test::corpus_term("m/16*n/16", shape) == 10);
  CHECK(test::corpus_term("splits*m*n", shape) == 4160);
  CHECK(test::corpus_term("6", shape) == 6);
}

}  // namespace tilesim::traces
