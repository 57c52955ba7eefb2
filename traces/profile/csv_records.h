// Records of comma-separated values among other lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tilesim::traces {

struct CsvRecord {
  std::vector<std::string> fields;
  std::size_t line = 0;  ///< of its first character, from 1 on
  bool quoted = false;   ///< begins with a quote
};

/// Takes records off a text, one after the other; quoted fields may hold separators, doubled quotes and ends of lines.
class CsvRecords {
 public:
  CsvRecords(std::string_view text, char separator) : text_(text), separator_(separator) {}
  /// False at the end. A quoted field that never ends makes its line a record of one field; after 64 of them, records
  /// are taken to end with their lines, so that a text full of them is not searched to its end each time.
  [[nodiscard]] bool next(CsvRecord& record);

 private:
  /// Reads fields up to the end of the record; false if a quote stays open.
  bool read_fields(std::string_view text, CsvRecord& record, std::size_t& used) const;

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  int never_ended_ = 0;
};

}  // namespace tilesim::traces
