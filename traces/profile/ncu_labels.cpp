#include "traces/profile/ncu_labels.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tilesim::traces {

namespace {

/// Labels of the sections SpeedOfLight, ComputeWorkloadAnalysis, MemoryWorkloadAnalysis, SchedulerStats,
/// WarpStateStats, InstructionStats, LaunchStats, Occupancy, WorkloadDistribution and SourceCounters of Nsight Compute
/// 2021 to 2025, by the numbers that its pages print for both. Left out is what has changed its meaning: Issue Slots
/// Busy and SM Busy were shares of active cycles, and are shares of elapsed ones since 2025. SM Frequency has changed
/// too, but names the same clock (smsp's until 2024).
constexpr std::array<std::pair<std::string_view, std::string_view>, 64> kLabels{{
    {"Elapsed Cycles", "gpc__cycles_elapsed.max"},
    {"Duration", "gpu__time_duration.sum"},
    {"SM Active Cycles", "sm__cycles_active.avg"},
    {"Average SM Active Cycles", "sm__cycles_active.avg"},
    {"SM Frequency", "gpc__cycles_elapsed.avg.per_second"},
    {"DRAM Frequency", "dram__cycles_elapsed.avg.per_second"},
    {"Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active"},
    {"Executed Ipc Elapsed", "sm__inst_executed.avg.per_cycle_elapsed"},
    {"Issued Ipc Active", "sm__inst_issued.avg.per_cycle_active"},
    {"L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"},
    {"L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
    {"One or More Eligible", "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    {"Issued Warp Per Scheduler", "smsp__issue_active.avg.per_cycle_active"},
    {"No Eligible", "smsp__issue_inst0.avg.pct_of_peak_sustained_active"},
    {"Active Warps Per Scheduler", "smsp__warps_active.avg.per_cycle_active"},
    {"Eligible Warps Per Scheduler", "smsp__warps_eligible.avg.per_cycle_active"},
    {"Warp Cycles Per Issued Instruction", "smsp__average_warp_latency_per_inst_issued.ratio"},
    {"Warp Cycles Per Executed Instruction", "smsp__average_warps_active_per_inst_executed.ratio"},
    {"Avg. Active Threads Per Warp", "smsp__thread_inst_executed_per_inst_executed.ratio"},
    {"Executed Instructions", "smsp__inst_executed.sum"},
    {"Issued Instructions", "smsp__inst_issued.sum"},
    {"Avg. Executed Instructions Per Scheduler", "smsp__inst_executed.avg"},
    {"Avg. Issued Instructions Per Scheduler", "smsp__inst_issued.avg"},
    {"Block Size", "launch__block_size"},
    {"Grid Size", "launch__grid_size"},
    {"Registers Per Thread", "launch__registers_per_thread"},
    {"Shared Memory Configuration Size", "launch__shared_mem_config_size"},
    {"Driver Shared Memory Per Block", "launch__shared_mem_per_block_driver"},
    {"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"},
    {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static"},
    {"# SMs", "launch__sm_count"},
    {"Threads", "launch__thread_count"},
    {"Waves Per SM", "launch__waves_per_multiprocessor"},
    {"Block Limit SM", "launch__occupancy_limit_blocks"},
    {"Block Limit Registers", "launch__occupancy_limit_registers"},
    {"Block Limit Shared Mem", "launch__occupancy_limit_shared_mem"},
    {"Block Limit Warps", "launch__occupancy_limit_warps"},
    {"Block Limit Barriers", "launch__occupancy_limit_barriers"},
    {"Theoretical Active Warps per SM", "sm__maximum_warps_avg_per_active_cycle"},
    {"Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
    {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"Achieved Active Warps Per SM", "sm__warps_active.avg.per_cycle_active"},
    {"DRAM Throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"L1/TEX Cache Throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    {"L2 Cache Throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"Mem Busy", "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"Max Bandwidth", "gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"Mem Pipes Busy", "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"Avg. Not Predicated Off Threads Per Warp", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"},
    {"# TPCs", "launch__tpc_count"},
    {"Stack Size", "launch__stack_size"},
    {"Average DRAM Active Cycles", "dram__cycles_active.avg"},
    {"Total DRAM Elapsed Cycles", "dram__cycles_elapsed.sum"},
    {"Average L1 Active Cycles", "l1tex__cycles_active.avg"},
    {"Total L1 Elapsed Cycles", "l1tex__cycles_elapsed.sum"},
    {"Average L2 Active Cycles", "lts__cycles_active.avg"},
    {"Total L2 Elapsed Cycles", "lts__cycles_elapsed.sum"},
    {"Total SM Elapsed Cycles", "sm__cycles_elapsed.sum"},
    {"Average SMSP Active Cycles", "smsp__cycles_active.avg"},
    {"Total SMSP Elapsed Cycles", "smsp__cycles_elapsed.sum"},
    {"Branch Instructions", "smsp__inst_executed_op_branch.sum"},
    {"L2 Hit Rate For Loads", "lts__t_sector_op_read_hit_rate.pct"},
    {"L1TEX Hit Rate For Global Loads", "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct"},
}};

/// Labels of waiting states that are not the state's name with blanks.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kStates{
    {{"Branch Resolve", "branch_resolving"}, {"Dispatch", "dispatch_stall"}, {"Dispatch Stall", "dispatch_stall"}}};

std::string state_metric(std::string_view label) {
  const auto special =
      std::find_if(kStates.begin(), kStates.end(), [label](const auto& entry) { return entry.first == label; });
  std::string state(special == kStates.end() ? label : special->second);
  for (char& c : state) {
    c = c == ' ' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return "smsp__average_warps_issue_stalled_" + state + "_per_issue_active.ratio";
}

}  // namespace

std::string metric_of_label(std::string_view label, std::string_view unit) {
  if (const std::size_t underscores = label.find("__"); underscores != std::string_view::npos) {
    const std::size_t blank = label.rfind(' ', underscores);
    std::string_view name = label.substr(blank == std::string_view::npos ? 0 : blank + 1);
    name = name.substr(0, name.find(' '));
    const bool in_brackets = name.starts_with('(') && name.ends_with(')');
    return std::string(in_brackets ? name.substr(1, name.size() - 2) : name);
  }
  if (label == "Memory Throughput") {
    return unit == "byte/second" ? "dram__bytes.sum.per_second"
                                 : "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
  }
  constexpr std::string_view kStall = "Stall ";
  if (label.starts_with(kStall)) {
    return state_metric(label.substr(kStall.size()));
  }
  if (label == "Selected") {
    return state_metric(label);
  }
  const auto found =
      std::find_if(kLabels.begin(), kLabels.end(), [label](const auto& entry) { return entry.first == label; });
  return found == kLabels.end() ? std::string() : std::string(found->second);
}

}  // namespace tilesim::traces
