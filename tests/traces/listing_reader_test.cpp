#include "traces/sass/listing_reader.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/traces/test_kernels.h"
#include "traces/sass/decoder.h"

namespace tilesim::traces {
namespace {

const std::string kSmall = "sgemm_32_32_32_2_2_s1_p0";

std::string lines_of(const std::string& text, std::size_t count) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    end = text.find('\n', end) + 1;
  }
  return text.substr(0, end);
}

Error failure(const std::string& text) {
  const auto listing = parse_listing(text, "k.sass");
  REQUIRE_FALSE(listing.has_value());
  CHECK(listing.error().kind == ErrorKind::kUsage);
  CHECK_FALSE(listing.error().remedy.empty());
  return listing.error();
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a cuobjdump listing gives its kernel with name, architecture, encodings and lines") {
  const auto listing = read_listing(calibration_path(kSmall + ".sass"));
  REQUIRE(listing.has_value());
  REQUIRE(listing->kernels.size() == 1);
  const ListedKernel& kernel = listing->kernels.front();
  CHECK(kernel.name == "_Z10sgemm_tileILi32ELi32ELi32ELi2ELi2ELi1ELi0EEviiiPKfS1_Pf");
  CHECK(kernel.architecture == 90);
  REQUIRE(kernel.instructions.size() == 304);
  CHECK(kernel.instructions[1].text == "S2R R5, SR_TID.X");
  CHECK(kernel.instructions[1].encoding == Encoding{0x0000000000057919, 0x000e220000002100});
  CHECK(kernel.instructions[1].line == 5);
}

TEST_CASE("nvdisasm listings of the cubin and of the raw section hold the same code") {
  const DecodedKernel reference = load_kernel(kSmall + ".sass");
  for (const char* variant : {".nvdisasm-elf.sass", ".nvdisasm-raw.sass"}) {
    const DecodedKernel other = load_kernel(kSmall + variant);
    CHECK(other.architecture == 90);
    REQUIRE(other.instructions.size() == reference.instructions.size());
    for (std::size_t i = 0; i < other.instructions.size(); ++i) {
      REQUIRE(other.instructions[i].encoding == reference.instructions[i].encoding);
      REQUIRE(other.instructions[i].address == reference.instructions[i].address);
    }
  }
  CHECK(load_kernel(kSmall + ".nvdisasm-elf.sass").name == reference.name);
}

TEST_CASE("carriage returns are tolerated") {
  std::string text;
  for (const char character : calibration_text(kSmall + ".sass")) {
    text += character == '\n' ? std::string("\r\n") : std::string(1, character);
  }
  const auto listing = parse_listing(text, "dos.sass");
  REQUIRE(listing.has_value());
  CHECK(listing->kernels.front().instructions.size() == 304);
  CHECK(listing->kernels.front().name == "_Z10sgemm_tileILi32ELi32ELi32ELi2ELi2ELi1ELi0EEviiiPKfS1_Pf");
}

TEST_CASE("a missing listing is named") {
  const auto listing = read_listing("/nonexistent/k.sass");
  REQUIRE_FALSE(listing.has_value());
  CHECK(mentions(listing.error().message, "/nonexistent/k.sass does not exist"));
}

TEST_CASE("a folder is no listing") {
  const auto listing = read_listing(TILESIM_CALIBRATION_FOLDER);
  REQUIRE_FALSE(listing.has_value());
  CHECK(mentions(listing.error().message, "is not a file"));
}

TEST_CASE("an empty listing is refused") {
  CHECK(mentions(failure("").message, "is empty"));
  CHECK(mentions(failure(" \n\n").message, "is empty"));
}

TEST_CASE("a listing cut between the words of an instruction is refused with the line") {
  const std::string text = calibration_text(kSmall + ".sass");
  const Error error = failure(lines_of(text, 5));
  CHECK(mentions(error.message, "the instruction at 0x10 lacks its second encoding word"));
  CHECK(error.where == "k.sass:5");
}

TEST_CASE("a listing cut anywhere is refused") {
  const std::string text = calibration_text(kSmall + ".sass");
  const auto end = text.find("EXIT");
  for (std::size_t cut = 700; cut < end; cut += 997) {
    const auto listing = parse_listing(text.substr(0, cut), "k.sass");
    if (listing) {
      CHECK_FALSE(decode_kernel(listing->kernels.front()).has_value());
    }
  }
}

TEST_CASE("a listing whose addresses do not follow each other is refused") {
  std::string text = calibration_text(kSmall + ".sass");
  const auto from = text.find("        /*0020*/");
  const auto to = text.find("        /*0030*/");
  text.erase(from, to - from);
  const Error error = failure(text);
  CHECK(mentions(error.message, "address 0x30 does not follow: 0x20 was expected"));
  CHECK(error.where == "k.sass:7");
}

TEST_CASE("a listing that starts in the middle is refused") {
  const std::string text = calibration_text(kSmall + ".sass");
  CHECK(mentions(failure(text.substr(text.find("        /*0050*/"))).message, "0x50 does not follow: 0x0"));
}

TEST_CASE("binary input is recognised") {
  CHECK(mentions(failure(std::string("\x7f"
                                     "ELF\x02\x01\x01\x00",
                                     8))
                     .message,
                 "is an ELF file"));
  CHECK(mentions(failure(std::string("abc\x00\x01\x02", 6)).message, "is not a text file"));
}

TEST_CASE("text without a function is refused") {
  CHECK(mentions(failure("# a readme\nnothing here\n").message, "holds no function"));
}

TEST_CASE("a function without instructions is refused") {
  const Error error = failure("\t\tFunction : foo\n\t.headerflags\t@\"EF_CUDA_SM90\"\n");
  CHECK(mentions(error.message, "function foo has no instructions"));
  CHECK(error.where == "k.sass:1");
}

TEST_CASE("a listing without encodings asks for them") {
  const Error error = failure(".text.k:\n        /*0000*/                   LDC R1, c[0x0][0x28] ;\n");
  CHECK(mentions(error.message, "no encodings"));
  CHECK(mentions(error.remedy, "nvdisasm -hex"));
}

TEST_CASE("kernels are chosen by mangled name, demangled name or a unique part") {
  const std::string a = calibration_text("sgemm_32_32_32_2_2_s1_p0.sass");
  const std::string b = calibration_text("sgemm_64_64_16_4_4_s2_p0.sass");
  const auto listing = parse_listing(a + b, "two.sass");
  REQUIRE(listing.has_value());
  REQUIRE(listing->kernels.size() == 2);
  const auto chosen = [&](const std::string& choice) {
    const auto kernel = choose_kernel(*listing, choice);
    REQUIRE(kernel.has_value());
    return (*kernel)->instructions.size();
  };
  CHECK(chosen("_Z10sgemm_tileILi64ELi64ELi16ELi4ELi4ELi2ELi0EEviiiPKfS1_Pf") == 752);
  CHECK(chosen("void sgemm_tile<32, 32, 32, 2, 2, 1, 0>(int, int, int, float const*, float const*, float*)") == 304);
  CHECK(chosen("<64, 64") == 752);

  const auto none = choose_kernel(*listing, "dgemm");
  REQUIRE_FALSE(none.has_value());
  CHECK(mentions(none.error().message, "'dgemm' fits no kernel of"));
  CHECK(mentions(none.error().message, "sgemm_tile<64, 64, 16"));
  const auto several = choose_kernel(*listing, "sgemm");
  REQUIRE_FALSE(several.has_value());
  CHECK(mentions(several.error().message, "fits several"));
  const auto unnamed = choose_kernel(*listing, "");
  REQUIRE_FALSE(unnamed.has_value());
  CHECK(mentions(unnamed.error().message, "holds 2 kernels"));
}

TEST_CASE("a huge sparse file is refused without being read") {
  const auto path = std::filesystem::temp_directory_path() / ("tilesim_huge_" + std::to_string(::getpid()) + ".sass");
  std::ofstream(path).put('x');
  std::filesystem::resize_file(path, kMaximumListingBytes + 1);
  const auto listing = read_listing(path);
  std::filesystem::remove(path);
  REQUIRE_FALSE(listing.has_value());
  CHECK(mentions(listing.error().message, "is larger than 512 MiB"));
}

}  // namespace tilesim::traces
