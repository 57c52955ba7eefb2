#include "traces/cubin/cubin_patcher.h"

#include "tests/support/catch.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/sass/assembler.h"
#include "traces/sass/disassembler.h"
#include "traces/trace/text_stream.h"

namespace tilesim::traces {
namespace {

constexpr const char* kFile = "simt_64x64x16_8x4_s2_nn_v4.cubin";

/// A kernel that nvcc 13 made.
std::vector<std::byte> placeholder() {
  const auto text = TextSource::read_all(std::filesystem::path(TILESIM_PTXAS_FOLDER) / kFile, kMaximumCubinBytes);
  REQUIRE(text.has_value());
  const auto bytes = std::as_bytes(std::span(*text));
  return {bytes.begin(), bytes.end()};
}

std::vector<Encoding> code_of(const std::string& lines) {
  const auto kernels = assemble(".kernel k\n" + lines, "k.txt");
  INFO((kernels ? "" : kernels.error().message));
  REQUIRE(kernels.has_value());
  return kernels->front().code;
}

std::string patch_error(const std::string& lines, int registers = 40) {
  const auto code = code_of(lines);
  const auto patched = patch_cubin(placeholder(), kFile, {{}, code, registers});
  REQUIRE_FALSE(patched.has_value());
  CHECK(patched.error().where == kFile);
  CHECK_FALSE(patched.error().remedy.empty());
  return patched.error().message;
}

constexpr const char* kControl = "[B------:R-:W-:-:S04] ";
const std::string kExit = std::string(kControl) + "EXIT\n";

}  // namespace

TEST_CASE("a patched cubin reads back as the code that was put in") {
  const auto original = placeholder();
  const auto before = parse_cubin(original, kFile);
  REQUIRE(before.has_value());
  const CubinKernel& old = before->kernels.front();
  const auto code = code_of(std::string(kControl) + "BAR.SYNC.DEFER_BLOCKING 0x5, 0x40\n" + kControl +
                            "HMMA.1688.F32.TF32 R36, R8, R12, R36\n" + kExit);
  const auto patched = patch_cubin(original, kFile, {old.name, code, 40});
  REQUIRE(patched.has_value());
  CHECK(patched->size() == original.size());
  const auto after = parse_cubin(*patched, kFile);
  REQUIRE(after.has_value());
  const CubinKernel& kernel = after->kernels.front();
  CHECK(kernel.name == old.name);
  CHECK(kernel.registers_per_thread == 40);
  CHECK(kernel.barriers == 6);
  CHECK(kernel.static_shared_bytes == old.static_shared_bytes);
  CHECK(kernel.parameter_bytes == old.parameter_bytes);
  REQUIRE(kernel.code.size() == old.code.size());
  CHECK(std::equal(code.begin(), code.end(), kernel.code.begin()));
  const auto decoded = decode_kernel(kernel);
  REQUIRE(decoded.has_value());
  CHECK(decoded->text[1] == "HMMA.1688.F32.TF32 R36, R8, R12, R36");
  for (std::size_t i = code.size(); i < decoded->text.size(); ++i) {
    REQUIRE(decoded->text[i] == "NOP");
  }
}

TEST_CASE("its own code put back gives the same cubin") {
  const auto original = placeholder();
  const auto cubin = parse_cubin(original, kFile);
  REQUIRE(cubin.has_value());
  CHECK(*room_of(original, kFile, {}) == cubin->kernels.front().code.size());
  const auto patched = patch_cubin(original, kFile, {{}, cubin->kernels.front().code, 0});
  REQUIRE(patched.has_value());
  CHECK(*patched == original);
}

TEST_CASE("code that the placeholder cannot hold is refused") {
  CHECK(patch_error(std::string(kControl) + "NOP\n").find("has 0 EXIT instructions") != std::string::npos);
  std::string exits;
  for (int i = 0; i < 10; ++i) {
    exits += kExit;
  }
  CHECK(patch_error(exits).find("has 10 EXIT instructions") != std::string::npos);
  CHECK(patch_error(std::string(kControl) + "LDS.128 R40, [R2]\n" + kExit).find("uses R43 and has 40 registers") !=
        std::string::npos);
  std::string endless;
  for (int i = 0; i < 9000; ++i) {
    endless += std::string(kControl) + "NOP\n";
  }
  CHECK(patch_error(endless + kExit).find("The code has 9001 instructions, the placeholder tile_gemm room for") !=
        std::string::npos);
  const auto none = patch_cubin(placeholder(), kFile, {"nothing", code_of(kExit), 0});
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message.find("'nothing' fits no kernel") != std::string::npos);
  CHECK_FALSE(patch_cubin({}, kFile, {{}, code_of(kExit), 0}).has_value());
}

}  // namespace tilesim::traces
