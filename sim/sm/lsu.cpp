#include "sim/sm/lsu.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tilesim::sim {

namespace {

bool is_load_from_shared(isa::MemoryOp op) {
  return op == isa::MemoryOp::kLoadShared || op == isa::MemoryOp::kLoadMatrix;
}

/// Requests that begin with a look-up in the L1's tags.
bool looks_up(isa::MemoryOp op) { return op == isa::MemoryOp::kLoadGlobal || op == isa::MemoryOp::kCopyAsync; }

bool has_groups(const isa::Program& program) {
  return std::any_of(program.instructions.begin(), program.instructions.end(), [](const isa::Instruction& inst) {
    return inst.memory == isa::MemoryOp::kCopyAsync || inst.control == isa::ControlOp::kCommitGroup;
  });
}

}  // namespace

Lsu::Lsu(const SmParameters& parameters, int sub_partitions, const isa::Program& program, SmEventQueue& events,
         SmCounters& counters)
    : p_(parameters),
      program_(program),
      events_(events),
      counters_(counters),
      analyzer_(program),
      l1_(parameters.l1_bytes, parameters.l1_line, parameters.l1_ways),
      sub_partitions_(sub_partitions),
      executing_(static_cast<std::size_t>(parameters.concurrent_requests)),
      copy_groups_(has_groups(program) ? static_cast<std::size_t>(sub_partitions) * kMaxSlots : 0) {}

Lsu::RequestNumber Lsu::new_request() {
  if (free_requests_.empty()) {
    requests_.emplace_back();
    return static_cast<RequestNumber>(requests_.size() - 1);
  }
  const RequestNumber number = free_requests_.back();
  free_requests_.pop_back();
  requests_[number] = Request{};
  return number;
}

int Lsu::new_footprint() {
  if (free_footprints_.empty()) {
    footprints_.emplace_back();
    return static_cast<int>(footprints_.size()) - 1;
  }
  const int index = free_footprints_.back();
  free_footprints_.pop_back();
  return index;
}

void Lsu::enqueue(int sub, int slot, const isa::DynamicInstruction& dynamic, std::uint32_t cta_ordinal,
                  std::uint32_t warp, Cycle now) {
  const isa::Instruction& inst = program_.instructions[dynamic.index];
  AccessSite& site = counters_.sites[dynamic.index];
  const RequestNumber number = new_request();
  Request& request = requests_[number];
  request.op = inst.memory;
  request.sub = static_cast<std::uint8_t>(sub);
  request.slot = static_cast<std::uint8_t>(slot);
  request.registers = std::max<std::uint8_t>(inst.mio_registers, 1);
  request.access_bytes = inst.access_bytes;
  request.write_scoreboard = inst.write_scoreboard;
  request.read_scoreboard = inst.read_scoreboard;
  request.cta_ordinal = cta_ordinal;
  request.warp = warp;
  request.site = dynamic.index;
  if (!copy_groups_.empty()) {
    forget_earlier_warp(request);
  }
  if (inst.memory == isa::MemoryOp::kCopyAsync || inst.control == isa::ControlOp::kCommitGroup) {
    join_group(request, inst);
  }
  if (inst.memory == isa::MemoryOp::kCopyAsync) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(dynamic.active_mask));
    request.bypass = isa::CopyLane::of(dynamic.addresses[lane]).bypass;
  }
  const bool shared = is_shared(request) && inst.memory != isa::MemoryOp::kNone;
  if (dynamic.active_mask != 0 && (inst.memory == isa::MemoryOp::kCopyAsync || shared)) {
    const AccessAnalyzer::SharedCost cost = analyzer_.shared(dynamic, site);
    request.wavefronts = static_cast<std::uint16_t>(cost.now.wavefronts);
    if (inst.memory == isa::MemoryOp::kCopyAsync) {
      request.more_if_waiting = static_cast<std::uint16_t>(cost.waiting.wavefronts - cost.now.wavefronts);
      request.more_ideal_if_waiting = static_cast<std::uint16_t>(cost.waiting.phases - cost.now.phases);
    }
  }
  if (isa::is_global(inst.memory)) {
    const int index = new_footprint();
    request.footprint = static_cast<std::uint16_t>(index);
    request.active_bytes = static_cast<std::uint32_t>(std::popcount(dynamic.active_mask)) * inst.access_bytes;
    request.sectors = static_cast<std::uint16_t>(analyzer_.global(dynamic, site, footprints_[index]));
    request.local = isa::is_local(dynamic) && inst.memory != isa::MemoryOp::kCopyAsync;
  }
  queues_[sub].push_back(Queued{now + p_.mio_start, number, inst.memory == isa::MemoryOp::kCopyAsync});
  ++queue_size_[sub];
}

void Lsu::start_transfers(Cycle now) {
  int next = transfer_turn_;  // round robin: whoever was served last comes last
  for (int k = 0; k < sub_partitions_; ++k) {
    const int sub = next;
    next = sub + 1 == sub_partitions_ ? 0 : sub + 1;
    auto& queue = queues_[sub];
    if (queue.empty() || link_free_[sub] > now || queue.front().ready > now || credits_used_ >= p_.mio_shared_queue) {
      continue;
    }
    const Queued first = queue.front();
    if (first.copy) {
      if (copies_full(sub)) {
        continue;
      }
      ++copies_staged_[sub];
    }
    queue.pop_front();
    const Request& request = requests_[first.request];
    events_.schedule(now + p_.mio_slot_release,
                     SmEvent{SmEvent::Kind::kQueueSlotFree, static_cast<std::uint8_t>(sub), 0, 0});
    const Cycle there = now + request.registers * p_.mio_per_register;
    link_free_[sub] = there;
    if (!first.copy) {
      release(request, request.read_scoreboard, there + 1);  // copies: with their look-up
    }
    const bool shared = is_shared(request);
    const bool drains = request.op == isa::MemoryOp::kStoreGlobal && !request.local;
    stage_.push_back(Staged{there, first.request, shared, looks_up(request.op), drains});
    stage_others_ += shared ? 0 : 1;
    ++credits_used_;
    transfer_turn_ = next;
  }
}

void Lsu::start_executions(Cycle now) {
  while (!copy_writes_.empty() && place_execution(copy_writes_.front(), now)) {
    copy_writes_.pop_front();
    --copies_ready_;
  }
  bool place_free = execution_place_free();
  if (!place_free && stage_others_ == 0) {
    return;
  }
  for (std::size_t i = 0; i < stage_.size();) {
    const Staged& staged = stage_[i];
    if ((place_free || !staged.shared) && staged.ready <= now && try_start(staged.request, now)) {
      stage_others_ -= staged.shared ? 0 : 1;
      place_free = execution_place_free();
      stage_.erase(stage_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

bool Lsu::execution_place_free() const {
  return std::any_of(executing_.begin(), executing_.end(), [](const Execution& e) { return e.remaining == 0; });
}

bool Lsu::try_start(RequestNumber number, Cycle now) {
  const Request& request = requests_[number];
  if (request.op == isa::MemoryOp::kStoreGlobal) {
    if (!request.local && (store_free_ > static_cast<double>(now) || stores_in_flight_ >= p_.store_sectors_in_flight)) {
      return false;
    }
    if (request.local) {
      start_local_store(request, now);
    } else {
      leave_mark(request, now);
      start_store(request, now);
    }
    free_requests_.push_back(number);
    return true;
  }
  if (looks_up(request.op)) {
    return try_start_load(number, now);
  }
  if (request.mark) {
    end_of_mark(request, now);
    free_requests_.push_back(number);
    return true;
  }
  return place_execution(number, now);
}

bool Lsu::try_start_load(RequestNumber number, Cycle now) {
  if (tag_free_ > now || (writes(requests_[number]) && copies_ready_ >= p_.concurrent_requests)) {
    return false;
  }
  start_load(number, now);
  return true;
}

/// An LDGDEPBAR has passed the queue at `now`.
void Lsu::end_of_mark(const Request& request, Cycle now) {
  --credits_used_;
  CopyGroups& groups = groups_of(request);
  if (groups.cta_ordinal != request.cta_ordinal) {
    return;
  }
  CopyGroup& group = groups.open[request.group - groups.first];
  group.marked = true;
  group.over = std::max(group.over, now + p_.commit_latency - (p_.mio_start + p_.mio_per_register));
  end_groups(request);
}

bool Lsu::place_execution(RequestNumber number, Cycle now) {
  const Request& request = requests_[number];
  Execution* place = nullptr;
  for (Execution& execution : executing_) {
    if (execution.remaining == 0) {
      place = &execution;
      continue;
    }
    const Request& other = requests_[execution.request];
    if (other.sub == request.sub && other.slot == request.slot && other.op != isa::MemoryOp::kCopyAsync &&
        request.op != isa::MemoryOp::kCopyAsync) {
      return false;  // requests of a warp stay in order; copies write whenever their data come
    }
  }
  if (place == nullptr) {
    return false;
  }
  place->request = number;
  place->remaining = std::max<int>(request.wavefronts, 1);
  place->next = std::max(now, place->next);
  return true;
}

/// Copies that a warp did not wait for before it exited concern nobody: the slot has a new warp.
void Lsu::forget_earlier_warp(const Request& request) {
  CopyGroups& groups = groups_of(request);
  if (groups.cta_ordinal != request.cta_ordinal) {
    groups.first += static_cast<std::uint32_t>(groups.open.size());
    groups.open.clear();
    groups.cta_ordinal = request.cta_ordinal;
  }
}

void Lsu::join_group(Request& request, const isa::Instruction& inst) {
  CopyGroups& groups = groups_of(request);
  if (groups.open.empty()) {
    groups.open.emplace_back();
  }
  request.group = groups.first + static_cast<std::uint32_t>(groups.open.size()) - 1;
  if (inst.memory == isa::MemoryOp::kCopyAsync) {
    ++groups.open.back().copies_left;
  } else {  // the scoreboard is this group's, not the request's
    request.mark = true;
    groups.open.back().scoreboard = inst.write_scoreboard;
    request.write_scoreboard = isa::kNoScoreboard;
    groups.open.emplace_back();
  }
}

/// The last wavefront of a copy went at `now`.
void Lsu::end_of_copy(const Request& request, Cycle now) {
  CopyGroups& groups = groups_of(request);
  if (groups.cta_ordinal != request.cta_ordinal) {
    return;
  }
  CopyGroup& group = groups.open[request.group - groups.first];
  --group.copies_left;
  // Of the latency of a copy of 16 bytes: queue, transfer of three registers, one read cycle, four wavefronts of a lone
  // request.
  const Cycle before = p_.mio_start + 3 * p_.mio_per_register + p_.wavefront + 3 * p_.request_wavefront;
  const Cycle after = request.bypass ? p_.bypass_after : p_.copy_latency - before;
  group.over = std::max(group.over, now + after);
  end_groups(request);
}

void Lsu::end_groups(const Request& request) {
  CopyGroups& groups = groups_of(request);
  while (!groups.open.empty() && groups.open.front().marked && groups.open.front().copies_left == 0) {
    const CopyGroup& group = groups.open.front();
    groups.last_over = std::max(groups.last_over, group.over);
    release(request, group.scoreboard, groups.last_over);
    groups.open.pop_front();
    ++groups.first;
  }
}

void Lsu::leave_mark(const Request& request, Cycle now) {
  marking_ = keep_marks_ && !request.local && footprints_[request.footprint].line_count != 0;
  if (marking_) {
    marks_.push_back(GlobalAccessMark{now, request.cta_ordinal, request.warp, request.site,
                                      request.op == isa::MemoryOp::kStoreGlobal,
                                      static_cast<std::uint32_t>(mark_lines_.size()), 0});
  }
}

void Lsu::add_to_mark(std::uint64_t line, std::uint32_t sectors) {
  if (marking_) {
    mark_lines_.push_back(model::LineAccess{line, sectors});
    ++marks_.back().line_count;
  }
}

void Lsu::start_load(RequestNumber number, Cycle now) {
  const Request& request = requests_[number];
  leave_mark(request, now);
  std::uint32_t index;
  if (free_loads_.empty()) {
    index = static_cast<std::uint32_t>(loads_.size());
    loads_.emplace_back();
  } else {
    index = free_loads_.back();
    free_loads_.pop_back();
  }
  Load& load = loads_[index];
  const model::GlobalFootprint& footprint = footprints_[request.footprint];
  // A load takes the data pipe once: a cycle per line, at least one per 4 bytes and lane (measured; hits and misses
  // alike).
  const bool copy = request.op == isa::MemoryOp::kCopyAsync;
  if (copy) {
    --copies_staged_[request.sub];
    release(request, request.read_scoreboard, now + 1);
  }
  load = Load{number, 0, copy ? 1 : std::max({1, request.access_bytes / 4, footprint.line_count})};
  counters_.l1_load_sectors += request.sectors;
  if (request.bypass) {
    request_bypassing(index, now);
  } else {
    look_up(index, now);
  }
  free_footprints_.push_back(request.footprint);
  --credits_used_;
  if (load.lines_missing == 0) {
    data_complete(index);
  }
}

/// The requests of an LDGSTS.BYPASS, one after the other; each has its own answer.
void Lsu::request_bypassing(std::uint32_t index, Cycle now) {
  Load& load = loads_[index];
  const model::GlobalFootprint& footprint = footprints_[requests_[load.request].footprint];
  bypass_free_ = std::max(bypass_free_, static_cast<double>(now));
  for (int i = 0; i < footprint.line_count; ++i) {
    const model::LineAccess& access = footprint.lines[i];
    bypass_free_ += p_.bypass_request;
    add_to_mark(access.line, access.sector_mask);
    outbox_.push_back(MemoryRequest{static_cast<Cycle>(bypass_free_), access.line, access.sector_mask, 0, sequence_++,
                                    false, true, index});
  }
  load.lines_missing = footprint.line_count;
  tag_free_ = std::max(now + p_.copy_lookup, static_cast<Cycle>(bypass_free_));
}

/// Looks the lines of a load up in the L1 and asks for what is missing.
void Lsu::look_up(std::uint32_t index, Cycle now) {
  Load& load = loads_[index];
  Request& request = requests_[load.request];
  const model::GlobalFootprint& footprint = footprints_[request.footprint];
  int missed_lines = 0;
  int asked_lines = 0;
  for (int i = 0; i < footprint.line_count; ++i) {
    const model::LineAccess& access = footprint.lines[i];
    const std::uint32_t present = l1_.lookup(access.line, access.sector_mask);
    if (request.local) {
      write_back(access, present, now);
    }
    std::uint32_t missing = access.sector_mask & ~present;
    if (missing == 0) {
      counters_.l1_load_sector_hits += static_cast<std::uint64_t>(std::popcount(present));
      continue;
    }
    ++missed_lines;
    Pending& pending = pending_for(access.line);
    pending.waiting.push_back(index);
    ++load.lines_missing;
    missing &= ~pending.sectors;
    // Sectors on their way count as hits (measured: 75 % where one of four copies asks for the sectors of all).
    counters_.l1_load_sector_hits += static_cast<std::uint64_t>(std::popcount(access.sector_mask & ~missing));
    if (missing != 0) {
      ++asked_lines;
      add_to_mark(access.line, missing);
      pending.sectors |= missing;
      const auto delay = static_cast<Cycle>(static_cast<double>(missed_lines) / p_.miss_lines_per_cycle);
      outbox_.push_back(MemoryRequest{now + delay, access.line, missing, 0, sequence_++, false, true});
    }
  }
  const int tag_cycles = (footprint.line_count + p_.tag_lines - 1) / p_.tag_lines;
  const bool copy = request.op == isa::MemoryOp::kCopyAsync;
  if (copy && load.lines_missing != 0) {
    AccessSite& site = counters_.sites[request.site];
    site.wavefronts += request.more_if_waiting;
    site.ideal_wavefronts += request.more_ideal_if_waiting;
    request.wavefronts = static_cast<std::uint16_t>(request.wavefronts + request.more_if_waiting);
  }
  const bool words = copy && request.access_bytes < 16;
  const double miss_cycles = words ? asked_lines * p_.word_copy_miss : missed_lines / p_.miss_lines_per_cycle;
  tag_free_ =
      now + std::max<Cycle>({copy ? p_.copy_lookup : 1, tag_cycles, static_cast<Cycle>(std::ceil(miss_cycles))});
}

Lsu::Pending& Lsu::pending_for(std::uint64_t line) {
  const auto at = pending_.lower_bound(line);
  if (at != pending_.end() && at->first == line) {
    return at->second;
  }
  if (free_pending_.empty()) {
    return pending_.emplace_hint(at, line, Pending{})->second;
  }
  auto node = std::move(free_pending_.back());
  free_pending_.pop_back();
  node.key() = line;
  return pending_.insert(at, std::move(node))->second;
}

void Lsu::data_complete(std::uint32_t load) {
  returns_.push_back(load);
  copies_ready_ += writes(requests_[loads_[load].request]) ? 1 : 0;
}

/// Drain of a store from the SM: a cycle per sector, and more per line that is only partly written. Measured on the
/// H200: 32 lines with a sector each 57 cycles, 16 x 2 44, 8 x 4 37; fully written lines 32 bytes per cycle.
double Lsu::store_cycles(const Request& request) const {
  const model::GlobalFootprint& footprint = footprints_[request.footprint];
  const double by_sectors = footprint.sector_count * p_.store_cycles_per_sector;
  const bool whole = static_cast<std::uint32_t>(footprint.sector_count) * 32U == request.active_bytes;
  return whole ? by_sectors : by_sectors + footprint.line_count * p_.store_cycles_per_partial_line;
}

void Lsu::start_store(const Request& request, Cycle now) {
  const model::GlobalFootprint& footprint = footprints_[request.footprint];
  store_free_ = std::max(store_free_, static_cast<double>(now)) + store_cycles(request);
  const auto done = static_cast<Cycle>(std::ceil(store_free_));
  for (int i = 0; i < footprint.line_count; ++i) {
    const model::LineAccess& access = footprint.lines[i];
    counters_.l1_store_sectors += static_cast<std::uint64_t>(std::popcount(access.sector_mask));
    add_to_mark(access.line, access.sector_mask);
    outbox_.push_back(MemoryRequest{now, access.line, access.sector_mask, 0, sequence_++, true, true});
    stores_in_flight_ += std::popcount(access.sector_mask);
  }
  events_.schedule(done, SmEvent{SmEvent::Kind::kStoreDrained, request.sub, request.slot, 0});
  free_footprints_.push_back(request.footprint);
  --credits_used_;
}

/// Sends the write of dirty sectors that have left the L1 since they were written.
void Lsu::write_back(const model::LineAccess& access, std::uint32_t present, Cycle now) {
  const auto found = dirty_.find(access.line);
  if (found == dirty_.end()) {
    return;
  }
  const std::uint32_t evicted = found->second & access.sector_mask & ~present;
  if (evicted != 0) {
    outbox_.push_back(MemoryRequest{now, access.line, evicted, 0, sequence_++, true, true});
    stores_in_flight_ += std::popcount(evicted);
    found->second &= ~evicted;
  }
}

void Lsu::start_local_store(const Request& request, Cycle now) {
  const model::GlobalFootprint& footprint = footprints_[request.footprint];
  for (int i = 0; i < footprint.line_count; ++i) {
    const model::LineAccess& access = footprint.lines[i];
    counters_.l1_store_sectors += static_cast<std::uint64_t>(std::popcount(access.sector_mask));
    write_back(access, l1_.lookup(access.line, access.sector_mask), now);
    l1_.fill(access.line, access.sector_mask);
    dirty_[access.line] |= access.sector_mask;
  }
  events_.schedule(now + footprint.line_count, SmEvent{SmEvent::Kind::kStoreDrained, request.sub, request.slot, 0});
  free_footprints_.push_back(request.footprint);
  --credits_used_;
}

void Lsu::deliver(const MemoryResponse& response) {
  if (response.waiter != kAnyWaiter) {
    if (--loads_[response.waiter].lines_missing == 0) {
      data_complete(response.waiter);
    }
    return;
  }
  const std::uint64_t line = response.line;
  const std::uint32_t sectors = response.sectors;
  const auto found = pending_.find(line);
  if (found == pending_.end()) {
    engine_bug("response for a line that nobody waits for");
  }
  Pending& pending = found->second;
  l1_.fill(line, sectors);
  pending.sectors &= ~sectors;
  if (pending.sectors != 0) {
    return;  // other sectors of the line are still on their way; loads wait for the whole line's outstanding part
  }
  for (const std::uint32_t index : pending.waiting) {
    if (--loads_[index].lines_missing == 0) {
      data_complete(index);
    }
  }
  auto node = pending_.extract(found);
  node.mapped().waiting.clear();
  free_pending_.push_back(std::move(node));
}

void Lsu::use_data_pipe(Cycle now) {
  if (data_pipe_free_ > now) {
    return;
  }
  if (!returns_.empty() && !return_blocked()) {
    const std::uint32_t index = returns_.front();
    returns_.pop_front();
    Load& load = loads_[index];
    data_pipe_free_ = now + load.return_cycles * p_.wavefront;
    counters_.data_pipe_cycles += static_cast<std::uint64_t>(load.return_cycles * p_.wavefront);
    const Request& request = requests_[load.request];
    free_loads_.push_back(index);
    if (writes(request)) {
      copy_writes_.push_back(load.request);
      return;
    }
    if (request.op == isa::MemoryOp::kCopyAsync) {
      end_of_copy(request, now);
    } else {
      // An L1 hit's fixed part: everything of the hit latency beyond queue, transfer, lookup and one return cycle.
      const Cycle fixed = p_.l1_hit_latency - (p_.mio_start + 2 * p_.mio_per_register + 2);
      release(request, request.write_scoreboard, data_pipe_free_ + fixed);
    }
    free_requests_.push_back(load.request);
    return;
  }
  std::size_t next = execution_turn_;
  for (std::size_t k = 0; k < executing_.size(); ++k) {
    Execution& execution = executing_[next];
    next = next + 1 == executing_.size() ? 0 : next + 1;
    if (execution.remaining == 0 || execution.next > now) {
      continue;
    }
    data_pipe_free_ = now + p_.wavefront;
    counters_.data_pipe_cycles += static_cast<std::uint64_t>(p_.wavefront);
    execution.next = now + p_.request_wavefront;
    execution_turn_ = next;
    if (--execution.remaining == 0) {
      finish_shared(requests_[execution.request], now);
      free_requests_.push_back(execution.request);
    }
    return;
  }
}

void Lsu::finish_shared(const Request& request, Cycle now) {
  if (request.op == isa::MemoryOp::kCopyAsync) {
    end_of_copy(request, now);
    return;
  }
  if (!is_load_from_shared(request.op) && request.op != isa::MemoryOp::kNone) {
    --credits_used_;
    return;
  }
  const bool matrix = request.op == isa::MemoryOp::kLoadMatrix;  // LDSM x1, x2, x4: 23, 25, 29 cycles (measured)
  const Cycle extra = matrix                       ? 0
                      : request.access_bytes == 16 ? p_.lds128_extra
                      : request.access_bytes == 8  ? p_.lds64_extra
                                                   : 0;
  const Cycle fixed = p_.lds_latency - (p_.mio_start + p_.mio_per_register) + extra;
  release(request, request.write_scoreboard, now + fixed);
  events_.schedule(now + fixed, SmEvent{SmEvent::Kind::kCreditReturn, 0, 0, 0});
}

void Lsu::release(const Request& request, std::uint8_t scoreboard, Cycle time) {
  if (scoreboard != isa::kNoScoreboard) {
    events_.schedule(time, SmEvent{SmEvent::Kind::kScoreboardRelease, request.sub, request.slot, scoreboard});
  }
}

Cycle Lsu::tick(Cycle now) {
  start_transfers(now);
  start_executions(now);
  use_data_pipe(now);
  return next_wake(now);
}

Cycle Lsu::next_wake(Cycle now) const {
  Cycle wake = kNever;
  const auto at = [&wake, now](Cycle time) { wake = std::min(wake, std::max(time, now + 1)); };
  if (credits_used_ < p_.mio_shared_queue) {
    for (int sub = 0; sub < sub_partitions_; ++sub) {
      if (!queues_[sub].empty() && !(queues_[sub].front().copy && copies_full(sub))) {
        at(std::max(link_free_[sub], queues_[sub].front().ready));
      }
    }
  }
  const bool place_free = execution_place_free();
  for (const Staged& staged : stage_) {
    if (!place_free && staged.shared) {
      continue;  // the end of an execution is a wake of its own
    }
    if (staged.drains) {
      if (stores_in_flight_ >= p_.store_sectors_in_flight) {
        continue;  // the L2's word wakes the SM
      }
      at(std::max(staged.ready, static_cast<Cycle>(std::ceil(store_free_))));
    } else {
      at(std::max(staged.ready, staged.looks_up ? tag_free_ : now));
    }
    if (wake == now + 1) {
      return wake;
    }
  }
  if (!returns_.empty() && !return_blocked()) {
    at(data_pipe_free_);
  }
  if (!copy_writes_.empty()) {
    at(now + 1);
  }
  for (const Execution& execution : executing_) {
    if (execution.remaining != 0) {
      at(std::max(execution.next, data_pipe_free_));
    }
  }
  return wake;
}

}  // namespace tilesim::sim
