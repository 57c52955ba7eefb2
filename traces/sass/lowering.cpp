#include "traces/sass/lowering.h"

#include <algorithm>

#include "traces/sass/dependences.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

constexpr std::uint32_t kInstructionBytes = 16;

bool is_math(isa::Pipe pipe) {
  switch (pipe) {
    case isa::Pipe::kFma:
    case isa::Pipe::kFmaHeavy:
    case isa::Pipe::kFmaWide:
    case isa::Pipe::kHalf:
    case isa::Pipe::kAlu:
    case isa::Pipe::kTensorHalf:
    case isa::Pipe::kTensor:
    case isa::Pipe::kTensorShort:
    case isa::Pipe::kFp64:
    case isa::Pipe::kXu:
      return true;
    default:
      return false;
  }
}

void add_read(isa::Instruction& out, const Operand& operand, std::uint8_t slot) {
  if (operand.kind == OperandKind::kRegister && operand.index != kRegisterRz) {
    out.reads[out.read_count++] = {operand.index, slot, operand.reuse};
  }
}

void lower_reads(const SassInstruction& in, isa::Instruction& out) {
  if (!is_math(out.pipe)) {
    return;
  }
  const auto form = static_cast<Form>(in.form);
  const bool swapped = form == Form::kImmediateC || form == Form::kConstantC || form == Form::kUniformC;
  const Operand& b = in.operand(Role::kB);
  const Operand& c = in.operand(Role::kC);
  add_read(out, in.operand(Role::kA), 0);
  add_read(out, swapped ? c : b, 1);
  add_read(out, swapped ? b : c, 2);
}

// 32-bit registers that travel to the MIO: the address (two for a 64-bit one) and the data.
std::uint8_t mio_registers(const SassInstruction& in, int bytes) {
  const int data = std::max(1, bytes / 4);
  if (in.row->local) {
    return static_cast<std::uint8_t>(in.row->memory == isa::MemoryOp::kStoreGlobal ? 1 + data : 1);
  }
  switch (in.row->memory) {
    case isa::MemoryOp::kLoadShared:
    case isa::MemoryOp::kLoadMatrix:
      return 1;
    case isa::MemoryOp::kStoreShared:
      return static_cast<std::uint8_t>(1 + data);
    case isa::MemoryOp::kLoadGlobal:
      return 2;
    case isa::MemoryOp::kStoreGlobal:
      return static_cast<std::uint8_t>(2 + data);
    case isa::MemoryOp::kCopyAsync:
      return 3;
    case isa::MemoryOp::kNone:
      break;
  }
  return 0;
}

void lower_barrier(const SassInstruction& in, isa::Instruction& out) {
  const Operand& number = in.operand(Role::kImmediate);
  const Operand& threads = in.operand(Role::kImmediate2);
  out.barrier_from_registers = number.kind == OperandKind::kRegister || threads.kind == OperandKind::kRegister;
  if (!out.barrier_from_registers) {
    out.barrier_id = static_cast<std::uint8_t>(number.value);
    out.barrier_warps = static_cast<std::uint8_t>(threads.value / isa::kWarpSize);
  }
  out.barrier_arrives = in.modifier(Modifier::kBarrierMode) == kBarrierArrives;
}

void lower_control(const SassInstruction& in, isa::Instruction& out) {
  switch (out.control) {
    case isa::ControlOp::kBranch:
      out.branch_target = static_cast<std::uint32_t>(in.operand(Role::kB).value) / kInstructionBytes;
      break;
    case isa::ControlOp::kBarrier:
      lower_barrier(in, out);
      break;
    case isa::ControlOp::kCommitGroup:
      out.mio_registers = 1;  // it has no source, but takes the place of a request with one
      break;
    case isa::ControlOp::kWaitGroups:
      out.wait_scoreboard = in.operand(Role::kA).index;
      out.wait_count = static_cast<std::uint8_t>(in.operand(Role::kImmediate).value);
      break;
    default:
      break;
  }
}

/// K of an HMMA m16n8k...
std::uint32_t matrix_depth(const SassInstruction& in) {
  constexpr std::uint32_t kDepths[] = {8, 16, 4};  // by Modifier::kMatrixShape
  return kDepths[in.modifier(Modifier::kMatrixShape)];
}

/// HMMAs that read 4 registers of A take one interval of the tensor pipe, those that read 2 another.
isa::Pipe tensor_pipe(const SassInstruction& in) {
  constexpr std::uint32_t kTf32 = 2;
  const std::uint32_t element_bytes = in.modifier(Modifier::kMatrixType) == kTf32 ? 4 : 2;
  return matrix_depth(in) * element_bytes < 32 ? isa::Pipe::kTensorShort : isa::Pipe::kTensor;
}

std::uint32_t flops_per_lane(const SassInstruction& in) {
  constexpr std::uint32_t kHmmaPerDepth = 2 * 16 * 8 / isa::kWarpSize;
  switch (in.opcode) {
    case Opcode::kFfma:
      return 2;
    case Opcode::kFadd:
    case Opcode::kFmul:
      return 1;
    case Opcode::kHmma:
      return kHmmaPerDepth * matrix_depth(in);
    default:
      return 0;
  }
}

isa::Instruction lower_instruction(const SassInstruction& in) {
  isa::Instruction out;
  out.pipe = in.opcode == Opcode::kHmma ? tensor_pipe(in) : in.row->pipe;
  out.memory = in.row->memory;
  out.control = in.row->control;
  out.stall = in.control.stall;
  out.yield = !in.control.yield_bit;
  out.write_scoreboard = in.control.write_scoreboard;
  out.read_scoreboard = in.control.read_scoreboard;
  out.wait_mask = in.control.wait_mask;
  out.reads_predicated = !in.guard.always();
  out.constant_operand = std::any_of(in.operands.begin(), in.operands.end(),
                                     [](const Operand& operand) { return operand.kind == OperandKind::kConstant; });
  if (out.memory != isa::MemoryOp::kNone) {
    const int bytes = access_bytes(in);
    out.access_bytes = static_cast<std::uint8_t>(bytes);
    out.mio_registers = mio_registers(in, bytes);
  }
  lower_reads(in, out);
  lower_control(in, out);
  out.flops_per_lane = flops_per_lane(in);
  return out;
}

int highest_register(const SassInstruction& in) {
  int highest = -1;
  const Dependences used = dependences(in);
  for (const RegisterRanges& ranges : {used.reads, used.writes}) {
    for (const RegisterRange& range : ranges) {
      if (range.file == RegisterFile::kGeneral) {
        highest = std::max(highest, range.first + range.count - 1);
      }
    }
  }
  return highest;
}

}  // namespace

isa::Program lower(const DecodedKernel& kernel) {
  isa::Program program;
  program.name = kernel.name;
  program.architecture = kernel.architecture;
  program.bytes_per_instruction = kInstructionBytes;
  program.instructions.reserve(kernel.instructions.size());
  program.text = kernel.text;
  for (const SassInstruction& instruction : kernel.instructions) {
    program.instructions.push_back(lower_instruction(instruction));
    program.registers_referenced = std::max(program.registers_referenced, highest_register(instruction) + 1);
  }
  return program;
}

}  // namespace tilesim::traces
