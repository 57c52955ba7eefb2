// replay --nvdisasm, with scripts in nvdisasm's place that print a listing of the cubin.
#include <fmt/format.h>

#include <filesystem>

#include "tests/tools/command.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/sass/decoder.h"

namespace tilesim::test {

namespace {

const std::string kGemm = std::string(TILESIM_PTXAS_FOLDER) + "/simt_64x64x16_8x4_s2_nn_v4.cubin";

std::vector<std::string> replay_with(const std::string& nvdisasm) {
  return {"replay",     "--cubin", kGemm,
          "--grid",     "1",       "--block",
          "128",        "--args",  "i32:64,i32:64,i32:64,ptr:16KiB,ptr:16KiB,ptr:16KiB",
          "--nvdisasm", nvdisasm};
}

/// As `nvdisasm -b SM90 -hex` prints a section; the last instruction with another text.
std::string listing_of(const std::string& cubin, const std::string& last_text) {
  const auto read = traces::read_cubin(cubin);
  REQUIRE(read.has_value());
  const traces::CubinKernel& kernel = read->kernels.at(0);
  const auto decoded = traces::decode_kernel(kernel);
  REQUIRE(decoded.has_value());
  std::string text = "\t.headerflags\t@\"EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)\"\n";
  for (std::size_t i = 0; i < kernel.code.size(); ++i) {
    const bool last = i + 1 == kernel.code.size();
    text += fmt::format("        /*{:04x}*/                   {} ;  /* 0x{:016x} */\n", 16 * i,
                        last && !last_text.empty() ? last_text : decoded->text[i], kernel.code[i].low);
    text += fmt::format("                                               /* 0x{:016x} */\n", kernel.code[i].high);
  }
  return text;
}

/// A program that prints `listing` when asked for a raw section and refuses ELF files, as an older nvdisasm does.
std::string fake(const ScratchFolder& scratch, const std::string& listing) {
  const std::string text = scratch.write("listing", listing);
  const std::string path =
      scratch.write("nvdisasm", "#!/bin/sh\n[ \"$1 $2 $3\" = '-b SM90 -hex' ] || exit 1\ncat '" + text + "'\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

}  // namespace

TEST_CASE("nvdisasm's text is compared with the decoder's", "[cli]") {
  const ScratchFolder scratch;
  const std::string program = fake(scratch, listing_of(kGemm, ""));
  const ProcessResult same = tilesim(replay_with(program));
  INFO(same.err);
  REQUIRE(same.exit_code == 0);
  CHECK(same.out.find("instructions as they were decoded") != std::string::npos);
  fake(scratch, listing_of(kGemm, "FROB R1"));
  const ProcessResult other = tilesim(replay_with(program));
  REQUIRE(other.exit_code == 0);
  CHECK(other.out.find("prints 1 of ") != std::string::npos);
  CHECK(other.out.find("'FROB R1'") != std::string::npos);
}

TEST_CASE("nvdisasm is found in CUDA_HOME, then in PATH", "[cli]") {
  const ScratchFolder scratch;
  fake(scratch, listing_of(kGemm, ""));
  const std::string folder = std::filesystem::path(scratch.file("x")).parent_path().string();
  const std::string path = folder + ":/usr/bin:/bin";
  const ProcessResult found = tilesim(replay_with("auto"), {{"CUDA_HOME", "/no/such"}, {"PATH", path}});
  INFO(found.err);
  CHECK(found.exit_code == 0);
  const ProcessResult none = tilesim(replay_with("auto"), {{"CUDA_HOME", "/no/such"}, {"PATH", "/no/such"}});
  CHECK(none.exit_code == 4);
  CHECK(none.err.find("neither in CUDA_HOME nor in PATH") != std::string::npos);
}

TEST_CASE("what is no nvdisasm is refused", "[cli]") {
  const ScratchFolder scratch;
  CHECK(tilesim(replay_with("/no/such/file")).exit_code == 4);
  const ProcessResult odd = tilesim(replay_with(fake(scratch, "hello\n")));
  CHECK(odd.exit_code == 1);
  CHECK(odd.err.find("prints no listing of tile_gemm") != std::string::npos);
  std::vector<std::string> words = replay_with(fake(scratch, listing_of(kGemm, "")));
  words[1] = "--sass";
  words[2] = listing();
  require_refused(words, {"--nvdisasm needs --cubin"});
}

}  // namespace tilesim::test
