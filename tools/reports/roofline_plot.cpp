#include "tools/reports/roofline_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/reports/text.h"

namespace tilesim::reports {

namespace {

constexpr int kLabelWidth = 16;

/// Intensities from left to right, on a scale of powers of two.
struct Axis {
  double low = 0.0;   ///< log2 of the left end
  double high = 1.0;  ///< log2 of the right end
  int width = 2;
  [[nodiscard]] double at(int column) const { return std::exp2(low + (high - low) * column / (width - 1)); }
  [[nodiscard]] int column(double value) const {
    const double position = (std::log2(value) - low) / (high - low) * (width - 1);
    return std::clamp(static_cast<int>(std::lround(position)), 0, width - 1);
  }
};

/// A sheet of characters, row 0 on top.
class Canvas {
 public:
  Canvas(int height, int width)
      : rows_(static_cast<std::size_t>(height), std::string(static_cast<std::size_t>(width), ' ')) {}
  char& at(int row, int column) { return rows_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)]; }
  [[nodiscard]] const std::string& row(int row) const { return rows_[static_cast<std::size_t>(row)]; }

 private:
  std::vector<std::string> rows_;
};

}  // namespace

std::string roofline_plot(const model::Roofline& r, int height, int width) {
  const double intensity = std::max(r.intensity.flop_per_byte, 1e-6);
  const Axis axis{std::floor(std::log2(std::min(r.ridge, intensity))) - 2.0,
                  std::ceil(std::log2(std::max(r.ridge, intensity))) + 1.0, width};
  const auto roof = [&](int column) {
    return model::attainable_flops(axis.at(column), r.peak_flops, r.dram_bytes_per_second);
  };
  const double top = std::log2(r.peak_flops);
  const double bottom = std::log2(roof(0));
  const auto row_of = [&](double flops) {
    const double position = (top - std::log2(flops)) / std::max(1e-9, top - bottom) * (height - 1);
    return std::clamp(static_cast<int>(std::lround(position)), 0, height - 1);
  };
  Canvas canvas(height, width);
  for (int column = 0; column < width; ++column) {
    canvas.at(row_of(roof(column)), column) = axis.at(column) < r.ridge ? '/' : '-';
  }
  canvas.at(height - 1, axis.column(r.ridge)) = '|';
  const int mark = axis.column(intensity);
  for (int row = row_of(r.attainable) + 1; row < height; ++row) {
    canvas.at(row, mark) = ':';
  }
  canvas.at(row_of(r.attainable), mark) = '*';
  std::string out;
  for (int row = 0; row < height; ++row) {
    const double label = row == 0 ? r.peak_flops : std::exp2(bottom);
    const bool labelled = row == 0 || row == height - 1;
    std::string line =
        fmt::format("{:>{}} |{}", labelled ? si(label, "FLOP/s") : std::string(), kLabelWidth, canvas.row(row));
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out + fmt::format("{:>{}}  from {} to {} FLOP/B;  * this problem, {};  | ridge, {}\n", "", kLabelWidth,
                           plain(axis.at(0), 3), plain(axis.at(width - 1), 4), plain(intensity, 4), plain(r.ridge, 4));
}

}  // namespace tilesim::reports
