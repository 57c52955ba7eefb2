#include "traces/cubin/cubin_attributes.h"

#include <fmt/format.h>

namespace tilesim::traces {
namespace {

tl::unexpected<Error> wrong(const std::string& file, std::string what) {
  return fail(ErrorKind::kUsage, fmt::format("Cubin {} {}.", file, what), std::string(kMakeCubin), file);
}

}  // namespace

Result<std::vector<AttributeEntry>> read_attributes(const ElfSection& section, const std::string& file) {
  constexpr std::uint64_t kSized = 4;
  const ByteView view(section.bytes);
  std::vector<AttributeEntry> entries;
  for (std::uint64_t at = 0; at < view.size();) {
    const auto format = view.number(at, 1);
    const auto id = view.number(at + 1, 1);
    const auto value = view.number(at + 2, 2);
    if (!value || *format < 1 || *format > kSized) {
      return wrong(file, fmt::format("has a broken attribute at byte {} of {}", at, section.name));
    }
    AttributeEntry entry;
    entry.id = static_cast<Attribute>(*id);
    entry.value = static_cast<std::uint16_t>(*value);
    entry.offset = at;
    at += 4;
    if (*format == kSized) {
      if (!view.holds(at, *value)) {
        return wrong(file, fmt::format("has an attribute of {} bytes at byte {} of {}, which has {}", *value, at,
                                       section.name, view.size()));
      }
      entry.bytes = view.part(at, *value);
      at += *value;
    }
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace tilesim::traces
