// A streaming multiprocessor: the composition root of its units. It runs on its own inside a window of time; what it
// asks of the chip waits in an outbox, what the chip answers comes in by deliver().
#pragma once

#include <memory>
#include <vector>

#include "sim/chip/memory_port.h"
#include "sim/isa/stream.h"
#include "sim/result.h"
#include "sim/sm/sub_partition.h"

namespace tilesim::sim {

/// How much of a kernel fits an SM, and what the simulation wants to know.
struct SmLoad {
  int sub_partitions = 4;
  int cta_slots = 1;
  int warps_per_cta = 1;
};

/// A CTA that has left an SM.
struct CtaEnd {
  Cycle time = 0;
  int sm = 0;
  int slot = 0;
  std::uint32_t ordinal = 0;  ///< how many CTAs the SM had started before it
};

class Sm {
 public:
  /// `reads` are operand_reads() of the program; both outlive the SM.
  Sm(const SmParameters& parameters, const isa::Program& program, const std::vector<OperandReads>& reads, int id,
     const SmLoad& load, Listener* listener);
  Sm(const Sm&) = delete;
  Sm& operator=(const Sm&) = delete;

  /// Gives CTA slot `slot` a CTA that becomes resident at `time`.
  void start_cta(int slot, std::unique_ptr<isa::CtaStream> cta, std::uint64_t linear_id, Cycle time);

  /// Runs all cycles before `end`.
  void run_until(Cycle end);

  /// Runs every unit in every cycle, whether it has something to do or not.
  void visit_every_cycle(bool on) { every_cycle_ = on; }

  /// Hands in data of a read that arrives at `response.time`, not before the end of the last window.
  void deliver(const MemoryResponse& response);

  /// Storage of a CTA that has ended, to open the next one with; null if there is none.
  [[nodiscard]] std::unique_ptr<isa::CtaStream> take_recycled();

  [[nodiscard]] Lsu& lsu() { return lsu_; }
  [[nodiscard]] std::vector<CtaEnd>& ended() { return ended_; }
  [[nodiscard]] bool busy() const { return resident_ctas_ > 0; }
  [[nodiscard]] Cycle next_time() const;
  [[nodiscard]] const Error* error() const { return shared_.error; }
  /// Closes the books; call once after the last window.
  [[nodiscard]] const SmCounters& finish();

 private:
  struct CtaSlot {
    std::unique_ptr<isa::CtaStream> stream;
    std::uint64_t linear_id = 0;
    std::uint32_t ordinal = 0;
    int warps_left = 0;
  };
  struct Arrival {
    MemoryResponse response;
    std::uint64_t sequence = 0;
    friend bool operator>(const Arrival& a, const Arrival& b) {
      return a.response.time != b.response.time ? a.response.time > b.response.time : a.sequence > b.sequence;
    }
  };
  void run_cycle(Cycle now);
  [[nodiscard]] bool wakes_at(Cycle time) const;
  void handle(const SmEvent& event, Cycle now);
  void launch_cta(int slot, Cycle now);
  void take_retired();
  void wake(int sub, Cycle time) { sub_wake_[sub] = std::min(sub_wake_[sub], time); }

  const SmParameters& p_;
  int id_;
  SmLoad load_;
  SmCounters counters_;
  SmEventQueue events_;
  InstructionFetch fetch_;
  Lsu lsu_;
  BarrierUnit barriers_;
  SmShared shared_;
  std::vector<std::unique_ptr<SubPartition>> subs_;
  std::vector<CtaSlot> ctas_;
  std::vector<std::unique_ptr<isa::CtaStream>> recycled_;
  std::vector<CtaEnd> ended_;
  std::vector<Arrival> inbox_;  ///< min-heap
  std::uint64_t inbox_sequence_ = 0;
  std::array<Cycle, Lsu::kMaxSubPartitions> sub_wake_{};
  Cycle lsu_wake_ = kNever;
  bool every_cycle_ = false;
  Cycle next_cycle_ = 0;  ///< for every_cycle_
  int resident_ctas_ = 0;
  Cycle first_start_ = kNever;
  Cycle last_end_ = 0;
};

}  // namespace tilesim::sim
