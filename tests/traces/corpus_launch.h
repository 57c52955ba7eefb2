// Launches of the corpus' kernels on random matrices, and the check of what they compute.
#pragma once

#include <string>
#include <vector>

#include "tests/support/kernel_corpus.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/emulator/launch.h"
#include "traces/emulator/memory_contents.h"

namespace tilesim::traces {

/// A kernel of the corpus out of its recorded cubin; fails the running test if it is not there.
[[nodiscard]] CubinKernel corpus_code(const test::CorpusKernel& kernel, int architecture = 90);
[[nodiscard]] CubinKernel corpus_code(const std::string& source, const std::string& name, int architecture);

/// A launch of a kernel with its matrices, whose elements are values of their type: a quarter of A's are zeros. C
/// begins as not-a-number unless the kernel adds to it.
class CorpusLaunch {
 public:
  CorpusLaunch(const test::CorpusKernel& kernel, const test::CorpusShape& shape, std::uint64_t static_shared);

  [[nodiscard]] const LaunchParameters& launch() const { return launch_; }
  /// Elements of C that are further from the product in double precision than the error bound of the kernel's sums.
  [[nodiscard]] std::size_t wrong_elements(DeviceMemory& memory) const;

 private:
  struct Matrix {
    std::string type;
    std::size_t rows = 0;  // as stored
    std::size_t columns = 0;
    std::uint64_t address = 0;
    std::vector<double> values;  // of all products of the batch
    [[nodiscard]] double at(std::size_t product, std::size_t row, std::size_t column) const {
      return values[(product * rows + row) * columns + column];
    }
  };

  void fill(Matrix& matrix, unsigned seed, bool poisoned);
  std::uint64_t allocate(std::size_t bytes, std::vector<std::byte> contents);
  std::vector<std::byte> parameter(const std::string& text, std::size_t& alignment);
  std::uint64_t pointer_array(const Matrix& matrix);
  void add_parameters();
  [[nodiscard]] Matrix& matrix(char name) { return name == 'A' ? a_ : name == 'B' ? b_ : c_; }
  [[nodiscard]] double bound(double magnitude, double added, double result) const;

  const test::CorpusKernel& kernel_;
  test::CorpusShape shape_;
  LaunchParameters launch_;
  Matrix a_;
  Matrix b_;
  Matrix c_;
  double alpha_ = 1;
  double beta_ = 0;
  std::uint64_t next_address_ = kFirstAllocation;
};

}  // namespace tilesim::traces
