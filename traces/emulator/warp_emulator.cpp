#include "traces/emulator/warp_emulator.h"

#include <fmt/format.h>

#include <bit>

#include "traces/emulator/sass_kernel.h"

namespace tilesim::traces {

namespace {
constexpr std::uint32_t kAllLanes = ~std::uint32_t{0};
}  // namespace

const MicroProgram& WarpEmulator::kernel_micro() const { return kernel_->micro(); }

void WarpEmulator::start(std::uint64_t linear_id, std::uint32_t warp) {
  const isa::Dim3 grid = kernel_->grid();
  position_.block = kernel_->block();
  position_.cta_x = static_cast<std::uint32_t>(linear_id % grid.x);
  position_.cta_y = static_cast<std::uint32_t>(linear_id / grid.x % grid.y);
  position_.cta_z = static_cast<std::uint32_t>(linear_id / grid.x / grid.y);
  position_.warp = warp;
  registers_.reset(std::size_t{kernel_->micro().row_count} + 1);
  const std::uint64_t threads = position_.block.count() - std::uint64_t{warp} * isa::kWarpSize;
  active_ = threads >= isa::kWarpSize ? kAllLanes : (1U << threads) - 1U;
  next_index_ = 0;
  exited_ = false;
  skip_taken_ = 0;
}

std::uint32_t WarpEmulator::guarded_mask(const Step& step) const {
  const std::uint32_t value =
      step.guard_uniform ? registers_.uniform_predicates[step.guard] : registers_.predicates[step.guard];
  return active_ & (step.guard_negated ? ~value : value);
}

bool WarpEmulator::refuse(std::uint32_t index, std::string message, std::string remedy) {
  error_ = Error{ErrorKind::kUsage, std::move(message), std::move(remedy), kernel_->code().where(index)};
  return false;
}

bool WarpEmulator::step(isa::DynamicInstruction& out) {
  const MicroProgram& micro = kernel_->micro();
  const std::uint32_t index = next_index_;
  const Step& step = micro.steps[index];
  const std::uint32_t mask = step.always() ? active_ : guarded_mask(step);
  out.index = index;
  out.active_mask = mask;
  out.branch_taken = false;
  ++next_index_;
  const std::uint32_t operand = micro.operand_index[index];
  switch (step.action) {
    case Action::kNothing:
      return true;
    case Action::kCompute:
      execute(micro.operations[operand], micro, position_, mask, registers_);
      return true;
    case Action::kShared:
      return mask == 0 || access_shared(micro.memory[operand], out);
    case Action::kGlobal:
    case Action::kCopy:
      return mask == 0 || access_global(micro.memory[operand], out);
    case Action::kBranch:
      return branch(index, mask, out);
    case Action::kExit:
      return exit(index, mask);
    case Action::kEnd:
      break;
  }
  return refuse(index - 1, "the kernel runs past its last instruction.", "Give the listing of the whole kernel.");
}

bool WarpEmulator::branch(std::uint32_t index, std::uint32_t mask, isa::DynamicInstruction& out) {
  const BranchOperation& branch = kernel_->micro().branches[kernel_->micro().operand_index[index]];
  const std::uint32_t condition = registers_.predicates[branch.condition.index];
  const std::uint32_t taken = mask & (branch.condition.negated ? ~condition : condition);
  if (taken == 0) {
    return true;
  }
  if (taken != active_) {
    return refuse(index, fmt::format("lanes of a warp disagree at the branch '{}'.", kernel_->code().text[index]),
                  "Divergent branches are not supported yet; shapes that are multiples of the tile avoid them.");
  }
  if (branch.target == index) {
    return refuse(index, fmt::format("'{}' branches to itself for ever.", kernel_->code().text[index]),
                  "Check the launch: the kernel does not end with it.");
  }
  out.branch_taken = true;
  next_index_ = branch.target;
  const auto& skip = kernel_->skip();
  if (skip && skip->branch == index && ++skip_taken_ == skip->after && skip->trips != 0) {
    return skip_trips();
  }
  return true;
}

/// Emulates on, without looking at memory, until the loop's branch has been taken `trips` more times or the loop ends.
bool WarpEmulator::skip_trips() {
  const MicroProgram& micro = kernel_->micro();
  const TripSkip& skip = *kernel_->skip();
  isa::DynamicInstruction ignored;
  const std::uint64_t last = skip.after + skip.trips;
  while (skip_taken_ < last) {
    next_index_ = micro.next_slice[next_index_];
    const std::uint32_t index = next_index_;
    const std::uint64_t before = skip_taken_;
    if (!step(ignored)) {
      return false;
    }
    if (exited_ || (index == skip.branch && skip_taken_ == before)) {
      break;
    }
  }
  return true;
}

bool WarpEmulator::exit(std::uint32_t index, std::uint32_t mask) {
  if (mask != 0 && mask != active_) {
    return refuse(index, fmt::format("part of a warp exits at '{}'.", kernel_->code().text[index]),
                  "Divergent exits are not supported yet; shapes that are multiples of the tile avoid them.");
  }
  exited_ = mask != 0;
  return true;
}

bool WarpEmulator::access_shared(const MemoryOperation& access, isa::DynamicInstruction& out) {
  const std::uint32_t base = static_cast<std::uint32_t>(access.offset) +
                             (access.uniform == kUniformUrz ? 0U : registers_.uniform[access.uniform]);
  if (access.low == kNoDestination) {
    out.addresses.fill(base);
  } else {
    const LaneRow& row = registers_.rows[access.low];
    for (int lane = 0; lane < isa::kWarpSize; ++lane) {
      out.addresses[lane] = row.lane[lane] + base;
    }
  }
  const std::uint64_t room = kernel_->launch().shared_bytes;
  const std::uint64_t last = room >= access.bytes ? room - access.bytes : 0;
  std::uint64_t bad = room < access.bytes ? 1 : 0;
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    const std::uint64_t offset = out.addresses[lane] - kSharedBase;
    const std::uint64_t wrong = (offset > last ? 1U : 0U) | (out.addresses[lane] & (access.bytes - 1U));
    bad |= (out.active_mask >> lane & 1U) != 0 ? wrong : 0U;
  }
  if (bad == 0) {
    return true;
  }
  for (std::uint32_t rest = out.active_mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    const std::uint64_t offset = out.addresses[lane] - kSharedBase;
    if (room >= access.bytes && offset <= last && (out.addresses[lane] & (access.bytes - 1U)) == 0) {
      continue;
    }
    return refuse(
        out.index,
        fmt::format("'{}' accesses {} bytes at shared offset {} in lane {}, outside the CTA's {} bytes of shared "
                    "memory or not aligned.",
                    kernel_->code().text[out.index], access.bytes, static_cast<std::int64_t>(offset), lane, room),
        "Give the kernel's static plus dynamic shared memory with --smem, and the block size it was built for.");
  }
  return true;
}

bool WarpEmulator::access_global(const MemoryOperation& access, isa::DynamicInstruction& out) {
  const auto offset = static_cast<std::uint64_t>(std::int64_t{access.offset});
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    std::uint64_t address = access.low == kNoDestination ? 0 : registers_.rows[access.low].lane[lane];
    if (access.high != kNoDestination) {
      address |= std::uint64_t{registers_.rows[access.high].lane[lane]} << 32;
    }
    out.addresses[lane] = address + offset;
  }
  const auto& allocations = kernel_->launch().arguments.allocations;
  const auto inside = [&](const Allocation& a, std::uint64_t address) {
    return address - a.address <= a.bytes - access.bytes && a.bytes >= access.bytes &&
           (address & (access.bytes - 1U)) == 0;
  };
  for (std::uint32_t rest = out.active_mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    const std::uint64_t address = out.addresses[lane];
    if (last_allocation_ < allocations.size() && inside(allocations[last_allocation_], address)) {
      continue;
    }
    std::size_t found = 0;
    while (found < allocations.size() && !inside(allocations[found], address)) {
      ++found;
    }
    if (found == allocations.size()) {
      return refuse(
          out.index,
          fmt::format("'{}' accesses {} bytes at address 0x{:x} in lane {} of warp {}, CTA ({}, {}, {}): outside every "
                      "allocation or not aligned.",
                      kernel_->code().text[out.index], access.bytes, address, lane, position_.warp, position_.cta_x,
                      position_.cta_y, position_.cta_z),
          "Check the sizes behind ptr: in --args, the order of the arguments, and the grid.");
    }
    last_allocation_ = found;
  }
  return true;
}

bool WarpEmulator::step_to_global(const isa::Program&, isa::DynamicInstruction& out) {
  const MicroProgram& micro = kernel_->micro();
  while (!exited_) {
    next_index_ = micro.next_global[next_index_];
    const Action action = micro.steps[next_index_].action;
    if (!step(out)) {
      return false;
    }
    if ((action == Action::kGlobal || action == Action::kCopy) && out.active_mask != 0) {
      return true;
    }
  }
  out.active_mask = 0;
  return true;
}

}  // namespace tilesim::traces
