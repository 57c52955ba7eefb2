// Cubins: what is read from them, the kernels they hold, and every way in which they can be broken.
#include <fstream>
#include <iterator>

#include "tests/support/catch.h"
#include "tests/traces/cubin_gemm.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/emulator/sass_kernel.h"
#include "traces/sass/decoder.h"
#include "traces/sass/instruction_table.h"
#include "traces/sass/lowering.h"

namespace tilesim::traces {
namespace {

using Bytes = std::vector<std::byte>;

std::string test_cubin(const std::string& name) { return std::string(TILESIM_TEST_CUBINS) + "/" + name; }

Bytes bytes_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE(stream.good());
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

/// Reads and decodes a broken cubin; fails if it crashes or an error lacks its message or file.
void check_survives(const Bytes& bytes) {
  const auto cubin = parse_cubin(bytes, "broken.cubin");
  if (!cubin) {
    REQUIRE_FALSE(cubin.error().message.empty());
    REQUIRE(cubin.error().where == "broken.cubin");
    return;
  }
  for (const CubinKernel& kernel : cubin->kernels) {
    const auto decoded = decode_kernel(kernel);
    REQUIRE((decoded.has_value() || !decoded.error().message.empty()));
  }
}

std::string message_for(const Bytes& bytes) {
  const auto cubin = parse_cubin(bytes, "broken.cubin");
  REQUIRE_FALSE(cubin.has_value());
  CHECK(cubin.error().kind == ErrorKind::kUsage);
  CHECK(cubin.error().message.find("broken.cubin") != std::string::npos);
  CHECK_FALSE(cubin.error().remedy.empty());
  return cubin.error().message;
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr const char* kAsync = "sgemm_32x32x8_async_ragged.cubin";
constexpr const char* kSpills = "sgemm_32x64x8_spills.cubin";

}  // namespace

TEST_CASE("a cubin's kernel has the resources that ptxas reported") {
  const CubinKernel async = only_kernel(test_cubin(kAsync));
  CHECK(async.name == "tile_gemm");
  CHECK(async.architecture == 90);
  CHECK(async.registers_per_thread == 64);
  CHECK(async.static_shared_bytes == 4096);
  CHECK(async.local_bytes == 0);
  CHECK(async.barriers == 1);
  CHECK(async.maximum_threads == 64);
  CHECK(async.parameter_base == abi_of(90).parameter_offset);
  CHECK(async.parameter_bytes == 40);
  REQUIRE(async.parameters.size() == 6);
  const std::uint32_t offsets[] = {0, 4, 8, 16, 24, 32};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(async.parameters[i].offset == offsets[i]);
    CHECK(async.parameters[i].bytes == (i < 3 ? 4 : 8));
  }
  const CubinKernel spills = only_kernel(test_cubin(kSpills));
  CHECK(spills.registers_per_thread == 48);
  CHECK(spills.local_bytes == 848);
  CHECK(spills.static_shared_bytes == 6144);
}

TEST_CASE("a kernel of several is chosen by name") {
  const auto cubin = read_cubin(test_cubin("two_kernels.cubin"));
  REQUIRE(cubin.has_value());
  REQUIRE(cubin->kernels.size() == 2);
  const auto scale = choose_kernel(*cubin, "scale");
  REQUIRE(scale.has_value());
  CHECK((*scale)->name == "_Z5scalePff");
  CHECK((*scale)->maximum_threads == 64);
  CHECK((*scale)->parameters.size() == 2);
  const auto nothing = choose_kernel(*cubin, "nothing()");
  REQUIRE(nothing.has_value());
  CHECK((*nothing)->parameters.empty());
  const auto none = choose_kernel(*cubin, "");
  REQUIRE_FALSE(none.has_value());
  CHECK(mentions(none.error().message, "scale(float*, float)"));
}

TEST_CASE("decoded code carries our own disassembly, and errors name kernel and offset") {
  const auto cubin = read_cubin(test_cubin("two_kernels.cubin"));
  REQUIRE(cubin.has_value());
  CubinKernel kernel = **choose_kernel(*cubin, "scale");
  const auto decoded = decode_kernel(kernel);
  REQUIRE(decoded.has_value());
  CHECK(decoded->text[0] == "LDC R1, c[0x0][0x28]");
  CHECK(decoded->text[6] == "LDG.E R0, desc[UR4][R2.64]");
  CHECK(decoded->text[7] == "FMUL R5, R0, UR6");
  CHECK(mentions(decoded->where(6), "two_kernels.cubin:_Z5scalePff+0x60"));
  kernel.code[3].set_field(0, 12, 0xfff);
  const auto unknown = decode_kernel(kernel);
  REQUIRE_FALSE(unknown.has_value());
  CHECK(mentions(unknown.error().message, "0xfff"));
  CHECK(mentions(unknown.error().where, "_Z5scalePff+0x30"));
}

TEST_CASE("copies with zero fill compute the product at ragged edges") {
  const CubinKernel kernel = only_kernel(test_cubin(kAsync));
  const Gemm gemm{32, 32, 64, false, false, 64, 32, 20};  // K is no multiple of 8: the last slice is filled with zeros
  const auto decoded = decode_kernel(kernel);
  REQUIRE(decoded.has_value());
  check_product(*decoded, launch_of(kernel, gemm), gemm);
}

TEST_CASE("spilled values come back from local memory, addresses among them") {
  const CubinKernel kernel = only_kernel(test_cubin(kSpills));
  const Gemm gemm{32, 64, 32, false, false, 64, 128, 24};
  const auto decoded = decode_kernel(kernel);
  REQUIRE(decoded.has_value());
  const LaunchParameters launch = launch_of(kernel, gemm);
  check_product(*decoded, launch, gemm);

  // Timing mode sees the same accesses though it leaves the sums out.
  const auto timed = SassKernel::create(*decoded, launch);
  REQUIRE(timed.has_value());
  CHECK((*timed)->micro_program().local_bytes >= 848);
  std::size_t spills = 0;
  std::size_t followed = 0;
  for (const Step& step : (*timed)->micro_program().steps) {
    spills += step.action == Action::kLocal || step.action == Action::kSpill ? 1 : 0;
    followed += step.action == Action::kSpill ? 1 : 0;
  }
  CHECK(spills > 500);
  CHECK(followed < spills / 4);
  const auto cta = (*timed)->open(1, nullptr);
  isa::DynamicInstruction instruction;
  std::size_t lines = 0;
  while (!cta->warp(0).exited()) {
    REQUIRE(cta->warp(0).step(instruction));
    const SassInstruction& in = decoded->instructions[instruction.index];
    if (in.row->local && instruction.active_mask != 0) {
      ++lines;
      for (std::size_t lane = 1; lane < 32; ++lane) {  // one line of 128 bytes
        REQUIRE(instruction.addresses[lane] == instruction.addresses[0] + 4 * lane);
      }
      REQUIRE(instruction.addresses[0] % 128 == 0);
      REQUIRE(instruction.addresses[0] >= std::uint64_t{1} << 62);
    }
  }
  CHECK(lines > 500);
  const isa::Program program = lower(*decoded);
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const SassInstruction& in = decoded->instructions[i];
    if (in.row->local) {
      CHECK(program.instructions[i].mio_registers ==
            (in.opcode == Opcode::kLdl ? 1 : 1 + program.instructions[i].access_bytes / 4));
    }
  }
}

TEST_CASE("broken cubins are refused with what is wrong") {
  const Bytes good = bytes_of(test_cubin("two_kernels.cubin"));
  CHECK(mentions(message_for({}), "is empty"));
  CHECK(mentions(message_for(Bytes(100, std::byte{'x'})), "not an ELF file"));
  CHECK(mentions(message_for(Bytes(good.begin(), good.begin() + 40)), "is cut"));
  const auto with = [&good](std::size_t at, unsigned value) {
    Bytes bytes = good;
    bytes[at] = std::byte(value);
    return bytes;
  };
  CHECK(mentions(message_for(with(4, 1)), "not a 64-bit"));
  CHECK(mentions(message_for(with(5, 2)), "not a little-endian"));
  CHECK(mentions(message_for(with(8, 9)), "ABI version 9"));
  CHECK(mentions(message_for(with(18, 62)), "machine 62"));
  CHECK(mentions(message_for(with(0x3a, 40)), "section headers of 40 bytes"));
  Bytes bytes = good;
  bytes[0x3c] = bytes[0x3d] = std::byte{0};
  CHECK(mentions(message_for(bytes), "no section table"));
  bytes = good;
  bytes[0x2f] = std::byte{0x80};  // the section table's offset, 2^63 and more
  CHECK(mentions(message_for(bytes), "sections at byte"));
  bytes = good;
  bytes.resize(bytes.size() - 1);
  CHECK(mentions(message_for(bytes), "ends behind"));

  // No symbol is a kernel: the entry flag is gone from all of them.
  bytes = good;
  constexpr std::size_t kSymbols = 0x3b8;
  for (std::size_t at = kSymbols; at < kSymbols + 0x138; at += 24) {
    bytes[at + 5] = std::byte{0};
  }
  CHECK(mentions(message_for(bytes), "holds no kernel"));
}

TEST_CASE("files that are no files are refused") {
  const auto missing = read_cubin(test_cubin("missing.cubin"));
  REQUIRE_FALSE(missing.has_value());
  CHECK(mentions(missing.error().message, "does not exist"));
  const auto folder = read_cubin(TILESIM_TEST_CUBINS);
  REQUIRE_FALSE(folder.has_value());
  CHECK(mentions(folder.error().message, "is not a file"));
  CHECK(is_machine_code(test_cubin(kAsync)));
  CHECK_FALSE(is_machine_code(test_cubin("two_kernels.cu")));
  CHECK_FALSE(is_machine_code(test_cubin("missing.cubin")));
}

TEST_CASE("a cubin cut anywhere is refused") {
  const Bytes good = bytes_of(test_cubin("two_kernels.cubin"));
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto cubin = parse_cubin(std::span(good).first(length), "broken.cubin");
    REQUIRE_FALSE(cubin.has_value());
    REQUIRE(cubin.error().where == "broken.cubin");
  }
}

TEST_CASE("a cubin with any byte changed is refused or read, and never harms") {
  const Bytes good = bytes_of(test_cubin("two_kernels.cubin"));
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned change : {0x01U, 0x80U, 0xffU}) {
      Bytes bytes = good;
      bytes[at] ^= std::byte(change);
      check_survives(bytes);
    }
  }
}

}  // namespace tilesim::traces
