// Writes inputs for trace_fuzz to a folder: a whole trace, its tables and its blocks, each behind the byte that says
// which reader gets it. Usage: make_trace_seeds FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "traces/trace/trace_file.h"
#include "traces/trace/trace_writer.h"

using namespace tilesim;
using namespace tilesim::traces;

namespace {

/// A loop of `trips` with accesses that advance, and one that jumps about.
Result<void> write_trace(const std::filesystem::path& path, int trips) {
  isa::Program program;
  program.name = "seed";
  program.instructions.resize(16);
  program.text.assign(16, "NOP");
  program.instructions[2].memory = isa::MemoryOp::kLoadShared;
  program.instructions[2].access_bytes = 4;
  program.instructions[3].memory = isa::MemoryOp::kLoadGlobal;
  program.instructions[3].access_bytes = 16;
  program.instructions[9].control = isa::ControlOp::kBranch;
  program.instructions[9].branch_target = 1;
  auto writer = TraceWriter::create(path);
  if (!writer) {
    return tl::unexpected<Error>(writer.error());
  }
  writer->begin_cta(0, 1);
  isa::DynamicInstruction one;
  one.active_mask = ~0U;
  for (int trip = 0; trip < trips; ++trip) {
    for (one.index = trip == 0 ? 0 : 1; one.index <= 9; ++one.index) {
      for (std::uint64_t lane = 0; lane < isa::kWarpSize; ++lane) {
        const auto step = static_cast<std::uint64_t>(trip);
        one.addresses[lane] =
            one.index == 2 ? 4 * lane + (step * step % 7) * 128 : 0x7f0000000000 + 512 * step + 16 * lane;
      }
      one.branch_taken = one.index == 9 && trip + 1 < trips;
      if (auto done = writer->add(0, one, program.instructions[one.index]); !done) {
        return done;
      }
    }
  }
  if (auto done = writer->end_cta(); !done) {
    return done;
  }
  LaunchRecord launch;
  launch.kernel = "seed";
  launch.code = "compiled";
  launch.block = {32, 1, 1};
  launch.registers = 16;
  launch.notes = {"a note"};
  return writer->finish(program, launch);
}

void write(const std::filesystem::path& path, char reader, std::span<const std::uint8_t> bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.put(reader);
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Result<void> write_seeds(const std::filesystem::path& folder, int trips) {
  const std::string stem = (folder / std::to_string(trips)).string();
  const std::filesystem::path whole = stem + ".tst";
  if (auto done = write_trace(whole, trips); !done) {
    return done;
  }
  const auto trace = TraceFile::open(whole);
  if (!trace) {
    return tl::unexpected<Error>(trace.error());
  }
  write(stem + ".program", 1, encode_program((*trace)->program()));
  write(stem + ".launch", 1, encode_launch((*trace)->launch()));
  const auto found = (*trace)->find((*trace)->ctas()[0], 0, (*trace)->ctas()[0].begin);
  const auto block = found ? (*trace)->load(*found) : tl::unexpected<Error>(found.error());
  if (!block) {
    return tl::unexpected<Error>(block.error());
  }
  write(stem + ".block", 2, (*block)->bytes);
  std::ifstream stream(whole, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  write(stem + ".file", 0, std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  std::filesystem::remove(whole);
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: make_trace_seeds FOLDER\n", stderr);
    return 2;
  }
  std::filesystem::create_directories(arguments[1]);
  for (const int trips : {1, 2, 12, 300}) {
    if (const auto done = write_seeds(arguments[1], trips); !done) {
      std::fprintf(stderr, "make_trace_seeds: %s\n", done.error().message.c_str());
      return 1;
    }
  }
  return 0;
}
