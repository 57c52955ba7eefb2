#include "sim/sm/sub_partition.h"

#include <algorithm>
#include <bit>

#include "sim/isa/barrier_call.h"

namespace tilesim::sim {

namespace {

constexpr std::uint32_t bit(int slot) { return 1U << slot; }

bool is_mio(const isa::Instruction& inst) { return inst.pipe == isa::Pipe::kLsu; }

/// After BAR.SYNC a warp runs on until an instruction that needs memory, a scoreboard or control (measured).
bool waits_for_barrier(const isa::Instruction& inst) {
  return inst.memory != isa::MemoryOp::kNone || inst.control != isa::ControlOp::kNone || inst.wait_mask != 0;
}

/// Issue slots of a memory instruction: the register file feeds the MIO one register per cycle, address pairs two.
/// Source: H200 microbenchmarks: LDS 1, LDG and STS.32 2, STG.32 2, STG.64 3, STS.128 4, STG.128 5.
Cycle issue_slots(const isa::Instruction& inst) {
  const int registers = inst.mio_registers;
  return std::max(std::min(registers, 2), registers - 1);
}

}  // namespace

SubPartition::SubPartition(SmShared& shared, int index)
    : s_(shared),
      p_(shared.parameters),
      index_(index),
      pipes_(shared.parameters),
      ports_(shared.parameters.register_banks, shared.parameters.operand_window),
      warps_(kMaxWarps) {}

void SubPartition::launch(int slot, isa::WarpStream& stream, const WarpId& id, std::uint32_t cta_ordinal, int cta_slot,
                          Cycle now, Cycle delay) {
  Warp& warp = warps_[static_cast<std::size_t>(slot)];
  warp = Warp{};
  warp.stream = &stream;
  warp.id = id;
  warp.cta_ordinal = cta_ordinal;
  warp.cta_slot = static_cast<std::uint16_t>(cta_slot);
  warp.next = &s_.program.instructions[stream.next_index()];
  warp.launched = now;
  warp.since = now;
  warp.state = WarpState::kNoInstruction;
  warp.fetched = s_.fetch.fetch(index_, stream.next_index(), true, now + delay);
  if (s_.listener != nullptr) {
    s_.listener->on_launch(id, now);
  }
  set_timer(slot, warp.fetched);
}

// ---------------------------------------------------------------- timers

void SubPartition::set_timer(int slot, Cycle time) {
  if (time - timer_base_ < kTimerSpan) {
    timers_[static_cast<std::size_t>(time % kTimerSpan)] |= bit(slot);
    timer_bits_ |= std::uint64_t{1} << (time % kTimerSpan);
  } else {
    far_timers_.emplace_back(time, slot);
  }
}

Cycle SubPartition::next_timer(Cycle now) const {
  Cycle next = kNever;
  if (timer_bits_ != 0) {
    const int shift = static_cast<int>((now + 1) % kTimerSpan);
    next = now + 1 + std::countr_zero(std::rotr(timer_bits_, shift));
  }
  for (const auto& [time, slot] : far_timers_) {
    next = std::min(next, time);
  }
  return next;
}

std::uint32_t SubPartition::take_timers(Cycle now) {
  timer_base_ = now;
  std::uint32_t due = std::exchange(timers_[static_cast<std::size_t>(now % kTimerSpan)], 0U);
  timer_bits_ &= ~(std::uint64_t{1} << (now % kTimerSpan));
  if (!far_timers_.empty()) {
    std::erase_if(far_timers_, [&due, now](const std::pair<Cycle, int>& timer) {
      due |= timer.first <= now ? bit(timer.second) : 0U;
      return timer.first <= now;
    });
  }
  return due;
}

// ---------------------------------------------------------------- warp states

void SubPartition::close_interval(Warp& warp, Cycle now) {
  if (now == warp.since) {
    return;
  }
  s_.counters.state_cycles[static_cast<std::size_t>(warp.state)] += static_cast<std::uint64_t>(now - warp.since);
  if (s_.listener != nullptr) {
    s_.listener->on_state(warp.id, warp.state, warp.since, now);
  }
  warp.since = now;
}

void SubPartition::set_blocked(int slot, WarpState state, Cycle now) {
  Warp& warp = warps_[static_cast<std::size_t>(slot)];
  if (!warp.ready && warp.state != state) {
    close_interval(warp, now);
  }
  warp.state = state;
}

void SubPartition::set_ready(int slot, Cycle now) {
  Warp& warp = warps_[static_cast<std::size_t>(slot)];
  close_interval(warp, now);
  warp.ready = true;
  ready_ |= bit(slot);
  ready_by_pipe_[static_cast<std::size_t>(warp.next->pipe)] |= bit(slot);
  ready_pipes_ |= bit(static_cast<int>(warp.next->pipe));
  if (isa::is_global(warp.next->memory)) {
    ready_global_ |= bit(slot);
  }
}

/// Finds the first reason, in Nsight Compute's order, that holds a warp back apart from pipes, ports and queues.
void SubPartition::resolve(int slot, Cycle now) {
  Warp& warp = warps_[static_cast<std::size_t>(slot)];
  if (warp.stream == nullptr || warp.ready || warp.exited || warp.stalled_until > now) {
    return;
  }
  const isa::Instruction& inst = *warp.next;
  if (warp.branched > now) {
    set_blocked(slot, WarpState::kBranchResolving, now);
    set_timer(slot, warp.branched);
    return;
  }
  if (warp.fetched > now) {
    set_blocked(slot, WarpState::kNoInstruction, now);
    set_timer(slot, warp.fetched);
    return;
  }
  if (warp.at_barrier && waits_for_barrier(inst)) {
    set_blocked(slot, WarpState::kBarrier, now);
    return;
  }
  const std::uint8_t waited = inst.wait_mask & warp.scoreboards.busy();
  if (waited != 0) {
    const bool is_long = (waited & warp.scoreboards.long_latency()) != 0;
    set_blocked(slot, is_long ? WarpState::kLongScoreboard : WarpState::kShortScoreboard, now);
    return;
  }
  if (inst.control == isa::ControlOp::kWaitGroups && warp.scoreboards.users(inst.wait_scoreboard) > inst.wait_count) {
    set_blocked(slot, WarpState::kLongScoreboard, now);
    return;
  }
  set_ready(slot, now);
}

bool SubPartition::release_scoreboard(int slot, int scoreboard, Cycle now) {
  Warp& warp = warps_[static_cast<std::size_t>(slot)];
  warp.scoreboards.release(scoreboard);
  account(now);
  if (warp.exited) {
    retire_if_drained(slot, now);
    return false;
  }
  resolve(slot, now);
  return warp.ready;
}

bool SubPartition::release_barrier(int slot, Cycle now) {
  warps_[static_cast<std::size_t>(slot)].at_barrier = false;
  account(now);
  resolve(slot, now);
  return warps_[static_cast<std::size_t>(slot)].ready;
}

void SubPartition::store_drained(int slot, Cycle now) {
  Warp& warp = warps_[static_cast<std::size_t>(slot)];
  --warp.outstanding_stores;
  if (warp.exited) {
    retire_if_drained(slot, now);
  }
}

// ---------------------------------------------------------------- accounting of ready warps

void SubPartition::account(Cycle now) {
  if (now <= accounted_) {
    return;
  }
  if (ready_ != 0 || classes_.selected != 0) {
    record(classes_, accounted_, now);
  }
  accounted_ = now;
}

void SubPartition::record(const Classes& classes, Cycle begin, Cycle end) {
  const auto length = static_cast<std::uint64_t>(end - begin);
  const auto book = [&](std::uint32_t mask, WarpState state) {
    s_.counters.state_cycles[static_cast<std::size_t>(state)] +=
        length * static_cast<std::uint64_t>(std::popcount(mask));
    for (std::uint32_t rest = s_.listener != nullptr ? mask : 0; rest != 0; rest &= rest - 1) {
      s_.listener->on_state(warps_[static_cast<std::size_t>(std::countr_zero(rest))].id, state, begin, end);
    }
  };
  book(classes.selected, WarpState::kSelected);
  book(classes.not_selected, WarpState::kNotSelected);
  book(classes.math, WarpState::kMathPipeThrottle);
  book(classes.mio, WarpState::kMioThrottle);
  book(classes.lg, WarpState::kLgThrottle);
  book(classes.dispatch, WarpState::kDispatchStall);
}

// ---------------------------------------------------------------- one cycle

/// Of the eligible warps that wait for a place in the MIO queue, the highest p.mio_turn slots take turns: the one among
/// them that has waited longest. -1 if none waits.
int SubPartition::first_in_line(std::uint32_t eligible) const {
  int first = -1;
  std::uint32_t rest = eligible & throttled_;
  for (int i = 0; i < p_.mio_turn && rest != 0; ++i) {
    const int slot = 31 - std::countl_zero(rest);
    rest &= ~bit(slot);
    if (first < 0 ||
        warps_[static_cast<std::size_t>(slot)].queues_since < warps_[static_cast<std::size_t>(first)].queues_since) {
      first = slot;
    }
  }
  return first;
}

int SubPartition::pick(std::uint32_t eligible) const {
  if (const int slot = first_in_line(eligible); slot >= 0) {
    return slot;
  }
  if (last_ >= 0 && (eligible & bit(last_)) != 0 && p_.policy != WarpPolicy::kRoundRobin) {
    return last_;
  }
  switch (p_.policy) {
    case WarpPolicy::kGreedyHighestSlot:
      return 31 - std::countl_zero(eligible);
    case WarpPolicy::kGreedyOldest:
      return std::countr_zero(eligible);
    case WarpPolicy::kRoundRobin:
      break;
  }
  const std::uint32_t after = last_ < 0 || last_ == 31 ? eligible : eligible & (~0U << (last_ + 1));
  return std::countr_zero(after != 0 ? after : eligible);
}

Cycle SubPartition::tick(Cycle now) {
  account(now);
  for (std::uint32_t due = take_timers(now); due != 0; due &= due - 1) {
    resolve(std::countr_zero(due), now);
  }
  classes_ = Classes{};
  if (ready_ == 0) {
    return next_timer(now);
  }
  Cycle wake = kNever;
  const std::uint32_t eligible = find_eligible(now, wake);
  if (dispatch_free_ > now) {  // the instruction in dispatch holds it; the other eligible warps were not selected
    classes_.dispatch = eligible & in_dispatch_;
    classes_.not_selected = eligible & ~in_dispatch_;
    return std::min({dispatch_free_, wake, next_timer(now)});
  }
  if (eligible == 0) {
    return std::min(wake, next_timer(now));
  }
  const int slot = pick(eligible);
  const isa::Instruction& inst = *warps_[static_cast<std::size_t>(slot)].next;
  const Cycle ports = ports_.earliest(reads_of(inst), slot, now);
  if (ports > now) {  // the picked instruction sits in dispatch until its operands can be read
    last_ = slot;
    dispatch_free_ = ports;
    in_dispatch_ = bit(slot);
    classes_.dispatch = bit(slot);
    classes_.not_selected = eligible & ~bit(slot);
    return std::min({dispatch_free_, wake, next_timer(now)});
  }
  throttled_ &= ~bit(slot);
  classes_.selected = bit(slot);
  classes_.not_selected = eligible & ~bit(slot);
  issue(slot, now);
  return ready_ != 0 ? now + 1 : next_timer(now);
}

/// Ready warps whose pipe and queue take them at `now`; books the others as throttled. `wake` becomes the time at which
/// a pipe frees; for queue space the LSU wakes the sub-partition.
std::uint32_t SubPartition::find_eligible(Cycle now, Cycle& wake) {
  std::uint32_t eligible = ready_;
  for (std::uint32_t pipes = ready_pipes_; pipes != 0; pipes &= pipes - 1) {
    const int pipe = std::countr_zero(pipes);
    const std::uint32_t users = ready_by_pipe_[static_cast<std::size_t>(pipe)];
    if (static_cast<isa::Pipe>(pipe) == isa::Pipe::kLsu) {
      if (s_.lsu.queue_full(index_)) {
        classes_.lg = users & ready_global_;
        classes_.mio = users & ~ready_global_;
        eligible &= ~users;
        for (std::uint32_t fresh = users & ~throttled_; fresh != 0; fresh &= fresh - 1) {
          warps_[static_cast<std::size_t>(std::countr_zero(fresh))].queues_since = now;
        }
        throttled_ |= users;
      }
      continue;
    }
    const Cycle free = pipes_.free_at(static_cast<isa::Pipe>(pipe));
    if (free > now) {
      classes_.math |= users;
      eligible &= ~users;
      wake = std::min(wake, free);
    }
  }
  return eligible;
}

void SubPartition::issue(int slot, Cycle now) {
  Warp& warp = warps_[static_cast<std::size_t>(slot)];
  const isa::Instruction& inst = *warp.next;
  if (!warp.stream->step(dynamic_)) {
    s_.error = &warp.stream->error();
    return;
  }
  ++s_.counters.instructions;
  ++s_.counters.pipe_instructions[static_cast<std::size_t>(inst.pipe)];
  s_.counters.flops +=
      static_cast<std::uint64_t>(inst.flops_per_lane) * static_cast<std::uint64_t>(std::popcount(dynamic_.active_mask));
  if (s_.listener != nullptr) {
    s_.listener->on_issue(warp.id, dynamic_.index, now);
  }
  // The cycle of issue itself is 'selected'; it is booked here since the warp leaves the ready set.
  account_issue_cycle(slot, now);

  ports_.issue(reads_of(inst), slot, now);
  Cycle hold = pipes_.issue(inst.pipe, now);
  last_ = inst.yield ? -1 : slot;
  if (is_mio(inst)) {
    // LDS takes its way also without an active lane: ptxas puts three such in front of the copies of a loop, and the
    // counters of the calibration kernels show their wavefronts.
    if (dynamic_.active_mask != 0 || inst.memory == isa::MemoryOp::kLoadShared) {
      issue_memory(slot, inst, dynamic_, now);
    }
    hold = issue_slots(inst) - 1;
  } else if (inst.pipe == isa::Pipe::kS2r || inst.pipe == isa::Pipe::kAdu || inst.pipe == isa::Pipe::kXu) {
    issue_fixed_latency_load(warp, slot, inst, now);
  }
  dispatch_free_ = now + 1 + hold;
  in_dispatch_ = 0;
  if (inst.control == isa::ControlOp::kBarrier && dynamic_.active_mask != 0) {
    const isa::BarrierCall call = isa::BarrierCall::of(inst, dynamic_);
    warp.at_barrier = !call.arrives_only;
    s_.barriers.arrive(warp.cta_slot, call, inst.barrier_from_registers, static_cast<std::uint8_t>(index_),
                       static_cast<std::uint8_t>(slot), now);
  }
  if (warp.stream->exited()) {
    exit_warp(slot, now + 1);
    return;
  }
  advance(slot, inst, dynamic_.branch_taken, now);
}

void SubPartition::account_issue_cycle(int slot, Cycle now) {
  record(classes_, now, now + 1);
  accounted_ = now + 1;
  Warp& warp = warps_[static_cast<std::size_t>(slot)];
  warp.ready = false;
  warp.since = now + 1;
  warp.state = WarpState::kWait;
  ready_ &= ~bit(slot);
  std::uint32_t& users = ready_by_pipe_[static_cast<std::size_t>(warp.next->pipe)];
  users &= ~bit(slot);
  if (users == 0) {
    ready_pipes_ &= ~bit(static_cast<int>(warp.next->pipe));
  }
  ready_global_ &= ~bit(slot);
  classes_ = Classes{};
}

void SubPartition::issue_memory(int slot, const isa::Instruction& inst, const isa::DynamicInstruction& dynamic,
                                Cycle now) {
  Warp& warp = warps_[static_cast<std::size_t>(slot)];
  const bool global = isa::is_global(inst.memory);
  if (inst.write_scoreboard != isa::kNoScoreboard) {
    warp.scoreboards.add(inst.write_scoreboard, global);
  }
  if (inst.read_scoreboard != isa::kNoScoreboard) {
    warp.scoreboards.add(inst.read_scoreboard, global);
  }
  if (inst.memory == isa::MemoryOp::kStoreGlobal) {
    ++warp.outstanding_stores;
  }
  s_.lsu.enqueue(index_, slot, dynamic, warp.cta_ordinal, warp.id.warp, now);
  s_.lsu_work = true;
}

void SubPartition::issue_fixed_latency_load(Warp& warp, int slot, const isa::Instruction& inst, Cycle now) {
  Cycle done = now + p_.xu_latency;
  if (inst.pipe == isa::Pipe::kS2r) {
    const Cycle start = std::max(now, s_.s2r_free);
    s_.s2r_free = start + p_.s2r;
    done = start + p_.s2r_latency;
  } else if (inst.pipe == isa::Pipe::kAdu) {
    const Cycle start = std::max(now, s_.ldc_free);
    s_.ldc_free = start + p_.ldc;
    done = start + p_.ldc_latency + (s_.constants_touched ? 0 : p_.constant_miss);
    s_.constants_touched = true;
  }
  const SmEvent event{SmEvent::Kind::kScoreboardRelease, static_cast<std::uint8_t>(index_),
                      static_cast<std::uint8_t>(slot), 0};
  for (const std::uint8_t sb : {inst.write_scoreboard, inst.read_scoreboard}) {
    if (sb != isa::kNoScoreboard) {
      warp.scoreboards.add(sb, false);
      SmEvent release = event;
      release.index = sb;
      s_.events.schedule(done, release);
    }
  }
}

/// Moves a warp to its next instruction after an issue at `now`.
void SubPartition::advance(int slot, const isa::Instruction& inst, bool jumped, Cycle now) {
  Warp& warp = warps_[static_cast<std::size_t>(slot)];
  const std::uint32_t index = warp.stream->next_index();
  warp.next = &s_.program.instructions[index];
  Cycle stall = std::max<Cycle>(inst.stall, 1);
  if (inst.yield && stall == 1) {
    stall += p_.yield_extra;
  }
  warp.stalled_until = now + stall;
  warp.branched = jumped ? now + p_.branch_taken : 0;
  const Cycle wanted = std::max(warp.stalled_until, warp.branched);
  warp.fetched = jumped || s_.fetch.enters_line(index) ? s_.fetch.fetch(index_, index, jumped, wanted) : 0;
  set_timer(slot, warp.stalled_until);
}

void SubPartition::exit_warp(int slot, Cycle now) {
  Warp& warp = warps_[static_cast<std::size_t>(slot)];
  warp.exited = true;
  warp.state = WarpState::kDrain;
  s_.barriers.exit_warp(warp.cta_slot, now);
  retire_if_drained(slot, now);
}

/// The slot goes to another warp only when nothing of this one is under way: late data would release the scoreboards of
/// its successor.
void SubPartition::retire_if_drained(int slot, Cycle now) {
  const Warp& warp = warps_[static_cast<std::size_t>(slot)];
  if (warp.outstanding_stores == 0 && warp.scoreboards.busy() == 0) {
    retire(slot, now);
  }
}

void SubPartition::retire(int slot, Cycle now) {
  Warp& warp = warps_[static_cast<std::size_t>(slot)];
  close_interval(warp, now);
  s_.counters.warp_cycles += static_cast<std::uint64_t>(now - warp.launched);
  if (s_.listener != nullptr) {
    s_.listener->on_retire(warp.id, now);
  }
  warp.stream = nullptr;
  s_.retired_warps.emplace_back(warp.cta_slot, now);
}

}  // namespace tilesim::sim
