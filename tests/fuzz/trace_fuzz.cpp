// libFuzzer entry: traces from bytes to executed instructions. The first byte says which reader gets the rest:
// checksums would keep a fuzzer out of the inner ones. Nothing may crash, hang or report an error without a message.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "tests/fuzz/run_kernel.h"
#include "traces/trace/trace_kernel.h"

using namespace tilesim;
using namespace tilesim::traces;

namespace {

constexpr std::uint64_t kSteps = 20000;

/// Code with every kind of instruction that a segment treats in its own way.
const isa::Program& small_program() {
  static const isa::Program kProgram = [] {
    isa::Program program;
    program.instructions.resize(16);
    program.text.resize(16);
    const auto access = [&program](std::size_t index, isa::MemoryOp op) {
      program.instructions[index].memory = op;
      program.instructions[index].access_bytes = 4;
    };
    access(2, isa::MemoryOp::kLoadShared);
    access(3, isa::MemoryOp::kLoadGlobal);
    access(6, isa::MemoryOp::kStoreGlobal);
    access(7, isa::MemoryOp::kCopyAsync);
    program.instructions[9].control = isa::ControlOp::kBranch;
    return program;
  }();
  return kProgram;
}

void read_segments(std::span<const std::uint8_t> bytes) {
  static const std::vector<std::uint32_t> kNextMemory{2, 2, 2, 3, 6, 6, 6, 7, 16, 16, 16, 16, 16, 16, 16, 16, 16};
  CtaBlock block;
  if (!parse_cta_block(Bytes(bytes.begin(), bytes.end()), block)) {
    return;
  }
  for (const CtaBlock::Segment& segment : block.segments) {
    SegmentCursor cursor(block.part(segment), {small_program().instructions, kNextMemory}, block.patterns.size());
    Item item;
    std::uint64_t skip = 100;
    for (std::uint64_t i = 0; i < kSteps && cursor.next(item); ++i) {
      if (item.index >= 16 || item.count > 16 - item.index ||
          (item.kind == ItemKind::kAccess && item.pattern >= block.patterns.size())) {
        std::abort();
      }
      cursor.count_branch();
      cursor.pass_trips(skip);
    }
  }
}

/// What decodes is encoded to something that decodes to the same.
void read_tables(std::span<const std::uint8_t> bytes) {
  isa::Program program;
  if (decode_program(bytes, program)) {
    isa::Program again;
    if (!decode_program(encode_program(program), again) || again.text != program.text) {
      std::abort();
    }
  }
  LaunchRecord launch;
  if (decode_launch(bytes, launch)) {
    LaunchRecord again;
    if (!decode_launch(encode_launch(launch), again) || again.notes != launch.notes) {
      std::abort();
    }
  }
}

void read_file(std::span<const std::uint8_t> bytes) {
  const int descriptor = memfd_create("trace", MFD_CLOEXEC);
  if (descriptor < 0 || ::write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    ::close(descriptor);
    return;
  }
  const auto trace = TraceFile::open("/proc/self/fd/" + std::to_string(descriptor));
  if (!trace) {
    fuzz::expect_message(trace.error());
  } else if (!(*trace)->ctas().empty()) {
    const auto cta = TraceKernel(*trace).open(0, nullptr);
    isa::DynamicInstruction executed;
    for (std::uint64_t i = 0; i < kSteps && !cta->warp(0).exited(); ++i) {
      if (!cta->warp(0).step(executed)) {
        fuzz::expect_message(cta->warp(0).error());
        break;
      }
    }
  }
  ::close(descriptor);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::span rest(data + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      read_file(rest);
      break;
    case 1:
      read_tables(rest);
      break;
    default:
      read_segments(rest);
      break;
  }
  return 0;
}
