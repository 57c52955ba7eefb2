#include "traces/profile/csv_records.h"

#include <algorithm>

namespace tilesim::traces {

bool CsvRecords::read_fields(std::string_view text, CsvRecord& record, std::size_t& used) const {
  record.fields.assign(1, "");
  bool inside = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    std::string& field = record.fields.back();
    if (inside) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += c;
        ++i;
      } else {
        inside = false;
      }
    } else if (c == '"' && field.empty()) {
      inside = true;
    } else if (c == separator_) {
      record.fields.emplace_back();
    } else if (c == '\n') {
      break;
    } else if (c != '\r') {
      field += c;
    }
  }
  used = std::min(i + 1, text.size());
  return !inside;
}

bool CsvRecords::next(CsvRecord& record) {
  if (at_ >= text_.size()) {
    return false;
  }
  const std::string_view rest = text_.substr(at_);
  record.line = line_;
  record.quoted = rest.front() == '"';
  constexpr int kMostSearches = 64;
  const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
  std::size_t used = 0;
  if (!read_fields(never_ended_ < kMostSearches ? rest : line, record, used)) {
    ++never_ended_;
    used = line.size();
    record.fields.assign(1, std::string(line));
  }
  line_ += static_cast<std::size_t>(std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(used), '\n'));
  at_ += used;
  return true;
}

}  // namespace tilesim::traces
