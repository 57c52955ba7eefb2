// tilesim trace assemble and disassemble.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/tools/command.h"

namespace tilesim {
namespace {

const std::string kCubin = std::string(TILESIM_PTXAS_FOLDER) + "/simt_64x64x16_8x4_s2_nn_v4.cubin";

struct ScratchFolder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tilesim-assemble-" + std::to_string(getpid()));
  ScratchFolder() { std::filesystem::create_directories(path); }
  ~ScratchFolder() { std::filesystem::remove_all(path); }

  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return path / name;
  }
};

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a kernel goes through its text unchanged", "[cli]") {
  const ScratchFolder folder;
  const auto text = test::tilesim({"trace", "disassemble", kCubin});
  REQUIRE(text.exit_code == 0);
  const std::string file = folder.write("kernel.txt", text.out);
  const std::string out = folder.path / "again.cubin";
  const auto done = test::tilesim({"trace", "assemble", file, "--into", kCubin, "--out", out});
  INFO(done.err);
  REQUIRE(done.exit_code == 0);
  CHECK(done.out.find("instructions of tile_gemm in ") != std::string::npos);
  CHECK(content(out) == content(kCubin));
}

TEST_CASE("several kernels become a folder of cubins that other commands read", "[cli]") {
  const ScratchFolder folder;
  const std::string file =
      folder.write("two.txt",
                   ".kernel one\n.registers 24\n[B------:R-:W-:-:S05] EXIT\n"
                   ".kernel two\n[B------:R-:W-:-:S04] BAR.SYNC 0x0\n[B------:R-:W-:-:S05] EXIT\n");
  const std::string out = folder.path / "made";
  REQUIRE(test::tilesim({"trace", "assemble", file, "--into", kCubin, "--out", out}).exit_code == 0);
  const auto kernels = test::tilesim({"trace", "kernels", out + "/one.cubin"});
  CHECK(kernels.exit_code == 0);
  CHECK(kernels.out.find("24") != std::string::npos);
  const auto text = test::tilesim({"trace", "disassemble", out + "/two.cubin"});
  CHECK(text.out.find("[B------:R-:W-:-:S04] BAR.SYNC 0x0\n[B------:R-:W-:-:S05] EXIT\n") != std::string::npos);
}

TEST_CASE("what cannot be assembled is refused by line", "[cli]") {
  const ScratchFolder folder;
  const std::string wrong = folder.write("wrong.txt", ".kernel k\n[B------:R-:W-:-:S04] FFMB R1, R2, R3, R4\n");
  const std::string out = folder.path / "out.cubin";
  test::require_refused({"trace", "assemble", wrong, "--into", kCubin, "--out", out},
                        {"wrong.txt:2", "'FFMB'", "FFMA"});
  test::require_refused({"trace", "assemble", wrong, "--out", out}, {"a text, a placeholder"});
  test::require_refused({"trace", "assemble", folder.path / "none.txt", "--into", kCubin, "--out", out}, {"none.txt"});
  test::require_refused({"trace", "assemble", wrong, "--into", wrong, "--out", out}, {"wrong.txt", "not an ELF file"});
  CHECK_FALSE(std::filesystem::exists(out));
}

}  // namespace tilesim
