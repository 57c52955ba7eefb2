// Tables of numbers and names: comma-separated files without quotes.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace tilesim::test {

using CsvRow = std::map<std::string, std::string>;  ///< cells by column

/// All rows of `path`, whose first line names the columns. Fails the running test if the file is not there, is empty,
/// or a row has more or fewer cells than there are columns.
inline std::vector<CsvRow> read_csv(const std::string& path) {
  const auto split = [](const std::string& line) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == ',') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    return cells;
  };
  INFO(path);
  std::ifstream file(path);
  std::string line;
  REQUIRE(std::getline(file, line));
  const std::vector<std::string> columns = split(line);
  std::vector<CsvRow> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line);
    INFO(line);
    REQUIRE(cells.size() == columns.size());
    CsvRow& row = rows.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      row[columns[i]] = cells[i];
    }
  }
  return rows;
}

}  // namespace tilesim::test
