// The memory instruction path of an SM: a MIO queue per sub-partition, the transfer of source registers, the SM-wide
// stage with its credits, the shared-memory data pipe (one wavefront per cycle), the L1 lookup, the return of global
// loads through the data pipe, and the drain of stores.
//
// Life of an LDS: issue -> queue (mio.queue_entries) -> transfer, 2 cycles per source register, while the SM-wide stage
// has a credit (mio.shared_queue_entries); the place in the queue is free mio.slot_release_cycles later -> wavefronts,
// each request at most one per 2 cycles, two requests interleaved -> data after a fixed latency, credit back. Life of
// an LDG: the same up to the stage -> tag lookup, one line per cycle on a miss -> requests to the chip -> when the last
// line is back, the return takes the data pipe -> data after a fixed latency. Source: H200 microbenchmarks, memory
// issue path and shared memory (issue times of the K-th request).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "sim/chip/memory_port.h"
#include "sim/isa/program.h"
#include "sim/isa/stream.h"
#include "sim/result.h"
#include "sim/sm/access_analyzer.h"
#include "sim/sm/l1_cache.h"
#include "sim/sm/sm_event.h"
#include "sim/sm/sm_parameters.h"

namespace tilesim::sim {

class Lsu {
 public:
  static constexpr int kMaxSubPartitions = 8;

  Lsu(const SmParameters& parameters, int sub_partitions, const isa::Program& program, SmEventQueue& events,
      SmCounters& counters);

  [[nodiscard]] bool queue_full(int sub) const { return queue_size_[sub] >= p_.mio_queue; }

  /// Takes a memory instruction that warp `slot` of `sub` issued at `now`; the queue must have room and a lane be
  /// active. `cta_ordinal` counts the CTAs of the SM and `warp` the warps of the CTA, for request generators.
  void enqueue(int sub, int slot, const isa::DynamicInstruction& dynamic, std::uint32_t cta_ordinal, std::uint32_t warp,
               Cycle now);

  /// Advances to cycle `now`; returns the next cycle in which it has something to do by itself (kNever if none).
  Cycle tick(Cycle now);

  /// A request's data has been delivered: its place in the SM-wide stage is free again.
  void return_credit() { --credits_used_; }

  /// A place in the MIO queue of `sub` is free again; true if the queue was full.
  [[nodiscard]] bool free_queue_slot(int sub) { return queue_size_[sub]-- == p_.mio_queue; }

  /// Data of a read is back from the chip at `now`. The LSU must be ticked at `now` afterwards.
  void deliver(std::uint64_t line, std::uint32_t sectors, Cycle now);

  /// The L2 has taken sectors of a store.
  void store_taken(std::uint32_t sectors) { stores_in_flight_ -= std::popcount(sectors); }

  /// Requests to the chip since the last clear, in order of time.
  [[nodiscard]] std::vector<MemoryRequest>& outbox() { return outbox_; }

  /// Global accesses that reached the L1 since the last clear, for request generators; empty unless asked for.
  [[nodiscard]] std::vector<GlobalAccessMark>& marks() { return marks_; }
  /// The lines of the marks.
  [[nodiscard]] std::vector<model::LineAccess>& mark_lines() { return mark_lines_; }
  void keep_marks() { keep_marks_ = true; }

 private:
  struct Request {
    isa::MemoryOp op = isa::MemoryOp::kNone;
    std::uint8_t sub = 0;
    std::uint8_t slot = 0;
    std::uint8_t registers = 1;
    std::uint8_t access_bytes = 4;
    std::uint8_t write_scoreboard = isa::kNoScoreboard;
    std::uint8_t read_scoreboard = isa::kNoScoreboard;
    std::uint16_t wavefronts = 0;
    std::uint16_t footprint = 0;  ///< index into footprints_, for global accesses
    std::uint32_t active_bytes = 0;
    std::uint32_t cta_ordinal = 0;
    std::uint32_t warp = 0;
    std::uint32_t site = 0;
    Cycle ready = 0;  ///< in the queue: earliest transfer; in the stage: when it is there
  };
  struct Execution {  ///< a shared-memory request whose wavefronts are under way
    Request request;
    int remaining = 0;
    Cycle next = 0;
  };
  struct Load {  ///< a global load that waits for lines
    Request request;
    int lines_missing = 0;
    int return_cycles = 0;
    bool used = false;
  };

  void start_transfers(Cycle now);
  void start_executions(Cycle now);
  [[nodiscard]] bool try_start(const Request& request, Cycle now);
  void start_load(const Request& request, Cycle now);
  void start_store(const Request& request, Cycle now);
  void leave_mark(const Request& request, Cycle now);
  void use_data_pipe(Cycle now);
  void finish_shared(const Request& request, Cycle now);
  void release(const Request& request, std::uint8_t scoreboard, Cycle time);
  [[nodiscard]] double store_cycles(const Request& request) const;
  [[nodiscard]] int new_footprint();
  [[nodiscard]] Cycle next_wake(Cycle now) const;

  const SmParameters& p_;
  const isa::Program& program_;
  SmEventQueue& events_;
  SmCounters& counters_;
  AccessAnalyzer analyzer_;
  L1Cache l1_;
  int sub_partitions_;

  std::array<std::deque<Request>, kMaxSubPartitions> queues_;
  std::array<int, kMaxSubPartitions> queue_size_{};  ///< places taken, those of requests that just left included
  std::array<Cycle, kMaxSubPartitions> link_free_{};
  int transfer_turn_ = 0;
  std::vector<Request> stage_;  ///< in order of transfer start
  int credits_used_ = 0;
  std::vector<Execution> executing_;
  std::size_t execution_turn_ = 0;
  Cycle tag_free_ = 0;
  double store_free_ = 0.0;
  int stores_in_flight_ = 0;  ///< sectors that the L2 has not taken yet

  std::vector<model::GlobalFootprint> footprints_;
  std::vector<std::uint16_t> free_footprints_;
  std::vector<Load> loads_;
  std::vector<std::uint32_t> free_loads_;
  struct Pending {
    std::uint32_t sectors = 0;
    std::vector<std::uint32_t> waiting;  ///< loads
  };
  std::map<std::uint64_t, Pending> pending_;  ///< lines on their way from the chip
  std::deque<std::uint32_t> returns_;         ///< loads whose data takes the data pipe next
  Cycle data_pipe_free_ = 0;

  std::vector<MemoryRequest> outbox_;
  std::vector<GlobalAccessMark> marks_;
  std::vector<model::LineAccess> mark_lines_;
  bool keep_marks_ = false;
  std::uint32_t sequence_ = 0;
};

}  // namespace tilesim::sim
