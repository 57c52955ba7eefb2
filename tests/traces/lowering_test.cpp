#include "traces/sass/lowering.h"

#include <algorithm>

#include "tests/support/catch.h"
#include "tests/traces/test_kernels.h"

namespace tilesim::traces {
namespace {

isa::Instruction first(const isa::Program& program, const std::string& mnemonic) {
  const auto place = std::find_if(program.text.begin(), program.text.end(), [&](const std::string& text) {
    return text.rfind(mnemonic + " ", 0) == 0 || text == mnemonic;
  });
  REQUIRE(place != program.text.end());
  return program.instructions[static_cast<std::size_t>(place - program.text.begin())];
}

}  // namespace

TEST_CASE("pipes follow the H200's pipe counters") {
  const isa::Program sgemm = lower(load_kernel("sgemm_128_128_8_8_8_s2_p4.sass"));
  const isa::Program hgemm = lower(load_kernel("hgemm_128_128_32_64_32_s3.sass"));
  CHECK(first(sgemm, "FFMA").pipe == isa::Pipe::kFma);
  CHECK(first(sgemm, "IMAD").pipe == isa::Pipe::kFmaHeavy);
  CHECK(first(sgemm, "IMAD.WIDE").pipe == isa::Pipe::kFmaWide);
  CHECK(first(sgemm, "IADD3").pipe == isa::Pipe::kAlu);
  CHECK(first(sgemm, "CS2R").pipe == isa::Pipe::kAlu);
  CHECK(first(sgemm, "HFMA2.MMA").pipe == isa::Pipe::kTensorHalf);
  CHECK(first(sgemm, "ULDC").pipe == isa::Pipe::kNone);
  CHECK(first(lower(load_kernel("sgemm_32_32_32_2_2_s1_p0.sass")), "ULEA").pipe == isa::Pipe::kUniform);
  CHECK(first(sgemm, "S2UR").pipe == isa::Pipe::kS2r);
  CHECK(first(sgemm, "LDC").pipe == isa::Pipe::kAdu);
  CHECK(first(sgemm, "BAR.SYNC.DEFER_BLOCKING").pipe == isa::Pipe::kBranch);
  CHECK(first(sgemm, "EXIT").control == isa::ControlOp::kExit);
  CHECK(first(hgemm, "VIADD").pipe == isa::Pipe::kFmaHeavy);
  CHECK(first(hgemm, "HMMA.16816.F32.BF16").pipe == isa::Pipe::kTensor);
  CHECK(first(hgemm, "HMMA.16816.F32.BF16").flops_per_lane == 128);
  CHECK(first(hgemm, "LDSM.16.M88.4").access_bytes == 16);
  CHECK(first(hgemm, "LDGDEPBAR").mio_registers == 1);
  CHECK(first(sgemm, "FFMA").flops_per_lane == 2);
}

TEST_CASE("memory instructions send address and data registers to the MIO") {
  const isa::Program sgemm = lower(load_kernel("sgemm_128_128_8_8_8_s2_p4.sass"));
  const isa::Program hgemm = lower(load_kernel("hgemm_128_128_32_64_32_s3.sass"));
  CHECK(first(sgemm, "LDS.128").mio_registers == 1);
  CHECK(first(sgemm, "LDS.128").access_bytes == 16);
  CHECK(first(sgemm, "STS").mio_registers == 2);
  CHECK(first(sgemm, "STS.128").mio_registers == 5);
  CHECK(first(sgemm, "LDG.E.128.CONSTANT").mio_registers == 2);
  CHECK(first(sgemm, "STG.E").mio_registers == 3);
  CHECK(first(sgemm, "STG.E").memory == isa::MemoryOp::kStoreGlobal);
  CHECK(first(hgemm, "STG.E.64").mio_registers == 4);
  CHECK(first(hgemm, "LDGSTS.E.BYPASS.128").mio_registers == 3);
  CHECK(first(hgemm, "LDSM.16.M88.4").mio_registers == 1);
  CHECK(first(hgemm, "DEPBAR.LE").control == isa::ControlOp::kWaitGroups);
  CHECK(first(hgemm, "DEPBAR.LE").wait_count == 1);
}

TEST_CASE("operand reads carry slot and reuse, and skip RZ and what is no register") {
  const isa::Program program = lower(load_kernel("sgemm_128_128_8_8_8_s1_p0.sass"));
  const isa::Instruction ffma = first(program, "FFMA");
  CHECK(ffma.read_count == 3);
  CHECK(ffma.reads[0].slot == 0);
  CHECK(ffma.reads[2].slot == 2);
  CHECK(first(program, "LDS.128").read_count == 0);
  CHECK(first(program, "CS2R").read_count == 0);
  const isa::Instruction shift = first(program, "SHF.R.S32.HI");  // RZ, immediate, register
  CHECK(shift.read_count == 1);
  CHECK(shift.reads[0].slot == 2);
}

TEST_CASE("registers referenced and three more are what the launch was given") {
  for (const auto* kernels : {&sgemm_kernels(), &hgemm_kernels()}) {
    for (const TestKernel& kernel : *kernels) {
      const isa::Program program = lower(load_kernel(kernel.name + ".sass"));
      CHECK(program.registers_referenced + 2 == recorded(kernel, 1024, "launch__registers_per_thread"));
    }
  }
}

}  // namespace tilesim::traces
