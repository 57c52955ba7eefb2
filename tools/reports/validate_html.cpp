#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "tools/reports/validate_report.h"

namespace tilesim::reports {

namespace {

constexpr double kSize = 640.0;  // of the plot, in SVG units
constexpr double kLeft = 90.0;   // room for labels
constexpr double kBottom = 60.0;
constexpr double kTop = 20.0;
constexpr double kPercent = 100.0;

/// Told apart by eyes that do not see red and green too (Okabe and Ito's set, without yellow).
constexpr std::array<const char*, 6> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"};

constexpr std::string_view kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:60rem;"
    "padding:0 1rem;color:#222;background:#fff}"
    "table{border-collapse:collapse;margin:.5rem 0 1.5rem}td,th{padding:.15rem .7rem;text-align:right}"
    "td:first-child,th:first-child,td:nth-child(2),th:nth-child(2){text-align:left}th{border-bottom:1px solid #999}"
    "svg{max-width:100%;height:auto}svg text{font-size:13px;fill:currentColor}.grid{stroke:#8884;fill:none}"
    ".exact{stroke:currentColor}.off{stroke:currentColor;stroke-dasharray:4 4;opacity:.5}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}}";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

struct Point {
  const app::ValidationRow* row = nullptr;
  std::string group;
  app::Sample time;
};

std::vector<Point> points_of(const ValidationReport& report) {
  std::vector<Point> points;
  for (const app::ValidationRow& row : report.rows) {
    if (auto time = app::sample_of(row, report.metric); time && row.part == traces::Part::kDevelopment) {
      points.push_back({&row, row.family + " " + row.dtype, std::move(*time)});
    }
  }
  return points;
}

/// The same logarithmic scale for both axes, so that exact predictions lie on the diagonal.
class Scale {
 public:
  explicit Scale(const std::vector<Point>& points) {
    for (const Point& p : points) {
      for (const double value : {p.time.measured, p.time.predicted}) {
        low_ = std::min(low_, std::log10(value));
        high_ = std::max(high_, std::log10(value));
      }
    }
    constexpr double kMargin = 0.08;
    low_ -= kMargin;
    high_ += kMargin;
  }
  [[nodiscard]] double x(double value) const { return kLeft + kSize * share(value); }
  [[nodiscard]] double y(double value) const { return kTop + kSize * (1.0 - share(value)); }
  [[nodiscard]] double lowest() const { return std::pow(10.0, low_); }
  [[nodiscard]] double highest() const { return std::pow(10.0, high_); }

 private:
  [[nodiscard]] double share(double value) const {
    return std::clamp((std::log10(value) - low_) / (high_ - low_), 0.0, 1.0);
  }
  double low_ = 300.0;
  double high_ = -300.0;
};

std::string grid(const Scale& scale) {
  std::string svg;
  for (double decade = std::pow(10.0, std::floor(std::log10(scale.lowest()))); decade <= scale.highest();
       decade *= 10.0) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double value = step * decade;
      if (value < scale.lowest() || value > scale.highest()) {
        continue;
      }
      const double x = scale.x(value);
      const double y = scale.y(value);
      const std::string label = fmt::format("{:g}", value);
      svg += fmt::format(
          "<path class=\"grid\" d=\"M{0:.1f} {2:.1f}V{3:.1f}M{4:.1f} {1:.1f}H{5:.1f}\"/>"
          "<text x=\"{0:.1f}\" y=\"{6:.1f}\" text-anchor=\"middle\">{7}</text>"
          "<text x=\"{8:.1f}\" y=\"{9:.1f}\" text-anchor=\"end\">{7}</text>\n",
          x, y, kTop, kTop + kSize, kLeft, kLeft + kSize, kTop + kSize + 18.0, label, kLeft - 6.0, y + 4.0);
    }
  }
  return svg;
}

/// predicted = factor * measured, as far as it lies in the plot.
std::string line(const Scale& scale, double factor, const char* kind) {
  const double from = std::max(scale.lowest(), scale.lowest() / factor);
  const double to = std::min(scale.highest(), scale.highest() / factor);
  return fmt::format("<path class=\"{}\" fill=\"none\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", kind, scale.x(from),
                     scale.y(factor * from), scale.x(to), scale.y(factor * to));
}

std::map<std::string, const char*> colours_of(const std::vector<Point>& points) {
  std::map<std::string, const char*> colours;
  for (const Point& p : points) {
    colours[p.group] = nullptr;
  }
  std::size_t next = 0;
  for (auto& [group, colour] : colours) {
    colour = kColours[next++ % kColours.size()];
  }
  return colours;
}

/// Compiled code as discs, estimated code as rings.
std::string mark(double x, double y, const char* colour, app::CodeKind code) {
  const bool disc = code == app::CodeKind::kCompiled;
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" stroke=\"{}\" stroke-width=\"1.5\" fill=\"{}\"", x, y,
                     colour, disc ? colour : "none");
}

std::string marks(const std::vector<Point>& points, const Scale& scale,
                  const std::map<std::string, const char*>& colours) {
  std::string svg;
  for (const Point& p : points) {
    svg += mark(scale.x(p.time.measured), scale.y(p.time.predicted), colours.at(p.group), p.row->code);
    svg += fmt::format(
        " pointer-events=\"all\"><title>{}, {} code&#10;"
        "predicted {:.0f}, measured {:.0f}: {:+.1f} %</title></circle>\n",
        escaped(p.time.name), to_string(p.row->code), p.time.predicted, p.time.measured,
        kPercent * app::relative_error(p.time.predicted, p.time.measured));
  }
  return svg;
}

std::string legend(const std::map<std::string, const char*>& colours) {
  std::string svg;
  double y = kTop + 20.0;
  const auto entry = [&](const char* colour, app::CodeKind code, const std::string& text) {
    svg += mark(kLeft + 16.0, y, colour, code) +
           fmt::format("/><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kLeft + 28.0, y + 4.0, escaped(text));
    y += 18.0;
  };
  for (const auto& [group, colour] : colours) {
    entry(colour, app::CodeKind::kCompiled, group);
  }
  entry("#888", app::CodeKind::kCompiled, "disc: compiled code");
  entry("#888", app::CodeKind::kEstimated, "ring: estimated code");
  return svg;
}

std::string plot(const ValidationReport& report) {
  const std::vector<Point> points = points_of(report);
  if (points.empty()) {
    return "<p>No development run has the metric on both sides.</p>\n";
  }
  const Scale scale(points);
  const auto colours = colours_of(points);
  const double width = kLeft + kSize + 20.0;
  const double height = kTop + kSize + kBottom;
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" "
      "aria-label=\"Predicted over measured {2}\">\n",
      width, height, escaped(report.metric));
  svg += grid(scale) + line(scale, 1.0, "exact");
  constexpr double kOff = 1.2;
  svg += line(scale, kOff, "off") + line(scale, 1.0 / kOff, "off") + marks(points, scale, colours) + legend(colours);
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">measured {}</text>\n"
      "<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">predicted</text>\n</svg>\n",
      kLeft + kSize / 2, kTop + kSize + 44.0, escaped(report.metric), kTop + kSize / 2);
  return svg;
}

std::string totals(const ValidationReport& report) {
  std::string html =
      "<table>\n<tr><th>code and part</th><th>runs of</th><th>metric</th><th>runs</th><th>MAPE</th><th>median</th>"
      "<th>worst</th><th>bias</th><th>Pearson (log)</th></tr>\n";
  for (const app::PartSummary& s : report.summaries) {
    for (const app::GroupScore& score : s.scores) {
      const app::ErrorStatistics& e = score.errors;
      html += fmt::format(
          "<tr><td>{}, {}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.1f} %</td><td>{:.1f} %</td><td>{:+.1f} %</td>"
          "<td>{:+.1f} %</td><td>{}</td></tr>\n",
          to_string(s.code), app::to_string(s.part), escaped(score.group), escaped(score.metric), e.count,
          kPercent * e.mape, kPercent * e.median, kPercent * e.worst, kPercent * e.bias,
          e.pearson ? fmt::format("{:.4f}", *e.pearson) : std::string("-"));
    }
  }
  return html + "</table>\n";
}

}  // namespace

std::string validate_html(const ValidationReport& report) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>TileSim: predicted and "
      "measured</title>\n<style>{}</style>\n</head>\n"
      "<body>\n<h1>Predicted and measured</h1>\n<p>{} for {}, measured on {} ({}). "
      "Each mark is a run of the development part: point at it for its name. "
      "The line is an exact prediction, the dashed ones are 20 % off. "
      "Locked runs appear in the totals only.</p>\n{}<h2>Totals</h2>\n{}</body>\n</html>\n",
      kStyle, escaped(report.metric), escaped(report.gpu.id), escaped(report.recorded_gpu), escaped(report.recorded),
      plot(report), totals(report));
}

}  // namespace tilesim::reports
