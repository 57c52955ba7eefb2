#include "traces/generator/tile_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/generator/registers.h"
#include "traces/generator/scheduler.h"

namespace tilesim::traces::generator {

namespace {

using isa::ControlOp;
using isa::MemoryOp;
using isa::Pipe;

constexpr int kLargestRegisterCount = 255;

std::string width_name(const char* opcode, std::int64_t elements) {
  return elements == 1 ? std::string(opcode) : fmt::format("{}.{}", opcode, elements * 32);
}

/// Builds the blocks of one kernel.
class Builder {
 public:
  Builder(const model::TileConfig& config, TileAccesses& accesses) : c_(config), accesses_(accesses) {
    for (std::int64_t i = 0; i < c_.tm * c_.tn; ++i) {
      fixed_.push_back(Value{1, true});
    }
    address_ = static_cast<int>(fixed_.size());
    fixed_.push_back(Value{1, true});
    restart();
  }

  [[nodiscard]] Block take() {
    Block block = std::move(block_);
    restart();
    return block;
  }

  /// Integer work of `count` operations in chains of `depth`; the last of them feed memory addresses.
  void integers(int count, int depth, Pipe pipe = Pipe::kAlu, const char* name = "IADD3") {
    int previous = -1;
    for (int i = 0; i < count; ++i) {
      Operation op = operation(pipe, i % 3 == 2 && pipe == Pipe::kAlu ? "LEA" : name);
      if (previous >= 0 && i % depth != 0) {
        op.uses.push_back({previous, 0});
      }
      op.result = new_value(1);
      previous = op.result;
      push(std::move(op));
    }
  }

  /// What the kernel starts with: indices, parameters, addresses, accumulators to zero.
  void start() {
    for (const char* name : {"S2R", "S2UR", "S2UR"}) {
      Operation op = operation(Pipe::kS2r, name);
      op.kind = ResultKind::kSlow;
      op.result = new_value(1);
      const int value = op.result;
      push(std::move(op));
      Operation user = operation(Pipe::kAlu, "SHF.R.S32.HI");
      user.uses.push_back({value, 0});
      user.result = new_value(1);
      push(std::move(user));
    }
    for (int i = 0; i < 6; ++i) {
      push(operation(Pipe::kNone, "ULDC.64"));
    }
    integers(36, 6);
    for (std::int64_t i = 0; i < ceil_div(c_.tm * c_.tn, 2); ++i) {
      push(operation(Pipe::kAlu, "CS2R"));
    }
  }

  /// Loads of a slice into registers. Returns the staged values of A, then B.
  std::vector<int> load_slice(std::int64_t slice) {
    std::vector<int> staged;
    for (const bool is_b : {false, true}) {
      for (std::int64_t i = 0; i < copies_per_thread(c_, is_b); ++i) {
        Operation op = memory(MemoryOp::kLoadGlobal, width_name("LDG.E", c_.vec) + ".CONSTANT", c_.vec, 2, slice,
                              {AccessKind::kLoadOperand, is_b, i, 0, c_.vec});
        op.kind = ResultKind::kGlobal;
        op.result = new_value(static_cast<int>(c_.vec));
        loads_.push_back(static_cast<int>(block_.operations.size()));
        staged.push_back(op.result);
        push(std::move(op));
      }
    }
    return staged;
  }

  void store_slice(const std::vector<int>& staged, std::int64_t slice) {
    std::size_t next = 0;
    for (const bool is_b : {false, true}) {
      const bool scattered = copy_transposes(c_, is_b);
      const std::int64_t width = scattered ? 1 : c_.vec;
      for (std::int64_t i = 0; i < copies_per_thread(c_, is_b); ++i, ++next) {
        for (std::int64_t piece = 0; piece < c_.vec; piece += width) {
          Operation op = memory(MemoryOp::kStoreShared, width_name("STS", width), width, 1 + static_cast<int>(width),
                                slice, {AccessKind::kStoreOperand, is_b, i, piece, width});
          op.uses.push_back({staged[next], static_cast<int>(piece)});
          op.after = barrier_ >= 0 ? std::vector<int>{barrier_} : std::vector<int>{};
          stores_.push_back(static_cast<int>(block_.operations.size()));
          push(std::move(op));
        }
      }
    }
  }

  /// Asynchronous copies of a slice, and the end of their group.
  void copy_slice(std::int64_t slice) {
    std::vector<int> copies;
    for (const bool is_b : {false, true}) {
      const std::int64_t width = copy_transposes(c_, is_b) ? 1 : c_.vec;
      for (std::int64_t i = 0; i < copies_per_thread(c_, is_b); ++i) {
        for (std::int64_t piece = 0; piece < c_.vec; piece += width) {
          Operation op = memory(MemoryOp::kCopyAsync, width_name("LDGSTS.E", width), width, 3, slice,
                                {AccessKind::kCopyOperand, is_b, i, piece, width});
          op.after = barrier_ >= 0 ? std::vector<int>{barrier_} : std::vector<int>{};
          copies.push_back(static_cast<int>(block_.operations.size()));
          push(std::move(op));
        }
      }
    }
    Operation commit = operation(Pipe::kLsu, "LDGDEPBAR");
    commit.code.control = ControlOp::kCommitGroup;
    commit.code.write_scoreboard = 0;
    commit.code.mio_registers = 1;  // it takes the place of a request with one source
    commit.after = copies;
    stores_.push_back(static_cast<int>(block_.operations.size()));
    push(std::move(commit));
  }

  void wait_groups(std::int64_t left) {
    Operation op = operation(Pipe::kNone, "DEPBAR.LE");
    op.code.control = ControlOp::kWaitGroups;
    op.code.wait_scoreboard = 0;
    op.code.wait_count = static_cast<std::uint8_t>(left);
    op.after = stores_;
    stores_.assign(1, static_cast<int>(block_.operations.size()));
    push(std::move(op));
  }

  /// After all stores and loads of the block so far; before everything that follows it in shared memory.
  void barrier() {
    Operation op = operation(Pipe::kBranch, "BAR.SYNC.DEFER_BLOCKING");
    op.code.control = ControlOp::kBarrier;
    op.after = stores_;
    op.after.insert(op.after.end(), loads_.begin(), loads_.end());
    op.after.insert(op.after.end(), fragments_.begin(), fragments_.end());
    barrier_ = static_cast<int>(block_.operations.size());
    stores_.clear();
    loads_.clear();
    fragments_.clear();
    push(std::move(op));
  }

  /// The products of one slice.
  void multiply(std::int64_t slice) {
    for (std::int64_t k = 0; k < c_.bk; ++k) {
      const std::vector<Use> a = fragment(false, k, slice);
      const std::vector<Use> b = fragment(true, k, slice);
      for (std::int64_t i = 0; i < c_.tm; ++i) {
        for (std::int64_t j = 0; j < c_.tn; ++j) {
          Operation op = operation(Pipe::kFma, "FFMA");
          const int sum = static_cast<int>(i * c_.tn + j);
          op.uses = {a[static_cast<std::size_t>(i)], b[static_cast<std::size_t>(j)], {sum, 0}};
          op.result = sum;
          op.code.flops_per_lane = 2;
          push(std::move(op));
        }
      }
    }
  }

  /// Back to the start of the loop; after everything.
  void branch() {
    Operation compare = operation(Pipe::kAlu, "ISETP.GE.AND");
    compare.result = new_value(1);
    const int predicate = compare.result;
    push(std::move(compare));
    Operation op = operation(Pipe::kBranch, "BRA");
    op.code.control = ControlOp::kBranch;
    op.uses.push_back({predicate, 0});
    after_all(op);
    push(std::move(op));
  }

  void store_c() {
    for (std::int64_t i = 0; i < c_.tm; ++i) {
      integers(1, 1, Pipe::kFmaWide, "IMAD.WIDE");
      for (std::int64_t j = 0; j < c_.tn; ++j) {
        const int sum = static_cast<int>(i * c_.tn + j);
        Operation op = memory(MemoryOp::kStoreGlobal, "STG.E", 1, 3, 0, {AccessKind::kStoreC, false, i, j, 1});
        op.uses.push_back({sum, 0});
        push(std::move(op));
      }
    }
    Operation exit = operation(Pipe::kBranch, "EXIT");
    exit.code.control = ControlOp::kExit;
    after_all(exit);
    push(std::move(exit));
  }

 private:
  void restart() {
    block_ = Block{};
    block_.values = fixed_;
    stores_.clear();
    loads_.clear();
    fragments_.clear();
    barrier_ = -1;
  }

  static Operation operation(Pipe pipe, std::string name) {
    Operation op;
    op.code.pipe = pipe;
    op.name = std::move(name);
    return op;
  }

  Operation memory(MemoryOp kind, std::string name, std::int64_t elements, int registers, std::int64_t slice,
                   const Access& access) {
    Operation op = operation(Pipe::kLsu, std::move(name));
    op.code.memory = kind;
    op.code.access_bytes = static_cast<std::uint8_t>(elements * 4);
    op.code.mio_registers = static_cast<std::uint8_t>(registers);
    op.access = accesses_.add(access);
    op.tile = static_cast<int>(slice);
    op.uses.push_back({address_, 0});
    return op;
  }

  std::vector<Use> fragment(bool is_b, std::int64_t k, std::int64_t slice) {
    const std::int64_t count = is_b ? c_.tn : c_.tm;
    const std::int64_t width = fragment_width(c_, is_b);
    std::vector<Use> uses;
    for (std::int64_t part = 0; part < count; part += width) {
      Operation op = memory(MemoryOp::kLoadShared, width_name("LDS", width), width, 1, slice,
                            {AccessKind::kLoadFragment, is_b, k, part, width});
      op.kind = ResultKind::kShared;
      op.result = new_value(static_cast<int>(width));
      op.after = barrier_ >= 0 ? std::vector<int>{barrier_} : std::vector<int>{};
      for (std::int64_t e = 0; e < width; ++e) {
        uses.push_back({op.result, static_cast<int>(e)});
      }
      fragments_.push_back(static_cast<int>(block_.operations.size()));
      push(std::move(op));
    }
    return uses;
  }

  void after_all(Operation& op) const {
    for (std::size_t i = 0; i < block_.operations.size(); ++i) {
      op.after.push_back(static_cast<int>(i));
    }
  }

  int new_value(int width) {
    block_.values.push_back(Value{width, false});
    return static_cast<int>(block_.values.size()) - 1;
  }

  void push(Operation op) { block_.operations.push_back(std::move(op)); }

  static std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

  const model::TileConfig& c_;
  TileAccesses& accesses_;
  std::vector<Value> fixed_;
  int address_ = 0;
  Block block_;
  std::vector<int> stores_, loads_, fragments_;
  int barrier_ = -1;
};

/// Appends scheduled blocks to the program.
class Emitter {
 public:
  explicit Emitter(const model::TileConfig& config) : config_(config) {}

  void append(const Block& block, int budget) {
    const Schedule order = schedule(block, ScheduleOptions{budget});
    std::vector<Operation> operations;
    operations.reserve(order.order.size());
    for (const int op : order.order) {
      operations.push_back(block.operations[static_cast<std::size_t>(op)]);
    }
    set_control(operations);
    most_registers_ = std::max(most_registers_, assign_registers(config_, block.values, operations));
    for (Operation& op : operations) {
      code_.program.instructions.push_back(op.code);
      code_.program.text.push_back(std::move(op.name));
      code_.references.push_back({op.access, op.tile});
    }
  }

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(code_.program.instructions.size()); }
  [[nodiscard]] TileCode& code() { return code_; }
  [[nodiscard]] int most_registers() const { return most_registers_; }

 private:
  const model::TileConfig& config_;
  TileCode code_;
  int most_registers_ = 0;
};

}  // namespace

TileCode make_tile_code(const model::TileConfig& config, TileAccesses& accesses) {
  Builder build(config, accesses);
  Emitter emit(config);
  const LoopOverhead overhead = loop_overhead(config);
  const int budget = fragment_budget(config);
  const bool async = config.copy == model::CopyPath::kAsync;
  TileCode& code = emit.code();

  build.start();
  if (async && config.stages > 1) {
    for (std::int64_t s = 0; s + 1 < config.stages; ++s) {
      build.copy_slice(s);
    }
  } else if (!async && config.stages > 1) {
    build.store_slice(build.load_slice(0), 0);
    build.barrier();
  }
  emit.append(build.take(), kLargestRegisterCount);

  code.loop_begin = emit.size();
  build.integers(overhead.integers, 2);
  build.integers(overhead.uniform, 2, Pipe::kUniform, "UIADD3");
  if (config.stages == 1) {
    if (async) {
      build.barrier();
      build.copy_slice(0);
      build.wait_groups(0);
    } else {
      const std::vector<int> staged = build.load_slice(0);
      build.barrier();
      build.store_slice(staged, 0);
    }
    build.barrier();
    build.multiply(0);
  } else if (async) {
    build.wait_groups(config.stages - 2);
    build.barrier();
    build.copy_slice(config.stages - 1);
    build.multiply(0);
  } else {
    const std::vector<int> staged = build.load_slice(1);
    build.multiply(0);
    build.store_slice(staged, 1);
    build.barrier();
    code.peeled = 1;
  }
  build.branch();
  emit.append(build.take(), budget);
  code.loop_end = emit.size();
  code.program.instructions[code.loop_end - 1].branch_target = code.loop_begin;

  if (code.peeled != 0) {
    build.multiply(0);
    emit.append(build.take(), budget);
  }
  build.store_c();
  emit.append(build.take(), kLargestRegisterCount);

  const auto demand = static_cast<int>(model::register_demand(config));
  const int cap = config.register_cap != 0 ? static_cast<int>(config.register_cap) : kLargestRegisterCount;
  code.registers = std::min(demand, cap);
  code.spilled_bytes = std::int64_t{4} * (demand - code.registers);
  code.program.name = "tile_gemm";
  code.program.registers_referenced = code.registers;
  return std::move(code);
}

}  // namespace tilesim::traces::generator
