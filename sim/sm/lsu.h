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
//
// Life of an LDGSTS: three registers of addresses; at most lsu.copies_waiting of a sub-partition wait in the SM-wide
// stage, those behind hold up its queue. Then the lookup of an LDG (lsu.copy_lookup_interval apart), when its source
// registers are free too (a choice by the calibration kernels: free at the transfer, the 128x256 tile that waits for
// them twice per slice is 13 % too fast, and its waits look more like the measured ones). With .BYPASS neither look-up
// nor allocation in the L1 (documented, not measured) and the requests of model::bypass_requests(),
// lsu.bypass_request_interval apart, each with its own answer. When the last line is back it takes the data pipe for
// one cycle; without .BYPASS then for the wavefronts of its shared side, like an STS; while two such copies wait to
// write, no other is looked up. (Beside a stream of LDS on the H200, dense copies of 512 bytes take 0.95 cycles from it
// with .BYPASS, 4.7 without.) LDGDEPBAR passes through the queue as a request of one register and marks the end of a
// group; a group is over lsu.commit_latency after its mark or, if later, a fixed time after the last wavefront of its
// copies, which lsu.copy_latency fixes (with .BYPASS, whose end is its return, lsu.bypass_latency); groups of a warp
// end in order. Measured: cycles per LDGSTS from the L1 2.4, 3.5, 4.7 for 4, 8, 16 bytes (here 2, 3, 5), 33 at 8-way
// conflicts. Copies of words are written as model::word_copy_wavefronts() says, and hold up the next look-up for
// lsu.word_copy_miss_interval per line that they ask the L2 for.
//
// Local memory (LDL, STL) is kept in the L1 and written back: a store takes its lines and leaves them dirty; that a
// dirty line was evicted is found, and its write sent, when the warp comes back to it. All of it is a guess.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "sim/chip/memory_port.h"
#include "sim/engine/ring.h"
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
  static constexpr std::size_t kMaxSlots = 32;  ///< warps of a sub-partition

  Lsu(const SmParameters& parameters, int sub_partitions, const isa::Program& program, SmEventQueue& events,
      SmCounters& counters);

  [[nodiscard]] bool queue_full(int sub) const { return queue_size_[sub] >= p_.mio_queue; }

  /// Takes a memory instruction or LDGDEPBAR that warp `slot` of `sub` issued at `now`; the queue must have room and,
  /// but for LDS, a lane be active. `cta_ordinal` counts the CTAs of the SM and `warp` the warps of the CTA, for
  /// request generators.
  void enqueue(int sub, int slot, const isa::DynamicInstruction& dynamic, std::uint32_t cta_ordinal, std::uint32_t warp,
               Cycle now);

  /// Advances to cycle `now`; returns the next cycle in which it has something to do by itself (kNever if none).
  Cycle tick(Cycle now);

  /// A request's data has been delivered: its place in the SM-wide stage is free again.
  void return_credit() { --credits_used_; }

  /// A place in the MIO queue of `sub` is free again; true if the queue was full.
  [[nodiscard]] bool free_queue_slot(int sub) { return queue_size_[sub]-- == p_.mio_queue; }

  /// Data of a read is back from the chip. The LSU must be ticked in that cycle afterwards.
  void deliver(const MemoryResponse& response);

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
    bool local = false;
    bool mark = false;          ///< LDGDEPBAR
    bool bypass = false;        ///< copies: past the L1
    std::uint16_t sectors = 0;  ///< looked up
    std::uint32_t group = 0;    ///< copies and marks: running number of the warp's group
    std::uint16_t wavefronts = 0;
    std::uint16_t more_if_waiting = 0;        ///< copies: wavefronts more if they wait for data
    std::uint16_t more_ideal_if_waiting = 0;  ///< of these without any bank conflict
    std::uint16_t footprint = 0;              ///< index into footprints_, for global accesses
    std::uint32_t active_bytes = 0;
    std::uint32_t cta_ordinal = 0;
    std::uint32_t warp = 0;
    std::uint32_t site = 0;
  };
  /// Requests are written once, when they are enqueued, and handed on by number.
  using RequestNumber = std::uint32_t;
  struct Queued {     ///< in a MIO queue
    Cycle ready = 0;  ///< earliest transfer
    RequestNumber request = 0;
    bool copy = false;
  };
  struct Staged {     ///< in the SM-wide stage
    Cycle ready = 0;  ///< when it is there
    RequestNumber request = 0;
    bool shared = false;    ///< is_shared()
    bool looks_up = false;  ///< in the L1's tags
    bool drains = false;    ///< a store to global memory
  };
  struct Execution {  ///< a shared-memory request whose wavefronts are under way
    RequestNumber request = 0;
    int remaining = 0;
    Cycle next = 0;
  };
  struct Load {  ///< a global load or copy that waits for lines
    RequestNumber request = 0;
    int lines_missing = 0;
    int return_cycles = 0;
  };

  /// Copies of a warp up to an LDGDEPBAR.
  struct CopyGroup {
    int copies_left = 0;  ///< not yet in shared memory
    bool marked = false;  ///< the LDGDEPBAR has passed the queue
    std::uint8_t scoreboard = isa::kNoScoreboard;
    Cycle over = 0;  ///< what has passed so far keeps the group from ending before
  };
  struct CopyGroups {
    std::deque<CopyGroup> open;  ///< in order; the last one is not committed
    std::uint32_t first = 0;     ///< running number of the front
    std::uint32_t cta_ordinal = 0;
    Cycle last_over = 0;
  };

  void start_transfers(Cycle now);
  void start_executions(Cycle now);
  [[nodiscard]] bool execution_place_free() const;
  /// Loads and stores of shared memory, and what has no operation: SHFL takes the data pipe and answers as an LDS does;
  /// atomics and MEMBAR are taken for the same. LDGDEPBAR does nothing here.
  [[nodiscard]] static bool is_shared(const Request& request) { return !request.mark && !isa::is_global(request.op); }
  [[nodiscard]] bool try_start(RequestNumber number, Cycle now);
  [[nodiscard]] bool try_start_load(RequestNumber number, Cycle now);
  [[nodiscard]] bool copies_full(int sub) const { return copies_staged_[sub] >= p_.copies_waiting; }
  void start_load(RequestNumber number, Cycle now);
  void request_bypassing(std::uint32_t index, Cycle now);
  void look_up(std::uint32_t index, Cycle now);
  void start_store(const Request& request, Cycle now);
  void start_local_store(const Request& request, Cycle now);
  void write_back(const model::LineAccess& access, std::uint32_t present, Cycle now);
  [[nodiscard]] bool place_execution(RequestNumber number, Cycle now);
  [[nodiscard]] CopyGroups& groups_of(const Request& request) {
    return copy_groups_[static_cast<std::size_t>(request.sub) * kMaxSlots + request.slot];
  }
  void forget_earlier_warp(const Request& request);
  void data_complete(std::uint32_t load);
  /// Copies that write to shared memory through the data pipe.
  [[nodiscard]] static bool writes(const Request& request) {
    return request.op == isa::MemoryOp::kCopyAsync && !request.bypass;
  }
  /// The next return is a copy's, and as many copies as can wait to write do so already.
  [[nodiscard]] bool return_blocked() const {
    return writes(requests_[loads_[returns_.front()].request]) &&
           copy_writes_.size() >= static_cast<std::size_t>(p_.concurrent_requests);
  }
  void join_group(Request& request, const isa::Instruction& inst);
  void end_of_mark(const Request& request, Cycle now);
  void end_of_copy(const Request& request, Cycle now);
  void end_groups(const Request& request);
  /// Begins the mark of an access, if marks are kept; add_to_mark() then adds what of it goes out to the chip.
  void leave_mark(const Request& request, Cycle now);
  void add_to_mark(std::uint64_t line, std::uint32_t sectors);
  void use_data_pipe(Cycle now);
  void finish_shared(const Request& request, Cycle now);
  void release(const Request& request, std::uint8_t scoreboard, Cycle time);
  [[nodiscard]] double store_cycles(const Request& request) const;
  [[nodiscard]] RequestNumber new_request();
  [[nodiscard]] int new_footprint();
  [[nodiscard]] Cycle next_wake(Cycle now) const;

  const SmParameters& p_;
  const isa::Program& program_;
  SmEventQueue& events_;
  SmCounters& counters_;
  AccessAnalyzer analyzer_;
  L1Cache l1_;
  int sub_partitions_;

  std::vector<Request> requests_;
  std::vector<RequestNumber> free_requests_;
  std::array<Ring<Queued>, kMaxSubPartitions> queues_;
  std::array<int, kMaxSubPartitions> queue_size_{};  ///< places taken, those of requests that just left included
  std::array<Cycle, kMaxSubPartitions> link_free_{};
  int transfer_turn_ = 0;
  std::vector<Staged> stage_;  ///< in order of transfer start
  int stage_others_ = 0;       ///< of these, those that do not go to the data pipe by themselves
  int credits_used_ = 0;
  Ring<RequestNumber> copy_writes_;                     ///< copies whose data are there, in order, waiting for a place
  std::array<int, kMaxSubPartitions> copies_staged_{};  ///< copies between the MIO queue and their look-up
  int copies_ready_ = 0;  ///< copies with their data in the SM that have not begun to write
  std::vector<Execution> executing_;
  std::size_t execution_turn_ = 0;
  Cycle tag_free_ = 0;
  double bypass_free_ = 0.0;  ///< when the last request of an LDGSTS.BYPASS goes
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
  [[nodiscard]] Pending& pending_for(std::uint64_t line);
  std::map<std::uint64_t, Pending> pending_;                               ///< lines on their way from the chip
  std::vector<std::map<std::uint64_t, Pending>::node_type> free_pending_;  ///< used again, so that nothing is allocated
  Ring<std::uint32_t> returns_;  ///< loads whose data takes the data pipe next
  Cycle data_pipe_free_ = 0;
  std::vector<CopyGroups> copy_groups_;           ///< by sub-partition and slot; empty if the program has none
  std::map<std::uint64_t, std::uint32_t> dirty_;  ///< local lines written and not written back: sectors

  std::vector<MemoryRequest> outbox_;
  std::vector<GlobalAccessMark> marks_;
  std::vector<model::LineAccess> mark_lines_;
  bool keep_marks_ = false;
  bool marking_ = false;  ///< the access that is started
  std::uint32_t sequence_ = 0;
};

}  // namespace tilesim::sim
