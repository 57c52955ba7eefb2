// Occupancy: every row of a table recorded from cuda_occupancy.h, public cases (ids A.., I.., L..), and properties.
#include "model/occupancy.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace tilesim::model {
namespace {

ComputeCapability cc(int major, int minor) {
  const auto found = find_compute_capability(major, minor);
  REQUIRE(found);
  return *found;
}

Occupancy ask(const ComputeCapability& device, std::int64_t registers, std::int64_t threads,
              std::int64_t shared_bytes = 0) {
  OccupancyInput input;
  input.registers = registers;
  input.threads = threads;
  input.shared_bytes = shared_bytes;
  const auto result = occupancy(device, input);
  REQUIRE(result);
  return *result;
}

bool limited_by(const Occupancy& o, const std::string& name) {
  return std::find(o.limiters.begin(), o.limiters.end(), name) != o.limiters.end();
}

struct Row {
  std::int64_t major, minor, registers, threads, static_shared, dynamic_shared, carveout_kb, barriers;
  std::int64_t ctas, by_registers, by_shared, by_warps, by_ctas, by_barriers, limiters, registers_per_cta;
  std::int64_t shared_per_cta;
};

std::vector<std::pair<std::string, Row>> recorded_table() {
  std::ifstream file(std::string(TILESIM_MODEL_TEST_DATA) + "/occupancy_table.csv");
  std::vector<std::pair<std::string, Row>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::string text = line;
    std::replace(text.begin(), text.end(), ',', ' ');
    std::istringstream fields(text);
    Row r{};
    for (std::int64_t* field : {&r.major, &r.minor, &r.registers, &r.threads, &r.static_shared, &r.dynamic_shared,
                                &r.carveout_kb, &r.barriers, &r.ctas, &r.by_registers, &r.by_shared, &r.by_warps,
                                &r.by_ctas, &r.by_barriers, &r.limiters, &r.registers_per_cta, &r.shared_per_cta}) {
      fields >> *field;
    }
    REQUIRE(fields);
    rows.emplace_back(line, r);
  }
  return rows;
}

// The header's bit mask of limiters. It finds them before it counts barriers and keeps them when barriers lower the
// result; ours are those that equal the result.
std::int64_t limiter_mask(const Occupancy& o) {
  std::int64_t mask = 0;
  mask |= limited_by(o, "warps") ? 0x01 : 0;
  mask |= limited_by(o, "registers") ? 0x02 : 0;
  mask |= limited_by(o, "shared memory") ? 0x04 : 0;
  mask |= limited_by(o, "CTAs") ? 0x08 : 0;
  mask |= limited_by(o, "barriers") ? 0x10 : 0;
  return mask;
}

}  // namespace

TEST_CASE("Occupancy equals cuda_occupancy.h on every recorded row", "[model]") {
  const auto rows = recorded_table();
  REQUIRE(rows.size() > 2500);
  std::size_t wrong = 0;
  for (const auto& [text, row] : rows) {
    OccupancyInput input;
    input.registers = row.registers;
    input.threads = row.threads;
    input.shared_bytes = row.static_shared + row.dynamic_shared;
    input.barriers = static_cast<int>(row.barriers);
    if (row.carveout_kb >= 0) input.carveout_kb = static_cast<int>(row.carveout_kb);
    const auto o = occupancy(cc(static_cast<int>(row.major), static_cast<int>(row.minor)), input);
    REQUIRE(o);
    const bool barriers_decide =
        row.by_barriers < std::min({row.by_registers, row.by_shared, row.by_warps, row.by_ctas});
    const std::array got = {o->ctas,          o->by_registers,      o->by_shared,
                            o->by_warps,      o->by_ctas,           o->by_barriers,
                            limiter_mask(*o), o->registers_per_cta, o->shared_bytes_per_cta};
    const std::array expected = {row.ctas,
                                 row.by_registers,
                                 row.by_shared,
                                 row.by_warps,
                                 row.by_ctas,
                                 row.by_barriers,
                                 barriers_decide ? 0x10 : row.limiters,
                                 row.registers_per_cta,
                                 row.shared_per_cta};
    if (got != expected && ++wrong <= 5) {
      INFO(text << "\nours: " << fmt::format("{}", fmt::join(got, ",")));
      CHECK(got == expected);
    }
    CHECK(o->by_barriers_capped == std::min(row.by_barriers, row.by_ctas));
    CHECK((o->ctas == 0) == !o->cannot_launch.empty());
  }
  CHECK(wrong == 0);
}

TEST_CASE("A01 RTX 4090: 162 registers", "[model]") {
  const ComputeCapability ada = cc(8, 9);
  const Occupancy refused = ask(ada, 162, 512);
  CHECK(refused.ctas == 0);
  CHECK(refused.registers_per_thread == 168);
  CHECK(refused.registers_per_cta == 86016);
  CHECK(refused.cannot_launch.find("86016") != std::string::npos);
  CHECK(refused.cannot_launch.find("384") != std::string::npos);
  const Occupancy fits = ask(ada, 162, 256);
  CHECK(fits.ctas == 1);
  CHECK(fits.limiters == std::vector<std::string>{"registers"});
  CHECK(largest_cta_for_registers(162) == 384);
  CHECK(ask(ada, 162, 384).ctas == 1);
}

TEST_CASE("A03 Turing: 71 and 82 registers at 1,024 threads", "[model]") {
  const ComputeCapability turing = cc(7, 5);
  const Occupancy single = ask(turing, 71, 1024);
  CHECK(single.ctas == 0);
  CHECK(single.registers_per_thread == 72);
  CHECK(single.registers_per_cta == 73728);
  const Occupancy twice = ask(turing, 82, 1024);
  CHECK(twice.ctas == 0);
  CHECK(twice.registers_per_thread == 88);
  CHECK(twice.registers_per_cta == 90112);
  CHECK(largest_cta_for_registers(71) == 896);
  CHECK(largest_cta_for_registers(82) == 640);
}

TEST_CASE("A05 A100: 92 registers, 7 warps", "[model]") {
  const ComputeCapability a100 = cc(8, 0);
  const Occupancy o = ask(a100, 92, 224);
  CHECK(o.registers_per_thread == 96);
  CHECK(o.ctas == 2);
  CHECK(o.ctas * o.warps_per_cta == 14);
  for (const int threads : {128, 160, 320}) {
    const Occupancy better = ask(a100, 92, threads);
    CHECK(better.ctas * better.warps_per_cta == 20);
  }
}

TEST_CASE("A07 registers per CTA of 50, 47 and 48; compute capability 3.5 is unsupported", "[model]") {
  CHECK(ask(cc(9, 0), 50, 128).registers_per_cta == 7168);
  CHECK(ask(cc(9, 0), 50, 128).registers_per_thread == 56);
  CHECK(ask(cc(9, 0), 47, 128).registers_per_cta == 6144);
  CHECK(ask(cc(9, 0), 48, 128).registers_per_cta == 6144);
  const auto kepler = find_compute_capability(3, 5);
  REQUIRE_FALSE(kepler);
  CHECK(kepler.error().kind == ErrorKind::kUsage);
  CHECK(kepler.error().message.find("3.5 is unsupported") != std::string::npos);
}

TEST_CASE("A09 128 threads with 85 registers: 5 CTAs; 5.0 and 5.2 are unsupported", "[model]") {
  for (const std::string& name : supported_compute_capabilities()) {
    const ComputeCapability device = cc(std::stoi(name), std::stoi(name.substr(name.find('.') + 1)));
    CHECK(ask(device, 85, 128).by_registers == 5);
  }
  CHECK(ask(cc(7, 0), 85, 128).ctas == 5);
  for (const int minor : {0, 2}) {
    const auto maxwell = find_compute_capability(5, minor);
    REQUIRE_FALSE(maxwell);
    CHECK(maxwell.error().message.find("unsupported") != std::string::npos);
    CHECK(maxwell.error().remedy.find("7.0") != std::string::npos);
    CHECK(maxwell.error().remedy.find("12.1") != std::string::npos);
  }
}

TEST_CASE("A11 110,592 B of shared memory: refused on an RTX 3090, fits A100 and H100", "[model]") {
  const Occupancy o = ask(cc(8, 6), 32, 128, 110592);
  CHECK(o.ctas == 0);
  CHECK(o.cannot_launch.find("110592") != std::string::npos);
  CHECK(o.cannot_launch.find("101376") != std::string::npos);
  CHECK(ask(cc(8, 0), 32, 128, 110592).ctas == 1);
  CHECK(ask(cc(9, 0), 32, 128, 110592).ctas == 2);
}

TEST_CASE("A13 fp16 128x256x64 with 4 and 3 stages: occupancy", "[model]") {
  CHECK(ask(cc(8, 0), 128, 128, 196608).ctas == 0);
  const Occupancy three = ask(cc(8, 0), 128, 128, 147456);
  CHECK(three.ctas == 1);
  CHECK(three.limiters == std::vector<std::string>{"shared memory"});
  CHECK(ask(cc(9, 0), 128, 128, 196608).ctas == 1);
  CHECK(cc(8, 0).shared_bytes_per_cta == 166912);
  CHECK(cc(9, 0).shared_bytes_per_cta == 232448);
}

TEST_CASE("A15 compute capability 12.0 and 12.1: 102,400 B is 1,024 B over", "[model]") {
  for (const int minor : {0, 1}) {
    CHECK(cc(12, minor).shared_bytes_per_cta == 101376);
    CHECK(102400 - cc(12, minor).shared_bytes_per_cta == 1024);
    CHECK(ask(cc(12, minor), 64, 128, 102400).ctas == 0);
    CHECK(ask(cc(12, minor), 64, 128, 101376).ctas == 1);
  }
}

TEST_CASE("A17 512 threads may use 128 registers, not 129", "[model]") {
  CHECK(ask(cc(7, 5), 128, 512).ctas == 1);
  CHECK(ask(cc(7, 5), 129, 512).ctas == 0);
  CHECK(ask(cc(7, 5), 255, 256).ctas == 1);
}

TEST_CASE("A21 81,920 and 88,064 B on compute capability 12.0: 1 CTA both times", "[model]") {
  CHECK(ask(cc(12, 0), 64, 128, 81920).ctas == 1);
  CHECK(ask(cc(12, 0), 64, 128, 88064).ctas == 1);
  CHECK(limited_by(ask(cc(12, 0), 64, 128, 88064), "shared memory"));
}

TEST_CASE("A23 RTX 3090: 131,072 B is refused, 65,536 B is 1 CTA", "[model]") {
  CHECK(ask(cc(8, 6), 64, 256, 131072).ctas == 0);
  CHECK(ask(cc(8, 6), 64, 256, 65536).ctas == 1);
}

TEST_CASE("I01 without a launch bound ptxas may use 64 registers; with 32 threads it may use 70", "[model]") {
  CHECK(ask(cc(8, 0), 64, 1024).ctas == 1);
  CHECK(ask(cc(8, 0), 65, 1024).ctas == 0);
  CHECK(kRegistersPerSm / 1024 == 64);
  CHECK(ask(cc(8, 0), 70, 32).ctas > 0);
}

TEST_CASE("L09 tensor cores per SM: 8 on 7.x, 4 from 8.0 on", "[model]") {
  for (const std::string& name : supported_compute_capabilities()) {
    const int major = std::stoi(name);
    CHECK(cc(major, std::stoi(name.substr(name.find('.') + 1))).tensor_cores_per_sm == (major == 7 ? 8 : 4));
  }
}

TEST_CASE("L11 warps per SM: 64 on Hopper, 48 on 8.6, 8.9 and 12.0; 64 registers are 50 %", "[model]") {
  CHECK(cc(9, 0).warps_per_sm == 64);
  CHECK(cc(8, 6).warps_per_sm == 48);
  CHECK(cc(8, 9).warps_per_sm == 48);
  CHECK(cc(12, 0).warps_per_sm == 48);
  const Occupancy o = ask(cc(9, 0), 64, 256);
  CHECK(o.ctas * o.warps_per_cta == 32);
  CHECK(o.fraction == 0.5);
}

TEST_CASE("Occupancy of the calibration kernels as Nsight Compute reported it on the H200", "[model]") {
  struct Kernel {
    const char* name;
    std::int64_t registers, threads, shared_bytes;
    int carveout_kb;
    std::int64_t by_registers, by_shared, by_warps, shared_per_cta;
  };
  // launch__registers_per_thread, _shared_mem_config_size, _occupancy_limit_{registers,shared_mem,warps},
  // _shared_mem_per_block_allocated of the recorded profiles in traces/calibration/h200.
  const std::array kernels = {
      Kernel{"sgemm 128x128x16 s2", 143, 256, 32768, 64, 1, 1, 8, 33792},
      Kernel{"sgemm 128x128x8 s1", 119, 256, 8192, 64, 2, 7, 8, 9216},
      Kernel{"sgemm 128x128x8 s2 p4", 128, 256, 16640, 100, 2, 5, 8, 17664},
      Kernel{"sgemm 32x32x32 s1", 30, 256, 8192, 132, 8, 14, 8, 9216},
      Kernel{"sgemm 64x64x16 s2", 69, 256, 16384, 132, 3, 7, 8, 17408},
      Kernel{"hgemm 128x128x32 s3", 102, 256, 61440, 132, 2, 2, 8, 62464},
      Kernel{"hgemm 128x256x32 s3", 209, 256, 92160, 100, 1, 1, 8, 93184},
      Kernel{"hgemm 64x64x32 s3", 72, 128, 30720, 228, 7, 7, 16, 31744},
  };
  for (const Kernel& k : kernels) {
    INFO(k.name);
    OccupancyInput input;
    input.registers = k.registers;
    input.threads = k.threads;
    input.shared_bytes = k.shared_bytes;
    input.carveout_kb = k.carveout_kb;
    const auto o = occupancy(cc(9, 0), input);
    REQUIRE(o);
    CHECK(o->by_registers == k.by_registers);
    CHECK(o->by_shared == k.by_shared);
    CHECK(o->by_warps == k.by_warps);
    CHECK(o->by_ctas == 32);
    CHECK(o->shared_bytes_per_cta == k.shared_per_cta);
    CHECK(o->carveout_kb == k.carveout_kb);
    CHECK(o->by_barriers == 64);
    CHECK(o->by_barriers_capped == 32);
  }
}

TEST_CASE("Compute capabilities outside the table name the supported ones", "[model]") {
  CHECK(supported_compute_capabilities() == std::vector<std::string>{"7.0", "7.2", "7.5", "8.0", "8.6", "8.7", "8.9",
                                                                     "9.0", "10.0", "10.3", "12.0", "12.1"});
  for (const auto& [major, minor] : {std::pair{6, 1}, {11, 0}, {8, 1}, {99, 9}, {-1, 0}, {0, 0}}) {
    const auto found = find_compute_capability(major, minor);
    REQUIRE_FALSE(found);
    CHECK(found.error().kind == ErrorKind::kUsage);
    CHECK(found.error().message.find(fmt::format("{}.{}", major, minor)) != std::string::npos);
    CHECK(found.error().remedy.find("9.0") != std::string::npos);
  }
}

TEST_CASE("Occupancy refuses impossible inputs by value and range", "[model]") {
  const auto refused = [](OccupancyInput input, const std::string& value) {
    const auto o = occupancy(cc(9, 0), input);
    REQUIRE_FALSE(o);
    CHECK(o.error().message.find(value) != std::string::npos);
    CHECK_FALSE(o.error().remedy.empty());
  };
  OccupancyInput good;
  good.threads = 128;
  good.registers = 32;
  REQUIRE(occupancy(cc(9, 0), good));
  OccupancyInput bad = good;
  for (const std::int64_t threads : {std::int64_t{0}, std::int64_t{-32}, std::int64_t{1025}, INT64_MAX}) {
    bad.threads = threads;
    refused(bad, std::to_string(threads));
  }
  bad = good;
  for (const std::int64_t registers : {std::int64_t{-1}, std::int64_t{256}, INT64_MIN}) {
    bad.registers = registers;
    refused(bad, std::to_string(registers));
  }
  bad = good;
  bad.shared_bytes = -1;
  refused(bad, "-1");
  bad.shared_bytes = INT64_MAX;
  refused(bad, std::to_string(INT64_MAX));
  bad = good;
  bad.carveout_kb = 229;
  refused(bad, "229");
  bad = good;
  bad.barriers = 17;
  refused(bad, "17");
  // 70 threads are 3 warps.
  CHECK(ask(cc(9, 0), 32, 70).warps_per_cta == 3);
}

TEST_CASE("Occupancy falls with registers, shared memory and threads", "[model][property]") {
  REQUIRE(rc::check("monotone, and the largest CTA launches", [] {
    const auto names = supported_compute_capabilities();
    const std::string name = *rc::gen::elementOf(names);
    const auto device = find_compute_capability(std::stoi(name), std::stoi(name.substr(name.find('.') + 1)));
    OccupancyInput less;
    less.threads = *rc::gen::inRange<std::int64_t>(1, 1025);
    less.registers = *rc::gen::inRange<std::int64_t>(0, 255);
    less.shared_bytes = *rc::gen::inRange<std::int64_t>(0, 240000);
    OccupancyInput more = less;
    more.registers = *rc::gen::inRange<std::int64_t>(less.registers, 256);
    more.shared_bytes = less.shared_bytes + *rc::gen::inRange<std::int64_t>(0, 10000);
    const auto a = occupancy(*device, less);
    const auto b = occupancy(*device, more);
    RC_ASSERT(a.has_value());
    RC_ASSERT(b.has_value());
    RC_ASSERT(a->ctas >= b->ctas);
    RC_ASSERT(a->ctas * a->warps_per_cta <= device->warps_per_sm);
    RC_ASSERT(a->ctas * a->registers_per_cta <= kRegistersPerSm);
    RC_ASSERT(a->ctas == 0 || !a->limiters.empty());
    OccupancyInput largest;
    largest.registers = less.registers;
    largest.threads = largest_cta_for_registers(less.registers);
    RC_ASSERT(occupancy(*device, largest)->by_registers > 0);
    largest.threads += 32;
    if (largest.threads <= 1024) RC_ASSERT(occupancy(*device, largest)->by_registers == 0);
  }));
}

}  // namespace tilesim::model
