#include "traces/emulator/warp_emulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/isa/lane_address.h"
#include "traces/emulator/executor.h"
#include "traces/emulator/lane_functions.h"
#include "traces/emulator/matrix.h"

namespace tilesim::traces {
namespace {

// Parts of a word of local memory: a whole word, or `bytes` (1 or 2) bytes at `first`.
void store_part(std::uint32_t& cell, std::uint64_t first, unsigned bytes, std::uint32_t value) {
  if (bytes >= 4) {
    cell = value;
    return;
  }
  const std::uint32_t mask = ((1U << (8 * bytes)) - 1) << (8 * first);
  cell = (cell & ~mask) | (value << (8 * first) & mask);
}

std::uint32_t load_part(std::uint32_t cell, std::uint64_t first, unsigned bytes, bool sign) {
  if (bytes >= 4) {
    return cell;
  }
  const unsigned unused = 32 - 8 * bytes;
  const std::uint32_t high = cell >> (8 * first) << unused;
  return sign ? static_cast<std::uint32_t>(static_cast<std::int32_t>(high) >> unused) : high >> unused;
}

// A copy as global access: the lanes that read, with their global addresses; false if there is none.
bool keep_reading_lanes(isa::DynamicInstruction& copy) {
  std::uint32_t reading = 0;
  for (std::uint32_t left = copy.active_mask; left != 0; left &= left - 1) {
    std::uint64_t& address = copy.addresses[static_cast<std::size_t>(std::countr_zero(left))];
    address = isa::CopyLane::of(address).global;
    reading |= address != 0 ? left & (0U - left) : 0U;
  }
  copy.active_mask = reading;
  return reading != 0;
}

}  // namespace

void WarpEmulator::start(const WarpContext& context, const WarpPosition& position, LaneRow* rows, std::uint32_t live,
                         CtaMemory* memory) {
  context_ = &context;
  registers_.reset();
  registers_.rows = rows;
  position_ = position;
  convergence_.start(live);
  memory_ = memory;
  trips_taken_ = 0;
  loops_.clear();
  loads_ = 0;
  repeats_ = 0;
  local_.clear();
  next_index_ = 0;
  exited_ = false;
  executed_ = 0;
}

bool WarpEmulator::refuse(std::uint32_t index, const std::string& why, const char* remedy) {
  const DecodedKernel& kernel = *context_->kernel;
  error_ = {
      ErrorKind::kUsage,
      fmt::format("'{}' (warp {} of CTA {}, {}, {}): {}.", kernel.text[index], position_.first_thread / isa::kWarpSize,
                  position_.cta[0], position_.cta[1], position_.cta[2], why),
      remedy, kernel.where(index)};
  return false;
}

bool WarpEmulator::step(isa::DynamicInstruction& out) {
  const Step step = context_->program->steps[next_index_];
  out.index = next_index_;
  out.active_mask = guarded(step);
  out.branch_taken = false;
  ++executed_;
  if (step.action == Action::kNothing) {
    ++next_index_;
    return true;
  }
  return act(step.action, out);
}

bool WarpEmulator::act(Action action, isa::DynamicInstruction& out) {
  bool good = true;
  switch (action) {
    case Action::kNothing:
      break;
    case Action::kCompute:
      good = compute(out.index, out.active_mask);
      break;
    case Action::kShared:
      good = access_shared(out);
      break;
    case Action::kMatrix:
      good = multiply(out);
      break;
    case Action::kGlobal:
      good = access_global(out);
      break;
    case Action::kCopy:
      good = copy_async(out);
      break;
    case Action::kAtomic:
      good = update(out);
      break;
    case Action::kLocal:
    case Action::kSpill:
      good = access_local(out, action == Action::kSpill);
      break;
    case Action::kBarrier:
      good = barrier(out);
      break;
    case Action::kEnlist:
      convergence_.enlist(branch_operation(out.index).barrier, out.active_mask);
      break;
    default:
      return act_on_control(action, out);
  }
  ++next_index_;
  return good;
}

bool WarpEmulator::compute(std::uint32_t index, std::uint32_t mask) {
  const MicroProgram& program = *context_->program;
  execute(program.operations[program.operand_index[index]], mask, program, position_, registers_);
  return true;
}

bool WarpEmulator::place_shared(const SharedAddress& address, isa::DynamicInstruction& out) {
  const SharedWindow window{context_->program->abi.shared_base, context_->launch->shared_bytes};
  return shared_addresses(address, registers_, out.active_mask, window, out.addresses) ||
         refuse(out.index, explain_shared(out.addresses, out.active_mask, address.bytes, window), kLaunchRemedy);
}

bool WarpEmulator::access_shared(isa::DynamicInstruction& out) {
  const MemoryOperation& operation = memory_operation(out.index);
  if (operation.matrices != 0) {
    return load_matrices(operation, out);
  }
  if (!place_shared(shared_address(operation, registers_), out)) {
    return false;
  }
  if (operation.moves) {
    if (!memory_->access(true, operation, out.addresses, out.active_mask, registers_.rows)) {
      return refuse(out.index, kStrays, kStraysRemedy);
    }
    remember_loads(operation, out);
  }
  return true;
}

bool WarpEmulator::load_matrices(const MemoryOperation& operation, isa::DynamicInstruction& out) {
  constexpr unsigned kMatrixRows = 8;
  const bool whole = out.active_mask == ~std::uint32_t{0};
  out.active_mask &= ~std::uint32_t{0} >> (isa::kWarpSize - kMatrixRows * operation.matrices);
  if (!place_shared(shared_address(operation, registers_), out)) {
    return false;
  }
  if (operation.moves && whole) {
    memory_->load_matrices(operation, out.addresses, registers_.rows);
  }
  return !operation.moves || whole || out.active_mask == 0 ||
         refuse(out.index, "a matrix is loaded by a part of the warp", kUniformRemedy);
}

bool WarpEmulator::multiply(const isa::DynamicInstruction& out) {
  const MicroProgram& program = *context_->program;
  if (out.active_mask == ~std::uint32_t{0}) {
    multiply_matrices(program.matrices[program.operand_index[out.index]], registers_.rows);
  }
  return out.active_mask == ~std::uint32_t{0} || out.active_mask == 0 ||
         refuse(out.index, "matrices are multiplied by a part of the warp", kUniformRemedy);
}

bool WarpEmulator::inside_allocation(const isa::DynamicInstruction& out, unsigned bytes, std::uint32_t mask) {
  const KernelArguments& arguments = context_->launch->arguments;
  for (std::size_t tried = 0; tried < arguments.allocations.size(); ++tried) {
    const Allocation& allocation = arguments.allocations[last_allocation_];
    if (all_inside(out.addresses, mask, bytes, allocation.address, allocation.bytes)) {
      return true;
    }
    last_allocation_ = last_allocation_ + 1 < arguments.allocations.size() ? last_allocation_ + 1 : 0;
  }
  // Lanes in different allocations, or a bad access.
  const std::string why = explain_global(out.addresses, mask, bytes, arguments);
  return why.empty() || refuse(out.index, why, kLaunchRemedy);
}

bool WarpEmulator::access_global(isa::DynamicInstruction& out) {
  const MemoryOperation& operation = memory_operation(out.index);
  global_addresses(operation, registers_, out.addresses);
  if (!inside_allocation(out, operation.bytes, out.active_mask)) {
    return false;
  }
  if (operation.moves) {
    if (!memory_->access(false, operation, out.addresses, out.active_mask, registers_.rows)) {
      return refuse(out.index, kStrays, kStraysRemedy);
    }
    remember_loads(operation, out);
  }
  return true;
}

bool WarpEmulator::update(isa::DynamicInstruction& out) {
  const MemoryOperation& operation = memory_operation(out.index);
  if (!operation.atomic.global) {
    if (!place_shared(shared_address(operation, registers_), out)) {
      return false;
    }
  } else {
    global_addresses(operation, registers_, out.addresses);
    if (!inside_allocation(out, operation.bytes, out.active_mask)) {
      return false;
    }
  }
  if (operation.moves) {
    if (!memory_->update(operation, out.addresses, out.active_mask, registers_.rows)) {
      return refuse(out.index, kStrays, kStraysRemedy);
    }
    remember_loads(operation, out);
  }
  return true;
}

bool WarpEmulator::copy_async(isa::DynamicInstruction& out) {
  const MemoryOperation& operation = memory_operation(out.index);
  if (!place_shared(copy_destination(operation), out)) {
    return false;
  }
  const LaneAddresses shared = out.addresses;
  const std::uint32_t reading =
      out.active_mask & registers_.holds(false, operation.copies.index, operation.copies.negated);
  global_addresses(operation, registers_, out.addresses);
  if (!inside_allocation(out, operation.bytes, reading)) {
    return false;
  }
  if (operation.moves && !memory_->copy(operation.bytes, out.addresses, shared, reading, out.active_mask)) {
    return refuse(out.index, kStrays, kStraysRemedy);
  }
  for (std::size_t lane = 0; lane < shared.size(); ++lane) {
    const std::uint64_t global = lanes::lane_bit(reading, lane) != 0 ? out.addresses[lane] : 0;
    if (global >= isa::CopyLane::kGlobalLimit) {
      return refuse(out.index, "copies reach only the first 256 TiB of addresses", kLaunchRemedy);
    }
    out.addresses[lane] = isa::CopyLane{global, static_cast<std::uint32_t>(shared[lane]), operation.bypass}.packed();
  }
  return true;
}

bool WarpEmulator::access_local(isa::DynamicInstruction& out, bool with_data) {
  const MicroProgram& program = *context_->program;
  const MemoryOperation& operation = memory_operation(out.index);
  const std::uint64_t bottom = kStackBase - program.local_bytes;
  const auto offset = static_cast<std::uint32_t>(operation.offset);
  for (std::size_t lane = 0; lane < out.addresses.size(); ++lane) {
    const std::uint32_t base = operation.low == kNoDestination ? 0 : registers_.rows[operation.low].lane[lane];
    out.addresses[lane] = std::uint32_t{base + offset};
  }
  if (!all_inside(out.addresses, out.active_mask, operation.bytes, bottom, program.local_bytes)) {
    return refuse(
        out.index,
        fmt::format("an access outside the thread's {} bytes of local memory, or misaligned", program.local_bytes),
        kLaunchRemedy);
  }
  if (with_data) {
    move_local(operation, out.addresses, out.active_mask);
  }
  const isa::Dim3& grid = context_->launch->grid;
  const std::uint64_t cta =
      position_.cta[0] + std::uint64_t{grid.x} * (position_.cta[1] + std::uint64_t{grid.y} * position_.cta[2]);
  const std::uint64_t warps = (position_.block.count() + isa::kWarpSize - 1) / isa::kWarpSize;
  const std::uint64_t first = (cta * warps + position_.first_thread / isa::kWarpSize) * (program.local_bytes / 4);
  for (unsigned lane = 0; lane < out.addresses.size(); ++lane) {
    const std::uint64_t place = out.addresses[lane] - bottom;
    out.addresses[lane] = isa::local_address(first + place / 4, lane, static_cast<unsigned>(place % 4));
  }
  return true;
}

void WarpEmulator::move_local(const MemoryOperation& operation, const LaneAddresses& addresses, std::uint32_t mask) {
  local_.resize(context_->program->local_bytes / 4);
  const std::uint64_t bottom = kStackBase - context_->program->local_bytes;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint64_t place = addresses[lane] - bottom;
    for (std::size_t word = 0; word < std::max<std::size_t>(1, operation.bytes / 4U); ++word) {
      std::uint32_t& cell = local_[place / 4 + word].lane[lane];
      std::uint32_t* data =
          operation.words[word] == kNoDestination ? nullptr : &registers_.rows[operation.words[word]].lane[lane];
      if (operation.store) {
        store_part(cell, place % 4, operation.bytes, data == nullptr ? 0 : *data);
      } else if (data != nullptr) {
        *data = load_part(cell, place % 4, operation.bytes, operation.sign);
      }
    }
  }
}

// Adds what a load of data has read to what the present trip of a loop has.
void WarpEmulator::remember_loads(const MemoryOperation& operation, const isa::DynamicInstruction& out) {
  if (operation.store) {
    return;
  }
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;  // odd, bits in no order
  for (std::uint32_t left = out.active_mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    std::uint64_t read = out.addresses[lane];
    for (std::size_t word = 0; word < operation.words.size() && operation.words[word] != kNoDestination; ++word) {
      read = (read ^ registers_.rows[operation.words[word]].lane[lane]) * kMix;
    }
    loads_ += read ^ read >> 32;
  }
}

bool WarpEmulator::perform(std::uint32_t index) {
  isa::DynamicInstruction unseen;
  const Step step = context_->program->steps[index];
  unseen.index = index;
  unseen.active_mask = guarded(step);
  if (step.action == Action::kCompute) {
    return compute(index, unseen.active_mask);
  }
  next_index_ = index;
  return act(step.action, unseen);
}

bool WarpEmulator::run_to_branch(BranchEvent& out) {
  const MicroProgram& program = *context_->program;
  isa::DynamicInstruction unseen;
  out.taken = false;
  while (!exited_) {
    const std::uint32_t next = program.next_slice[next_index_];
    executed_ += next - next_index_ + 1;
    next_index_ = next;
    const Step step = program.steps[next_index_];
    unseen.index = next_index_;
    unseen.active_mask = guarded(step);
    if (step.action == Action::kBranch) {
      out.index = next_index_;
      return branch(out.index, unseen.active_mask, out.taken);
    }
    if (!act(step.action, unseen)) {
      return false;
    }
  }
  return true;
}

bool WarpEmulator::skip_straight_trips(const std::vector<std::uint32_t>& body) {
  const TripSkip& skip = *context_->skip;
  const MicroProgram& program = *context_->program;
  const std::uint32_t trip = skip.branch - branch_operation(skip.branch).target + 1;
  bool taken = true;
  for (std::uint64_t passed = 0; passed < skip.trips && taken; ++passed) {
    executed_ += trip;
    for (const std::uint32_t index : body) {
      if (!perform(index)) {
        return false;
      }
    }
    if (!branch(skip.branch, guarded(program.steps[skip.branch]), taken)) {
      return false;
    }
  }
  return true;
}

bool WarpEmulator::skip_trips() {
  const TripSkip& skip = *context_->skip;
  if (context_->skip_body) {
    return skip_straight_trips(*context_->skip_body);
  }
  std::uint64_t passed = 0;
  BranchEvent event;
  while (passed < skip.trips && !exited_) {
    if (!run_to_branch(event)) {
      return false;
    }
    if (event.index == skip.branch) {
      ++passed;
      if (!event.taken) {
        break;
      }
    }
  }
  return true;
}

bool WarpEmulator::step_to_global(const isa::Program& /*program*/, isa::DynamicInstruction& out) {
  while (!exited_) {
    const std::uint32_t next = context_->program->next_global[next_index_];
    executed_ += next - next_index_;
    next_index_ = next;
    const Action action = context_->program->steps[next_index_].action;
    if (!step(out)) {
      return false;
    }
    if (action == Action::kGlobal && out.active_mask != 0) {
      return true;
    }
    if (action == Action::kCopy && keep_reading_lanes(out)) {
      return true;
    }
  }
  out.active_mask = 0;
  return true;
}

}  // namespace tilesim::traces
