#include "tools/reports/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/counted.h"
#include "tools/reports/occupancy_text.h"
#include "tools/reports/text.h"

namespace tilesim::reports {

namespace {

constexpr std::size_t kStateRows = 6;
constexpr std::size_t kSharedSites = 5;
constexpr std::size_t kGlobalSites = 3;
constexpr int kBarWidth = 24;
constexpr double kBarrierWarning = 0.10;
constexpr std::size_t kSassWidth = 36;

using States = std::array<double, sim::kWarpStateCount>;

std::string short_name(std::string name) {
  name = name.substr(0, name.find('('));
  return name.starts_with("void ") ? name.substr(5) : name;
}

sim::WarpState state(std::size_t index) { return static_cast<sim::WarpState>(index); }

/// State numbers by falling time, at most `count`, those without time left out.
std::vector<std::size_t> top_states(const States& times, std::size_t count, bool waiting_only) {
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] > times[b]; });
  std::erase_if(order, [&](std::size_t s) { return times[s] <= 0.0 || (waiting_only && !sim::is_waiting(state(s))); });
  order.resize(std::min(order.size(), count));
  return order;
}

std::string dim3(const isa::Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

std::string launch_lines(const app::KernelResult& r) {
  const app::KernelLaunch& q = r.launch;
  return fmt::format("Launch     grid {}, block {}, {}{}, {} B shared, carve-out {} KB{}\n", dim3(q.grid),
                     dim3(q.block), counted(q.registers, "register"), q.registers_assumed ? " (assumed)" : "",
                     q.shared_bytes, r.occupancy.carveout_kb, q.carveout_kb ? "" : " (assumed)");
}

std::string speed_lines(const app::KernelResult& r) {
  return fmt::format(
      "Time       {} at {} MHz: {:.0f} cycles elapsed (launch included), {:.0f} active on the average SM\n"
      "Rate       {} for {}: {} of the {} peak of {} at this clock\n",
      si(r.seconds, "s"), plain(r.clock_mhz), r.cycles_elapsed_max, r.cycles_active_avg,
      si(flops_per_second(r), "FLOP/s"), si(r.flops, "FLOP"), percent(percent_of_peak(r)), app::pipe_name(r.math),
      si(r.peak_flops_per_second, "FLOP/s"));
}

std::string occupancy_lines(const app::KernelResult& r) {
  const model::Occupancy& o = r.occupancy;
  const bool capped = o.by_barriers != o.by_barriers_capped;
  return fmt::format(
      "Occupancy  {}; {} waves\n"
      "           limits: registers {}, shared memory {}, warps {}, CTAs {}, barriers {}{}\n",
      occupancy_sentence(o), plain(r.waves, 3), limit(o.by_registers), limit(o.by_shared), limit(o.by_warps),
      limit(o.by_ctas), limit(o.by_barriers_capped), capped ? fmt::format(" ({} uncapped)", limit(o.by_barriers)) : "");
}

/// Sites of one kind by falling cost, at most `count`.
std::vector<app::SiteReport> top_sites(const app::KernelResult& r, bool shared, std::size_t count) {
  std::vector<app::SiteReport> sites;
  std::copy_if(r.sites.begin(), r.sites.end(), std::back_inserter(sites),
               [shared](const app::SiteReport& site) { return site.shared == shared; });
  std::stable_sort(sites.begin(), sites.end(), [shared](const app::SiteReport& a, const app::SiteReport& b) {
    if (!shared) {
      return a.sectors > b.sectors;
    }
    return a.conflicts() != b.conflicts() ? a.conflicts() > b.conflicts() : a.wavefronts > b.wavefronts;
  });
  sites.resize(std::min(sites.size(), count));
  return sites;
}

std::string traffic_lines(const app::KernelResult& r) {
  return fmt::format("Traffic    L1 hits {} of load sectors, L2 hits {} of read sectors; DRAM reads {}, writes {}\n",
                     percent(metric_value(r, "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct")),
                     percent(metric_value(r, "lts__t_sector_op_read_hit_rate.pct")),
                     si(metric_value(r, "dram__bytes_read.sum"), "B"),
                     si(metric_value(r, "dram__bytes_write.sum"), "B"));
}

}  // namespace

std::string kernel_headline(const app::KernelResult& r) {
  return fmt::format("{} takes {} on the {}: {}, {} of the {} peak", short_name(r.kernel), si(r.seconds, "s"),
                     r.gpu.name, si(flops_per_second(r), "FLOP/s"), percent(percent_of_peak(r)),
                     app::pipe_name(r.math));
}

std::string largest_waits(const app::KernelResult& r, std::size_t count) {
  const States shares = waiting_shares(r);
  std::string text;
  for (const std::size_t s : top_states(r.state_per_issue, count, true)) {
    text += fmt::format("{}{} ({}{})", text.empty() ? "" : ", ", sim::to_string(state(s)), percent(100.0 * shares[s]),
                        text.empty() ? " of all waiting" : "");
  }
  return text;
}

std::string kernel_verdict(const app::KernelResult& r) {
  const std::string wait = largest_waits(r, 1);
  return kernel_headline(r) + "; " +
         (wait.empty() ? "no warp ever waits." : fmt::format("warps wait most in state {}.", wait));
}

std::string kernel_states(const app::KernelResult& r, const cli::Palette& palette) {
  std::string text = palette.bold("Warp states") + " (cycles per issued instruction; share of all waiting)\n";
  const States shares = waiting_shares(r);
  const double whole = std::accumulate(r.state_per_issue.begin(), r.state_per_issue.end(), 0.0);
  for (const std::size_t s : top_states(r.state_per_issue, kStateRows, false)) {
    const double fraction = whole > 0.0 ? r.state_per_issue[s] / whole : 0.0;
    text += fmt::format("  {:<20}{:>7.3f}  {}  {}\n", sim::to_string(state(s)), r.state_per_issue[s],
                        palette.bar(bar(fraction, kBarWidth)),
                        sim::is_waiting(state(s)) ? percent(100.0 * shares[s]) : "not waiting");
  }
  return text;
}

std::string kernel_sites(const app::KernelResult& r, const cli::Palette& palette) {
  const std::string conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared";
  std::string text =
      fmt::format("{} ({} bank conflicts: loads {}, stores {})\n", palette.bold("Shared accesses"),
                  si(metric_value(r, conflicts + ".sum"), ""), si(metric_value(r, conflicts + "_op_ld.sum"), ""),
                  si(metric_value(r, conflicts + "_op_st.sum"), ""));
  const auto per = [](double a, double b) { return b > 0.0 ? plain(a / b, 4) : std::string("-"); };
  Table shared({true, false, true, true, true, true});
  shared.add({"index", "instruction", "requests", "wavefronts each", "at best", "conflicts"});
  for (const app::SiteReport& s : top_sites(r, true, kSharedSites)) {
    shared.add({fmt::format("{}", s.index), shorten(s.text, kSassWidth), si(s.requests, ""),
                per(s.wavefronts, s.requests), per(s.ideal_wavefronts, s.requests), si(s.conflicts(), "")});
  }
  Table global({true, false, true, true, true});
  global.add({"index", "instruction", "requests", "sectors each", "lines each"});
  for (const app::SiteReport& s : top_sites(r, false, kGlobalSites)) {
    global.add({fmt::format("{}", s.index), shorten(s.text, kSassWidth), si(s.requests, ""), per(s.sectors, s.requests),
                per(s.lines, s.requests)});
  }
  return text + shared.text(palette) + palette.bold("Global accesses") + "\n" + global.text(palette);
}

std::string kernel_coverage(const app::KernelResult& r) {
  const app::Coverage& c = r.coverage;
  std::string text =
      fmt::format("{} mode: {} of {} with work {} every instruction ({} warp instructions)",
                  c.detailed ? "detailed" : "default", c.simulated_sms, counted(c.sms_with_work, "SM"),
                  c.simulated_sms == 1 ? "runs" : "run", si(static_cast<double>(c.instructions_simulated), ""));
  if (c.simulated_sms < c.sms_with_work) {
    text += ", the others send their requests";
  }
  if (c.lengths.size() > 1) {
    text += fmt::format("; {} of the main loop extrapolated from runs with {}",
                        counted(static_cast<std::int64_t>(c.loop_trips), "trip"), fmt::join(c.lengths, " and "));
  } else if (c.loop_trips > 0) {
    text += c.loop_trips == 1 ? std::string("; the one trip of the main loop")
                              : fmt::format("; all {} trips of the main loop", c.loop_trips);
  }
  return text + ".";
}

std::string kernel_text(const app::KernelResult& r, const cli::Palette& palette) {
  std::string text = palette.bold(paragraph("", kernel_verdict(r))) + "\n";
  text += launch_lines(r) + speed_lines(r) + occupancy_lines(r) + traffic_lines(r);
  const std::string share = fmt::format("Barriers   {} of all warp time", percent(100.0 * r.barrier_share));
  text += r.barrier_share > kBarrierWarning ? palette.warning(share + " - warning: over 10 %") + "\n" : share + "\n";
  text += "\n" + kernel_states(r, palette) + "\n" + kernel_sites(r, palette) + "\n";
  text += paragraph("Simulated  ", kernel_coverage(r));
  for (const std::string& note : r.notes) {
    text += note.starts_with("warning:") ? "" : paragraph("Note       ", note);  // the barrier warning stands above
  }
  return text;
}

}  // namespace tilesim::reports
