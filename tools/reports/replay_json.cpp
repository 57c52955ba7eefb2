#include "tools/reports/replay_json.h"

#include "tools/reports/kernel_text.h"

namespace tilesim::reports {

namespace {

Json extents(const isa::Dim3& d) { return Json::array({d.x, d.y, d.z}); }

Json launch_of(const app::KernelResult& r) {
  return Json{{"grid", extents(r.launch.grid)},
              {"block", extents(r.launch.block)},
              {"shared_bytes", r.launch.shared_bytes},
              {"registers_per_thread", r.launch.registers},
              {"registers_assumed", r.launch.registers_assumed},
              {"carveout_kb", r.occupancy.carveout_kb},
              {"carveout_assumed", !r.launch.carveout_kb},
              {"arguments", r.launch.arguments},
              {"clock_mhz", r.clock_mhz}};
}

Json metrics_of(const app::KernelResult& r) {
  Json metrics = Json::object();
  for (const auto& [name, m] : r.metrics) {
    metrics[name] = json_metric(m.value, m.unit, m.kind == app::MetricKind::kSimulated ? "simulated" : "analytic");
  }
  metrics["tilesim__flops.sum"] = json_metric(r.flops, "FLOP", "simulated");
  metrics["tilesim__flops_per_second"] = json_metric(flops_per_second(r), "FLOP/s", "simulated");
  metrics[r.math == model::DataType::kF32 ? "tilesim__fp32_peak_flops_per_second"
                                          : "tilesim__tensor_peak_flops_per_second"] =
      json_metric(r.peak_flops_per_second, "FLOP/s", "analytic");
  metrics["tilesim__barrier_share.pct"] = json_metric(100.0 * r.barrier_share, "%", "simulated");
  return metrics;
}

Json states_of(const app::KernelResult& r) {
  const auto shares = waiting_shares(r);
  Json states = Json::array();
  for (std::size_t s = 0; s < shares.size(); ++s) {
    states.push_back(Json{{"name", sim::to_string(static_cast<sim::WarpState>(s))},
                          {"per_issue", r.state_per_issue[s]},
                          {"share_of_waiting", shares[s]}});
  }
  return states;
}

Json sites_of(const app::KernelResult& r) {
  Json sites = Json::array();
  for (const app::SiteReport& s : r.sites) {
    sites.push_back(Json{{"index", s.index},
                         {"sass", s.text},
                         {"space", s.shared ? "shared" : "global"},
                         {"requests", s.requests},
                         {"wavefronts", s.wavefronts},
                         {"ideal_wavefronts", s.ideal_wavefronts},
                         {"conflicts", s.conflicts()},
                         {"sectors", s.sectors},
                         {"lines", s.lines}});
  }
  return sites;
}

Json coverage_of(const app::Coverage& c) {
  return Json{{"mode", c.detailed ? "detailed" : "default"},
              {"simulated_sms", c.simulated_sms},
              {"sms_with_work", c.sms_with_work},
              {"loop_trips", c.loop_trips},
              {"trips_simulated", c.lengths},
              {"instructions_simulated", c.instructions_simulated}};
}

}  // namespace

Json kernel_document(std::string_view command, const app::KernelResult& r) {
  Json json = json_document(command, r.gpu);
  json["problem"] = nullptr;
  json["kernel"] = Json{{"name", r.kernel}, {r.origin_kind, r.origin}, {"code", r.code}};
  json["launch"] = launch_of(r);
  json["result"] = Json{{"verdict", ""},
                        {"metrics", metrics_of(r)},
                        {"occupancy", json_of(r.occupancy)},
                        {"warp_states", states_of(r)},
                        {"access_sites", sites_of(r)},
                        {"coverage", coverage_of(r.coverage)},
                        {"notes", r.notes}};
  return json;
}

std::string replay_json(const app::KernelResult& r) {
  Json json = kernel_document("replay", r);  // a replay knows a launch, not a matrix product
  json["result"]["verdict"] = kernel_verdict(r);
  return json_text(json);
}

}  // namespace tilesim::reports
