#include "tests/traces/corpus_launch.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "tests/support/catch.h"
#include "traces/emulator/half_precision.h"
#include "traces/emulator/matrix.h"

namespace tilesim::traces {
namespace {

constexpr float kAlpha = 0.75F;
constexpr float kBeta = -0.5F;

std::size_t bytes_of(const std::string& type) { return type == "f16" || type == "bf16" ? 2 : 4; }

// The nearest value of the type.
double rounded(double value, const std::string& type) {
  if (type == "f16" || type == "bf16") {
    const HalfType half = type == "f16" ? HalfType::kFloat16 : HalfType::kBfloat16;
    return half_to_float(to_half(value, half), half);
  }
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return type == "tf32" ? std::bit_cast<float>(bits & 0xffffe000U) : static_cast<float>(value);
}

void store(std::byte* to, double value, const std::string& type) {
  if (bytes_of(type) == 2) {
    const std::uint16_t bits = to_half(value, type == "f16" ? HalfType::kFloat16 : HalfType::kBfloat16);
    std::memcpy(to, &bits, sizeof bits);
  } else {
    const auto number = static_cast<float>(value);
    std::memcpy(to, &number, sizeof number);
  }
}

double load(const std::byte* from, const std::string& type) {
  if (bytes_of(type) == 2) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from, sizeof bits);
    return half_to_float(bits, type == "f16" ? HalfType::kFloat16 : HalfType::kBfloat16);
  }
  float number = 0;
  std::memcpy(&number, from, sizeof number);
  return number;
}

template <class T>
std::vector<std::byte> bytes_from(T value) {
  std::vector<std::byte> result(sizeof value);
  std::memcpy(result.data(), &value, sizeof value);
  return result;
}

// Appends at the next multiple of `alignment`.
void place(std::vector<std::byte>& block, const std::vector<std::byte>& value, std::size_t alignment) {
  block.resize((block.size() + alignment - 1) / alignment * alignment);
  block.insert(block.end(), value.begin(), value.end());
}

// Largest relative error of one rounding to the type.
double unit(const std::string& type) { return type == "f16" ? 0x1p-11 : type == "bf16" ? 0x1p-8 : 0x1p-24; }

bool has_parameter(const test::CorpusKernel& kernel, const std::string& name) {
  return std::find(kernel.parameters.begin(), kernel.parameters.end(), name) != kernel.parameters.end();
}

}  // namespace

CubinKernel corpus_code(const test::CorpusKernel& kernel, int architecture) {
  return corpus_code(kernel.source, kernel.name, architecture);
}

CubinKernel corpus_code(const std::string& source, const std::string& name, int architecture) {
  const auto cubin = parse_cubin(test::corpus_cubin(source, architecture), source);
  REQUIRE(cubin.has_value());
  const auto chosen = choose_kernel(*cubin, name);
  REQUIRE(chosen.has_value());
  return **chosen;
}

CorpusLaunch::CorpusLaunch(const test::CorpusKernel& kernel, const test::CorpusShape& shape,
                           std::uint64_t static_shared)
    : kernel_(kernel), shape_(shape) {
  const auto term = [&](int i) {
    return static_cast<std::uint32_t>(test::corpus_term(kernel.grid[static_cast<std::size_t>(i)], shape));
  };
  launch_.grid = {term(0), term(1), term(2)};
  launch_.block = {kernel.block[0], kernel.block[1], kernel.block[2]};
  launch_.shared_bytes = static_shared + kernel.dynamic_shared;
  const bool batched = kernel.grid[2] == "batch";
  shape_.batch = batched ? shape.batch : 1;
  alpha_ = has_parameter(kernel, "alpha") || has_parameter(kernel, "1/alpha") ? double{kAlpha} : 1.0;
  beta_ = has_parameter(kernel, "beta") ? double{kBeta} : kernel.adds_to_c ? 1.0 : 0.0;
  const auto m = static_cast<std::size_t>(shape.m);
  const auto n = static_cast<std::size_t>(shape.n);
  const auto k = static_cast<std::size_t>(shape.k);
  a_ = {kernel.ab, kernel.transposed_a ? k : m, kernel.transposed_a ? m : k, 0, {}};
  b_ = {kernel.ab, kernel.transposed_b ? n : k, kernel.transposed_b ? k : n, 0, {}};
  c_ = {kernel.c, m, n, 0, {}};
  fill(a_, 1, false);
  fill(b_, 2, false);
  fill(c_, 3, beta_ == 0);
  add_parameters();
}

void CorpusLaunch::fill(Matrix& matrix, unsigned seed, bool poisoned) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> distribution(-1.0, 1.0);
  const std::size_t count = static_cast<std::size_t>(shape_.batch) * matrix.rows * matrix.columns;
  const std::size_t bytes = bytes_of(matrix.type);
  std::vector<std::byte> contents(count * bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const bool zero = seed == 1 && generator() % 4 == 0;
    matrix.values.push_back(zero ? 0.0 : rounded(distribution(generator), matrix.type));
    store(contents.data() + i * bytes, poisoned ? std::nan("") : matrix.values.back(), matrix.type);
  }
  matrix.address = allocate(count * bytes, std::move(contents));
}

std::uint64_t CorpusLaunch::allocate(std::size_t bytes, std::vector<std::byte> contents) {
  const std::uint64_t address = next_address_;
  launch_.arguments.allocations.push_back({address, bytes, launch_.arguments.allocations.size(), std::move(contents)});
  next_address_ += (bytes / kAllocationAlignment + 2) * kAllocationAlignment;
  return address;
}

std::uint64_t CorpusLaunch::pointer_array(const Matrix& matrix) {
  std::vector<std::byte> contents;
  const std::size_t one = matrix.rows * matrix.columns * bytes_of(matrix.type);
  for (int i = 0; i < shape_.batch; ++i) {
    place(contents, bytes_from(matrix.address + static_cast<std::size_t>(i) * one), 1);
  }
  return allocate(contents.size(), contents);
}

std::vector<std::byte> CorpusLaunch::parameter(const std::string& text, std::size_t& alignment) {
  alignment = 8;
  if (text == "A" || text == "B" || text == "C") {
    return bytes_from(matrix(text[0]).address);
  }
  if (text == "A[]" || text == "B[]" || text == "C[]") {
    return bytes_from(pointer_array(matrix(text[0])));
  }
  if (text == "null") {
    return bytes_from(std::uint64_t{0});
  }
  const std::size_t open = text.find('(');
  if (open != std::string::npos) {  // zeros(TERM), buffer(TERM)
    const auto words = test::corpus_term(text.substr(open + 1, text.size() - open - 2), shape_);
    return bytes_from(allocate(static_cast<std::size_t>(words) * 4, {}));
  }
  if (text.ends_with(":i64")) {
    return bytes_from(test::corpus_term(text.substr(0, text.size() - 4), shape_));
  }
  alignment = 4;
  if (text == "alpha" || text == "beta" || text == "1/alpha") {
    return bytes_from(text == "alpha" ? kAlpha : text == "beta" ? kBeta : 1.0F / kAlpha);
  }
  return bytes_from(static_cast<std::int32_t>(test::corpus_term(text, shape_)));
}

void CorpusLaunch::add_parameters() {
  std::vector<std::byte>& block = launch_.arguments.block;
  constexpr std::size_t kStructAlignment = 8;  // all structures of the corpus hold pointers
  for (const std::string& text : kernel_.parameters) {
    if (text == "{" || text == "}") {
      place(block, {}, kStructAlignment);
      continue;
    }
    std::size_t alignment = 0;
    const std::vector<std::byte> value = parameter(text, alignment);
    place(block, value, alignment);
  }
}

// Sums of K terms in FP32, FP16 or BF16 by multiply-adds, or by tensor cores, then alpha, beta and the rounding of C:
// a handful of roundings to its type, or to FP32.
double CorpusLaunch::bound(double magnitude, double added, double result) const {
  const bool tensor = kernel_.source == "mma" || kernel_.source == "wmma";
  const double sums = tensor ? matrix_error_bound(shape_.k, kernel_.sum == "f16") : shape_.k * unit(kernel_.sum);
  constexpr double kLastSteps = 4;
  return std::abs(alpha_) * sums * magnitude +
         kLastSteps * std::max(unit(kernel_.c), unit(kernel_.sum)) * (std::abs(result) + std::abs(added));
}

std::size_t CorpusLaunch::wrong_elements(DeviceMemory& memory) const {
  const std::size_t bytes = bytes_of(c_.type);
  const auto* computed = memory.at(c_.address, c_.values.size() * bytes);
  std::size_t wrong = 0;
  for (std::size_t product = 0; product < static_cast<std::size_t>(shape_.batch); ++product) {
    for (std::size_t i = 0; i < c_.rows; ++i) {
      for (std::size_t j = 0; j < c_.columns; ++j) {
        double sum = 0;
        double magnitude = 0;
        for (std::size_t k = 0; k < static_cast<std::size_t>(shape_.k); ++k) {
          const double left = kernel_.transposed_a ? a_.at(product, k, i) : a_.at(product, i, k);
          const double right = kernel_.transposed_b ? b_.at(product, j, k) : b_.at(product, k, j);
          sum += left * right;
          magnitude += std::abs(left * right);
        }
        const double added = beta_ == 0 ? 0.0 : beta_ * c_.at(product, i, j);
        const double result = alpha_ * sum + added;
        const double found = load(computed + ((product * c_.rows + i) * c_.columns + j) * bytes, c_.type);
        wrong += std::abs(found - result) <= bound(magnitude, added, result) ? 0 : 1;
      }
    }
  }
  return wrong;
}

}  // namespace tilesim::traces
