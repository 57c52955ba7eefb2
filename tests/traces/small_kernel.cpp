#include "tests/traces/small_kernel.h"

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "traces/sass/decoder.h"
#include "traces/sass/disassembler.h"

namespace tilesim::traces::small {
namespace {

Encoding with_registers(Encoding word, unsigned destination, unsigned source) {
  word.set_field(16, 8, destination);
  word.set_field(24, 8, source);
  return word;
}

}  // namespace

Encoding read_thread_index(unsigned destination) {
  return with_registers({0x0000000000007919, 0x000e220000002100}, destination, 0);
}
Encoding move_immediate(unsigned destination, unsigned value) {
  Encoding word = with_registers({0x0000000000007802, 0x000fe40000000f00}, destination, 0);
  word.set_field(32, 32, value);
  return word;
}
Encoding is_at_least(unsigned predicate, unsigned source, unsigned value) {
  Encoding word = with_registers({0x000000000000780c, 0x000fc40003f06270}, 0, source);
  word.set_field(32, 32, value);
  word.set_field(81, 3, predicate);
  return word;
}
Encoding add_immediate(unsigned destination, unsigned source, unsigned value) {
  Encoding word = with_registers({0x0000000000007836, 0x000fe20000000000}, destination, source);
  word.set_field(32, 32, value);
  return word;
}
Encoding load_shared(unsigned destination, unsigned address) {
  return with_registers({0x0000000000007984, 0x000e620000000800}, destination, address);
}
Encoding branch(int distance) {
  Encoding word{0x0000000000007947, 0x000fea0003800000};
  const auto words = static_cast<std::uint64_t>(static_cast<std::int64_t>(distance) * 4);
  word.set_field(16, 8, words);
  word.set_field(34, 48, words >> 8);
  return word;
}
Encoding synchronise() { return {0x0000000000007b1d, 0x000fec0000010000}; }
Encoding converge_at(int distance) {
  Encoding word{0x0000000000007945, 0x000fe20003800000};
  word.set_field(34, 30, static_cast<std::uint64_t>(distance) * 4);
  return word;
}
Encoding converge() { return {0x0000000000007941, 0x000fea0003800000}; }
Encoding exit() { return {0x000000000000794d, 0x000fea0003800000}; }
Encoding nop() { return {0x0000000000007918, 0x000fc00000000000}; }
Encoding guarded(Encoding instruction, unsigned predicate, bool negated) {
  instruction.set_field(12, 3, predicate);
  instruction.set_field(15, 1, negated ? 1 : 0);
  return instruction;
}

DecodedKernel kernel(const std::vector<Encoding>& code) {
  ListedKernel listed;
  listed.file = "small.sass";
  listed.name = "small";
  for (const Encoding& word : code) {
    const std::uint64_t address = listed.instructions.size() * 16;
    const auto decoded = decode(word, address);
    REQUIRE(decoded.has_value());
    const auto line = static_cast<std::uint32_t>(listed.instructions.size() + 1);
    listed.instructions.push_back({address, disassemble(*decoded), word, line});
  }
  auto result = decode_kernel(listed);
  REQUIRE(result.has_value());
  return std::move(*result);
}

LaunchParameters launch(unsigned threads, std::uint64_t shared_bytes) {
  LaunchParameters result;
  result.block = {threads, 1, 1};
  result.shared_bytes = shared_bytes;
  return result;
}

}  // namespace tilesim::traces::small
