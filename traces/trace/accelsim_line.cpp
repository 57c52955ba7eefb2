#include "traces/trace/accelsim_line.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <optional>

namespace tilesim::traces::accelsim {

namespace {

constexpr std::size_t kMostRegisters = 16;
// More than any GPU has; what a trace of ours holds.
constexpr int kMostBinaryVersion = 999;
constexpr std::uint64_t kMostSharedBytes = std::uint64_t{1} << 30;

/// Words of a line, one after the other.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  std::string_view next() {
    const std::size_t begin = std::min(text_.find_first_not_of(" \t"), text_.size());
    text_.remove_prefix(begin);
    const std::size_t size = std::min(text_.find_first_of(" \t"), text_.size());
    const std::string_view word = text_.substr(0, size);
    text_.remove_prefix(size);
    return word;
  }
  template <class T>
  std::optional<T> number(int base = 10) {
    std::string_view word = next();
    if (base == 16 && (word.starts_with("0x") || word.starts_with("0X"))) {
      word.remove_prefix(2);
    }
    T value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    if (word.empty() || error != std::errc{} || end != word.data() + word.size()) {
      return std::nullopt;
    }
    return value;
  }

 private:
  std::string_view text_;
};

bool read_registers(Words& words, Registers& out) {
  const auto count = words.number<std::uint32_t>();
  if (!count || *count > kMostRegisters) {
    return false;
  }
  out.clear();
  for (std::uint32_t i = 0; i < *count; ++i) {
    const std::string_view word = words.next();
    if (word.empty()) {
      return false;
    }
    int number = -1;
    if (word.front() == 'R') {
      const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), number);
      if (error != std::errc{} || end != word.data() + word.size() || number < 0 || number > 255) {
        return false;
      }
    }
    out.push_back(number);
  }
  return true;
}

/// Addresses of the active lanes, lowest first.
bool read_addresses(Words& words, Line& line) {
  constexpr std::uint32_t kListAll = 0;
  constexpr std::uint32_t kBaseStride = 1;
  constexpr std::uint32_t kBaseDelta = 2;
  const auto mode = words.number<std::uint32_t>();
  if (!mode || *mode > kBaseDelta) {
    return false;
  }
  std::uint64_t address = 0;
  std::uint64_t stride = 0;
  if (*mode != kListAll) {
    const auto base = words.number<std::uint64_t>(16);
    if (!base) {
      return false;
    }
    address = *base;
  }
  if (*mode == kBaseStride) {
    const auto step = words.number<std::int64_t>();
    if (!step) {
      return false;
    }
    stride = static_cast<std::uint64_t>(*step);
  }
  bool first = true;
  for (std::uint32_t lanes = line.mask; lanes != 0; lanes &= lanes - 1) {
    if (*mode == kListAll) {
      const auto own = words.number<std::uint64_t>(16);
      if (!own) {
        return false;
      }
      address = *own;
    } else if (!first) {  // n lanes have n - 1 differences
      const auto delta = *mode == kBaseDelta ? words.number<std::int64_t>() : static_cast<std::int64_t>(stride);
      if (!delta) {
        return false;
      }
      address += static_cast<std::uint64_t>(*delta);
    }
    line.addresses[static_cast<std::size_t>(std::countr_zero(lanes))] = address;
    first = false;
  }
  return true;
}

bool read_extent(std::string_view text, isa::Dim3& out) {
  std::array<std::uint32_t*, 3> parts{&out.x, &out.y, &out.z};
  text = text.starts_with('(') ? text.substr(1) : text;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::uint32_t* part : parts) {
    const auto [behind, error] = std::from_chars(at, end, *part);
    if (error != std::errc{} || *part == 0) {
      return false;
    }
    at = behind < end ? behind + 1 : behind;
  }
  return true;
}

template <class T>
bool read_value(std::string_view text, T& out) {
  Words words(text);
  const bool hex = text.starts_with("0x");
  const auto value = words.number<T>(hex ? 16 : 10);
  out = value.value_or(out);
  return value.has_value();
}

}  // namespace

bool read_header_line(std::string_view line, Header& header, std::string& problem) {
  const std::size_t equals = line.find(" = ");
  if (!line.starts_with('-') || equals == std::string_view::npos) {
    return true;
  }
  const std::string_view key = line.substr(1, equals - 1);
  const std::string_view value = line.substr(equals + 3);
  bool good = true;
  if (key == "kernel name") {
    header.kernel = value;
  } else if (key == "grid dim") {
    good = read_extent(value, header.grid);
  } else if (key == "block dim") {
    good = read_extent(value, header.block);
  } else if (key == "shmem") {
    good = read_value(value, header.shared_bytes) && header.shared_bytes <= kMostSharedBytes;
  } else if (key == "nregs") {
    good = read_value(value, header.registers);
  } else if (key == "binary version") {
    good = read_value(value, header.binary_version) && header.binary_version >= 0 &&
           header.binary_version <= kMostBinaryVersion;
  } else if (key == "shmem base_addr") {
    good = read_value(value, header.shared_base);
  } else if (key == "local mem base_addr") {
    good = read_value(value, header.local_base);
  } else if (key == "accelsim tracer version") {
    good = read_value(value, header.tracer_version);
  } else if (key == "enable lineinfo") {
    int on = 0;
    good = read_value(value, on);
    header.line_info = on != 0;
  }
  if (!good) {
    problem = fmt::format("'{}' is no value of '{}'", value, key);
  }
  return good;
}

bool read_line(std::string_view text, const Header& header, Line& line, std::string& problem) {
  constexpr int kFirstWithoutBlock = 3;
  constexpr int kBlockFields = 4;
  const auto wrong = [&problem](std::string_view what) {
    problem = fmt::format("the instruction has no proper {}", what);
    return false;
  };
  Words words(text);
  for (int i = 0; header.tracer_version < kFirstWithoutBlock && i < kBlockFields; ++i) {
    words.next();
  }
  if (header.line_info) {
    words.next();
  }
  const auto pc = words.number<std::uint64_t>(16);
  const auto mask = pc ? words.number<std::uint32_t>(16) : std::nullopt;
  if (!mask) {
    return wrong(pc ? "mask" : "address");
  }
  line.pc = *pc;
  line.mask = *mask;
  if (!read_registers(words, line.destinations)) {
    return wrong("destination");
  }
  line.opcode = words.next();
  if (line.opcode.empty() || !read_registers(words, line.sources)) {
    return wrong(line.opcode.empty() ? "opcode" : "sources");
  }
  if (line.opcode.starts_with("UTMA") || line.opcode.starts_with("UBLK")) {
    line.has_addresses = false;  // whoever knows the instruction set refuses it by name
    return true;
  }
  constexpr int kFirstWithGroups = 6;
  if (header.tracer_version >= kFirstWithGroups && line.opcode.find("GMMA") != std::string_view::npos) {
    words.next();  // whether a group is committed
  }
  const auto width = words.number<std::uint32_t>();
  if (!width) {
    return wrong("memory width");
  }
  line.has_addresses = *width != 0;
  if (line.has_addresses && !read_addresses(words, line)) {
    return wrong("addresses");
  }
  // Older tracers write no immediate; what follows it is not needed.
  line.immediate = words.number<std::int64_t>().value_or(0);
  return true;
}

}  // namespace tilesim::traces::accelsim
