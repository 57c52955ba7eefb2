#include "traces/generator/code_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/tile_layout.h"

namespace tilesim::traces::generator {

using isa::ControlOp;
using isa::MemoryOp;
using isa::Pipe;

namespace {

constexpr std::int64_t kRegisterBytes = 4;

/// Registers that hold `bytes`.
int registers_for(std::int64_t bytes) { return static_cast<int>(model::ceil_div(bytes, kRegisterBytes)); }

}  // namespace

CodeBuilder::CodeBuilder(const model::TileConfig& config, TileAccesses& accesses, std::int64_t sums, int sum_width)
    : c_(config), accesses_(accesses), element_bytes_(model::element_bytes(config.dtype)) {
  fixed_.assign(static_cast<std::size_t>(sums), Value{sum_width, true});
  address_ = static_cast<int>(fixed_.size());
  fixed_.push_back(Value{1, true});
  restart();
}

Block CodeBuilder::take() {
  Block block = std::move(block_);
  restart();
  return block;
}

void CodeBuilder::integers(int count, int depth, Pipe pipe, const char* name) {
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

void CodeBuilder::start(int integers_needed, int zeroed) {
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
  integers(integers_needed, 6);
  for (std::int64_t i = 0; i < model::ceil_div(model::accumulators_per_thread(c_), zeroed); ++i) {
    push(operation(Pipe::kAlu, "CS2R"));
  }
}

std::vector<int> CodeBuilder::load_slice(std::int64_t slice) {
  const std::int64_t bytes = c_.vec * element_bytes_;
  std::vector<int> staged;
  for (const bool is_b : {false, true}) {
    for (std::int64_t i = 0; i < copies_per_thread(c_, is_b); ++i) {
      Operation op = memory(MemoryOp::kLoadGlobal, width_name("LDG.E", bytes) + ".CONSTANT", bytes, 2, slice,
                            {AccessKind::kLoadOperand, is_b, i, 0, c_.vec});
      op.kind = ResultKind::kGlobal;
      op.result = new_value(registers_for(bytes));
      loads_.push_back(next());
      staged.push_back(op.result);
      push(std::move(op));
    }
  }
  return staged;
}

void CodeBuilder::store_slice(const std::vector<int>& staged, std::int64_t slice) {
  std::size_t next_value = 0;
  for (const bool is_b : {false, true}) {
    const std::int64_t width = copy_transposes(c_, is_b) ? 1 : c_.vec;
    const std::int64_t bytes = width * element_bytes_;
    for (std::int64_t i = 0; i < copies_per_thread(c_, is_b); ++i, ++next_value) {
      for (std::int64_t piece = 0; piece < c_.vec; piece += width) {
        Operation op = memory(MemoryOp::kStoreShared, width_name("STS", bytes), bytes, 1 + registers_for(bytes), slice,
                              {AccessKind::kStoreOperand, is_b, i, piece, width});
        op.uses.push_back({staged[next_value], static_cast<int>(piece * element_bytes_ / kRegisterBytes)});
        op.after = after_barrier();
        stores_.push_back(next());
        push(std::move(op));
      }
    }
  }
}

void CodeBuilder::copy_slice(std::int64_t slice) {
  std::vector<int> copies;
  for (const bool is_b : {false, true}) {
    const std::int64_t width = copy_transposes(c_, is_b) ? 1 : c_.vec;
    const std::int64_t bytes = width * element_bytes_;
    for (std::int64_t i = 0; i < copies_per_thread(c_, is_b); ++i) {
      for (std::int64_t piece = 0; piece < c_.vec; piece += width) {
        Operation op = memory(MemoryOp::kCopyAsync, width_name("LDGSTS.E", bytes), bytes, 3, slice,
                              {AccessKind::kCopyOperand, is_b, i, piece, width});
        op.after = after_barrier();
        copies.push_back(next());
        push(std::move(op));
      }
    }
  }
  Operation commit = operation(Pipe::kLsu, "LDGDEPBAR");
  commit.code.control = ControlOp::kCommitGroup;
  commit.code.write_scoreboard = 0;
  commit.code.mio_registers = 1;  // it takes the place of a request with one source
  commit.after = copies;
  stores_.push_back(next());
  push(std::move(commit));
}

void CodeBuilder::wait_groups(std::int64_t left) {
  Operation op = operation(Pipe::kNone, "DEPBAR.LE");
  op.code.control = ControlOp::kWaitGroups;
  op.code.wait_scoreboard = 0;
  op.code.wait_count = static_cast<std::uint8_t>(left);
  op.after = stores_;
  stores_.assign(1, next());
  push(std::move(op));
}

void CodeBuilder::barrier() {
  Operation op = operation(Pipe::kBranch, "BAR.SYNC.DEFER_BLOCKING");
  op.code.control = ControlOp::kBarrier;
  op.after = stores_;
  op.after.insert(op.after.end(), loads_.begin(), loads_.end());
  op.after.insert(op.after.end(), fragments_.begin(), fragments_.end());
  barrier_ = next();
  stores_.clear();
  loads_.clear();
  fragments_.clear();
  push(std::move(op));
}

void CodeBuilder::spill(std::int64_t values, std::int64_t loads, std::int64_t stores) {
  if (values == 0) {
    return;
  }
  std::vector<int> users;
  for (int i = 0; i < next(); ++i) {
    const MemoryOp kind = block_.operations[static_cast<std::size_t>(i)].code.memory;
    const bool direct = kind == MemoryOp::kLoadGlobal && !uses_shared_memory(c_);
    if (kind == MemoryOp::kLoadShared || kind == MemoryOp::kLoadMatrix || direct) {
      users.push_back(i);
    }
  }
  for (std::int64_t i = 0; i < loads && !users.empty(); ++i) {
    Operation op =
        memory(MemoryOp::kLoadGlobal, "LDL", kRegisterBytes, 1, 0, {AccessKind::kLocal, false, i % values, 0, 1});
    op.kind = ResultKind::kShared;  // the L1 answers as fast
    op.result = new_value(1);
    const auto user = static_cast<std::size_t>(i * static_cast<std::int64_t>(users.size()) / loads);
    block_.operations[static_cast<std::size_t>(users[user])].uses.push_back({op.result, 0});
    push(std::move(op));
  }
  for (std::int64_t i = 0; i < stores && !users.empty(); ++i) {
    Operation op =
        memory(MemoryOp::kStoreGlobal, "STL", kRegisterBytes, 2, 0, {AccessKind::kLocal, false, i % values, 0, 1});
    op.uses.push_back({static_cast<int>(i % address_), 0});
    const auto user = static_cast<std::size_t>(i * static_cast<std::int64_t>(users.size()) / stores);
    op.after = {users[user]};
    push(std::move(op));
  }
}

void CodeBuilder::branch() {
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

void CodeBuilder::exit() {
  Operation op = operation(Pipe::kBranch, "EXIT");
  op.code.control = ControlOp::kExit;
  after_all(op);
  push(std::move(op));
}

void CodeBuilder::begin_row() { integers(1, 1, Pipe::kFmaWide, "IMAD.WIDE"); }

void CodeBuilder::store_sums(std::int64_t bytes, const std::vector<Use>& sums, const Access& access) {
  PendingStore store{bytes, sums, access, -1};
  if (accesses_.problem().beta != 0.0) {
    Operation op = memory(MemoryOp::kLoadGlobal, width_name("LDG.E", bytes), bytes, 2, 0, access);
    op.kind = ResultKind::kGlobal;
    op.result = new_value(registers_for(bytes));
    op.after = row_stores_;  // C may be read only behind earlier stores to it
    store.read = op.result;
    push(std::move(op));
  }
  row_.push_back(std::move(store));
}

void CodeBuilder::end_row() {
  const model::Problem& problem = accesses_.problem();
  const bool scales = problem.alpha != 1.0 || problem.beta != 0.0;
  row_stores_.clear();
  for (const PendingStore& store : row_) {
    std::vector<Use> values = store.sums;
    for (std::size_t i = 0; scales && i < values.size(); ++i) {
      Operation scale = operation(Pipe::kFma, "FMUL");
      scale.uses = {values[i]};
      scale.result = new_value(1);
      scale.code.flops_per_lane = 1;
      values[i] = {scale.result, 0};
      push(std::move(scale));
      if (store.read >= 0) {
        Operation add = operation(Pipe::kFma, "FFMA");
        add.uses = {{store.read, static_cast<int>(i)}, values[i]};
        add.result = new_value(1);
        add.code.flops_per_lane = 2;
        values[i] = {add.result, 0};
        push(std::move(add));
      }
    }
    Operation op = memory(MemoryOp::kStoreGlobal, width_name("STG.E", store.bytes), store.bytes,
                          2 + registers_for(store.bytes), 0, store.access);
    op.uses.insert(op.uses.end(), values.begin(), values.end());
    row_stores_.push_back(next());
    push(std::move(op));
  }
  row_.clear();
}

Operation CodeBuilder::operation(Pipe pipe, std::string name) {
  Operation op;
  op.code.pipe = pipe;
  op.name = std::move(name);
  return op;
}

Operation CodeBuilder::memory(MemoryOp kind, std::string name, std::int64_t bytes, int registers, std::int64_t slice,
                              const Access& access) {
  Operation op = operation(Pipe::kLsu, std::move(name));
  op.code.memory = kind;
  op.code.access_bytes = static_cast<std::uint8_t>(bytes);
  op.code.mio_registers = static_cast<std::uint8_t>(registers);
  op.access = accesses_.add(access);
  op.tile = static_cast<int>(slice);
  op.uses.push_back({address_, 0});
  return op;
}

int CodeBuilder::load_element(const Access& access, std::int64_t slice) {
  Operation op = memory(MemoryOp::kLoadGlobal, width_name("LDG.E", element_bytes_) + ".CONSTANT", element_bytes_, 2,
                        slice, access);
  op.kind = ResultKind::kDirect;
  op.result = new_value(registers_for(element_bytes_));
  const int value = op.result;
  push(std::move(op));
  return value;
}

int CodeBuilder::load_fragment(MemoryOp kind, std::string name, std::int64_t bytes, int width, std::int64_t slice,
                               const Access& access) {
  Operation op = memory(kind, std::move(name), bytes, 1, slice, access);
  op.kind = ResultKind::kShared;
  op.result = new_value(width);
  op.after = after_barrier();
  const int value = op.result;
  fragments_.push_back(next());
  push(std::move(op));
  return value;
}

std::string CodeBuilder::width_name(const char* opcode, std::int64_t bytes) {
  return bytes == kRegisterBytes ? std::string(opcode) : fmt::format("{}.{}", opcode, bytes * 8);
}

void CodeBuilder::restart() {
  block_ = Block{};
  block_.values = fixed_;
  stores_.clear();
  loads_.clear();
  fragments_.clear();
  row_stores_.clear();
  barrier_ = -1;
}

void CodeBuilder::after_all(Operation& op) const {
  for (std::size_t i = 0; i < block_.operations.size(); ++i) {
    op.after.push_back(static_cast<int>(i));
  }
}

int CodeBuilder::new_value(int width) {
  block_.values.push_back(Value{width, false});
  return static_cast<int>(block_.values.size()) - 1;
}

std::vector<int> CodeBuilder::after_barrier() const {
  return barrier_ >= 0 ? std::vector<int>{barrier_} : std::vector<int>{};
}

}  // namespace tilesim::traces::generator
