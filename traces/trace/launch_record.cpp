#include "traces/trace/launch_record.h"

#include <algorithm>

#include "sim/isa/barrier_call.h"

namespace tilesim::traces {

namespace {

// A field that is added to the instruction has to be written and read here, and kTraceVersion to be raised.
static_assert(sizeof(isa::Instruction) == 40, "encode the new field in this file and raise kTraceVersion");

constexpr std::uint64_t kMostThreads = 1024;

void encode_extent(const isa::Dim3& extent, ByteWriter& writer) {
  writer.number(extent.x);
  writer.number(extent.y);
  writer.number(extent.z);
}

isa::Dim3 decode_extent(ByteReader& reader) {
  isa::Dim3 extent;
  extent.x = static_cast<std::uint32_t>(reader.number());
  extent.y = static_cast<std::uint32_t>(reader.number());
  extent.z = static_cast<std::uint32_t>(reader.number());
  return extent;
}

/// CUDA's limits, so that the number of CTAs fits 64 bits.
bool sensible(const isa::Dim3& grid, const isa::Dim3& block) {
  constexpr std::uint32_t kMostX = 0x7fffffff;
  constexpr std::uint32_t kMostYZ = 65535;
  return grid.x >= 1 && grid.x <= kMostX && grid.y >= 1 && grid.y <= kMostYZ && grid.z >= 1 && grid.z <= kMostYZ &&
         block.x <= kMostThreads && block.y <= kMostThreads && block.z <= kMostThreads && block.count() >= 1 &&
         block.count() <= kMostThreads;
}

void encode_instruction(const isa::Instruction& in, ByteWriter& writer) {
  writer.u8(static_cast<std::uint8_t>(in.pipe));
  writer.u8(static_cast<std::uint8_t>(in.memory));
  writer.u8(static_cast<std::uint8_t>(in.control));
  writer.u8(in.stall);
  writer.u8(static_cast<std::uint8_t>((in.yield ? 1U : 0U) | (in.constant_operand ? 2U : 0U) |
                                      (in.reads_predicated ? 4U : 0U) | (in.barrier_arrives ? 8U : 0U) |
                                      (in.barrier_from_registers ? 16U : 0U)));
  writer.u8(in.write_scoreboard);
  writer.u8(in.read_scoreboard);
  writer.u8(in.wait_mask);
  writer.u8(in.read_count);
  for (std::size_t i = 0; i < in.read_count; ++i) {
    writer.fixed(in.reads[i].reg, 2);
    writer.u8(static_cast<std::uint8_t>(in.reads[i].slot | (in.reads[i].reuse ? 0x80U : 0U)));
  }
  writer.u8(in.mio_registers);
  writer.u8(in.access_bytes);
  writer.number(in.branch_target);
  writer.u8(in.barrier_id);
  writer.u8(in.barrier_warps);
  writer.u8(in.wait_scoreboard);
  writer.u8(in.wait_count);
  writer.number(in.flops_per_lane);
}

bool decode_instruction(ByteReader& reader, std::uint64_t count, isa::Instruction& out) {
  constexpr std::uint8_t kLastMemory = static_cast<std::uint8_t>(isa::MemoryOp::kCopyAsync);
  constexpr std::uint8_t kLastControl = static_cast<std::uint8_t>(isa::ControlOp::kCommitGroup);
  constexpr std::uint8_t kMostStall = 15;
  constexpr std::uint8_t kMostMioRegisters = 8;
  constexpr std::uint8_t kWidest = 16;
  const std::uint8_t pipe = reader.u8();
  const std::uint8_t memory = reader.u8();
  const std::uint8_t control = reader.u8();
  out.pipe = static_cast<isa::Pipe>(pipe);
  out.memory = static_cast<isa::MemoryOp>(memory);
  out.control = static_cast<isa::ControlOp>(control);
  out.stall = reader.u8();
  const std::uint8_t flags = reader.u8();
  out.yield = (flags & 1U) != 0;
  out.constant_operand = (flags & 2U) != 0;
  out.reads_predicated = (flags & 4U) != 0;
  out.barrier_arrives = (flags & 8U) != 0;
  out.barrier_from_registers = (flags & 16U) != 0;
  out.write_scoreboard = reader.u8();
  out.read_scoreboard = reader.u8();
  out.wait_mask = reader.u8();
  out.read_count = reader.u8();
  if (out.read_count > out.reads.size()) {
    return false;
  }
  bool good = true;
  for (std::size_t i = 0; i < out.read_count; ++i) {
    out.reads[i].reg = static_cast<std::uint16_t>(reader.fixed(2));
    const std::uint8_t slot = reader.u8();
    out.reads[i].slot = slot & 0x7f;
    out.reads[i].reuse = (slot & 0x80U) != 0;
    good = good && out.reads[i].slot < out.reads.size() && out.reads[i].reg <= isa::kRegisterZero;
  }
  out.mio_registers = reader.u8();
  out.access_bytes = reader.u8();
  out.branch_target = static_cast<std::uint32_t>(std::min<std::uint64_t>(reader.number(), count));
  out.barrier_id = reader.u8();
  out.barrier_warps = reader.u8();
  out.wait_scoreboard = reader.u8();
  out.wait_count = reader.u8();
  out.flops_per_lane = static_cast<std::uint32_t>(reader.number());
  const auto scoreboard = [](std::uint8_t number) {
    return number < isa::kScoreboards || number == isa::kNoScoreboard;
  };
  const bool accesses = memory != 0;
  return good && !reader.failed() && pipe < isa::kPipeCount && memory <= kLastMemory && control <= kLastControl &&
         out.stall <= kMostStall && scoreboard(out.write_scoreboard) && scoreboard(out.read_scoreboard) &&
         out.wait_mask < 1U << isa::kScoreboards && out.mio_registers <= kMostMioRegisters &&
         (accesses ? out.access_bytes >= 1 && out.access_bytes <= kWidest &&
                         (out.access_bytes & (out.access_bytes - 1U)) == 0
                   : out.access_bytes == 0) &&
         out.branch_target < count && out.barrier_id < isa::kBarriersPerCta &&
         (!isa::is_partial_barrier(out) || control == static_cast<std::uint8_t>(isa::ControlOp::kBarrier)) &&
         out.wait_scoreboard < isa::kScoreboards;
}

}  // namespace

Bytes encode_launch(const LaunchRecord& launch) {
  Bytes bytes;
  ByteWriter writer(bytes);
  for (const std::string* text :
       {&launch.kernel, &launch.code, &launch.origin, &launch.origin_kind, &launch.arguments}) {
    writer.text(*text);
  }
  encode_extent(launch.grid, writer);
  encode_extent(launch.block, writer);
  writer.number(static_cast<std::uint64_t>(launch.shared_bytes));
  writer.u8(static_cast<std::uint8_t>(launch.math));
  writer.number(static_cast<std::uint64_t>(launch.registers));
  writer.u8(launch.registers_assumed ? 1 : 0);
  writer.number(static_cast<std::uint64_t>(launch.barriers));
  writer.number(launch.carveout_kb ? static_cast<std::uint64_t>(*launch.carveout_kb) + 1 : 0);
  writer.number(launch.loop_branch ? std::uint64_t{*launch.loop_branch} + 1 : 0);
  writer.number(launch.loop_trips);
  writer.number(launch.notes.size());
  for (const std::string& note : launch.notes) {
    writer.text(note);
  }
  return bytes;
}

bool decode_launch(std::span<const std::uint8_t> bytes, LaunchRecord& out) {
  constexpr std::uint64_t kMostShared = std::uint64_t{1} << 30;
  constexpr std::uint64_t kMostRegisters = 255;
  constexpr std::uint64_t kMostCarveout = 1024;
  constexpr std::uint64_t kMostTrips = std::uint64_t{1} << 40;
  ByteReader reader(bytes);
  for (std::string* text : {&out.kernel, &out.code, &out.origin, &out.origin_kind, &out.arguments}) {
    *text = reader.text();
  }
  out.grid = decode_extent(reader);
  out.block = decode_extent(reader);
  const std::uint64_t shared = reader.number();
  const std::uint8_t math = reader.u8();
  const std::uint64_t registers = reader.number();
  out.registers_assumed = reader.u8() != 0;
  const std::uint64_t barriers = reader.number();
  const std::uint64_t carveout = reader.number();
  const std::uint64_t branch = reader.number();
  out.loop_trips = reader.number();
  const std::uint64_t notes = reader.number();
  if (reader.failed() || shared > kMostShared || registers < 1 || registers > kMostRegisters || barriers < 1 ||
      barriers > isa::kBarriersPerCta || carveout > kMostCarveout || branch > kMaximumTraceInstructions ||
      out.loop_trips > kMostTrips || notes > reader.left() ||
      math > static_cast<std::uint8_t>(model::DataType::kBf16) || !sensible(out.grid, out.block)) {
    return false;
  }
  out.math = static_cast<model::DataType>(math);
  out.shared_bytes = static_cast<std::int64_t>(shared);
  out.registers = static_cast<int>(registers);
  out.barriers = static_cast<int>(barriers);
  out.carveout_kb = carveout != 0 ? std::optional<int>(static_cast<int>(carveout) - 1) : std::nullopt;
  out.loop_branch = branch != 0 ? std::optional<std::uint32_t>(static_cast<std::uint32_t>(branch) - 1) : std::nullopt;
  for (std::uint64_t i = 0; i < notes; ++i) {
    out.notes.push_back(reader.text());
  }
  return !reader.failed() && reader.left() == 0;
}

Bytes encode_program(const isa::Program& program) {
  Bytes bytes;
  ByteWriter writer(bytes);
  writer.text(program.name);
  writer.number(static_cast<std::uint64_t>(program.architecture));
  writer.number(program.bytes_per_instruction);
  writer.number(static_cast<std::uint64_t>(program.registers_referenced));
  writer.number(program.instructions.size());
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    encode_instruction(program.instructions[i], writer);
    writer.text(program.text[i]);
  }
  return bytes;
}

bool decode_program(std::span<const std::uint8_t> bytes, isa::Program& out) {
  constexpr std::uint64_t kMostArchitecture = 999;
  constexpr std::uint64_t kMostRegisters = 256;
  constexpr std::uint64_t kMostBytes = 64;
  ByteReader reader(bytes);
  out.name = reader.text();
  const std::uint64_t architecture = reader.number();
  const std::uint64_t size = reader.number();
  const std::uint64_t registers = reader.number();
  const std::uint64_t count = reader.number();
  if (reader.failed() || architecture > kMostArchitecture || size < 1 || size > kMostBytes ||
      registers > kMostRegisters || count < 1 || count > kMaximumTraceInstructions || count > reader.left()) {
    return false;
  }
  out.architecture = static_cast<int>(architecture);
  out.bytes_per_instruction = static_cast<std::uint32_t>(size);
  out.registers_referenced = static_cast<int>(registers);
  out.instructions.resize(static_cast<std::size_t>(count));
  out.text.resize(out.instructions.size());
  for (std::size_t i = 0; i < out.instructions.size(); ++i) {
    if (!decode_instruction(reader, count, out.instructions[i])) {
      return false;
    }
    out.text[i] = reader.text();
  }
  return !reader.failed() && reader.left() == 0;
}

}  // namespace tilesim::traces
