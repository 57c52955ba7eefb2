#include "traces/sass/listing_reader.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>

#include "model/counted.h"
#include "model/nearest_name.h"
#include "traces/sass/listing_lines.h"

namespace tilesim::traces {
namespace {

constexpr std::uint64_t kInstructionBytes = 16;
constexpr std::string_view kMakeListing =
    "Make one with 'cuobjdump -sass FILE' or 'nvdisasm -hex FILE.cubin' and pass its whole output.";

// Collects kernels line by line.
class Parser {
 public:
  explicit Parser(std::string file) : file_(std::move(file)) {}

  // Takes line number `number`; false once failed.
  [[nodiscard]] bool line(std::string_view text, std::uint32_t number);
  [[nodiscard]] bool finish();
  [[nodiscard]] Error take_error() { return std::move(error_); }
  [[nodiscard]] std::vector<ListedKernel> take_kernels() { return std::move(kernels_); }

 private:
  bool stop(std::uint32_t number, std::string message, std::string_view remedy = kMakeListing);
  bool instruction(const ListingLine& line, std::uint32_t number);
  bool continuation(const ListingLine& line, std::uint32_t number);
  bool close_kernel(std::uint32_t number);
  void open_kernel(std::string name);

  std::string file_;
  std::vector<ListedKernel> kernels_;
  std::optional<unsigned> architecture_;
  bool half_ = false;  // the last instruction's second word has not come yet
  std::uint32_t function_line_ = 0;
  Error error_;
};

bool Parser::stop(std::uint32_t number, std::string message, std::string_view remedy) {
  error_ = {ErrorKind::kUsage, std::move(message), std::string(remedy), fmt::format("{}:{}", file_, number)};
  return false;
}

void Parser::open_kernel(std::string name) {
  ListedKernel kernel;
  kernel.file = file_;
  kernel.name = std::move(name);
  if (architecture_) {
    kernel.architecture = static_cast<int>(*architecture_);
  }
  kernels_.push_back(std::move(kernel));
}

bool Parser::close_kernel(std::uint32_t number) {
  if (half_) {
    return stop(number, fmt::format("The listing is cut: the instruction at 0x{:x} lacks its second encoding word.",
                                    kernels_.back().instructions.back().address));
  }
  if (!kernels_.empty() && kernels_.back().instructions.empty()) {
    return stop(function_line_,
                fmt::format("The listing is cut: function {} has no instructions.", kernels_.back().name));
  }
  return true;
}

bool Parser::instruction(const ListingLine& line, std::uint32_t number) {
  if (half_) {
    return close_kernel(number);
  }
  if (!line.word && !kernels_.empty() && !kernels_.back().instructions.empty()) {
    return stop(number, fmt::format("The listing is cut: the instruction at 0x{:x} lacks its encoding.", line.address));
  }
  if (!line.word) {
    return stop(number, "The listing has no encodings, and text alone cannot be decoded.",
                "Make it with 'cuobjdump -sass FILE' or with 'nvdisasm -hex FILE.cubin'.");
  }
  if (kernels_.empty()) {
    open_kernel(std::filesystem::path(file_).stem().string());
  }
  auto& instructions = kernels_.back().instructions;
  const std::uint64_t expected = instructions.empty() ? 0 : instructions.back().address + kInstructionBytes;
  if (line.address != expected) {
    return stop(number, fmt::format("Instruction address 0x{:x} does not follow: 0x{:x} was expected.", line.address,
                                    expected));
  }
  instructions.push_back({line.address, std::string(line.text), {*line.word, 0}, number});
  half_ = true;
  return true;
}

bool Parser::continuation(const ListingLine& line, std::uint32_t number) {
  if (!half_) {
    return stop(number, "An encoding word stands without its instruction.");
  }
  kernels_.back().instructions.back().encoding.high = *line.word;
  half_ = false;
  return true;
}

bool Parser::line(std::string_view text, std::uint32_t number) {
  const ListingLine line = classify_line(text);
  switch (line.kind) {
    case ListingLine::Kind::kInstruction:
      return instruction(line, number);
    case ListingLine::Kind::kContinuation:
      return continuation(line, number);
    case ListingLine::Kind::kFunction:
      if (!close_kernel(number)) {
        return false;
      }
      function_line_ = number;
      open_kernel(std::string(line.text));
      return true;
    case ListingLine::Kind::kOther:
      break;
  }
  if (line.architecture) {
    architecture_ = line.architecture;
    if (!kernels_.empty() && kernels_.back().instructions.empty()) {
      kernels_.back().architecture = static_cast<int>(*line.architecture);
    }
  }
  return true;
}

bool Parser::finish() {
  if (kernels_.empty()) {
    error_ = {ErrorKind::kUsage, fmt::format("{} holds no function: no line of it is an instruction.", file_),
              std::string(kMakeListing), file_};
    return false;
  }
  const auto& instructions = kernels_.back().instructions;
  return close_kernel(instructions.empty() ? function_line_ : instructions.back().line);
}

bool is_binary(std::string_view text) {
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte != 0x1b)) {
      return true;
    }
  }
  return false;
}

tl::unexpected<Error> unreadable(const std::string& file, std::string_view what, std::string_view remedy) {
  return fail(ErrorKind::kUsage, fmt::format("Listing {} {}.", file, what), std::string(remedy), file);
}

}  // namespace

Result<Listing> parse_listing(std::string_view text, const std::string& file) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return unreadable(file, "is empty", kMakeListing);
  }
  if (is_binary(text)) {
    return unreadable(file,
                      text.starts_with("\x7f"
                                       "ELF")
                          ? "is an ELF file, not text"
                          : "is not a text file",
                      "Pass the output of 'cuobjdump -sass' on it, not the binary itself.");
  }
  Parser parser(file);
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    ++number;
    if (!parser.line(text.substr(0, end), number)) {
      return tl::unexpected<Error>(parser.take_error());
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (!parser.finish()) {
    return tl::unexpected<Error>(parser.take_error());
  }
  return Listing{file, parser.take_kernels()};
}

Result<Listing> read_listing(const std::filesystem::path& path) {
  const std::string file = path.string();
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status)) {
    return unreadable(file, "does not exist", "Check the path.");
  }
  if (!std::filesystem::is_regular_file(status)) {
    return unreadable(file, "is not a file", "Pass a file with machine code as text.");
  }
  const std::uintmax_t bytes = std::filesystem::file_size(path, code);
  if (code || bytes > kMaximumListingBytes) {
    return unreadable(file, fmt::format("is larger than {} MiB", kMaximumListingBytes >> 20),
                      "Extract the kernel's listing: cuobjdump -sass -fun NAME FILE.");
  }
  std::ifstream stream(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(bytes), '\0');
  if (!stream || !stream.read(text.data(), static_cast<std::streamsize>(bytes))) {
    return unreadable(file, "cannot be read", "Check its permissions.");
  }
  return parse_listing(text, file);
}

std::string demangle(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

namespace {

// The name alone: "void gemm<float>(int)" is "gemm".
std::string plain_name(std::string_view name) {
  name = name.substr(0, std::min(name.find('('), name.find('<')));
  const std::size_t space = name.find_last_of(' ');
  return std::string(space == std::string_view::npos ? name : name.substr(space + 1));
}

}  // namespace

Result<std::size_t> choose_name(std::span<const std::string> names, const std::string& file, std::string_view choice) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string demangled = demangle(names[i]);
    if (!choice.empty() && (names[i] == choice || demangled == choice)) {
      return i;
    }
    if (names[i].find(choice) != std::string::npos || demangled.find(choice) != std::string::npos) {
      fitting.push_back(i);
    }
  }
  if (fitting.size() == 1) {
    return fitting.front();
  }
  std::string message =
      choice.empty()
          ? fmt::format("{} holds {}", file, counted(static_cast<std::int64_t>(names.size()), "kernel"))
          : fmt::format("'{}' fits {} of {}", choice, fitting.empty() ? "no kernel" : "several kernels", file);
  constexpr std::size_t kListed = 20;
  std::vector<std::string> listed;
  std::vector<std::string> plain;  // without arguments and template arguments
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (fitting.empty() || std::find(fitting.begin(), fitting.end(), i) != fitting.end()) {
      listed.push_back(demangle(names[i]));
      plain.push_back(plain_name(listed.back()));
    }
  }
  std::sort(listed.begin(), listed.end());
  const std::size_t shown = std::min(listed.size(), kListed);
  message += fmt::format(": {}", fmt::join(listed.begin(), listed.begin() + static_cast<std::ptrdiff_t>(shown), "; "));
  message += listed.size() > shown ? fmt::format("; and {} more.", listed.size() - shown) : ".";
  std::sort(plain.begin(), plain.end());
  const std::string near = fitting.empty() ? near_name(plain_name(choice), plain) : std::string();
  return fail(ErrorKind::kUsage, std::move(message),
              (near.empty() ? std::string() : fmt::format("Did you mean {}? ", near)) +
                  "Name one with --kernel: its mangled or C++ name, or a part that no other kernel has.",
              file);
}

Result<const ListedKernel*> choose_kernel(const Listing& listing, std::string_view choice) {
  std::vector<std::string> names;
  for (const ListedKernel& kernel : listing.kernels) {
    names.push_back(kernel.name);
  }
  return choose_name(names, listing.file, choice).map([&listing](std::size_t i) { return &listing.kernels[i]; });
}

}  // namespace tilesim::traces
