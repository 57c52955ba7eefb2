#include "traces/trace/accelsim_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "traces/generator/block.h"
#include "traces/sass/instruction_table.h"
#include "traces/trace/accelsim_control.h"
#include "traces/trace/accelsim_scoreboards.h"
#include "traces/trace/launch_record.h"

namespace tilesim::traces::accelsim {

namespace {

using isa::ControlOp;
using isa::MemoryOp;
using isa::Pipe;

/// What is known of an opcode.
struct OpcodeClass {
  Pipe pipe = Pipe::kAlu;
  MemoryOp memory = MemoryOp::kNone;
  ControlOp control = ControlOp::kNone;
};

struct NamedClass {
  std::string_view name;
  OpcodeClass kind;
};

/// Opcodes of Volta to Hopper that the instruction table (sm_90, GEMM) lacks; units as in the CUDA Binary Utilities'
/// lists. Atomics go to the L2 as a load or a store of their address.
constexpr std::array kOthers{
    NamedClass{"ATOM", {Pipe::kLsu, MemoryOp::kLoadGlobal, ControlOp::kNone}},
    NamedClass{"ATOMG", {Pipe::kLsu, MemoryOp::kLoadGlobal, ControlOp::kNone}},
    NamedClass{"ATOMS", {Pipe::kLsu, MemoryOp::kStoreShared, ControlOp::kNone}},
    NamedClass{"BMOV", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"BMSK", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"BREAK", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"BREV", {Pipe::kXu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"BRX", {Pipe::kBranch, MemoryOp::kNone, ControlOp::kBranch}},
    NamedClass{"CALL", {Pipe::kBranch, MemoryOp::kNone, ControlOp::kBranch}},
    NamedClass{"CCTL", {Pipe::kNone, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"DADD", {Pipe::kFp64, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"DFMA", {Pipe::kFp64, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"DMMA", {Pipe::kTensor, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"DMUL", {Pipe::kFp64, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"DSETP", {Pipe::kFp64, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"ERRBAR", {Pipe::kNone, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"F2F", {Pipe::kXu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"F2FP", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"FCHK", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"FLO", {Pipe::kXu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"FMNMX", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"FSEL", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"FSET", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"FSETP", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"HADD2", {Pipe::kHalf, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"HFMA2", {Pipe::kHalf, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"HMNMX2", {Pipe::kHalf, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"HMUL2", {Pipe::kHalf, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"HSETP2", {Pipe::kHalf, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"I2FP", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"I2I", {Pipe::kXu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"IADD", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"IDP", {Pipe::kFmaHeavy, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"IMMA", {Pipe::kTensor, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"IMNMX", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"ISCADD", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"JMP", {Pipe::kBranch, MemoryOp::kNone, ControlOp::kBranch}},
    NamedClass{"KILL", {Pipe::kBranch, MemoryOp::kNone, ControlOp::kExit}},
    NamedClass{"LD", {Pipe::kLsu, MemoryOp::kLoadGlobal, ControlOp::kNone}},
    NamedClass{"LEPC", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"LOP", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"LOP3", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"MEMBAR", {Pipe::kNone, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"MOVM", {Pipe::kXu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"NANOSLEEP", {Pipe::kNone, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"P2R", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"PLOP3", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"POPC", {Pipe::kXu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"PSETP", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"R2P", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"R2UR", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"RED", {Pipe::kLsu, MemoryOp::kStoreGlobal, ControlOp::kNone}},
    NamedClass{"RET", {Pipe::kBranch, MemoryOp::kNone, ControlOp::kBranch}},
    NamedClass{"SGXT", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"SHFL", {Pipe::kLsu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"ST", {Pipe::kLsu, MemoryOp::kStoreGlobal, ControlOp::kNone}},
    NamedClass{"ULOP3", {Pipe::kUniform, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"UPLOP3", {Pipe::kUniform, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"UPOPC", {Pipe::kUniform, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"UPRMT", {Pipe::kUniform, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"USGXT", {Pipe::kUniform, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"VABSDIFF", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"VOTE", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"WARPSYNC", {Pipe::kAlu, MemoryOp::kNone, ControlOp::kNone}},
    NamedClass{"YIELD", {Pipe::kNone, MemoryOp::kNone, ControlOp::kNone}},
};

/// True if `name` is the opcode or its first words.
bool names(std::string_view name, std::string_view opcode) {
  return opcode.starts_with(name) && (opcode.size() == name.size() || opcode[name.size()] == '.');
}

/// The modifier at position `index` that is a whole number, with or without U or S before it.
std::optional<int> numeric_modifier(std::string_view opcode, std::size_t skip = 0) {
  for (std::size_t dot = opcode.find('.'); dot != std::string_view::npos;) {
    const std::size_t next = opcode.find('.', dot + 1);
    std::string_view word = opcode.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1);
    if (word.size() > 1 && (word.front() == 'U' || word.front() == 'S')) {
      word.remove_prefix(1);
    }
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc{} && end == word.data() + word.size()) {
      if (skip == 0) {
        return value;
      }
      --skip;
    }
    dot = next;
  }
  return std::nullopt;
}

/// Of the architecture's instruction set where that is known. Errors (kUsage, without `where`): an opcode that the
/// machine does not have.
Result<OpcodeClass> classify(std::string_view opcode, int architecture) {
  const auto other =
      std::find_if(kOthers.begin(), kOthers.end(), [opcode](const NamedClass& c) { return names(c.name, opcode); });
  if (other != kOthers.end() && other->kind.control == ControlOp::kBranch) {
    return other->kind;  // calls and the like go elsewhere, which is all that a trace shows of them
  }
  const InstructionRow* best = nullptr;
  for (const InstructionRow& row : instruction_table()) {
    const auto better = [&](const InstructionRow& known) {
      return row.mnemonic.size() != known.mnemonic.size()
                 ? row.mnemonic.size() > known.mnemonic.size()
                 : row.first_architecture <= architecture && architecture <= row.last_architecture;
    };
    if (names(row.mnemonic, opcode) && (best == nullptr || better(*best))) {
      best = &row;
    }
  }
  if (best != nullptr) {
    return OpcodeClass{best->pipe, best->memory, best->control};
  }
  if (other != kOthers.end()) {
    return other->kind;
  }
  return fail(ErrorKind::kUsage, fmt::format("the opcode {} is not known", opcode.substr(0, 40)),
              "Only what tiled GEMM kernels of Volta to Ampere use is understood; Hopper's GMMA and TMA are not.");
}

/// Bytes that a lane moves: the first modifier that is a number, over 8; 16 for LDSM (a row per lane).
int access_bytes(std::string_view opcode) {
  constexpr int kMatrixRow = 16;
  constexpr int kBits = 8;
  constexpr int kWord = 4;
  if (names("LDSM", opcode)) {
    return kMatrixRow;
  }
  const int bits = numeric_modifier(opcode).value_or(kBits * kWord);
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? bits / kBits : kWord;
}

/// K of an HMMA m16n8k..., and whether its A takes four registers instead of two.
struct MatrixShape {
  std::uint32_t depth = 16;
  bool deep = true;
};

MatrixShape matrix_shape(std::string_view opcode) {
  const auto has = [opcode](std::string_view word) { return opcode.find(word) != std::string_view::npos; };
  const bool tf32 = has("TF32");
  return has(".16816") ? MatrixShape{16, true} : has(".1684") ? MatrixShape{4, false} : MatrixShape{8, tf32};
}

/// Registers that an operand spans: of the result (position -1) or of source `position` of `sources`.
int span_of(std::string_view opcode, const OpcodeClass& kind, int position, std::size_t sources) {
  const int words = std::max(1, access_bytes(opcode) / 4);
  const bool result = position < 0;
  const bool wide = opcode.find(".WIDE") != std::string_view::npos;
  switch (kind.memory) {
    case MemoryOp::kLoadMatrix:
      return result ? numeric_modifier(opcode, 1).value_or(1) : 1;
    case MemoryOp::kLoadGlobal:
      return result ? words : opcode.find(".E") != std::string_view::npos ? 2 : 1;
    case MemoryOp::kLoadShared:
      return result ? words : 1;
    case MemoryOp::kStoreGlobal:
    case MemoryOp::kStoreShared: {
      const int address = kind.memory == MemoryOp::kStoreGlobal && opcode.find(".E") != std::string_view::npos ? 2 : 1;
      return position == 0 ? address : words;
    }
    case MemoryOp::kCopyAsync:
      return position == 0 ? 1 : 2;
    case MemoryOp::kNone:
      break;
  }
  if (names("HMMA", opcode)) {
    const bool deep = matrix_shape(opcode).deep;
    const int accumulator = opcode.find("F32", opcode.find('.')) != std::string_view::npos ? 4 : 2;
    return result || position == 2 ? accumulator : position == 0 ? (deep ? 4 : 2) : (deep ? 2 : 1);
  }
  if (kind.pipe == Pipe::kFp64) {
    return 2;
  }
  const bool addend = position > 0 && position + 1 == static_cast<int>(sources);  // immediates are not listed
  return wide && (result || addend) ? 2 : 1;
}

bool is_math(Pipe pipe) { return pipe <= Pipe::kXu && pipe != Pipe::kUniform; }

int mio_registers(std::string_view opcode, const OpcodeClass& kind) {
  const int words = std::max(1, access_bytes(opcode) / 4);
  if (is_local(opcode)) {  // addresses of 32 bits
    return kind.memory == MemoryOp::kStoreGlobal ? 1 + words : 1;
  }
  switch (kind.memory) {
    case MemoryOp::kLoadGlobal:
      return 2;
    case MemoryOp::kStoreGlobal:
      return 2 + words;
    case MemoryOp::kStoreShared:
      return 1 + words;
    case MemoryOp::kCopyAsync:
      return 3;
    default:
      return 1;
  }
}

generator::ResultKind result_kind(const isa::Instruction& code) {
  if (code.memory == MemoryOp::kLoadShared || code.memory == MemoryOp::kLoadMatrix) {
    return generator::ResultKind::kShared;
  }
  if (isa::is_global(code.memory)) {
    return generator::ResultKind::kGlobal;
  }
  const bool slow = code.pipe == Pipe::kXu || code.pipe == Pipe::kS2r || code.pipe == Pipe::kAdu ||
                    code.pipe == Pipe::kLsu || code.pipe == Pipe::kFp64;
  return slow ? generator::ResultKind::kSlow : generator::ResultKind::kFixed;
}

std::uint32_t flops_per_lane(std::string_view opcode) {
  constexpr std::uint32_t kHmmaPerDepth = 2 * 16 * 8 / isa::kWarpSize;
  if (names("FFMA", opcode)) {
    return 2;
  }
  if (names("FADD", opcode) || names("FMUL", opcode)) {
    return 1;
  }
  return names("HMMA", opcode) ? kHmmaPerDepth * matrix_shape(opcode).depth : 0;
}

}  // namespace

bool is_local(std::string_view opcode) { return names("LDL", opcode) || names("STL", opcode); }

Result<ProgramBuilder::Known> ProgramBuilder::learn(const Line& line) const {
  const auto kind = classify(line.opcode, architecture_);
  if (!kind) {
    return tl::unexpected<Error>(kind.error());
  }
  Known known;
  known.opcode = line.opcode;
  known.destinations = line.destinations;
  known.sources = line.sources;
  isa::Instruction& code = known.code;
  code.pipe = names("HMMA", line.opcode) && !matrix_shape(line.opcode).deep ? Pipe::kTensorShort : kind->pipe;
  code.memory = kind->memory;
  code.control = kind->control;
  code.flops_per_lane = flops_per_lane(line.opcode);
  if (code.memory != MemoryOp::kNone) {
    code.access_bytes = static_cast<std::uint8_t>(access_bytes(line.opcode));
  }
  if (code.pipe == Pipe::kLsu) {
    code.mio_registers = static_cast<std::uint8_t>(mio_registers(line.opcode, *kind));
  }
  if (code.control == ControlOp::kWaitGroups) {
    constexpr std::int64_t kMostGroups = 63;
    code.wait_scoreboard = kGroupScoreboard;
    code.wait_count = static_cast<std::uint8_t>(std::clamp<std::int64_t>(line.immediate, 0, kMostGroups));
  }
  for (std::size_t i = 0; is_math(code.pipe) && i < line.sources.size() && i < code.reads.size(); ++i) {
    if (line.sources[i] >= 0 && line.sources[i] != isa::kRegisterZero) {
      code.reads[code.read_count++] = {static_cast<std::uint16_t>(line.sources[i]), static_cast<std::uint8_t>(i),
                                       false};
    }
  }
  return known;
}

Result<isa::Instruction*> ProgramBuilder::instruction(const Line& line) {
  const std::uint64_t index = line.pc / kInstructionBytes;
  if (line.pc % kInstructionBytes != 0 || index >= kMaximumTraceInstructions) {
    return fail(ErrorKind::kUsage, fmt::format("0x{:x} is no address of an instruction", line.pc),
                fmt::format("Addresses are multiples of 16 from the start of the function, below 0x{:x}.",
                            kInstructionBytes * kMaximumTraceInstructions));
  }
  const auto found = known_.find(static_cast<std::uint32_t>(index));
  if (found != known_.end()) {
    if (found->second.opcode != line.opcode) {
      return fail(ErrorKind::kUsage,
                  fmt::format("{} at address 0x{:x}, where {} was before", line.opcode, line.pc, found->second.opcode),
                  "The trace mixes kernels: make it anew.");
    }
    return &found->second.code;
  }
  auto known = learn(line);
  if (!known) {
    return tl::unexpected<Error>(known.error());
  }
  if (known->code.control == ControlOp::kExit) {
    exit_ = static_cast<std::uint32_t>(index);
  }
  return &known_.emplace(static_cast<std::uint32_t>(index), std::move(*known)).first->second.code;
}

isa::Program ProgramBuilder::finish(const std::string& name) const {
  isa::Program program;
  program.name = name;
  program.architecture = architecture_;
  const std::size_t size = known_.empty() ? 1 : std::size_t{known_.rbegin()->first} + 1;
  std::vector<generator::Operation> operations(size);
  program.text.assign(size, "(not executed)");
  for (const auto& [index, known] : known_) {
    generator::Operation& op = operations[index];
    op.code = known.code;
    op.kind = result_kind(known.code);
    const OpcodeClass kind{known.code.pipe, known.code.memory, known.code.control};
    std::string text = known.opcode;
    for (const int destination : known.destinations) {
      text += destination >= 0 ? fmt::format(" R{}", destination) : std::string();
      if (destination >= 0 && destination != isa::kRegisterZero) {
        op.result = destination;
        op.result_values =
            std::min(span_of(known.opcode, kind, -1, known.sources.size()), isa::kRegisterZero - destination);
        program.registers_referenced = std::max(program.registers_referenced, destination + op.result_values);
      }
    }
    int position = 0;
    std::string_view before = " <-";
    for (const int source : known.sources) {
      const int span = span_of(known.opcode, kind, position++, known.sources.size());
      if (source >= 0) {
        text += fmt::format("{} R{}", before, source);
        before = ",";
      }
      for (int part = 0; source >= 0 && part < span && source + part < isa::kRegisterZero; ++part) {
        op.uses.push_back({source + part, 0});
        program.registers_referenced = std::max(program.registers_referenced, source + part + 1);
      }
    }
    program.text[index] = std::move(text);
  }
  set_control(operations);
  for (generator::Operation& op : operations) {
    program.instructions.push_back(op.code);
  }
  return program;
}

}  // namespace tilesim::traces::accelsim
