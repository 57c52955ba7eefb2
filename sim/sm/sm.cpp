#include "sim/sm/sm.h"

#include <algorithm>
#include <functional>

namespace tilesim::sim {

Sm::Sm(const SmParameters& parameters, const isa::Program& program, const std::vector<OperandReads>& reads, int id,
       const SmLoad& load, Listener* listener)
    : p_(parameters),
      id_(id),
      load_(load),
      fetch_(parameters, load.sub_partitions, program.instructions.size()),
      lsu_(parameters, load.sub_partitions, program, events_, counters_),
      barriers_(parameters, events_, load.cta_slots),
      shared_(parameters, program, reads, events_, fetch_, lsu_, barriers_, counters_, listener),
      ctas_(static_cast<std::size_t>(load.cta_slots)) {
  counters_.sites.resize(program.instructions.size());
  sub_wake_.fill(kNever);
  for (int sub = 0; sub < load.sub_partitions; ++sub) {
    subs_.push_back(std::make_unique<SubPartition>(shared_, sub));
  }
}

void Sm::start_cta(int slot, std::unique_ptr<isa::CtaStream> cta, std::uint64_t linear_id, Cycle time) {
  CtaSlot& place = ctas_[static_cast<std::size_t>(slot)];
  place.stream = std::move(cta);
  place.linear_id = linear_id;
  ++resident_ctas_;
  events_.schedule(time, SmEvent{SmEvent::Kind::kCtaStart, 0, 0, static_cast<std::uint8_t>(slot)});
}

void Sm::launch_cta(int slot, Cycle now) {
  CtaSlot& place = ctas_[static_cast<std::size_t>(slot)];
  const auto ordinal = static_cast<std::uint32_t>(counters_.ctas++);
  place.ordinal = ordinal;
  first_start_ = std::min(first_start_, now);
  place.warps_left = load_.warps_per_cta;
  barriers_.start_cta(slot, load_.warps_per_cta);
  for (int w = 0; w < load_.warps_per_cta; ++w) {
    const int global_slot = slot * load_.warps_per_cta + w;
    const int sub = global_slot % load_.sub_partitions;
    const WarpId id{static_cast<std::uint32_t>(id_), place.linear_id, static_cast<std::uint32_t>(w)};
    subs_[static_cast<std::size_t>(sub)]->launch(global_slot / load_.sub_partitions, place.stream->warp(w), id, ordinal,
                                                 slot, now, p_.cta_launch);
    wake(sub, now);
  }
}

void Sm::deliver(const MemoryResponse& response) {
  inbox_.push_back(Arrival{response, inbox_sequence_++});
  std::push_heap(inbox_.begin(), inbox_.end(), std::greater<>{});
}

std::unique_ptr<isa::CtaStream> Sm::take_recycled() {
  if (recycled_.empty()) {
    return nullptr;
  }
  auto stream = std::move(recycled_.back());
  recycled_.pop_back();
  return stream;
}

Cycle Sm::next_time() const {
  Cycle next = std::min(events_.next_time(), lsu_wake_);
  for (int sub = 0; sub < load_.sub_partitions; ++sub) {
    next = std::min(next, sub_wake_[sub]);
  }
  return inbox_.empty() ? next : std::min(next, inbox_.front().response.time);
}

void Sm::run_until(Cycle end) {
  if (every_cycle_) {
    for (; next_cycle_ < end && shared_.error == nullptr; ++next_cycle_) {
      lsu_wake_ = next_cycle_;
      sub_wake_.fill(next_cycle_);
      do {  // again for what units without latency have added to the cycle
        run_cycle(next_cycle_);
      } while (events_.left_over() && shared_.error == nullptr);
    }
    return;
  }
  for (Cycle now = next_time(); now < end && shared_.error == nullptr;) {
    run_cycle(now);
    now = wakes_at(now + 1) && !events_.left_over() ? now + 1 : next_time();
  }
}

/// True if a unit runs at `time` anyway.
bool Sm::wakes_at(Cycle time) const {
  bool wakes = lsu_wake_ == time;
  for (int sub = 0; sub < load_.sub_partitions; ++sub) {
    wakes = wakes || sub_wake_[sub] == time;
  }
  return wakes;
}

/// One cycle: first what was due (data, scoreboards, barriers, CTA starts), then the memory path, then the schedulers.
void Sm::run_cycle(Cycle now) {
  while (!inbox_.empty() && inbox_.front().response.time <= now) {
    const MemoryResponse& response = inbox_.front().response;
    if (response.write) {
      lsu_.store_taken(response.sectors);
    } else {
      lsu_.deliver(response);
    }
    lsu_wake_ = now;
    std::pop_heap(inbox_.begin(), inbox_.end(), std::greater<>{});
    inbox_.pop_back();
  }
  events_.run(now, [this, now](const SmEvent& event) { handle(event, now); });
  if (lsu_wake_ <= now) {
    lsu_wake_ = lsu_.tick(now);
  }
  for (int sub = 0; sub < load_.sub_partitions; ++sub) {
    if (sub_wake_[sub] <= now) {
      sub_wake_[sub] = subs_[static_cast<std::size_t>(sub)]->tick(now);
    }
  }
  if (shared_.lsu_work) {
    shared_.lsu_work = false;
    lsu_wake_ = std::min(lsu_wake_, now + std::max<Cycle>(1, p_.mio_start));
  }
  take_retired();
}

void Sm::handle(const SmEvent& event, Cycle now) {
  SubPartition& sub = *subs_[event.sub];
  switch (event.kind) {
    case SmEvent::Kind::kScoreboardRelease:
      if (sub.release_scoreboard(event.slot, event.index, now)) {
        wake(event.sub, now);
      }
      break;
    case SmEvent::Kind::kStoreDrained:
      sub.store_drained(event.slot, now);
      break;
    case SmEvent::Kind::kBarrierRelease:
      if (sub.release_barrier(event.slot, now)) {
        wake(event.sub, now);
      }
      break;
    case SmEvent::Kind::kCreditReturn:
      lsu_.return_credit();
      lsu_wake_ = now;
      break;
    case SmEvent::Kind::kQueueSlotFree:
      if (lsu_.free_queue_slot(event.sub)) {
        wake(event.sub, now);
      }
      break;
    case SmEvent::Kind::kCtaStart:
      launch_cta(event.index, now);
      break;
  }
}

void Sm::take_retired() {
  for (const auto& [slot, time] : shared_.retired_warps) {
    CtaSlot& place = ctas_[static_cast<std::size_t>(slot)];
    if (--place.warps_left == 0) {
      recycled_.push_back(std::move(place.stream));
      ended_.push_back(CtaEnd{time, id_, slot, place.ordinal});
      last_end_ = std::max(last_end_, time);
      --resident_ctas_;
    }
  }
  shared_.retired_warps.clear();
}

const SmCounters& Sm::finish() {
  counters_.active_cycles = first_start_ == kNever ? 0 : static_cast<std::uint64_t>(last_end_ - first_start_);
  return counters_;
}

}  // namespace tilesim::sim
