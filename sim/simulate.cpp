#include "sim/simulate.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "sim/chip/cta_scheduler.h"
#include "sim/chip/memory_system.h"
#include "sim/chip/request_generator.h"
#include "sim/chip/request_order.h"
#include "sim/engine/hash.h"
#include "sim/engine/worker_pool.h"

namespace tilesim::sim {

namespace {

/// One launch under way: SMs, request generators and chip side, advanced window by window.
class Simulation {
 public:
  Simulation(const model::GpuSpec& spec, const isa::KernelStream& kernel, const SimulationOptions& options)
      : kernel_(kernel),
        options_(options),
        sm_parameters_(make_sm_parameters(spec, options.l1_bytes)),
        chip_parameters_(make_chip_parameters(spec, options.clock_mhz)),
        reads_(operand_reads(kernel.program(), sm_parameters_.register_banks)),
        scheduler_(chip_parameters_, kernel.grid().count(), options.ctas_per_sm),
        memory_(chip_parameters_),
        order_(chip_parameters_.sm_count) {
    sm_parameters_.policy = options.policy;
    const SmLoad load{static_cast<int>(spec.issue.sub_partitions), options.ctas_per_sm,
                      static_cast<int>((kernel.block().count() + isa::kWarpSize - 1) / isa::kWarpSize)};
    sms_.resize(static_cast<std::size_t>(chip_parameters_.sm_count));
    std::vector<int> detailed = options.detailed_sms;
    if (detailed.empty()) {
      detailed.resize(sms_.size());
      std::iota(detailed.begin(), detailed.end(), 0);
    }
    for (const int sm : detailed) {
      sms_[static_cast<std::size_t>(sm)] =
          std::make_unique<Sm>(sm_parameters_, kernel.program(), reads_, sm, load, options.listener);
      sms_[static_cast<std::size_t>(sm)]->visit_every_cycle(options.every_cycle);
    }
    for (const auto& sm : sms_) {
      if (sm != nullptr) {
        running_.push_back(sm.get());
      }
    }
    const bool alone = kernel.ordered() || options.listener != nullptr;
    const auto threads = std::min(running_.size(), static_cast<std::size_t>(alone ? 1 : std::max(1, options.threads)));
    workers_ = std::make_unique<WorkerPool>(static_cast<int>(threads));
    if (options.detailed_sms.empty()) {
      start_all();
    } else {
      start_sampled();
    }
  }

  Result<SimulationResult> run() {
    const Cycle window = chip_parameters_.window();
    for (Cycle begin = next_time(); begin != kNever; begin = next_time()) {
      workers_->for_each(running_.size(), [this, end = begin + window](std::size_t i) { running_[i]->run_until(end); });
      for (const Sm* sm : running_) {
        if (sm->error() != nullptr) {
          return tl::unexpected<Error>(*sm->error());
        }
      }
      if (!exchange(begin + window)) {
        return tl::unexpected<Error>(*error_);
      }
    }
    if (!exchange(kNever)) {  // what request generators have left to send
      return tl::unexpected<Error>(*error_);
    }
    if (std::any_of(sms_.begin(), sms_.end(), [](const auto& sm) { return sm != nullptr && sm->busy(); })) {
      return isa::barriers_never_fill(kernel_.program().name);
    }
    return finish();
  }

 private:
  void start_all() {
    for (const CtaScheduler::Placement& p : scheduler_.first_placements()) {
      sms_[static_cast<std::size_t>(p.sm)]->start_cta(p.slot, kernel_.open(p.cta, nullptr), p.cta, p.time);
    }
  }

  /// Every simulated SM gets its static share; every other SM follows the simulated one with as many CTAs.
  void start_sampled() {
    shares_.resize(sms_.size());
    for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
      shares_[sm] = scheduler_.static_share(static_cast<int>(sm));
    }
    next_of_sm_.assign(sms_.size(), 0);
    std::vector<int> leaders;
    for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
      if (sms_[sm] == nullptr) {
        continue;
      }
      leaders.push_back(static_cast<int>(sm));
      sms_[sm]->lsu().keep_marks();
      const std::size_t slots =
          std::min<std::size_t>(shares_[sm].size(), static_cast<std::size_t>(options_.ctas_per_sm));
      for (std::size_t slot = 0; slot < slots; ++slot) {
        const Cycle start = static_cast<Cycle>(slot) * chip_parameters_.second_cta + offset_of(sm);
        start_next(sm, static_cast<int>(slot), start, nullptr);
      }
    }
    for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
      generators_.emplace_back(kernel_, shares_[sm]);
    }
    for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
      if (sms_[sm] == nullptr && !shares_[sm].empty()) {
        const auto same = std::find_if(leaders.begin(), leaders.end(), [this, sm](int leader) {
          return shares_[static_cast<std::size_t>(leader)].size() == shares_[sm].size();
        });
        const int leader = same != leaders.end() ? *same : leaders.front();
        generators_[static_cast<std::size_t>(leader)].add(static_cast<int>(sm), shares_[sm], offset_of(sm));
      }
    }
  }

  /// A fixed start offset of an SM, as large as the difference in L2 latency between SM positions.
  [[nodiscard]] Cycle offset_of(std::size_t sm) const {
    const std::int64_t range = chip_parameters_.l2_latency_spread;
    return range + spread((options_.seed << 16) + sm, range);
  }

  void start_next(std::size_t sm, int slot, Cycle time, std::unique_ptr<isa::CtaStream> storage) {
    const std::uint64_t cta = shares_[sm][next_of_sm_[sm]++];
    sms_[sm]->start_cta(slot, kernel_.open(cta, std::move(storage)), cta, time);
  }

  [[nodiscard]] Cycle next_time() const {
    Cycle next = kNever;
    for (const auto& sm : sms_) {
      next = sm == nullptr ? next : std::min(next, sm->next_time());
    }
    for (const MemoryRequest& request : requests_) {
      next = std::min(next, request.time);
    }
    return next;
  }

  /// The chip's side of a window that ends before `end`: requests in total order, their answers, and new CTAs for ended
  /// ones. Requests for later cycles (a load's further lines, generators behind their leader) are kept, so that the
  /// order does not depend on where windows begin.
  [[nodiscard]] bool exchange(Cycle end) {
    for (std::size_t i = 0; i < sms_.size(); ++i) {
      if (sms_[i] == nullptr) {
        continue;
      }
      for (MemoryRequest& request : sms_[i]->lsu().outbox()) {
        request.sm = static_cast<std::uint32_t>(i);
        requests_.push_back(request);
      }
      sms_[i]->lsu().outbox().clear();
      if (!generators_.empty() && !follow(i)) {
        return false;
      }
    }
    const std::span<const std::uint32_t> order = order_.sort(requests_);
    for (std::size_t i = 0; i < order.size(); ++i) {
      constexpr std::size_t kAhead = 12;
      if (i + kAhead < order.size()) {
        memory_.prefetch(requests_[order[i + kAhead]]);
      }
      const MemoryRequest& request = requests_[order[i]];
      if (request.time >= end) {
        break;
      }
      if (request.time < taken_) {
        engine_bug("a request for a cycle that the chip has passed");
      }
      taken_ = request.time;
      const Cycle ready = request.write ? memory_.write(request) : memory_.read(request);
      if (request.wants_response) {
        sms_[request.sm]->deliver(
            MemoryResponse{ready, request.line, request.sectors, request.sm, request.write, request.waiter});
      }
    }
    std::erase_if(requests_, [end](const MemoryRequest& request) { return request.time < end; });
    return replace_ended();
  }

  [[nodiscard]] bool follow(std::size_t leader) {
    Lsu& lsu = sms_[leader]->lsu();
    if (!generators_[leader].follow(lsu.marks(), lsu.mark_lines(), requests_)) {
      error_ = &generators_[leader].error();
      return false;
    }
    lsu.marks().clear();
    lsu.mark_lines().clear();
    return true;
  }

  [[nodiscard]] bool replace_ended() {
    ended_.clear();
    for (auto& sm : sms_) {
      if (sm != nullptr) {
        ended_.insert(ended_.end(), sm->ended().begin(), sm->ended().end());
        sm->ended().clear();
      }
    }
    std::sort(ended_.begin(), ended_.end(), [](const CtaEnd& a, const CtaEnd& b) {
      return a.time != b.time ? a.time < b.time : a.sm != b.sm ? a.sm < b.sm : a.slot < b.slot;
    });
    for (const CtaEnd& end : ended_) {
      last_end_ = std::max(last_end_, end.time);
      const auto sm = static_cast<std::size_t>(end.sm);
      auto storage = sms_[sm]->take_recycled();
      if (generators_.empty()) {
        CtaScheduler::Placement p;
        if (scheduler_.next(end, p)) {
          sms_[sm]->start_cta(p.slot, kernel_.open(p.cta, std::move(storage)), p.cta, p.time);
        }
      } else {
        if (!generators_[sm].end_cta(end.ordinal, end.time + chip_parameters_.window())) {
          error_ = &generators_[sm].error();
          return false;
        }
        if (next_of_sm_[sm] < shares_[sm].size()) {
          start_next(sm, end.slot, end.time + chip_parameters_.cta_respawn, std::move(storage));
        }
      }
    }
    return true;
  }

  SimulationResult finish() {
    SimulationResult result;
    result.sms.resize(sms_.size());
    for (std::size_t i = 0; i < sms_.size(); ++i) {
      if (sms_[i] != nullptr) {
        result.sms[i] = sms_[i]->finish();
        result.instructions += generators_.empty() ? result.sms[i].instructions : generators_[i].instructions();
      }
    }
    result.chip = memory_.counters();
    result.elapsed_cycles = static_cast<std::uint64_t>(last_end_);
    return result;
  }

  const isa::KernelStream& kernel_;
  const SimulationOptions& options_;
  SmParameters sm_parameters_;
  ChipParameters chip_parameters_;
  std::vector<OperandReads> reads_;
  CtaScheduler scheduler_;
  MemorySystem memory_;
  std::vector<std::unique_ptr<Sm>> sms_;  ///< by SM number; null for those that do not run instructions
  std::vector<Sm*> running_;              ///< those that do, by number
  std::unique_ptr<WorkerPool> workers_;
  std::vector<std::vector<std::uint64_t>> shares_;
  std::vector<std::size_t> next_of_sm_;
  std::vector<RequestGenerators> generators_;  ///< by leader; empty if all SMs are simulated
  std::vector<MemoryRequest> requests_;        ///< of the window, and those kept for later ones
  RequestOrder order_;
  Cycle taken_ = 0;  ///< time of the last request that the chip has taken
  std::vector<CtaEnd> ended_;
  Cycle last_end_ = 0;
  const Error* error_ = nullptr;
};

/// Refuses what the units of this version cannot time: LDGDEPBAR outside the memory path, which orders the groups.
Result<void> check_modelled(const isa::Program& program) {
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const isa::Instruction& inst = program.instructions[i];
    if (inst.control == isa::ControlOp::kCommitGroup && inst.pipe != isa::Pipe::kLsu) {
      return fail(ErrorKind::kUsage,
                  "instruction " + std::to_string(i) + " (" + (i < program.text.size() ? program.text[i] : "") +
                      ") ends a group of copies but does not go through the memory path",
                  "give LDGDEPBAR the LSU pipe");
    }
  }
  return {};
}

}  // namespace

std::vector<std::uint64_t> ctas_by_sm(const model::GpuSpec& spec, std::uint64_t ctas, int ctas_per_sm) {
  const ChipParameters parameters = make_chip_parameters(spec, spec.device.clock_max_mhz);
  const CtaScheduler scheduler(parameters, ctas, ctas_per_sm);
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(parameters.sm_count));
  const auto sms = static_cast<std::uint64_t>(parameters.sm_count);
  for (std::size_t position = 0; position < counts.size(); ++position) {
    counts[static_cast<std::size_t>(scheduler.order()[position])] = ctas / sms + (position < ctas % sms ? 1 : 0);
  }
  return counts;
}

Result<SimulationResult> simulate(const model::GpuSpec& spec, const isa::KernelStream& kernel,
                                  const SimulationOptions& options) {
  if (const Result<void> modelled = check_modelled(kernel.program()); !modelled) {
    return tl::unexpected<Error>(modelled.error());
  }
  return Simulation(spec, kernel, options).run();
}

}  // namespace tilesim::sim
