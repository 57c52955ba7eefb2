// The fuzzer's entry without a fuzzer: runs it on every file given and on seeded mutations of it, so that compilers
// other than clang check it too. Usage: mutation_smoke ROUNDS FILE...
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr char kAlphabet[] = "0123456789abcdefR,;/*[] \n";

void mutate(std::string& text, std::mt19937& generator) {
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(generator()) % limit; };
  for (std::size_t edits = 1 + below(4); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text.erase(at, 1 + below(200));
        break;
      case 1:
        text.resize(at);
        break;
      default:
        text[at] = kAlphabet[below(sizeof kAlphabet - 1)];
        break;
    }
  }
}

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fputs("usage: mutation_smoke ROUNDS FILE...\n", stderr);
    return 2;
  }
  const long rounds = std::strtol(arguments[1], nullptr, 10);
  std::mt19937 generator(1);
  for (int i = 2; i < count; ++i) {
    std::ifstream stream(arguments[i], std::ios::binary);
    const std::string original{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    run(original);
    for (long round = 0; round < rounds; ++round) {
      std::string text = original;
      mutate(text, generator);
      run(text);
    }
  }
  std::printf("%ld mutations of %d files\n", rounds, count - 2);
  return 0;
}
