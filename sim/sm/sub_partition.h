// An SM sub-partition: warp slots, the warp scheduler, register ports and math pipes. Warps that nothing but pipes,
// ports or queues can hold back are kept as a bit mask that events feed; a cycle looks at that mask only.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/engine/cycle.h"
#include "sim/events.h"
#include "sim/isa/program.h"
#include "sim/result.h"
#include "sim/sm/barrier_unit.h"
#include "sim/sm/instruction_fetch.h"
#include "sim/sm/lsu.h"
#include "sim/sm/math_pipes.h"
#include "sim/sm/register_ports.h"
#include "sim/sm/sm_event.h"
#include "sim/sm/sm_parameters.h"
#include "sim/sm/warp.h"

namespace tilesim::sim {

/// The parts of an SM that its sub-partitions share.
struct SmShared {
  SmShared(const SmParameters& p, const isa::Program& program_, const std::vector<OperandReads>& reads_,
           SmEventQueue& events_, InstructionFetch& fetch_, Lsu& lsu_, BarrierUnit& barriers_, SmCounters& counters_,
           Listener* listener_)
      : parameters(p),
        program(program_),
        reads(reads_),
        events(events_),
        fetch(fetch_),
        lsu(lsu_),
        barriers(barriers_),
        counters(counters_),
        listener(listener_) {}

  const SmParameters& parameters;
  const isa::Program& program;
  const std::vector<OperandReads>& reads;  ///< by instruction
  SmEventQueue& events;
  InstructionFetch& fetch;
  Lsu& lsu;
  BarrierUnit& barriers;
  SmCounters& counters;
  Listener* listener = nullptr;
  Cycle s2r_free = 0;  ///< S2R and LDC issue once per interval and SM
  Cycle ldc_free = 0;
  bool constants_touched = false;
  std::vector<std::pair<int, Cycle>> retired_warps;  ///< CTA slot and time of warps that left since the last look
  bool lsu_work = false;                             ///< something was queued in this cycle
  const Error* error = nullptr;                      ///< of the stream that could not go on
};

class SubPartition {
 public:
  static constexpr int kMaxWarps = 32;

  SubPartition(SmShared& shared, int index);

  /// Puts a warp into slot `slot` at `now`; its first instruction is there `delay` cycles later.
  void launch(int slot, isa::WarpStream& stream, const WarpId& id, std::uint32_t cta_ordinal, int cta_slot, Cycle now,
              Cycle delay);

  /// Runs cycle `now`; returns the next cycle it wants to run without being woken.
  Cycle tick(Cycle now);

  /// Event handlers; each returns true if the sub-partition should run in this very cycle.
  bool release_scoreboard(int slot, int scoreboard, Cycle now);
  bool release_barrier(int slot, Cycle now);
  void store_drained(int slot, Cycle now);

  /// Closes the books at the end of the simulation: states run up to `now`.
  void finish(Cycle now) { account(now); }

 private:
  /// How the ready warps spend a cycle.
  struct Classes {
    std::uint32_t selected = 0, not_selected = 0, math = 0, mio = 0, lg = 0, dispatch = 0;
  };

  void resolve(int slot, Cycle now);
  void set_blocked(int slot, WarpState state, Cycle now);
  void set_ready(int slot, Cycle now);
  void close_interval(Warp& warp, Cycle now);
  void account(Cycle now);
  void record(const Classes& classes, Cycle begin, Cycle end);
  [[nodiscard]] std::uint32_t find_eligible(Cycle now, Cycle& wake);
  [[nodiscard]] int pick(std::uint32_t eligible) const;
  [[nodiscard]] int first_in_line(std::uint32_t eligible) const;
  void issue(int slot, Cycle now);
  void account_issue_cycle(int slot, Cycle now);
  [[nodiscard]] const OperandReads& reads_of(const isa::Instruction& inst) const {
    return s_.reads[static_cast<std::size_t>(&inst - s_.program.instructions.data())];
  }
  void issue_memory(int slot, const isa::Instruction& inst, const isa::DynamicInstruction& dynamic, Cycle now);
  void issue_fixed_latency_load(Warp& warp, int slot, const isa::Instruction& inst, Cycle now);
  void advance(int slot, const isa::Instruction& inst, bool jumped, Cycle now);
  void exit_warp(int slot, Cycle now);
  void retire_if_drained(int slot, Cycle now);
  void retire(int slot, Cycle now);
  void set_timer(int slot, Cycle time);
  [[nodiscard]] Cycle next_timer(Cycle now) const;
  [[nodiscard]] std::uint32_t take_timers(Cycle now);

  SmShared& s_;
  const SmParameters& p_;
  int index_;
  MathPipes pipes_;
  RegisterPorts ports_;
  std::vector<Warp> warps_;
  std::uint32_t ready_ = 0;
  std::array<std::uint32_t, isa::kPipeCount> ready_by_pipe_{};
  std::uint32_t ready_pipes_ = 0;   ///< pipes that a ready warp needs
  std::uint32_t ready_global_ = 0;  ///< ready warps whose next instruction is a global access
  Cycle dispatch_free_ = 0;
  std::uint32_t in_dispatch_ = 0;  ///< the warp whose operands dispatch waits for
  int last_ = -1;
  std::uint32_t throttled_ = 0;  ///< warps that have met a full MIO queue since their last issue
  Classes classes_;              ///< of every cycle in [accounted_, now)
  Cycle accounted_ = 0;
  static constexpr int kTimerSpan = 64;
  std::array<std::uint32_t, kTimerSpan> timers_{};  ///< by cycle mod span
  std::uint64_t timer_bits_ = 0;
  Cycle timer_base_ = 0;
  std::vector<std::pair<Cycle, int>> far_timers_;
  isa::DynamicInstruction dynamic_;
};

}  // namespace tilesim::sim
