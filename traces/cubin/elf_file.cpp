#include "traces/cubin/elf_file.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilesim::traces {
namespace {

constexpr std::uint64_t kHeaderBytes = 64;
constexpr std::uint64_t kSectionHeaderBytes = 64;
constexpr std::uint64_t kSymbolBytes = 24;
constexpr std::string_view kMakeCubin =
    "Pass what 'nvcc -arch=sm_90 -cubin' writes; 'cuobjdump -xelf all' takes it out of a program.";

class ElfParser {
 public:
  ElfParser(std::span<const std::byte> bytes, const std::string& file) : view_(bytes), file_(file) {}

  Result<ElfFile> run();

 private:
  [[nodiscard]] Result<void> header();
  [[nodiscard]] Result<void> sections();
  [[nodiscard]] Result<void> names(std::uint64_t index);
  [[nodiscard]] Result<void> symbols();
  [[nodiscard]] tl::unexpected<Error> wrong(std::string what) const {
    return fail(ErrorKind::kUsage, fmt::format("Cubin {} {}.", file_, what), std::string(kMakeCubin), file_);
  }
  // A field of the file header or of a section header, whose place has been checked.
  [[nodiscard]] std::uint64_t field(std::uint64_t offset, unsigned count) const {
    return view_.number(offset, count).value_or(0);
  }

  ByteView view_;
  const std::string& file_;
  ElfFile elf_;
  std::vector<std::uint64_t> name_offsets_;
};

Result<void> ElfParser::header() {
  if (view_.size() == 0) {
    return wrong("is empty");
  }
  constexpr std::uint64_t kMagic = 0x464c457f;
  if (view_.number(0, 4) != kMagic) {
    return wrong("is not an ELF file");
  }
  if (!view_.holds(0, kHeaderBytes)) {
    return wrong(fmt::format("is cut: {} bytes are less than an ELF header", view_.size()));
  }
  if (field(4, 1) != 2) {
    return wrong(fmt::format("is not a 64-bit ELF file (class {})", field(4, 1)));
  }
  if (field(5, 1) != 1) {
    return wrong(fmt::format("is not a little-endian ELF file (encoding {})", field(5, 1)));
  }
  elf_.os_abi = static_cast<std::uint8_t>(field(7, 1));
  elf_.abi_version = static_cast<std::uint8_t>(field(8, 1));
  elf_.machine = static_cast<std::uint16_t>(field(18, 2));
  elf_.flags = static_cast<std::uint32_t>(field(0x30, 4));
  const std::uint64_t segments = field(0x20, 8);  // not needed, but nvcc puts their table last: it tells a cut file
  if (!view_.holds(segments, field(0x36, 2) * field(0x38, 2))) {
    return wrong(fmt::format("is cut: its table of {} segments at byte {} ends behind the file's {} bytes",
                             field(0x38, 2), segments, view_.size()));
  }
  constexpr std::uint16_t kMachineCuda = 190;
  if (elf_.machine != kMachineCuda) {
    return wrong(fmt::format("is an ELF file for machine {}, not {} (CUDA)", elf_.machine, kMachineCuda));
  }
  return {};
}

Result<void> ElfParser::sections() {
  const std::uint64_t table = field(0x28, 8);
  const std::uint64_t entry = field(0x3a, 2);
  const std::uint64_t count = field(0x3c, 2);
  if (count == 0) {
    return wrong("has no section table");
  }
  if (entry != kSectionHeaderBytes) {
    return wrong(fmt::format("has section headers of {} bytes instead of {}", entry, kSectionHeaderBytes));
  }
  if (!view_.holds(table, count * entry)) {
    return wrong(fmt::format("is cut: its table of {} sections at byte {} ends behind the file's {} bytes", count,
                             table, view_.size()));
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = table + i * entry;
    ElfSection section;
    name_offsets_.push_back(field(at, 4));
    section.type = static_cast<std::uint32_t>(field(at + 4, 4));
    section.flags = field(at + 8, 8);
    section.size = field(at + 32, 8);
    section.link = static_cast<std::uint32_t>(field(at + 40, 4));
    const std::uint64_t offset = field(at + 24, 8);
    if (section.type != kSectionNoBits && section.type != 0) {
      if (!view_.holds(offset, section.size)) {
        return wrong(fmt::format("is cut: section {} with {} bytes at byte {} ends behind the file's {} bytes", i,
                                 section.size, offset, view_.size()));
      }
      section.bytes = view_.part(offset, section.size);
    }
    elf_.sections.push_back(section);
  }
  return names(field(0x3e, 2));
}

Result<void> ElfParser::names(std::uint64_t index) {
  if (index >= elf_.sections.size()) {
    return wrong(fmt::format("has its section names in section {} of {}", index, elf_.sections.size()));
  }
  const ByteView texts(elf_.sections[static_cast<std::size_t>(index)].bytes);
  for (std::size_t i = 0; i < elf_.sections.size(); ++i) {
    const auto name = texts.text(name_offsets_[i]);
    if (!name && elf_.sections[i].type != 0) {
      return wrong(fmt::format("has no name for section {}", i));
    }
    elf_.sections[i].name = name.value_or("");
  }
  return {};
}

Result<void> ElfParser::symbols() {
  const auto table = std::find_if(elf_.sections.begin(), elf_.sections.end(),
                                  [](const ElfSection& section) { return section.type == kSectionSymbols; });
  if (table == elf_.sections.end()) {
    return wrong("has no symbol table");
  }
  if (table->link >= elf_.sections.size()) {
    return wrong(fmt::format("has its symbols' names in section {} of {}", table->link, elf_.sections.size()));
  }
  const ByteView entries(table->bytes);
  const ByteView texts(elf_.sections[table->link].bytes);
  for (std::uint64_t at = 0; at + kSymbolBytes <= entries.size(); at += kSymbolBytes) {
    const auto name = texts.text(entries.number(at, 4).value_or(0));
    if (!name) {
      return wrong(fmt::format("has no name for symbol {}", at / kSymbolBytes));
    }
    ElfSymbol symbol;
    symbol.name = *name;
    symbol.type = static_cast<std::uint8_t>(entries.number(at + 4, 1).value_or(0) & 0xf);
    symbol.other = static_cast<std::uint8_t>(entries.number(at + 5, 1).value_or(0));
    elf_.symbols.push_back(symbol);
  }
  return {};
}

Result<ElfFile> ElfParser::run() {
  for (const auto step : {&ElfParser::header, &ElfParser::sections, &ElfParser::symbols}) {
    if (auto done = (this->*step)(); !done) {
      return tl::unexpected<Error>(done.error());
    }
  }
  return std::move(elf_);
}

}  // namespace

std::optional<std::uint64_t> ByteView::number(std::uint64_t offset, unsigned count) const {
  if (!holds(offset, count)) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i) {
    value |= std::to_integer<std::uint64_t>(bytes_[static_cast<std::size_t>(offset) + i]) << (8 * i);
  }
  return value;
}

std::optional<std::string_view> ByteView::text(std::uint64_t offset) const {
  if (offset >= bytes_.size()) {
    return std::nullopt;
  }
  const auto rest = bytes_.subspan(static_cast<std::size_t>(offset));
  const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
  if (end == rest.end()) {
    return std::nullopt;
  }
  return std::string_view(reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin()));
}

const ElfSection* ElfFile::find(std::string_view name) const {
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [name](const ElfSection& section) { return section.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

Result<ElfFile> parse_elf(std::span<const std::byte> bytes, const std::string& file) {
  return ElfParser(bytes, file).run();
}

}  // namespace tilesim::traces
