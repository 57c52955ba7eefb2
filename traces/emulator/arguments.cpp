#include "traces/emulator/arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

namespace tilesim::traces {
namespace {

constexpr std::string_view kForms =
    "Use TYPE:VALUE with i32, u32, i64, u64, f32, f64, ptr:BYTES, ptrs:COUNTxBYTES, mem:FILE or raw:FILE.";
constexpr std::size_t kRawAlignment = 8;
constexpr std::size_t kMaximumBlockBytes = 4096;  // the limit of CUDA's classic parameter block
constexpr std::uint64_t kMaximumFileBytes = std::uint64_t{1} << 30;

tl::unexpected<Error> bad_item(std::size_t number, std::string_view item, std::string_view why,
                               std::string_view remedy = kForms) {
  return fail(ErrorKind::kUsage, fmt::format("Argument {} '{}' {}.", number + 1, item, why), std::string(remedy));
}

void append(std::vector<std::byte>& block, const void* data, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(data);
  block.insert(block.end(), first, first + bytes);
}

// Appends at the next multiple of `alignment`, zeros between.
void place(KernelArguments& arguments, const void* data, std::size_t bytes, std::size_t alignment) {
  auto& block = arguments.block;
  block.resize((block.size() + alignment - 1) / alignment * alignment);
  arguments.places.push_back({block.size(), bytes});
  append(block, data, bytes);
}

// The magnitude of an integer, decimal or with 0x; nullopt if it is none or exceeds 64 bits.
std::optional<std::uint64_t> magnitude(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) {
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

template <class T>
bool place_integer(KernelArguments& arguments, std::string_view text) {
  const bool negative = text.starts_with('-');
  const auto value = magnitude(negative ? text.substr(1) : text);
  const auto highest = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  const std::uint64_t lowest = std::is_signed_v<T> ? highest + 1 : 0;
  if (!value || *value > (negative ? lowest : highest)) {
    return false;
  }
  const auto stored = static_cast<T>(negative ? std::uint64_t{0} - *value : *value);
  place(arguments, &stored, sizeof stored, sizeof stored);
  return true;
}

template <class T>
bool place_float(KernelArguments& arguments, std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return false;
  }
  place(arguments, &value, sizeof value, sizeof value);
  return true;
}

// The bytes of a file that raw: or mem: names, at most `limit`.
Result<std::vector<std::byte>> read_file(std::size_t number, std::string_view item, const std::string& file,
                                         std::uint64_t limit) {
  std::error_code code;
  const std::uintmax_t bytes =
      std::filesystem::is_regular_file(file, code) ? std::filesystem::file_size(file, code) : 0;
  if (bytes == 0) {
    return bad_item(number, item, "names no readable file with content", "Check the path after the colon.");
  }
  if (bytes > limit) {
    return bad_item(number, item, fmt::format("is {} bytes, more than {}", bytes, limit),
                    "raw: takes the bytes of the parameter only, mem: up to 1 GiB.");
  }
  std::vector<std::byte> content(static_cast<std::size_t>(bytes));
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()))) {
    return bad_item(number, item, "cannot be read", "Check the file's permissions.");
  }
  return content;
}

class Builder {
 public:
  Result<void> add(std::size_t number, std::string_view item);
  [[nodiscard]] KernelArguments take() { return std::move(arguments_); }
  [[nodiscard]] std::size_t bytes() const { return arguments_.block.size(); }

 private:
  Result<void> add_pointer(std::size_t number, std::string_view item, std::string_view value);
  Result<void> add_pointers(std::size_t number, std::string_view item, std::string_view value);
  Result<void> add_memory(std::size_t number, std::string_view item, std::string_view value);
  Result<std::uint64_t> size(std::size_t number, std::string_view item, std::string_view value) const;
  std::uint64_t allocate(std::size_t number, std::uint64_t bytes, std::vector<std::byte> contents);

  KernelArguments arguments_;
  std::uint64_t next_address_ = kFirstAllocation;
};

Result<std::uint64_t> Builder::size(std::size_t number, std::string_view item, std::string_view value) const {
  const auto bytes = parse_bytes(value);
  if (!bytes) {
    return bad_item(number, item, fmt::format("has a bad size: {}", bytes.error().message), bytes.error().remedy);
  }
  if (*bytes == 0 || *bytes > kMaximumAllocationBytes) {
    return bad_item(number, item, *bytes == 0 ? "has size 0" : "is larger than 1 TiB",
                    "Pass the bytes that the kernel may touch through this pointer.");
  }
  return bytes;
}

// A fresh allocation's address.
std::uint64_t Builder::allocate(std::size_t number, std::uint64_t bytes, std::vector<std::byte> contents) {
  const std::uint64_t address = next_address_;
  arguments_.allocations.push_back({address, bytes, number, std::move(contents)});
  const std::uint64_t spanned = (bytes + kAllocationAlignment - 1) / kAllocationAlignment * kAllocationAlignment;
  next_address_ += spanned + kAllocationAlignment;
  return address;
}

Result<void> Builder::add_pointer(std::size_t number, std::string_view item, std::string_view value) {
  const auto bytes = size(number, item, value);
  if (!bytes) {
    return tl::unexpected<Error>(bytes.error());
  }
  const std::uint64_t address = allocate(number, *bytes, {});
  place(arguments_, &address, sizeof address, sizeof address);
  return {};
}

Result<void> Builder::add_pointers(std::size_t number, std::string_view item, std::string_view value) {
  constexpr std::uint64_t kMostPointers = 65536;
  const std::size_t cross = value.find('x');
  const auto count = magnitude(value.substr(0, cross));
  if (cross == std::string_view::npos || !count || *count == 0 || *count > kMostPointers) {
    return bad_item(number, item, fmt::format("has no count of 1 to {} pointers", kMostPointers),
                    "Use ptrs:COUNTxBYTES, as in ptrs:8x4MiB.");
  }
  const auto bytes = size(number, item, value.substr(cross + 1));
  if (!bytes) {
    return tl::unexpected<Error>(bytes.error());
  }
  const std::size_t array = arguments_.allocations.size();
  const std::uint64_t address = allocate(number, *count * sizeof(std::uint64_t), {});
  for (std::uint64_t i = 0; i < *count; ++i) {
    const std::uint64_t element = allocate(number, *bytes, {});
    append(arguments_.allocations[array].contents, &element, sizeof element);
  }
  place(arguments_, &address, sizeof address, sizeof address);
  return {};
}

Result<void> Builder::add_memory(std::size_t number, std::string_view item, std::string_view value) {
  auto content = read_file(number, item, std::string(value), kMaximumFileBytes);
  if (!content) {
    return tl::unexpected<Error>(content.error());
  }
  const std::uint64_t bytes = content->size();
  const std::uint64_t address = allocate(number, bytes, std::move(*content));
  place(arguments_, &address, sizeof address, sizeof address);
  return {};
}

Result<void> Builder::add(std::size_t number, std::string_view item) {
  const std::size_t colon = item.find(':');
  if (item.empty() || colon == std::string_view::npos) {
    return bad_item(number, item, item.empty() ? "is empty" : "has no type");
  }
  const std::string_view type = item.substr(0, colon);
  const std::string_view value = item.substr(colon + 1);
  bool good = false;
  if (type == "ptr") {
    return add_pointer(number, item, value);
  }
  if (type == "ptrs") {
    return add_pointers(number, item, value);
  }
  if (type == "mem") {
    return add_memory(number, item, value);
  }
  if (type == "raw") {
    const auto content = read_file(number, item, std::string(value), kMaximumBlockBytes);
    if (!content) {
      return tl::unexpected<Error>(content.error());
    }
    place(arguments_, content->data(), content->size(), kRawAlignment);
    return {};
  }
  if (type == "i32") {
    good = place_integer<std::int32_t>(arguments_, value);
  } else if (type == "u32") {
    good = place_integer<std::uint32_t>(arguments_, value);
  } else if (type == "i64") {
    good = place_integer<std::int64_t>(arguments_, value);
  } else if (type == "u64") {
    good = place_integer<std::uint64_t>(arguments_, value);
  } else if (type == "f32") {
    good = place_float<float>(arguments_, value);
  } else if (type == "f64") {
    good = place_float<double>(arguments_, value);
  } else {
    return bad_item(number, item, fmt::format("has the unknown type '{}'", type));
  }
  if (!good) {
    return bad_item(number, item, fmt::format("is not a value of type {}, or out of its range", type));
  }
  return {};
}

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view kRemedy =
      "Use a whole number with B, KB, MB, GB, KiB, MiB, GiB or no suffix, as in 64MiB.";
  struct Suffix {
    std::string_view name;
    std::uint64_t factor;
  };
  constexpr Suffix kSuffixes[] = {{"", 1},
                                  {"B", 1},
                                  {"KB", 1000},
                                  {"MB", 1000000},
                                  {"GB", 1000000000},
                                  {"KiB", std::uint64_t{1} << 10},
                                  {"MiB", std::uint64_t{1} << 20},
                                  {"GiB", std::uint64_t{1} << 30}};
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Suffix& suffix : kSuffixes) {
    if (error == std::errc{} && rest == suffix.name &&
        count <= std::numeric_limits<std::uint64_t>::max() / suffix.factor) {
      return count * suffix.factor;
    }
  }
  return fail(ErrorKind::kUsage, fmt::format("'{}' is not a byte count", text), std::string(kRemedy));
}

Result<KernelArguments> parse_arguments(std::string_view text) {
  Builder builder;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const auto added = builder.add(number++, text.substr(0, comma));
    if (!added) {
      return tl::unexpected<Error>(added.error());
    }
    if (comma != std::string_view::npos && comma + 1 == text.size()) {
      return bad_item(number, "", "is empty", "Remove the comma at the end.");
    }
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (builder.bytes() > kMaximumBlockBytes) {
      return fail(ErrorKind::kUsage, fmt::format("The arguments take more than {} bytes.", kMaximumBlockBytes),
                  "CUDA kernels take at most that much; check the list.");
    }
  }
  return builder.take();
}

}  // namespace tilesim::traces
