// The rows of traces/calibration/ptxas/*.csv: what ptxas made of configurations of kernels/simt and kernels/mma.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/tile_config.h"
#include "tests/support/csv.h"

namespace tilesim::test {

struct CorpusRow {
  CsvRow cells;
  [[nodiscard]] const std::string& at(const std::string& column) const { return cells.at(column); }
  [[nodiscard]] std::int64_t number(const std::string& column) const { return std::stoll(at(column)); }
  [[nodiscard]] model::TileConfig config() const {
    model::TileConfig c;
    c.bm = number("BM");
    c.bn = number("BN");
    c.bk = number("BK");
    c.wm = number("WM");
    c.wn = number("WN");
    if (cells.contains("DTYPE")) {
      c.family = model::Family::kMma;
      c.dtype = *model::parse_data_type(at("DTYPE"));
    } else {
      c.tm = number("TM");
      c.tn = number("TN");
    }
    c.stages = number("STAGES");
    c.vec = number("VEC");
    c.pad_a = number("PAD_A");
    c.pad_b = number("PAD_B");
    c.swizzle = number("SWIZZLE");
    c.copy = *model::parse_copy_path(at("COPY"));
    c.layout = *model::parse_layout(at("LAYOUT"));
    c.raster = *model::parse_raster(at("RASTER"));
    c.register_cap = number("REGS");
    return c;
  }
};

/// All rows of a family ("simt", "mma"); the folder is the compile definition TILESIM_PTXAS_FOLDER.
inline std::vector<CorpusRow> read_ptxas_corpus(const std::string& family) {
  std::vector<CorpusRow> rows;
  for (CsvRow& row : read_csv(TILESIM_PTXAS_FOLDER "/" + family + ".csv")) {
    rows.push_back(CorpusRow{std::move(row)});
  }
  return rows;
}

}  // namespace tilesim::test
