// LDGSTS, LDGDEPBAR, DEPBAR.LE, LDL and STL in the machine, against the H200 microbenchmarks where there are some.
#include <algorithm>

#include "sim/isa/lane_address.h"
#include "sim/sm/access_analyzer.h"
#include "tests/sim/probe.h"

using namespace tilesim;
using namespace tilesim::sim;
using namespace tilesim::sim::testing;
using isa::ControlOp;
using isa::MemoryOp;
using isa::Pipe;

namespace {

std::uint64_t pack_copy(std::uint64_t global, std::uint64_t shared, bool bypass) {
  return isa::CopyLane{global, static_cast<std::uint32_t>(shared), bypass}.packed();
}

constexpr std::uint64_t kGlobal = std::uint64_t{1} << 32;
constexpr std::uint64_t kShared = 1024;

isa::Instruction& add_copy(SyntheticKernel& kernel, int bytes, int stall = 2) {
  isa::Instruction& inst = kernel.add_memory(MemoryOp::kCopyAsync, bytes, 3, isa::kNoScoreboard);
  inst.stall = static_cast<std::uint8_t>(stall);
  return inst;
}

void add_commit(SyntheticKernel& kernel, int stall = 2) {
  isa::Instruction& inst = kernel.add(Pipe::kLsu, stall);
  inst.control = ControlOp::kCommitGroup;
  inst.mio_registers = 1;
  inst.write_scoreboard = 0;
}

void add_wait(SyntheticKernel& kernel, int groups) {
  isa::Instruction& inst = kernel.add(Pipe::kNone, 4);
  inst.control = ControlOp::kWaitGroups;
  inst.wait_scoreboard = 0;
  inst.wait_count = static_cast<std::uint8_t>(groups);
}

/// The SM that had the CTA.
const SmCounters& busy(const Run& done) {
  const auto& sms = done.result.sms;
  return *std::find_if(sms.begin(), sms.end(), [](const SmCounters& sm) { return sm.ctas != 0; });
}

/// Lanes `bytes` apart on the global side and `pitch` apart on the shared side.
SyntheticKernel::AddressOf copies(std::uint64_t bytes, std::uint64_t pitch, bool bypass = false) {
  return [bytes, pitch, bypass](std::uint32_t, std::uint64_t, std::uint64_t, int, int lane) {
    const auto place = static_cast<std::uint64_t>(lane);
    return pack_copy(kGlobal + place * bytes, kShared + place * pitch, bypass);
  };
}

/// Issue cycles of a kernel that copies the same lines twice: the second time they are in the L1.
std::vector<Cycle> second_copy(int bytes, std::uint64_t pitch) {
  SyntheticKernel kernel;
  kernel.address = copies(static_cast<std::uint64_t>(bytes), pitch);
  for (int round = 0; round < 2; ++round) {
    add_copy(kernel, bytes);
    add_commit(kernel);
    add_wait(kernel, 0);
  }
  kernel.add(Pipe::kNone);
  kernel.add_exit();
  const auto cycles = run(kernel).heard.cycles();
  return {cycles.begin() + 3, cycles.end()};
}

}  // namespace

TEST_CASE("a commit without copies lets DEPBAR.LE pass 39 cycles later, not 38") {
  SyntheticKernel kernel;
  add_commit(kernel);
  add_wait(kernel, 0);
  kernel.add(Pipe::kNone);
  kernel.add_exit();
  const Run done = run(kernel);
  const auto cycles = done.heard.cycles();
  CHECK(cycles[1] - cycles[0] == 39);
  CHECK(cycles[2] - cycles[0] == 43);  // as measured, with the stall of DEPBAR
  const auto& states = done.heard.states.begin()->second;
  const auto waits = std::find_if(states.begin(), states.end(), [&](const Recorder::Interval& interval) {
    return interval.state == WarpState::kLongScoreboard;
  });
  REQUIRE(waits != states.end());
  CHECK(waits->end == cycles[1]);
}

TEST_CASE("a copy from the L1 with commit and wait: 58 cycles for 16 bytes, 54 for 8, 52 for 4 (measured 54)") {
  const auto link = [](int bytes) {
    const auto cycles = second_copy(bytes, static_cast<std::uint64_t>(bytes));
    return cycles[3] - cycles[0];
  };
  CHECK(link(16) == 58);
  CHECK(link(8) == 54);
  CHECK(link(4) == 52);
}

TEST_CASE("conflicts on the shared side cost two cycles per wavefront of a lone copy") {
  const auto without = second_copy(16, 16);
  const auto eight_way = second_copy(16, 128);  // 32 wavefronts instead of 4
  CHECK(eight_way[2] - eight_way[0] == without[2] - without[0] + 2 * 28);
}

TEST_CASE("DEPBAR.LE waits until at most N groups are outstanding, and groups end in order") {
  SyntheticKernel kernel;
  kernel.address = copies(16, 16);
  for (int group = 0; group < 3; ++group) {
    add_copy(kernel, 16);
    add_commit(kernel);
  }
  add_wait(kernel, 2);  // 6
  add_wait(kernel, 1);
  add_wait(kernel, 0);  // 8
  kernel.add_exit();
  const auto first_to_last = run(kernel).heard.cycles();
  CHECK(first_to_last[6] > first_to_last[5] + 200);  // the first group comes from beyond the L2
  CHECK(first_to_last[8] >= first_to_last[6] + 8);

  // A group whose data are in the L1 does not pass one whose data come from far away.
  SyntheticKernel mixed;
  mixed.address = [](std::uint32_t index, std::uint64_t, std::uint64_t, int, int lane) {
    const std::uint64_t base = index == 3 ? kGlobal + 4096 : kGlobal;
    return pack_copy(base + static_cast<std::uint64_t>(lane) * 16, kShared, false);
  };
  add_copy(mixed, 16);
  add_commit(mixed);
  add_wait(mixed, 0);
  add_copy(mixed, 16);  // 3: far
  add_commit(mixed);
  add_copy(mixed, 16);  // 5: in the L1
  add_commit(mixed);
  add_wait(mixed, 1);  // 7
  add_wait(mixed, 0);
  mixed.add_exit();
  const auto cycles = run(mixed).heard.cycles();
  CHECK(cycles[7] > cycles[3] + 200);
  CHECK(cycles[8] >= cycles[7] + 4);
  CHECK(cycles[8] <= cycles[7] + 16);
}

TEST_CASE("copies past the L1 leave nothing there, zero-filling ones read nothing") {
  const auto hits = [](bool bypass) {
    SyntheticKernel kernel;
    kernel.address = copies(16, 16, bypass);
    for (int round = 0; round < 2; ++round) {
      add_copy(kernel, 16);
      add_commit(kernel);
      add_wait(kernel, 0);
    }
    kernel.add_exit();
    const Run done = run(kernel);
    return busy(done).l1_load_sector_hits;
  };
  CHECK(hits(false) == 16);
  CHECK(hits(true) == 0);

  SyntheticKernel zeros;
  zeros.address = [](auto, auto, auto, auto, int lane) {
    return pack_copy(0, kShared + static_cast<std::uint64_t>(lane) * 16, false);
  };
  add_copy(zeros, 16);
  add_commit(zeros);
  add_wait(zeros, 0);
  zeros.add_exit();
  const Run done = run(zeros);
  CHECK(done.result.chip.l2_read_sectors == 0);
  CHECK(busy(done).sites[0].wavefronts == 4);
  CHECK(done.heard.cycles()[2] - done.heard.cycles()[0] == 54);
}

TEST_CASE("copies cost the same whether every cycle is visited or not") {
  SyntheticKernel kernel;
  kernel.ctas.x = 200;
  kernel.threads.x = 128;
  kernel.trips = 4;
  kernel.address = [](std::uint32_t index, std::uint64_t trip, std::uint64_t cta, int warp, int lane) {
    const auto place = static_cast<std::uint64_t>(warp) * 512 + static_cast<std::uint64_t>(lane) * 16;
    return index == 4 ? kShared + place * 2
                      : pack_copy(kGlobal + (cta * 8 + trip * 2 + index) * 2048 + place, kShared + place, index == 1);
  };
  add_copy(kernel, 16);
  add_copy(kernel, 16);
  add_commit(kernel);
  add_wait(kernel, 1);
  kernel.add_memory(MemoryOp::kLoadShared, 16, 1, 1);
  kernel.add_control(ControlOp::kBranch, 5).branch_target = 0;
  add_wait(kernel, 0);
  kernel.add_exit();
  const Run fast = run(kernel, 2);
  const Run slow = run(kernel, 2, true);
  CHECK(fast.heard.issues == slow.heard.issues);
  CHECK(fast.heard.states == slow.heard.states);
}

TEST_CASE("rates of copies that hit the L1 with 16 warps: 2.4, 3.5, 4.7 cycles measured, 33 at 8-way conflicts") {
  const auto rate = [](int bytes, std::uint64_t pitch) {
    SyntheticKernel kernel;
    kernel.threads.x = 512;
    kernel.trips = 32;
    kernel.address = copies(static_cast<std::uint64_t>(bytes), pitch);
    for (int i = 0; i < 8; ++i) {
      add_copy(kernel, bytes, 1);
    }
    add_commit(kernel, 1);
    kernel.add_control(ControlOp::kBranch, 5).branch_target = 0;
    add_wait(kernel, 0);
    kernel.add_exit();
    const Run done = run(kernel);
    return static_cast<double>(busy(done).active_cycles) / (16 * 32 * 8);
  };
  CHECK(rate(4, 4) == Approx(2.4).epsilon(0.25));
  CHECK(rate(8, 8) == Approx(3.5).epsilon(0.2));
  CHECK(rate(16, 16) == Approx(4.7).epsilon(0.12));
  CHECK(rate(16, 128) == Approx(33).epsilon(0.05));
}

namespace {

/// Copies past the L1 by 16 warps, 32 each: rows of `row_lanes` lanes of 16 bytes, 4 KB apart in global memory and
/// `pitch` bytes apart in shared memory. All are in the L2 after the first trip.
Run bypassing(int row_lanes, std::uint64_t pitch) {
  SyntheticKernel kernel;
  kernel.threads.x = 512;
  kernel.trips = 4;
  kernel.address = [row_lanes, pitch](std::uint32_t index, std::uint64_t, std::uint64_t, int warp, int lane) {
    const auto row = static_cast<std::uint64_t>(lane / row_lanes);
    const auto place = static_cast<std::uint64_t>(lane % row_lanes) * 16;
    const std::uint64_t column = (static_cast<std::uint64_t>(warp) * 8 + index) * 512;
    return pack_copy(kGlobal + row * 131072 + column + place, kShared + row * pitch + place, true);
  };
  for (int i = 0; i < 8; ++i) {
    add_copy(kernel, 16, 1);
  }
  add_commit(kernel, 1);
  kernel.add_control(ControlOp::kBranch, 5).branch_target = 0;
  add_wait(kernel, 0);
  kernel.add_exit();
  return run(kernel);
}

}  // namespace

TEST_CASE("copies past the L1: looked up by wavefront, asked for by row of shared memory") {
  const Run padded = bypassing(4, 80);
  const AccessSite& site = busy(padded).sites[0];
  // Nsight Compute, the three hgemm calibration kernels: 5 wavefronts and 20 sectors per LDGSTS of this form. What
  // comes back are 24 sectors.
  CHECK(site.wavefronts == 5 * site.requests);
  CHECK(site.sectors == 20 * site.requests);
  CHECK(site.lines == 15 * site.requests);
  CHECK(padded.result.chip.l2_read_sectors == 24 * 16 * 32);
  const Run dense = bypassing(32, 512);
  CHECK(busy(dense).sites[0].sectors == 16 * busy(dense).sites[0].requests);
  CHECK(dense.result.chip.l2_read_sectors == 16 * 16 * 32);
}

TEST_CASE("copies past the L1 use the data pipe for one cycle") {
  const auto cycles = [](const Run& done) { return static_cast<double>(busy(done).data_pipe_cycles) / (16 * 32); };
  CHECK(cycles(bypassing(32, 512)) == 1.0);  // measured: 0.95 cycles lost to LDS per dense copy
  CHECK(cycles(bypassing(4, 80)) == 1.0);
}

TEST_CASE("copies past the L1 by 16 warps: cycles per copy as measured by the form of the copy") {
  struct Form {
    int row_lanes;
    std::uint64_t pitch;
    double measured;  // copy_groups.csv: 32 warps less 16 warps (8 rows at 144: 16 less 8), per copy
  };
  const Form forms[] = {{32, 512, 4.26}, {8, 128, 4.34}, {8, 144, 11.98}, {8, 160, 8.16}, {4, 64, 8.20},
                        {4, 80, 17.48},  {4, 96, 11.17}, {4, 144, 16.74}, {2, 32, 17.44}, {2, 48, 24.26}};
  for (const Form& form : forms) {
    const auto cycles = [&form](std::uint64_t trips) {
      SyntheticKernel kernel;
      kernel.threads.x = 512;
      kernel.trips = trips;
      kernel.address = [&form](std::uint32_t index, std::uint64_t trip, std::uint64_t, int warp, int lane) {
        const auto row = static_cast<std::uint64_t>(lane / form.row_lanes);
        const auto place = static_cast<std::uint64_t>(lane % form.row_lanes) * 16;
        const std::uint64_t bytes = 32 / static_cast<std::uint64_t>(form.row_lanes) * form.pitch;
        const std::uint64_t column = (static_cast<std::uint64_t>(warp) * 8 + trip % 2 * 4 + index) * 512;
        return pack_copy(kGlobal + row * 131072 + column + place, kShared + index * bytes + row * form.pitch + place,
                         true);
      };
      for (int i = 0; i < 4; ++i) {
        add_copy(kernel, 16, 1);
      }
      add_commit(kernel, 1);
      add_wait(kernel, 1);
      kernel.add_control(ControlOp::kBranch, 5).branch_target = 0;
      kernel.add_exit();
      return static_cast<double>(busy(run(kernel)).active_cycles);
    };
    CAPTURE(form.row_lanes, form.pitch);
    CHECK((cycles(24) - cycles(8)) / (16 * 16 * 4) == Approx(form.measured).epsilon(0.12));
  }
}

TEST_CASE("a copy past the L1 that hits the L2, with commit and wait: 308 to 316 cycles measured") {
  SyntheticKernel kernel;
  kernel.address = copies(16, 16, true);
  for (int round = 0; round < 2; ++round) {
    add_copy(kernel, 16);
    add_commit(kernel);
    add_wait(kernel, 0);
  }
  kernel.add(Pipe::kNone);
  kernel.add_exit();
  const auto cycles = run(kernel).heard.cycles();
  CHECK(cycles[6] - cycles[3] >= 312 - 17);  // near and far slices differ by 17 either way
  CHECK(cycles[6] - cycles[3] <= 312 + 17);
}

TEST_CASE("a stream of LDS.128 loses little to dense copies past the L1: 113.5 of 127.6 bytes per cycle measured") {
  SyntheticKernel kernel;
  kernel.threads.x = 512;
  kernel.trips = 24;
  kernel.address = [](std::uint32_t index, std::uint64_t, std::uint64_t, int warp, int lane) {
    const auto place = static_cast<std::uint64_t>(lane) * 16;
    return index >= 8 ? kShared + place
                      : pack_copy(kGlobal + (static_cast<std::uint64_t>(warp) * 8 + index) * 512 + place,
                                  kShared + place, true);
  };
  // Warps 8 to 15 copy, warps 0 to 7 load: an instruction without active lanes does nothing.
  kernel.mask = [](std::uint32_t index, std::uint64_t, int warp) { return (index < 8) == (warp >= 8) ? ~0U : 0U; };
  for (int i = 0; i < 8; ++i) {
    add_copy(kernel, 16, 1);
  }
  for (int i = 0; i < 16; ++i) {
    kernel.add_memory(MemoryOp::kLoadShared, 16, 1, 1);
  }
  kernel.add_control(ControlOp::kBranch, 5).branch_target = 0;
  kernel.add_exit();
  const Run done = run(kernel);
  const double loaded = 8.0 * 24 * 16 * 512;
  CHECK(loaded / static_cast<double>(busy(done).active_cycles) > 0.75 * 113.5);
}

TEST_CASE("lane addresses of copies hold both sides") {
  const isa::CopyLane lane = isa::CopyLane::of(isa::CopyLane{0x7f0000001230, 0x38c00, true}.packed());
  CHECK(lane.global == 0x7f0000001230);
  CHECK(lane.shared == 0x38c00);
  CHECK(lane.bypass);
  CHECK_FALSE(isa::CopyLane::of(isa::CopyLane{64, 4, false}.packed()).bypass);
}

TEST_CASE(
    "local memory stays in the L1: a spilled word is one line of four sectors, reloaded at the latency of a hit") {
  SyntheticKernel kernel;
  kernel.address = [](std::uint32_t index, std::uint64_t, std::uint64_t, int, int lane) {
    return isa::local_address(index == 1 ? 100 : 0, static_cast<unsigned>(lane), 0);
  };
  kernel.add_memory(MemoryOp::kStoreGlobal, 16, 5, 7).stall = 15;
  kernel.add_memory(MemoryOp::kStoreGlobal, 4, 2, 7).stall = 15;
  kernel.add_memory(MemoryOp::kLoadGlobal, 4, 1, 0);
  kernel.add(Pipe::kAlu).wait_mask = 1;
  kernel.add_exit();
  const Run done = run(kernel);
  const auto cycles = done.heard.cycles();
  CHECK(cycles[3] - cycles[2] < 40);
  const SmCounters& sm = busy(done);
  CHECK(sm.sites[0].sectors == 16);
  CHECK(sm.sites[0].lines == 4);
  CHECK(sm.sites[1].sectors == 4);
  CHECK(sm.l1_load_sector_hits == 4);
  CHECK(done.result.chip.l2_read_sectors == 0);
  CHECK(done.result.chip.l2_write_sectors == 0);
}
