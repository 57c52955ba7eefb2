#include "traces/emulator/arguments.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"
#include "traces/cubin/parameter_table.h"

namespace tilesim::traces {
namespace {

template <class T>
T value_at(const KernelArguments& arguments, std::size_t offset) {
  REQUIRE(arguments.block.size() >= offset + sizeof(T));
  T value;
  std::memcpy(&value, arguments.block.data() + offset, sizeof value);
  return value;
}

std::string failure(const std::string& text) {
  const auto arguments = parse_arguments(text);
  REQUIRE_FALSE(arguments.has_value());
  CHECK(arguments.error().kind == ErrorKind::kUsage);
  CHECK_FALSE(arguments.error().remedy.empty());
  return arguments.error().message;
}

}  // namespace

TEST_CASE("arguments are placed in order at their natural alignment") {
  const auto arguments =
      parse_arguments("i32:-5,f64:0.25,u32:0xffffffff,ptr:4KiB,f32:1.5,i64:-1,u64:18446744073709551615");
  REQUIRE(arguments.has_value());
  CHECK(value_at<std::int32_t>(*arguments, 0) == -5);
  CHECK(value_at<double>(*arguments, 8) == 0.25);
  CHECK(value_at<std::uint32_t>(*arguments, 16) == 0xffffffff);
  CHECK(value_at<std::uint64_t>(*arguments, 24) == arguments->allocations[0].address);
  CHECK(value_at<float>(*arguments, 32) == 1.5F);
  CHECK(value_at<std::int64_t>(*arguments, 40) == -1);
  CHECK(value_at<std::uint64_t>(*arguments, 48) == ~std::uint64_t{0});
  CHECK(arguments->block.size() == 56);
}

TEST_CASE("each pointer gets an allocation of its own, aligned and apart") {
  const auto arguments = parse_arguments("ptr:3MiB,ptr:1,i32:0,ptr:2MB");
  REQUIRE(arguments.has_value());
  REQUIRE(arguments->allocations.size() == 3);
  CHECK(arguments->allocations[0].bytes == 3 << 20);
  CHECK(arguments->allocations[2].bytes == 2000000);
  CHECK(arguments->allocations[2].argument == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(arguments->allocations[i].address % kAllocationAlignment == 0);
    if (i > 0) {
      CHECK(arguments->allocations[i].address >
            arguments->allocations[i - 1].address + arguments->allocations[i - 1].bytes);
    }
  }
}

TEST_CASE("no arguments is an empty block") {
  const auto arguments = parse_arguments("");
  REQUIRE(arguments.has_value());
  CHECK(arguments->block.empty());
}

TEST_CASE("raw files are appended byte by byte") {
  const auto path = std::filesystem::temp_directory_path() / ("tilesim_raw_" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary) << "abcdefghijk";
  const auto arguments = parse_arguments("i32:1,raw:" + path.string() + ",i32:2");
  std::filesystem::remove(path);
  REQUIRE(arguments.has_value());
  CHECK(value_at<char>(*arguments, 8) == 'a');
  CHECK(value_at<char>(*arguments, 18) == 'k');
  CHECK(value_at<std::int32_t>(*arguments, 20) == 2);
}

TEST_CASE("bad arguments are named") {
  CHECK(failure("i32:4096,i32:2147483648") ==
        "Argument 2 'i32:2147483648' is not a value of type i32, or out of its range.");
  CHECK(failure("i32:-2147483649").find("'i32:-2147483649'") != std::string::npos);
  CHECK(failure("u32:-1").find("'u32:-1'") != std::string::npos);
  CHECK(failure("i64:9223372036854775808").find("out of its range") != std::string::npos);
  CHECK(failure("u64:99999999999999999999").find("out of its range") != std::string::npos);
  CHECK(failure("i32:12x").find("'i32:12x'") != std::string::npos);
  CHECK(failure("i32:").find("'i32:'") != std::string::npos);
  CHECK(failure("f32:abc").find("'f32:abc'") != std::string::npos);
  CHECK(failure("i32:1,,i32:2") == "Argument 2 '' is empty.");
  CHECK(failure("i32:1,") == "Argument 2 '' is empty.");
  CHECK(failure("4096").find("has no type") != std::string::npos);
  CHECK(failure("int:3").find("unknown type 'int'") != std::string::npos);
  CHECK(failure("raw:/nonexistent").find("names no readable file") != std::string::npos);
}

TEST_CASE("bad pointer sizes are named") {
  CHECK(failure("ptr:0").find("'ptr:0' has size 0") != std::string::npos);
  CHECK(failure("ptr:2000GiB").find("larger than 1 TiB") != std::string::npos);
  CHECK(failure("ptr:99999999999999GiB").find("'99999999999999GiB' is not a byte count") != std::string::npos);
  CHECK(failure("ptr:-1").find("'-1' is not a byte count") != std::string::npos);
  CHECK(failure("ptr:64XB").find("'64XB' is not a byte count") != std::string::npos);
}

TEST_CASE("byte counts take decimal and binary suffixes") {
  CHECK(parse_bytes("64").value() == 64);
  CHECK(parse_bytes("64B").value() == 64);
  CHECK(parse_bytes("3KB").value() == 3000);
  CHECK(parse_bytes("3KiB").value() == 3072);
  CHECK(parse_bytes("2GiB").value() == std::uint64_t{2} << 30);
  CHECK_FALSE(parse_bytes("").has_value());
  CHECK_FALSE(parse_bytes("1.5MiB").has_value());
}

TEST_CASE("arguments go where a parameter table has them") {
  // void kernel(int, struct of three floats, float*): the struct needs an alignment of 4 only.
  const auto file = std::filesystem::temp_directory_path() / ("tilesim-table-" + std::to_string(getpid()));
  std::ofstream(file, std::ios::binary) << "abcdefghijkl";
  const std::vector<CubinParameter> table{{0, 4}, {4, 12}, {16, 8}};
  const auto arguments = place_in_table(parse_arguments("i32:7,raw:" + file.string() + ",ptr:1KiB").value(), table);
  std::filesystem::remove(file);
  REQUIRE(arguments.has_value());
  CHECK(arguments->block.size() == 24);
  CHECK(value_at<std::int32_t>(*arguments, 0) == 7);
  CHECK(value_at<char>(*arguments, 4) == 'a');
  CHECK(value_at<char>(*arguments, 15) == 'l');
  CHECK(value_at<std::uint64_t>(*arguments, 16) == kFirstAllocation);
  REQUIRE(arguments->allocations.size() == 1);
  CHECK(arguments->allocations[0].argument == 2);

  const auto wrong = place_in_table(parse_arguments("i32:7,i64:1,ptr:1KiB").value(), table);
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().message == "argument 2 has 8 bytes, but the kernel's parameter at offset 4 has 12");
  CHECK_FALSE(place_in_table(parse_arguments("i32:7").value(), table).has_value());
}

TEST_CASE("ptrs: is a pointer to an array of pointers to allocations of their own") {
  const auto arguments = parse_arguments("i32:1,ptrs:3x4KiB,ptr:1");
  REQUIRE(arguments.has_value());
  REQUIRE(arguments->allocations.size() == 5);
  std::uint64_t array = 0;
  std::memcpy(&array, arguments->block.data() + 8, sizeof array);
  CHECK(array == arguments->allocations[0].address);
  CHECK(arguments->allocations[0].bytes == 3 * 8);
  REQUIRE(arguments->allocations[0].contents.size() == 3 * 8);
  std::uint64_t end = array + 3 * 8;
  for (std::size_t i = 0; i < 3; ++i) {
    const Allocation& element = arguments->allocations[1 + i];
    std::uint64_t pointer = 0;
    std::memcpy(&pointer, arguments->allocations[0].contents.data() + 8 * i, sizeof pointer);
    CHECK(pointer == element.address);
    CHECK(pointer % kAllocationAlignment == 0);
    CHECK(pointer > end);
    CHECK(element.bytes == 4096);
    CHECK(element.argument == 1);
    end = pointer + element.bytes;
  }
  CHECK(arguments->allocations[4].argument == 2);
  for (const char* bad : {"ptrs:4KiB", "ptrs:0x4KiB", "ptrs:65537x4", "ptrs:x4", "ptrs:3x", "ptrs:3x0", "ptrs:-1x4"}) {
    const auto refused = parse_arguments(bad);
    INFO(bad);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.find(bad) != std::string::npos);
    CHECK_FALSE(refused.error().remedy.empty());
  }
}

TEST_CASE("mem: is a pointer to an allocation that holds a file") {
  const auto path = std::filesystem::temp_directory_path() / ("tilesim-mem-" + std::to_string(getpid()));
  std::ofstream(path) << "abcde";
  const auto arguments = parse_arguments("mem:" + path.string());
  std::filesystem::resize_file(path, 0);
  const auto empty = parse_arguments("mem:" + path.string());
  std::filesystem::remove(path);
  REQUIRE(arguments.has_value());
  CHECK(arguments->block.size() == 8);
  REQUIRE(arguments->allocations.size() == 1);
  CHECK(arguments->allocations[0].bytes == 5);
  REQUIRE(arguments->allocations[0].contents.size() == 5);
  CHECK(std::memcmp(arguments->allocations[0].contents.data(), "abcde", 5) == 0);
  CHECK_FALSE(empty.has_value());
  for (const std::string& bad : {std::string("mem:"), "mem:" + path.string(), std::string("mem:/tmp")}) {
    INFO(bad);
    const auto refused = parse_arguments(bad);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.find("names no readable file") != std::string::npos);
  }
}

}  // namespace tilesim::traces
