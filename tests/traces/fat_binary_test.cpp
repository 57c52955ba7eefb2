#include "traces/cubin/fat_binary.h"

#include <fstream>

#include "tests/support/catch.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/cubin/lz4.h"

namespace tilesim::traces {
namespace {

using Bytes = std::vector<std::byte>;

std::string path_of(const std::string& name) { return TILESIM_TEST_CUBINS "/" + name; }

Bytes bytes_of(const std::string& name) {
  std::ifstream stream(path_of(name), std::ios::binary);
  REQUIRE(stream);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

Cubin cubin_in(const Bytes& bytes) {
  auto cubin = parse_cubin(bytes, "program");
  INFO((cubin ? "" : cubin.error().message));
  REQUIRE(cubin.has_value());
  return *std::move(cubin);
}

std::string message_for(const Bytes& bytes) {
  const auto cubin = parse_cubin(bytes, "program");
  REQUIRE_FALSE(cubin.has_value());
  CHECK(cubin.error().where == "program");
  return cubin.error().message;
}

Bytes block(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) {
    bytes.push_back(std::byte(value));
  }
  return bytes;
}

}  // namespace

TEST_CASE("cubins of CUDA 11, 12 and 13 tell the same") {
  for (const char* name : {"barriers.cuda11.cubin", "barriers.cuda12.cubin", "barriers.cubin"}) {
    const auto cubin = read_cubin(path_of(name));
    INFO(name);
    REQUIRE(cubin.has_value());
    const CubinKernel& kernel = cubin->kernels.front();
    CHECK(kernel.architecture == 90);
    CHECK(kernel.barriers == 3);
    CHECK(kernel.static_shared_bytes == 256);
    CHECK(kernel.parameter_base == 0x210);
    CHECK(kernel.parameters.size() == 1);
    CHECK(decode_kernel(kernel).has_value());
  }
}

TEST_CASE("kernels of a fat binary are there for each architecture") {
  const auto cubin = read_cubin(path_of("two_kernels.fatbin"));
  REQUIRE(cubin.has_value());
  REQUIRE(cubin->kernels.size() == 4);
  const auto newest = choose_kernel(*cubin, "scale");
  REQUIRE(newest.has_value());
  CHECK((*newest)->architecture == 90);
  CHECK((*newest)->parameter_base == 0x210);
  const auto older = choose_kernel(*cubin, "scale", 80);
  REQUIRE(older.has_value());
  CHECK((*older)->architecture == 80);
  CHECK((*older)->parameter_base == 0x160);
  CHECK(is_machine_code(path_of("two_kernels.fatbin")));
}

TEST_CASE("fat binaries are found wherever they stand in a program") {
  const Bytes fat = bytes_of("two_kernels.fatbin");
  Bytes program;
  const auto append = [&program](const Bytes& bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      program.push_back(bytes[i % bytes.size()]);
    }
  };
  append({std::byte{0x90}}, 1001);
  append(fat, 4);  // the magic number alone
  append({std::byte{0}}, 13);
  append(fat, fat.size());
  append(fat, fat.size());  // equal kernels count once
  append({std::byte{0x50}}, 77);
  CHECK(cubin_in(program).kernels.size() == 4);
}

TEST_CASE("LZ4-compressed code is the same as uncompressed code") {
  const Cubin cubin = cubin_in(bytes_of("two_kernels.lz4.fatbin"));
  REQUIRE(cubin.kernels.size() == 2);
  const auto scale = choose_kernel(cubin, "scale");
  REQUIRE(scale.has_value());
  const auto decoded = decode_kernel(**scale);
  REQUIRE(decoded.has_value());
  CHECK(decoded->text[0] == "LDC R1, c[0x0][0x28]");
}

TEST_CASE("what holds no readable machine code is refused with the reason") {
  const auto zstd = read_cubin(path_of("two_kernels.zstd.fatbin"));
  REQUIRE_FALSE(zstd.has_value());
  CHECK(zstd.error().message.find("compressed with zstd") != std::string::npos);
  CHECK(zstd.error().remedy.find("cuobjdump -xelf") != std::string::npos);
  CHECK(message_for(bytes_of("two_kernels.ptx.fatbin")) == "File program holds PTX only, no machine code.");
  Bytes broken = bytes_of("two_kernels.lz4.fatbin");
  broken[0x58] = std::byte{0xff};  // first token
  CHECK(message_for(broken).find("does not decompress") != std::string::npos);
}

TEST_CASE("a fat binary that is cut or changed anywhere is refused or read, and never harms") {
  for (const char* name : {"two_kernels.fatbin", "two_kernels.lz4.fatbin"}) {
    const Bytes good = bytes_of(name);
    for (std::size_t length = 0; length < good.size(); length += 3) {
      CHECK_FALSE(parse_cubin(std::span(good).first(length), "program").has_value());
    }
    std::size_t read = 0;
    for (std::size_t at = 0; at < good.size(); ++at) {
      Bytes bytes = good;
      bytes[at] ^= std::byte{0x81};
      read += parse_cubin(bytes, "program").has_value() ? 1 : 0;
    }
    CHECK(read < good.size());
  }
}

TEST_CASE("LZ4 blocks: literals, overlapping matches, long lengths, and what is broken") {
  const auto text = [](const std::optional<Bytes>& bytes) {
    REQUIRE(bytes.has_value());
    return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  };
  CHECK(text(decompress_lz4(block({0x30, 'a', 'b', 'c'}), 3)) == "abc");
  CHECK(text(decompress_lz4(block({0x11, 'a', 1, 0, 0x10, 'b'}), 7)) == "aaaaaab");
  CHECK(text(decompress_lz4(block({0x1f, 'a', 1, 0, 5, 0x10, 'b'}), 26)) == std::string(25, 'a') + "b");
  CHECK_FALSE(decompress_lz4(block({0x30, 'a', 'b'}), 3).has_value());               // literals cut
  CHECK_FALSE(decompress_lz4(block({0x11, 'a', 2, 0, 0x10, 'b'}), 7).has_value());   // match before the start
  CHECK_FALSE(decompress_lz4(block({0x11, 'a', 0, 0, 0x10, 'b'}), 7).has_value());   // distance 0
  CHECK_FALSE(decompress_lz4(block({0x30, 'a', 'b', 'c'}), 4).has_value());          // shorter than said
  CHECK_FALSE(decompress_lz4(block({0x30, 'a', 'b', 'c'}), 2).has_value());          // longer than said
  CHECK_FALSE(decompress_lz4(block({0x1f, 'a', 1, 0, 255, 255}), 900).has_value());  // length cut
}

}  // namespace tilesim::traces
