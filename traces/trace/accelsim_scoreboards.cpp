#include "traces/trace/accelsim_scoreboards.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace tilesim::traces::accelsim {

namespace {

using generator::Operation;
using generator::ResultKind;
using isa::ControlOp;
using isa::MemoryOp;

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

// Cycles until a result is there, or sources have been read, as far as the choice of a scoreboard goes: an LDS alone
// takes about 33, one that misses all caches some hundred.
constexpr std::int64_t kSharedCycles = 33;
constexpr std::int64_t kGlobalCycles = 500;
constexpr std::int64_t kSlowCycles = 30;
constexpr std::int64_t kReadCycles = 20;

bool is_shared_load(const Operation& op) {
  return op.code.memory == MemoryOp::kLoadShared || op.code.memory == MemoryOp::kLoadMatrix;
}

/// Reads its sources after it has issued.
bool reads_late(const Operation& op) { return op.code.pipe == isa::Pipe::kLsu && !op.uses.empty(); }

/// What somebody waits for: a result, or that sources have been read.
struct Event {
  std::size_t producer = 0;  ///< operation
  bool read = false;
  std::int64_t cycles = 0;
  int scoreboard = -1;
  std::size_t covered_by = kNowhere;  ///< event that is waited for instead
};

/// An event as it happens on the path.
struct Instance {
  std::size_t event = 0;
  std::size_t from = 0;  ///< places on the path
  std::size_t until = kNowhere;
};

class Allocator {
 public:
  explicit Allocator(std::vector<Operation>& operations)
      : operations_(operations), joined_(operations.size(), false), events_of_(operations.size()) {}

  void run() {
    walk();
    find_users();
    cover();
    share();
    set_waits();
  }

 private:
  struct Place {
    std::size_t operation = 0;
    std::int64_t cycle = 0;
  };

  void walk();
  void find_users();
  void use(std::size_t& instance, std::size_t place);
  std::size_t begin(std::size_t place, bool read, std::int64_t cycles);
  void cover();
  [[nodiscard]] bool covers(std::size_t event, std::size_t other) const;
  void share();
  [[nodiscard]] std::int64_t cost(const Instance& one, const Instance& other) const;
  void link_overlaps();
  void add_overlap(std::size_t event, std::size_t other, std::int64_t cost);
  void set_waits();
  struct Pending {
    std::vector<std::uint8_t> written, read;  ///< scoreboards by register
    bool merge(const Pending& other);
  };
  void pass(std::size_t index, Pending& pending);

  std::vector<Operation>& operations_;
  std::vector<bool> joined_;  ///< control may come from elsewhere
  std::vector<Place> path_;
  std::vector<Event> events_;
  std::vector<std::array<std::size_t, 2>> events_of_;  ///< by operation: result, sources; kNowhere
  std::vector<Instance> instances_;
  std::vector<std::vector<std::size_t>> instances_of_;                       ///< by event
  std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> overlaps_;  ///< by event: cost of sharing with another
  std::vector<std::vector<std::size_t>> covered_;                            ///< by event
};

/// The code in the order of its addresses, every loop twice.
void Allocator::walk() {
  constexpr std::size_t kLongest = 8;  // times the code: loops in loops do not multiply for ever
  std::vector<bool> taken(operations_.size(), false);
  std::int64_t cycle = 0;
  for (std::size_t i = 0; i < operations_.size();) {
    path_.push_back({i, cycle});
    const isa::Instruction& code = operations_[i].code;
    cycle += std::max<int>(1, code.stall);
    const bool branch = code.control == ControlOp::kBranch;
    if (branch && code.branch_target < operations_.size()) {
      joined_[code.branch_target] = true;
    }
    if (branch && code.branch_target <= i && !taken[i] && path_.size() < kLongest * operations_.size()) {
      taken[i] = true;
      i = code.branch_target;
    } else {
      joined_[std::min(i + 1, operations_.size() - 1)] = joined_[std::min(i + 1, operations_.size() - 1)] || branch;
      ++i;
    }
  }
}

std::size_t Allocator::begin(std::size_t place, bool read, std::int64_t cycles) {
  std::size_t& event = events_of_[path_[place].operation][read ? 1 : 0];
  if (event == kNowhere) {
    event = events_.size();
    events_.push_back({path_[place].operation, read, cycles, -1, kNowhere});
    instances_of_.emplace_back();
  }
  instances_of_[event].push_back(instances_.size());
  instances_.push_back({event, place, kNowhere});
  return instances_.size() - 1;
}

/// Somebody at `place` needs that the instance is over; it is afterwards.
void Allocator::use(std::size_t& instance, std::size_t place) {
  if (instance != kNowhere) {
    std::size_t& until = instances_[instance].until;
    until = std::min(until, place);
    instance = kNowhere;
  }
}

/// First users of results, and first writers to sources, along the path.
void Allocator::find_users() {
  constexpr std::size_t kRegisters = 256;
  for (auto& both : events_of_) {
    both.fill(kNowhere);
  }
  std::array<std::size_t, kRegisters> writer{};
  std::array<std::size_t, kRegisters> reader{};
  writer.fill(kNowhere);
  reader.fill(kNowhere);
  for (std::size_t place = 0; place < path_.size(); ++place) {
    const Operation& op = operations_[path_[place].operation];
    for (const generator::Use& source : op.uses) {
      use(writer[static_cast<std::size_t>(source.value)], place);
    }
    const auto each_result = [&op](auto&& what) {
      for (int part = 0; op.result >= 0 && part < op.result_values; ++part) {
        what(static_cast<std::size_t>(op.result) + static_cast<std::size_t>(part));
      }
    };
    each_result([&](std::size_t reg) {
      use(writer[reg], place);
      use(reader[reg], place);
    });
    if (reads_late(op)) {
      const std::size_t instance = begin(place, true, kReadCycles);
      for (const generator::Use& source : op.uses) {
        reader[static_cast<std::size_t>(source.value)] = instance;
      }
    }
    if (op.result >= 0 && op.kind != ResultKind::kFixed) {
      const std::int64_t cycles = op.kind == ResultKind::kShared   ? kSharedCycles
                                  : op.kind == ResultKind::kGlobal ? kGlobalCycles
                                                                   : kSlowCycles;
      const std::size_t instance = begin(place, false, cycles);
      each_result([&](std::size_t reg) { writer[reg] = instance; });
    }
  }
}

/// True if each user of `event` comes no earlier than a user of `other`, which began after it.
bool Allocator::covers(std::size_t event, std::size_t other) const {
  const auto& own = instances_of_[event];
  const auto& others = instances_of_[other];
  if (own.size() != others.size()) {
    return false;
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Instance& a = instances_[own[i]];
    const Instance& b = instances_[others[i]];
    if (b.from < a.from || b.until > a.until || b.from >= a.until) {
      return false;
    }
  }
  return true;
}

/// Events that need no scoreboard of their own: nobody waits for them, or a later one in the same queue stands for
/// them.
void Allocator::cover() {
  constexpr std::size_t kFarthest = 64;  // operations
  covered_.resize(events_.size());
  for (std::size_t e = events_.size(); e-- > 0;) {
    Event& event = events_[e];
    const std::size_t own_result = events_of_[event.producer][0];
    if (event.read && own_result != kNowhere && covers(e, own_result)) {
      event.covered_by = own_result;
    }
    const std::size_t last = std::min(event.producer + kFarthest, operations_.size() - 1);
    for (std::size_t i = event.producer + 1; i <= last && event.covered_by == kNowhere && !joined_[i]; ++i) {
      const bool in_order = event.read ? operations_[i].code.pipe == isa::Pipe::kLsu
                                       : is_shared_load(operations_[event.producer]) && is_shared_load(operations_[i]);
      for (const bool read : {false, true}) {
        const std::size_t other = events_of_[i][read ? 1 : 0];
        if (in_order && other != kNowhere && (event.read || !read) && covers(e, other)) {
          event.covered_by = other;
          break;
        }
      }
    }
    if (event.covered_by != kNowhere) {
      while (events_[event.covered_by].covered_by != kNowhere) {
        event.covered_by = events_[event.covered_by].covered_by;
      }
      covered_[event.covered_by].push_back(e);
    }
  }
}

/// Cycles that the earlier of two users waits longer if both events have one scoreboard.
std::int64_t Allocator::cost(const Instance& one, const Instance& other) const {
  const Instance& first = one.until <= other.until ? one : other;
  const Instance& second = one.until <= other.until ? other : one;
  if (second.from >= first.until) {
    return 0;
  }
  const auto done = [this](const Instance& i) { return path_[i.from].cycle + events_[i.event].cycles; };
  return std::max<std::int64_t>(0, done(second) - std::max(done(first), path_[first.until].cycle));
}

void Allocator::add_overlap(std::size_t event, std::size_t other, std::int64_t cost) {
  auto& known = overlaps_[event];
  const auto found = std::find_if(known.rbegin(), known.rend(), [other](const auto& o) { return o.first == other; });
  if (found != known.rend()) {
    found->second += cost;
  } else {
    known.emplace_back(other, cost);
  }
}

/// Events that are under way at the same time, with the cost of sharing.
void Allocator::link_overlaps() {
  constexpr std::size_t kMostOpen = 24;  // four times the scoreboards; who is open longer hinders nobody any more
  overlaps_.resize(events_.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < instances_.size(); ++i) {  // by rising `from`
    const Instance& instance = instances_[i];
    if (instance.until == kNowhere || events_[instance.event].covered_by != kNowhere) {
      continue;
    }
    std::erase_if(open, [&](std::size_t o) { return instances_[o].until <= instance.from; });
    for (const std::size_t o : open) {
      const std::size_t other = instances_[o].event;
      if (other != instance.event) {
        const std::int64_t added = cost(instance, instances_[o]) + 1;  // apart where that costs nothing
        add_overlap(instance.event, other, added);
        add_overlap(other, instance.event, added);
      }
    }
    open.push_back(i);
    if (open.size() > kMostOpen) {
      open.erase(open.begin());
    }
  }
}

/// Gives out scoreboards: in the order of the code, then each again in view of all others, until nothing gets better.
void Allocator::share() {
  constexpr int kMostRounds = 8;
  link_overlaps();
  const bool copies = std::any_of(operations_.begin(), operations_.end(), [](const Operation& op) {
    return op.code.control == ControlOp::kCommitGroup || op.code.control == ControlOp::kWaitGroups;
  });
  const int first = copies ? kGroupScoreboard + 1 : 0;
  bool better = true;
  for (int round = 0; better && round < kMostRounds; ++round) {
    better = false;
    for (std::size_t e = 0; e < events_.size(); ++e) {
      const bool awaited = std::any_of(instances_of_[e].begin(), instances_of_[e].end(),
                                       [this](std::size_t i) { return instances_[i].until != kNowhere; });
      if (events_[e].covered_by != kNowhere || !awaited) {
        continue;
      }
      std::array<std::int64_t, isa::kScoreboards> costs{};
      for (const auto& [other, shared] : overlaps_[e]) {
        if (events_[other].scoreboard >= 0) {
          costs[static_cast<std::size_t>(events_[other].scoreboard)] += shared;
        }
      }
      const auto least = std::min_element(costs.begin() + first, costs.end());
      const int own = events_[e].scoreboard;
      if (own < 0 || *least < costs[static_cast<std::size_t>(own)]) {
        events_[e].scoreboard = static_cast<int>(least - costs.begin());
        better = true;
      }
    }
  }
}

bool Allocator::Pending::merge(const Pending& other) {
  bool grown = false;
  const auto add = [&grown](std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& from) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      grown = grown || (from[i] & ~to[i]) != 0;
      to[i] = static_cast<std::uint8_t>(to[i] | from[i]);
    }
  };
  add(written, other.written);
  add(read, other.read);
  return grown;
}

/// One operation: it waits for what it needs, and begins its events.
void Allocator::pass(std::size_t index, Pending& pending) {
  Operation& op = operations_[index];
  unsigned needed = op.code.wait_mask;
  for (const generator::Use& source : op.uses) {
    needed |= pending.written[static_cast<std::size_t>(source.value)];
  }
  for (int part = 0; op.result >= 0 && part < op.result_values; ++part) {
    const auto reg = static_cast<std::size_t>(op.result) + static_cast<std::size_t>(part);
    needed |= pending.written[reg] | pending.read[reg];
  }
  op.code.wait_mask = static_cast<std::uint8_t>(needed);
  if (needed != 0) {
    for (auto* registers : {&pending.written, &pending.read}) {
      for (std::uint8_t& scoreboards : *registers) {
        scoreboards = static_cast<std::uint8_t>(scoreboards & ~needed);
      }
    }
  }
  const auto mark = [&](std::size_t e, std::uint8_t bit) {
    const Operation& producer = operations_[events_[e].producer];
    if (events_[e].read) {
      for (const generator::Use& source : producer.uses) {
        pending.read[static_cast<std::size_t>(source.value)] |= bit;
      }
    } else {
      for (int part = 0; part < producer.result_values; ++part) {
        pending.written[static_cast<std::size_t>(producer.result) + static_cast<std::size_t>(part)] |= bit;
      }
    }
  };
  for (const std::size_t e : events_of_[index]) {
    if (e != kNowhere && events_[e].scoreboard >= 0) {
      const auto bit = static_cast<std::uint8_t>(1U << events_[e].scoreboard);
      mark(e, bit);
      for (const std::size_t other : covered_[e]) {
        mark(other, bit);
      }
    }
  }
}

/// Wait masks, along all branches.
void Allocator::set_waits() {
  constexpr int kMostSweeps = 8;
  constexpr std::size_t kRegisters = 256;
  for (const Event& event : events_) {
    isa::Instruction& code = operations_[event.producer].code;
    if (event.scoreboard >= 0) {
      (event.read ? code.read_scoreboard : code.write_scoreboard) = static_cast<std::uint8_t>(event.scoreboard);
    }
  }
  const Pending nothing{std::vector<std::uint8_t>(kRegisters), std::vector<std::uint8_t>(kRegisters)};
  std::map<std::size_t, Pending> at_target;
  bool grown = true;
  for (int sweep = 0; grown && sweep < kMostSweeps; ++sweep) {
    grown = false;
    Pending pending = nothing;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (const auto target = at_target.find(i); target != at_target.end()) {
        pending.merge(target->second);
      }
      pass(i, pending);
      const isa::Instruction& code = operations_[i].code;
      if (code.control == ControlOp::kBranch) {
        grown = at_target.try_emplace(code.branch_target, nothing).first->second.merge(pending) || grown;
      }
    }
  }
}

}  // namespace

void set_scoreboards(std::vector<Operation>& operations) {
  for (Operation& op : operations) {
    op.code.write_scoreboard = isa::kNoScoreboard;
    op.code.read_scoreboard = isa::kNoScoreboard;
    op.code.wait_mask = 0;
  }
  Allocator(operations).run();
  for (Operation& op : operations) {
    if (op.code.control == ControlOp::kCommitGroup) {
      op.code.write_scoreboard = kGroupScoreboard;
    }
  }
}

}  // namespace tilesim::traces::accelsim
