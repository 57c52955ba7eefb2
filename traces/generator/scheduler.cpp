#include "traces/generator/scheduler.h"

#include <algorithm>
#include <array>
#include <limits>

namespace tilesim::traces::generator {

namespace {

// Latencies that ptxas' placement shows: LDS about 33 cycles before the first use, LDG about 200 (five calibration
// listings); 4 and 5 are the dependent-issue latencies of FFMA and integer results on sm_90.
constexpr int kSharedLatency = 33;
constexpr int kGlobalLatency = 200;
constexpr int kSlowLatency = 30;
constexpr int kFixedLatency = 5;
constexpr int kFmaLatency = 4;
// ptxas keeps HMMAs of a warp this far apart, and those that add to the same sums; the loop's branch included.
constexpr int kTensorInterval = 6;
constexpr int kTensorLatency = 24;
/// Stores to shared memory stand that far before the end of the block.
constexpr int kStoreLead = 40;
constexpr int kMemoryInterval = 4;
constexpr int kNever = std::numeric_limits<int>::max() / 2;

bool is_tensor(const Operation& op) {
  return op.code.pipe == isa::Pipe::kTensor || op.code.pipe == isa::Pipe::kTensorShort;
}
bool is_memory(const Operation& op) { return op.code.memory != isa::MemoryOp::kNone; }

int latency(const Operation& op) {
  switch (op.kind) {
    case ResultKind::kShared:
      return kSharedLatency;
    case ResultKind::kGlobal:
    case ResultKind::kDirect:
      return kGlobalLatency;
    case ResultKind::kSlow:
      return kSlowLatency;
    case ResultKind::kFixed:
      break;
  }
  return is_tensor(op) ? kTensorLatency : is_product(op) ? kFmaLatency : kFixedLatency;
}

/// The list scheduler of one block.
class ListScheduler {
 public:
  ListScheduler(const Block& block, const ScheduleOptions& options)
      : block_(block),
        options_(options),
        writer_(block.values.size(), -1),
        users_left_(block.values.size(), 0),
        done_(block.operations.size(), false),
        ready_(block.operations.size(), 0),
        arrival_(block.operations.size(), 0),
        deadline_(block.operations.size(), kNever) {
    link();
    if (options.early_loads) {
      set_priorities();
    } else {
      set_deadlines();
    }
    // Operations with equal deadlines keep their order.
    std::stable_sort(others_.begin(), others_.end(), [this](int a, int b) {
      return deadline_[static_cast<std::size_t>(a)] < deadline_[static_cast<std::size_t>(b)];
    });
  }

  Schedule run() {
    const std::size_t count = block_.operations.size();
    while (schedule_.order.size() < count) {
      const int next = options_.early_loads ? pick_early() : pick();
      issue(next);
    }
    return std::move(schedule_);
  }

 private:
  void link() {
    const auto& ops = block_.operations;
    predecessors_.resize(ops.size());
    successors_.resize(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
      for (const Use& use : ops[i].uses) {
        const int writer = writer_[static_cast<std::size_t>(use.value)];
        if (writer >= 0) {
          add_edge(writer, static_cast<int>(i));
        }
        ++users_left_[static_cast<std::size_t>(use.value)];
      }
      for (const int before : ops[i].after) {
        add_edge(before, static_cast<int>(i));
      }
      if (ops[i].result >= 0) {
        writer_[static_cast<std::size_t>(ops[i].result)] = static_cast<int>(i);
      }
      (is_product(ops[i]) ? products_ : others_).push_back(static_cast<int>(i));
    }
  }

  void add_edge(int from, int to) {
    predecessors_[static_cast<std::size_t>(to)].push_back(from);
    successors_[static_cast<std::size_t>(from)].push_back(to);
  }

  /// The number of products that may have gone before each of the other operations at the latest.
  void set_deadlines() {
    const auto& ops = block_.operations;
    const int total = static_cast<int>(products_.size());
    std::vector<int> position(ops.size(), 0);
    for (std::size_t k = 0; k < products_.size(); ++k) {
      position[static_cast<std::size_t>(products_[k])] = static_cast<int>(k);
    }
    for (std::size_t i = ops.size(); i-- > 0;) {
      if (is_product(ops[i])) {
        deadline_[i] = position[i];
        continue;
      }
      const bool store = isa::is_store(ops[i].code.memory);
      int latest = store ? total - kStoreLead : total;
      for (const int s : successors_[i]) {
        latest = std::min(latest, deadline_[static_cast<std::size_t>(s)] - (store ? 0 : latency(ops[i])));
      }
      deadline_[i] = latest;
    }
  }

  /// Early loads: what may go at any time comes first (addresses, copies, synchronisation, then loads in the order in
  /// which products need them); stores of what comes next, and the end, have to wait for products.
  void set_priorities() {
    constexpr int kFirst = -2 * kNever / 3;
    constexpr int kLoads = -kNever / 3;
    const auto& ops = block_.operations;
    const int total = static_cast<int>(products_.size());
    std::vector<int> first_product(ops.size(), total);
    for (int k = total; k-- > 0;) {
      for (const int p : predecessors_[static_cast<std::size_t>(products_[static_cast<std::size_t>(k)])]) {
        first_product[static_cast<std::size_t>(p)] = k;
      }
    }
    int staged = 0;  // registers
    for (std::size_t i = 0; i < ops.size(); ++i) {
      staged += ops[i].kind == ResultKind::kGlobal ? width_of_result(static_cast<int>(i)) : 0;
    }
    // Where the staged slice would leave no room for fragments it is loaded when few of them are still to come.
    const bool late = 2 * staged > options_.register_budget;
    bool multiplies = false;  // a store after the fragments is of the next slice
    for (std::size_t i = 0; i < ops.size(); ++i) {
      multiplies = multiplies || ops[i].kind == ResultKind::kShared;
      if (ops[i].kind == ResultKind::kShared) {
        deadline_[i] = kLoads + first_product[i];
      } else if (ops[i].kind == ResultKind::kGlobal && late) {
        deadline_[i] = std::max(0, total - kStoreLead / kTensorInterval);
      } else if (multiplies && ops[i].code.memory == isa::MemoryOp::kStoreShared) {
        deadline_[i] = total;
      } else {
        deadline_[i] = kFirst;
      }
    }
    // What comes after something comes no earlier.
    for (std::size_t i = 0; i < ops.size(); ++i) {
      for (const int s : successors_[i]) {
        int& later = deadline_[static_cast<std::size_t>(s)];
        later = std::max(later, is_product(ops[i]) ? total : deadline_[i]);
      }
    }
  }

  [[nodiscard]] bool unblocked(int op) const {
    const auto& before = predecessors_[static_cast<std::size_t>(op)];
    return std::all_of(before.begin(), before.end(), [this](int p) { return done_[static_cast<std::size_t>(p)]; });
  }

  [[nodiscard]] int width_of_result(int op) const {
    const int result = block_.operations[static_cast<std::size_t>(op)].result;
    return result < 0 || block_.values[static_cast<std::size_t>(result)].fixed
               ? 0
               : block_.values[static_cast<std::size_t>(result)].width;
  }

  [[nodiscard]] bool fits(int op) const { return live_ + width_of_result(op) <= options_.register_budget; }

  /// The next operation: one whose time has come, else the next product, else whatever is unblocked first.
  int pick() {
    const int position = next_product_;
    const bool product_left = position < static_cast<int>(products_.size());
    const bool product_unblocked = product_left && unblocked(products_[static_cast<std::size_t>(position)]);
    // While the next product waits for its fragments, other loads cost nothing.
    const bool product_waits =
        product_unblocked && arrival_[static_cast<std::size_t>(products_[static_cast<std::size_t>(position)])] > cycle_;
    int first_unblocked = -1;
    while (first_other_ < others_.size() && done_[static_cast<std::size_t>(others_[first_other_])]) {
      ++first_other_;
    }
    for (std::size_t i = first_other_; i < others_.size(); ++i) {
      const int op = others_[i];
      const auto at = static_cast<std::size_t>(op);
      if (deadline_[at] > position && (product_unblocked || first_unblocked >= 0)) {
        break;  // sorted by deadline: nothing later is due
      }
      if (done_[at] || !unblocked(op)) {
        continue;
      }
      first_unblocked = first_unblocked < 0 ? op : first_unblocked;
      // What products wait a global latency for goes as soon as there are registers.
      const bool memory = block_.operations[at].code.memory != isa::MemoryOp::kNone &&
                          block_.operations[at].kind != ResultKind::kDirect;
      const bool too_soon = memory && since_memory_ < kMemoryInterval && product_unblocked && !product_waits;
      if (deadline_[at] <= position && !too_soon && ready_[at] <= cycle_ && (fits(op) || !product_unblocked)) {
        return op;
      }
    }
    if (product_unblocked) {
      return products_[static_cast<std::size_t>(position)];
    }
    return first_unblocked;
  }

  /// The next product if it can start before anything that is due, else what can start first.
  int pick_early() {
    const int position = next_product_;
    const int product =
        position < static_cast<int>(products_.size()) ? products_[static_cast<std::size_t>(position)] : -1;
    const bool product_unblocked = product >= 0 && unblocked(product);
    const int product_start =
        product_unblocked ? std::max({cycle_, product_free_, ready_[static_cast<std::size_t>(product)]}) : kNever;
    int best = -1, best_start = kNever, fallback = -1;
    while (first_other_ < others_.size() && done_[static_cast<std::size_t>(others_[first_other_])]) {
      ++first_other_;
    }
    for (std::size_t i = first_other_; i < others_.size(); ++i) {
      const int op = others_[i];
      const auto at = static_cast<std::size_t>(op);
      const bool due = deadline_[at] <= position;
      if (!due && (product_unblocked || best >= 0 || fallback >= 0)) {
        break;  // sorted by deadline
      }
      if (done_[at] || !unblocked(op)) {
        continue;
      }
      fallback = fallback < 0 ? op : fallback;
      const int start = std::max({cycle_, ready_[at], is_memory(block_.operations[at]) ? memory_free_ : cycle_});
      if (due && fits(op) && start < best_start) {
        best = op;
        best_start = start;
      }
    }
    if (best >= 0 && best_start < product_start) {
      return best;
    }
    return product_unblocked ? product : best >= 0 ? best : fallback;
  }

  void issue(int op) {
    const auto at = static_cast<std::size_t>(op);
    const Operation& operation = block_.operations[at];
    cycle_ = std::max({cycle_, ready_[at], is_product(operation) ? arrival_[at] : 0});
    if (options_.early_loads) {
      cycle_ = std::max(
          {cycle_, is_product(operation) ? product_free_ : cycle_, is_memory(operation) ? memory_free_ : cycle_});
      product_free_ = is_product(operation) ? cycle_ + kTensorInterval : product_free_;
      memory_free_ = is_memory(operation) ? cycle_ + kMemoryInterval : memory_free_;
    }
    done_[at] = true;
    schedule_.order.push_back(op);
    next_product_ += is_product(operation) ? 1 : 0;
    since_memory_ = operation.code.memory != isa::MemoryOp::kNone ? 0 : since_memory_ + 1;
    live_ += width_of_result(op);
    schedule_.pressure = std::max(schedule_.pressure, live_);
    if (operation.result >= 0 && users_left_[static_cast<std::size_t>(operation.result)] == 0) {
      live_ -= width_of_result(op);
    }
    for (const Use& use : operation.uses) {
      const Value& value = block_.values[static_cast<std::size_t>(use.value)];
      if (--users_left_[static_cast<std::size_t>(use.value)] == 0 && !value.fixed) {
        live_ -= value.width;
      }
    }
    const bool known = options_.early_loads || operation.kind == ResultKind::kFixed;
    const int wait = known && operation.result >= 0 ? latency(operation) : 1;
    for (const int s : successors_[at]) {
      ready_[static_cast<std::size_t>(s)] = std::max(ready_[static_cast<std::size_t>(s)], cycle_ + wait);
      if (!options_.early_loads && (operation.kind == ResultKind::kShared || operation.kind == ResultKind::kDirect)) {
        arrival_[static_cast<std::size_t>(s)] =
            std::max(arrival_[static_cast<std::size_t>(s)], cycle_ + latency(operation));
      }
    }
    ++cycle_;
  }

  const Block& block_;
  ScheduleOptions options_;
  std::vector<int> writer_, users_left_;
  std::vector<std::vector<int>> predecessors_, successors_;
  std::vector<int> products_, others_;
  std::vector<bool> done_;
  std::vector<int> ready_;
  std::vector<int> arrival_;  ///< cycle at which the fragments of a product are there
  std::vector<int> deadline_;
  int next_product_ = 0;
  std::size_t first_other_ = 0;
  int since_memory_ = kMemoryInterval;
  int product_free_ = 0, memory_free_ = 0;  ///< cycles, with early loads
  int live_ = 0;
  int cycle_ = 0;
  Schedule schedule_;
};

/// Scoreboards of operations whose results or sources are not ready after a fixed time.
class Scoreboards {
 public:
  /// As ptxas gives them out in a block.
  explicit Scoreboards(const std::vector<Operation>& operations) {
    const auto has = [&operations](auto&& what) { return std::any_of(operations.begin(), operations.end(), what); };
    const bool tensor = has(is_tensor);
    shares_last_ = tensor || has([](const Operation& op) { return op.kind == ResultKind::kDirect; });
    // The first one counts the groups of asynchronous copies: who waits for another result must not wait for them.
    const bool copies = has([](const Operation& op) { return op.code.control == isa::ControlOp::kCommitGroup; });
    ranges_.fill(Range{copies ? 1 : 0, isa::kScoreboards, 0});
    if (tensor && has([](const Operation& op) { return op.kind == ResultKind::kGlobal; })) {
      // Nor must an HMMA that waits for its fragments wait for the next slice.
      constexpr int kOfFragments = 2;
      ranges_ = {Range{0, kOfFragments, 0}, Range{kOfFragments, isa::kScoreboards, 0}};
    }
  }
  /// The least used one. Beside HMMAs and with direct loads, where all are in use the last one is shared, so that what
  /// is needed soon does not wait for what came later.
  int take(bool fragment) {
    Range& range = ranges_[fragment ? 0 : 1];
    const auto begin = users_.begin() + range.first;
    auto least = std::min_element(begin, users_.begin() + range.end);
    least = shares_last_ && *least != 0 ? users_.begin() + std::max(range.last, range.first) : least;
    ++*least;
    range.last = static_cast<int>(least - users_.begin());
    return range.last;
  }
  void clear(std::uint8_t mask) {
    for (std::size_t i = 0; i < users_.size(); ++i) {
      users_[i] = (mask >> i & 1U) != 0 ? 0 : users_[i];
    }
  }

 private:
  struct Range {
    int first = 0;
    int end = isa::kScoreboards;
    int last = 0;  ///< given out
  };
  std::array<int, isa::kScoreboards> users_{};
  std::array<Range, 2> ranges_{};  ///< for fragments, for all else
  bool shares_last_ = false;
};

}  // namespace

Schedule schedule(const Block& block, const ScheduleOptions& options) { return ListScheduler(block, options).run(); }

void set_control(std::vector<Operation>& operations) {
  constexpr int kLongestStall = 15;
  constexpr int kBranchStall = 5;
  Scoreboards scoreboards(operations);
  struct Pending {
    int scoreboard = -1;  ///< of a slow result
    int ready = 0;        ///< of a fixed one
  };
  std::vector<Pending> values;
  const auto pending = [&values](int value) -> Pending& {
    if (static_cast<std::size_t>(value) >= values.size()) {
      values.resize(static_cast<std::size_t>(value) + 1);
    }
    return values[static_cast<std::size_t>(value)];
  };
  int cycle = 0;
  int memory_free = 0;
  int tensor_free = 0;
  int tensor_done = 0;
  std::vector<std::pair<int, int>> reads;  ///< value whose registers a store or load still reads, scoreboard
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Operation& op = operations[i];
    int start = cycle;
    std::uint8_t mask = 0;
    const auto wait_for = [&](int scoreboard) { mask = static_cast<std::uint8_t>(mask | 1U << scoreboard); };
    for (const Use& use : op.uses) {
      const Pending& p = pending(use.value);
      start = std::max(start, p.ready);
      if (p.scoreboard >= 0) {
        wait_for(p.scoreboard);
      }
    }
    for (const auto& [value, scoreboard] : reads) {
      if (op.result >= 0 && value >= op.result && value < op.result + op.result_values) {
        wait_for(scoreboard);  // the registers are overwritten
      }
    }
    const bool memory = is_memory(op);
    start = memory ? std::max(start, memory_free) : start;
    start = is_tensor(op) ? std::max(start, tensor_free) : start;
    const bool branch = op.code.control == isa::ControlOp::kBranch;
    start = branch ? std::max(start, tensor_done - kLongestStall) : start;
    if (op.code.control == isa::ControlOp::kBarrier) {
      start = std::max(start, cycle);
    }
    op.code.wait_mask = mask;
    if (mask != 0) {
      scoreboards.clear(mask);
      for (Pending& p : values) {
        p.scoreboard = p.scoreboard >= 0 && (mask >> p.scoreboard & 1U) != 0 ? -1 : p.scoreboard;
      }
      std::erase_if(reads, [mask](const auto& read) { return (mask >> read.second & 1U) != 0; });
    }
    if (i > 0) {
      operations[i - 1].code.stall = static_cast<std::uint8_t>(
          std::clamp<int>(std::max<int>(operations[i - 1].code.stall, start - cycle + 1), 1, kLongestStall));
    }
    cycle = start + 1;
    op.code.stall = static_cast<std::uint8_t>(branch ? std::max(kBranchStall, tensor_done - start) : 1);
    if (op.code.control == isa::ControlOp::kBarrier) {
      op.code.stall = 6;
      cycle = start + 6;
    }
    memory_free = memory ? start + kMemoryInterval : memory_free;
    if (is_tensor(op)) {
      tensor_free = start + kTensorInterval;
      tensor_done = start + kTensorLatency;
    }
    if (op.result >= 0) {
      const bool fixed = op.kind == ResultKind::kFixed;
      const Pending result{fixed ? -1 : scoreboards.take(op.kind == ResultKind::kShared),
                           fixed ? start + latency(op) : 0};
      for (int part = 0; part < op.result_values; ++part) {
        pending(op.result + part) = result;
      }
      if (!fixed) {
        op.code.write_scoreboard = static_cast<std::uint8_t>(result.scoreboard);
      }
    }
    if (isa::is_store(op.code.memory) && op.uses.size() > 1) {
      const int scoreboard = scoreboards.take(false);
      op.code.read_scoreboard = static_cast<std::uint8_t>(scoreboard);
      reads.emplace_back(op.uses.back().value, scoreboard);
    }
  }
}

}  // namespace tilesim::traces::generator
