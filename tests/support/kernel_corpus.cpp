#include "tests/support/kernel_corpus.h"

#include <zlib.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include "tests/support/catch.h"
#include "tests/support/csv.h"

namespace tilesim::test {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  INFO("number '" << text << "'");
  REQUIRE((result.ec == std::errc{} && result.ptr == text.data() + text.size()));
  return value;
}

std::vector<CsvRow> read_table(const std::string& name) { return read_csv(TILESIM_CORPUS_FOLDER "/" + name); }

template <typename Value>
std::array<Value, 3> triple(const std::string& text) {
  const std::vector<std::string> parts = split(text, 'x');
  REQUIRE(parts.size() == 3);
  std::array<Value, 3> values{};
  for (std::size_t i = 0; i < 3; ++i) {
    values[i] = static_cast<Value>(number(parts[i]));
  }
  return values;
}

std::string unpack(const std::string& source, int architecture, const std::string& extension) {
  const std::string path =
      TILESIM_CORPUS_FOLDER "/recorded/" + source + ".sm_" + std::to_string(architecture) + extension;
  INFO(path);
  gzFile file = gzopen(path.c_str(), "rb");
  REQUIRE(file != nullptr);
  std::string content;
  std::array<char, 65536> part{};
  int count = 0;
  while ((count = gzread(file, part.data(), part.size())) > 0) {
    content.append(part.data(), static_cast<std::size_t>(count));
  }
  REQUIRE(gzclose(file) == Z_OK);
  REQUIRE(count == 0);
  return content;
}

std::int64_t factor_value(std::string_view name, const CorpusShape& shape) {
  const std::pair<std::string_view, int> symbols[] = {
      {"m", shape.m}, {"n", shape.n}, {"k", shape.k}, {"batch", shape.batch}, {"splits", shape.splits}};
  for (const auto& [symbol, value] : symbols) {
    if (name == symbol) {
      return value;
    }
  }
  return number(name);
}

}  // namespace

const std::vector<CorpusKernel>& corpus_kernels() {
  static const std::vector<CorpusKernel> kernels = [] {
    std::vector<CorpusKernel> all;
    for (auto& row : read_table("kernels.csv")) {
      CorpusKernel& kernel = all.emplace_back();
      kernel.name = row["kernel"];
      kernel.source = row["source"];
      kernel.ab = row["ab"];
      kernel.c = row["c"];
      kernel.sum = row["sum"];
      kernel.transposed_a = row["layout"].at(0) == 't';
      kernel.transposed_b = row["layout"].at(1) == 't';
      kernel.multiple = triple<int>(row["multiple"]);
      kernel.block = triple<std::uint32_t>(row["block"]);
      kernel.grid = {row["grid_x"], row["grid_y"], row["grid_z"]};
      kernel.dynamic_shared = static_cast<std::uint64_t>(number(row["dynamic_shared"]));
      kernel.adds_to_c = row["beta"] == "1";
      kernel.parameters = split(row["parameters"], ' ');
    }
    return all;
  }();
  return kernels;
}

const std::vector<RecordedKernel>& recorded_kernels() {
  static const std::vector<RecordedKernel> kernels = [] {
    std::vector<RecordedKernel> all;
    for (auto& row : read_table("recorded.csv")) {
      all.push_back({row["kernel"], static_cast<int>(number(row["architecture"].substr(3))), row["source"],
                     static_cast<int>(number(row["registers"])),
                     static_cast<std::uint64_t>(number(row["static_shared"])),
                     static_cast<std::size_t>(number(row["instructions"]))});
    }
    return all;
  }();
  return kernels;
}

std::vector<std::byte> corpus_cubin(const std::string& source, int architecture) {
  const std::string content = unpack(source, architecture, ".cubin.gz");
  const auto* const first = reinterpret_cast<const std::byte*>(content.data());
  return {first, first + content.size()};
}

std::map<std::string, std::vector<std::string>> corpus_text(const std::string& source, int architecture) {
  constexpr std::string_view kHead = "Function : ";
  std::map<std::string, std::vector<std::string>> kernels;
  std::vector<std::string>* lines = nullptr;
  std::istringstream content(unpack(source, architecture, ".sass.gz"));
  for (std::string line; std::getline(content, line);) {
    if (line.starts_with(kHead)) {
      lines = &kernels[line.substr(kHead.size())];
    } else {
      REQUIRE(lines != nullptr);
      lines->push_back(line);
    }
  }
  return kernels;
}

std::vector<RandomWord> corpus_words(int architecture) {
  std::vector<RandomWord> words;
  std::istringstream content(unpack("words", architecture, ".gz"));
  for (std::string line; std::getline(content, line);) {
    std::istringstream cells(line);
    RandomWord& word = words.emplace_back();
    cells >> std::hex >> word.low >> word.high >> std::ws;
    REQUIRE(!cells.fail());
    std::getline(cells, word.text);
  }
  return words;
}

std::int64_t corpus_term(std::string_view term, const CorpusShape& shape) {
  std::int64_t product = 1;
  for (const std::string& factor : split(term, '*')) {
    const std::vector<std::string> parts = split(factor, '/');
    REQUIRE(parts.size() <= 2);
    const std::int64_t divisor = parts.size() == 2 ? number(parts[1]) : 1;
    REQUIRE(divisor > 0);
    product *= (factor_value(parts[0], shape) + divisor - 1) / divisor;
  }
  return product;
}

}  // namespace tilesim::test
