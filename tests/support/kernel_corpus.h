// The kernels of tests/corpus: their descriptions, recorded cubins and nvdisasm's text of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilesim::test {

/// A row of kernels.csv; the README.md there explains the columns.
struct CorpusKernel {
  std::string name;
  std::string source;
  std::string ab;  ///< f32, tf32, f16 or bf16
  std::string c;
  std::string sum;
  bool transposed_a = false;
  bool transposed_b = false;
  std::array<int, 3> multiple{1, 1, 1};  ///< of M, N, K
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::string, 3> grid;  ///< terms
  std::uint64_t dynamic_shared = 0;
  bool adds_to_c = false;
  std::vector<std::string> parameters;
};

/// What terms are made of.
struct CorpusShape {
  int m = 0;
  int n = 0;
  int k = 0;
  int batch = 1;
  int splits = 1;
};

/// A row of recorded.csv.
struct RecordedKernel {
  std::string name;
  int architecture = 0;
  std::string source;
  int registers = 0;
  std::uint64_t static_shared = 0;
  std::size_t instructions = 0;
};

inline constexpr std::array<int, 4> kCorpusArchitectures{80, 86, 89, 90};

/// All three fail the running test if a file is missing or broken.
[[nodiscard]] const std::vector<CorpusKernel>& corpus_kernels();
[[nodiscard]] const std::vector<RecordedKernel>& recorded_kernels();
[[nodiscard]] std::vector<std::byte> corpus_cubin(const std::string& source, int architecture);

/// nvdisasm's lines for every kernel of a source, without the semicolons.
[[nodiscard]] std::map<std::string, std::vector<std::string>> corpus_text(const std::string& source, int architecture);

struct RandomWord {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::string text;  ///< nvdisasm's, empty where it refuses the word
};

/// Words like those of the corpus with a few bits changed, one after the other in the code.
[[nodiscard]] std::vector<RandomWord> corpus_words(int architecture);

/// Value of a term such as "m/16*n/16"; fails the running test if it is none.
[[nodiscard]] std::int64_t corpus_term(std::string_view term, const CorpusShape& shape);

}  // namespace tilesim::test
