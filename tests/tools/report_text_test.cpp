// Numbers, bars and tables of text reports, and the report of a made-up replay.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/catch.h"
#include "tools/reports/kernel_text.h"
#include "tools/reports/replay_json.h"
#include "tools/reports/text.h"

namespace tilesim::reports {

namespace {

/// A result with every part filled, more states and sites than a screen takes.
app::KernelResult made_up() {
  app::KernelResult r;
  r.kernel = "void sgemm_tile<128, 128, 8>(int, int, int)";
  r.gpu = *model::find_gpu_spec("h200");
  r.origin = "kernel.sass";
  r.launch.registers = 120;
  r.occupancy.ctas = 2;
  r.occupancy.by_registers = 2;
  r.occupancy.by_barriers = 16;
  r.occupancy.by_barriers_capped = 8;
  r.occupancy.limiters = {"registers"};
  r.clock_mhz = 1980.0;
  r.cycles_active_avg = 1e6;
  r.cycles_elapsed_max = 1.98e6;
  r.seconds = 1e-3;
  r.flops = 4e10;
  r.peak_flops_per_second = 8e13;
  for (std::size_t s = 0; s < r.state_per_issue.size(); ++s) {
    r.state_per_issue[s] = static_cast<double>(s);
  }
  r.barrier_share = 0.12;
  for (std::uint32_t i = 0; i < 40; ++i) {
    r.sites.push_back({i, "LDS.128 R4, [R8+0x1000]", i % 2 == 0, false, 1e6, 4e6 + i, 4e6, 16e6, 4e6});
  }
  r.metrics["dram__bytes_read.sum"] = {5e8, "bytes", app::MetricKind::kSimulated};
  r.coverage.simulated_sms = 2;
  r.coverage.sms_with_work = 132;
  r.coverage.loop_trips = 511;
  r.coverage.lengths = {16, 48};
  r.notes = {"registers assumed"};
  return r;
}

}  // namespace

TEST_CASE("numbers carry SI prefixes and no noise", "[unit]") {
  CHECK(si(0.0, "s") == "0 s");
  CHECK(si(3.324928e-3, "s") == "3.325 ms");
  CHECK(si(349.5e-6, "s") == "349.5 us");
  CHECK(si(268826051, "") == "268.8 M");
  CHECK(si(999.96, "B") == "1 kB");
  CHECK(si(12, "") == "12");
  CHECK(si(4.134e13, "FLOP/s") == "41.34 TFLOP/s");
  CHECK(plain(1024.0) == "1024");
  CHECK(plain(16777216.0, 4) == "16777216");
  CHECK(plain(0.25, 3) == "0.25");
  CHECK(percent(12.345) == "12.3 %");
  CHECK(limit(model::Occupancy::kUnlimited) == "unlimited");
}

TEST_CASE("bars and cells keep their width", "[unit]") {
  CHECK(bar(0.5, 10) == "#####.....");
  CHECK(bar(7.0, 3) == "###");
  CHECK(bar(-1.0, 3) == "...");
  CHECK(shorten("abcdefgh", 6) == "abc...");
  Table table({false, true});
  table.add({"name", "n"});
  table.add({"x", "100"});
  CHECK(table.text(cli::Palette(false)) == "  name    n\n  x     100\n");
}

TEST_CASE("the report of a replay fits a screen and leads with the verdict", "[unit]") {
  const std::string text = kernel_text(made_up(), cli::Palette(false));
  INFO(text);
  CHECK(std::count(text.begin(), text.end(), '\n') <= 40);
  CHECK(text.starts_with("sgemm_tile<128, 128, 8> takes 1 ms on the NVIDIA H200 SXM: 40 TFLOP/s, 50.0 %"));
  CHECK(text.find("warning: over 10 %") != std::string::npos);
  CHECK(text.find("511 trips of the main loop") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("shares of waiting leave out selected and not_selected and add up to one", "[unit]") {
  const auto shares = waiting_shares(made_up());
  CHECK(shares[0] == 0.0);
  CHECK(shares[1] == 0.0);
  double sum = 0.0;
  for (const double share : shares) {
    sum += share;
  }
  CHECK(sum == Approx(1.0));
}

TEST_CASE("the JSON of a replay holds the envelope and metrics by name", "[unit]") {
  const auto json = nlohmann::json::parse(replay_json(made_up()));
  for (const char* key : {"schema_version", "meta", "gpu", "problem", "kernel", "launch", "result"}) {
    CHECK(json.contains(key));
  }
  const auto& metric = json["result"]["metrics"]["dram__bytes_read.sum"];
  CHECK(metric["value"] == 5e8);
  CHECK(metric["unit"] == "bytes");
  CHECK(metric["kind"] == "simulated");
  CHECK(json["gpu"]["numbers"]["device.sm_count"]["value"] == 132);
  CHECK_FALSE(json["gpu"]["numbers"]["device.sm_count"]["source"].get<std::string>().empty());
}

}  // namespace tilesim::reports
