#include "tools/reports/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/counted.h"
#include "tools/reports/check_text.h"
#include "tools/reports/kernel_text.h"
#include "tools/reports/occupancy_text.h"
#include "tools/reports/text.h"

namespace tilesim::reports {

namespace {

constexpr std::size_t kScreenLines = 40;
constexpr double kSmallPart = 0.01;    ///< of the time; smaller parts are summed up on the screen
constexpr double kLargestSmall = 0.1;  ///< of the time; larger ones are shown even if the screen does not hold them
constexpr int kGapBar = 20;
constexpr std::size_t kNamedWaits = 3;

double share(const app::Gap& gap, double seconds) { return gap.seconds > 0.0 ? seconds / gap.seconds : 0.0; }

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string fact(std::string_view name, const std::string& text) {
  return paragraph(fmt::format("{:<11}", name), text, kScreenLine);
}

std::string fact_lines(const app::RunResult& r, bool problem_assumed) {
  const app::KernelResult& k = r.kernel;
  const app::KernelLaunch& q = k.launch;
  const model::Problem& p = r.sheet.problem;
  const std::string spills = r.spilled_bytes > 0 ? fmt::format(", {} B per thread spilled", r.spilled_bytes) : "";
  std::string text = fact(
      "Problem",
      fmt::format("{} x {} x {} {} {}{}{}: {}, grid {}x{}x{}", p.m, p.n, p.k, model::to_string(r.sheet.config.dtype),
                  model::to_string(r.sheet.config.layout), problem_assumed ? " (assumed)" : "",
                  p.split_k > 1 ? fmt::format(", {} products of a part of K each, not added up", p.split_k) : "",
                  si(k.flops, "FLOP"), q.grid.x, q.grid.y, q.grid.z));
  text +=
      fact("Code",
           fmt::format(
               "{}: {}, {} each{}, {}", k.code == "compiled" ? "compiled by nvcc" : "estimated, not compiled",
               counted(static_cast<std::int64_t>(q.block.count()), "thread"), counted(q.registers, "register"), spills,
               q.shared_bytes > 0 ? fmt::format("{} B shared", q.shared_bytes) : std::string("no shared memory")));
  text += fact("Time", fmt::format("{} at {} MHz: {:.0f} cycles elapsed, {:.0f} active (mean)", si(k.seconds, "s"),
                                   plain(k.clock_mhz), k.cycles_elapsed_max, k.cycles_active_avg));
  text += fact("Occupancy", fmt::format("{}; {} waves", occupancy_sentence(k.occupancy), plain(k.waves, 3)));
  text +=
      fact("Traffic", fmt::format("L2 hits {} of read sectors; DRAM reads {}, writes {}{}",
                                  percent(metric_value(k, "lts__t_sector_op_read_hit_rate.pct")),
                                  si(metric_value(k, "dram__bytes_read.sum"), "B"),
                                  si(metric_value(k, "dram__bytes_write.sum"), "B"),
                                  k.coverage.lengths.size() > 1 ? " (of shortened loops: a real run reads more)" : ""));
  return text +
         fact("Waits", fmt::format("{}; {} of the issue slots used", largest_waits(k, kNamedWaits),
                                   percent(metric_value(k, "smsp__issue_active.avg.pct_of_peak_sustained_active"))));
}

/// One unit for all rows, in which the whole is at least one.
struct TimeUnit {
  double per_second;
  std::string_view name;
};

TimeUnit unit_of(const app::Gap& gap) {
  constexpr double kMillisecond = 1e-3;
  return gap.seconds < kMillisecond ? TimeUnit{1e6, "us"} : TimeUnit{1e3, "ms"};
}

std::string gap_row(const std::string& name, double seconds, const app::Gap& gap, const cli::Palette& palette) {
  const TimeUnit unit = unit_of(gap);
  const double fraction = share(gap, seconds);
  return fmt::format("  {:<34}{:>9.3f} {} {:>6.1f} %  {}\n", name, seconds * unit.per_second, unit.name,
                     100.0 * fraction, palette.bar(bar(fraction, kGapBar)));
}

/// The parts; those under `smallest` of the time are summed up.
std::string gap_lines(const app::Gap& gap, double smallest, const cli::Palette& palette) {
  std::string text = palette.bold("Where the time goes") + ", from the ideal to the simulated time\n";
  double rest = 0.0;
  int rests = 0;
  bool negative = false;
  for (const app::GapPart& part : gap.parts) {
    const double fraction = share(gap, part.seconds);
    if (&part != &gap.parts.front() && std::abs(fraction) < smallest) {
      rest += part.seconds;
      ++rests;
      continue;
    }
    negative = negative || part.seconds < 0.0;
    text += gap_row((&part == &gap.parts.front() ? "" : "+ ") + part.name, part.seconds, gap, palette);
  }
  if (rests > 0) {
    text += gap_row("+ " + counted(rests, "smaller part"), rest, gap, palette);
  }
  const TimeUnit unit = unit_of(gap);
  text += fmt::format("  {:<34}{:>9.3f} {}\n", "= simulated", gap.seconds * unit.per_second, unit.name);
  return negative ? text + paragraph("  ", app::gap_sign_note(), kScreenLine) : text;
}

std::string short_trouble(const app::Trouble& t) {
  return paragraph("  - ", fmt::format("{}, {} {}: try {}", t.symptom, plain(t.value, 3), t.unit, t.remedy),
                   kScreenLine);
}

std::string long_trouble(const app::Trouble& t) {
  return paragraph("  - ", fmt::format("{}: {} {}", t.symptom, plain(t.value, 4), t.unit)) +
         paragraph("    cause    ", t.cause) + paragraph("    confirm  ", t.confirm) +
         paragraph("    try      ", t.remedy);
}

/// As many rows as `room` lines hold, at least one.
std::string trouble_lines(const std::vector<app::Trouble>& troubles, std::size_t room, const cli::Palette& palette) {
  if (troubles.empty()) {
    return "";
  }
  std::string text = palette.bold("What to try") + "\n";
  std::size_t shown = 0;
  for (const app::Trouble& trouble : troubles) {
    const std::string row = short_trouble(trouble);
    if (shown > 0 && lines_of(text) + lines_of(row) > room) {
      break;
    }
    text += row;
    ++shown;
  }
  return text;
}

}  // namespace

std::string run_verdict(const app::RunResult& r) {
  std::string text = kernel_headline(r.kernel) + fmt::format(" ({} code)", r.kernel.code);
  const auto& parts = r.gap.parts;
  if (parts.size() > 1) {
    const auto largest = std::max_element(parts.begin() + 1, parts.end(),
                                          [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    text += fmt::format("; the largest loss: {}, {} of the time", largest->name,
                        percent(100.0 * share(r.gap, largest->seconds)));
  }
  if (r.spilled_bytes > 0) {
    text += fmt::format("; {} B per thread spill{}", r.spilled_bytes,
                        r.kernel.code == "estimated" ? ", of which the time is a rough estimate" : "");
  }
  return text + ".";
}

std::string run_text(const app::RunResult& r, bool problem_assumed, const cli::Palette& palette) {
  const std::string facts =
      palette.bold(paragraph("", run_verdict(r), kScreenLine)) + "\n" + fact_lines(r, problem_assumed) + "\n";
  const std::string foot = fact("Trust", r.trust.sentence + ".") + fact("Simulated", kernel_coverage(r.kernel));
  std::string text;
  for (double smallest = kSmallPart; smallest <= kLargestSmall; smallest += kSmallPart) {
    const std::string head = facts + gap_lines(r.gap, smallest, palette) + "\n";
    const std::size_t used = lines_of(head) + lines_of(foot) + 1;
    const std::size_t room = used < kScreenLines ? kScreenLines - used : 0;
    const std::string troubles = trouble_lines(r.troubleshooting, room, palette);
    text = head + troubles + (troubles.empty() ? "" : "\n") + foot;
    if (lines_of(text) <= kScreenLines) {
      break;
    }
  }
  return text;
}

std::string run_sheet_text(const app::RunResult& r, const cli::Palette& palette) {
  std::string text = check_sheet_text(r.sheet, palette) + "\n" + palette.bold("Item 16: the gap") + "\n" +
                     gap_lines(r.gap, 0.0, palette);
  for (const app::GapPart& part : r.gap.parts) {
    text += paragraph("  - ",
                      fmt::format("{} ({}): {}", part.name, part.simulated ? "simulated" : "arithmetic", part.what));
  }
  text += "\n" + palette.bold("Item 17: troubleshooting") + ", the rows that apply, heaviest first\n";
  for (const app::Trouble& trouble : r.troubleshooting) {
    text += long_trouble(trouble);
  }
  text += "\n" + kernel_states(r.kernel, palette) + "\n" + kernel_sites(r.kernel, palette);
  for (const std::string& note : r.kernel.notes) {
    text += paragraph("Note       ", note);
  }
  return text;
}

}  // namespace tilesim::reports
