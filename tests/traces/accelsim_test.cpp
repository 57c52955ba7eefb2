// Accel-Sim's text traces: the grammar, and the cases that users met (numbers of accel-sim-framework issues).
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/isa/lane_address.h"
#include "tests/support/catch.h"
#include "tests/traces/test_kernels.h"
#include "traces/trace/accelsim_export.h"
#include "traces/trace/accelsim_import.h"
#include "traces/trace/accelsim_program.h"
#include "traces/trace/recorder.h"
#include "traces/trace/trace_kernel.h"

namespace tilesim::traces {
namespace {

int next_number() {
  static int number = 0;
  return ++number;
}

struct ScratchFile {
  std::filesystem::path path;
  explicit ScratchFile(const std::string& suffix = ".tst")
      : path(std::filesystem::temp_directory_path() /
             ("tilesim-accelsim-" + std::to_string(getpid()) + "-" + std::to_string(next_number()) + suffix)) {}
  ~ScratchFile() { std::filesystem::remove(path); }
};

std::string header(const std::string& grid = "(1,1,1)", int version = 5, bool line_info = false) {
  return "-kernel name = _Z4gemmPf\n-kernel id = 1\n-grid dim = " + grid +
         "\n-block dim = (32,1,1)\n-shmem = 4096\n-nregs = 40\n-binary version = 80\n-cuda stream id = 0\n"
         "-shmem base_addr = 0x00007f0000000000\n-local mem base_addr = 0x00007f1000000000\n-nvbit version = 1.5\n"
         "-accelsim tracer version = " +
         std::to_string(version) + "\n-enable lineinfo = " + (line_info ? "1" : "0") +
         "\n\n#traces format = PC mask dest_num ...\n";
}

std::string block(const std::vector<std::string>& lines, const std::string& place = "0,0,0") {
  std::string text =
      "\n#BEGIN_TB\n\nthread block = " + place + "\n\nwarp = 0\ninsts = " + std::to_string(lines.size()) + "\n";
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text + "\n#END_TB\n";
}

const std::vector<std::string> kSmall{"0000 ffffffff 1 R1 MOV 0 0 0",
                                      "0010 ffffffff 1 R16 LDG.E.128 1 R2 16 1 0x7f0000001000 16 0",
                                      "0020 ffffffff 1 R8 FFMA 3 R17 R4 R8 0 0", "0030 ffffffff 0 EXIT 0 0 0"};

Result<ImportSummary> import(const std::string& text, const std::filesystem::path& out) {
  return import_accelsim(*TextSource::of(text, "kernel-1.traceg"), out);
}

std::vector<isa::DynamicInstruction> executed(const std::shared_ptr<const TraceFile>& trace) {
  std::vector<isa::DynamicInstruction> all;
  const auto cta = TraceKernel(trace).open(0, nullptr);
  isa::DynamicInstruction one;
  while (!cta->warp(0).exited()) {
    REQUIRE(cta->warp(0).step(one));
    all.push_back(one);
  }
  return all;
}

std::shared_ptr<const TraceFile> imported(const std::string& text, const std::filesystem::path& out) {
  const auto done = import(text, out);
  INFO((done ? "" : done.error().message + " " + done.error().where));
  REQUIRE(done.has_value());
  const auto trace = TraceFile::open(out);
  REQUIRE(trace.has_value());
  return *trace;
}

std::string refusal(const std::string& text) {
  const ScratchFile scratch;
  const auto done = import(text, scratch.path);
  REQUIRE_FALSE(done.has_value());
  CHECK_FALSE(done.error().remedy.empty());
  CHECK_FALSE(std::filesystem::exists(scratch.path));
  return done.error().message + " @ " + done.error().where;
}

}  // namespace

TEST_CASE("a small trace brings launch, code and accesses", "[accelsim]") {
  const ScratchFile scratch;
  const auto trace = imported(header() + block(kSmall), scratch.path);
  CHECK(trace->launch().kernel == "gemm(float*)");
  CHECK(trace->launch().code == "approximate");
  CHECK(trace->launch().registers == 40);
  CHECK(trace->launch().shared_bytes == 4096);
  CHECK(trace->program().architecture == 80);
  const auto& code = trace->program().instructions;
  REQUIRE(code.size() == 4);
  CHECK(code[1].memory == isa::MemoryOp::kLoadGlobal);
  CHECK(code[1].access_bytes == 16);
  // LDG.E.128 R16 writes R16 to R19, so the FFMA that reads R17 waits for its scoreboard.
  REQUIRE(code[1].write_scoreboard < isa::kScoreboards);
  CHECK((code[2].wait_mask >> code[1].write_scoreboard & 1U) == 1);
  CHECK(code[2].flops_per_lane == 2);
  CHECK(code[3].control == isa::ControlOp::kExit);
  const auto all = executed(trace);
  REQUIRE(all.size() == 4);
  CHECK(all[1].addresses[31] == 0x7f0000001000 + 31 * 16);
}

TEST_CASE("difference addresses have one number less than lanes, also with gaps between them (189)", "[accelsim]") {
  const ScratchFile scratch;
  const auto trace = imported(
      header() + block({"0000 000000b5 1 R4 LDG.E 1 R2 4 2 0x1000 8 -16 32 4 7", "0010 ffffffff 0 EXIT 0 0 0"}),
      scratch.path);
  const auto all = executed(trace);
  CHECK(all[0].active_mask == 0xb5);  // lanes 0, 2, 4, 5, 7
  CHECK(all[0].addresses[0] == 0x1000);
  CHECK(all[0].addresses[2] == 0x1008);
  CHECK(all[0].addresses[4] == 0xff8);
  CHECK(all[0].addresses[5] == 0x1018);
  CHECK(all[0].addresses[7] == 0x101c);
  // With a difference too few the line is refused.
  CHECK(refusal(header() + block({"0000 000000b5 1 R4 LDG.E 1 R2 4 2 0x1000 8 -16 32"})).find("no proper addresses") !=
        std::string::npos);
}

TEST_CASE("a list of addresses has one for each active lane", "[accelsim]") {
  const ScratchFile scratch;
  const auto trace = imported(
      header() + block({"0000 00000005 0 STS 2 R2 R3 4 0 0x40 0x80 0", "0010 ffffffff 0 EXIT 0 0 0"}), scratch.path);
  CHECK(executed(trace)[0].addresses[2] == 0x80);
}

TEST_CASE("blocks without instructions are left out and counted (171)", "[accelsim]") {
  const ScratchFile scratch;
  const std::string empty = "\n#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 0\n\n#END_TB\n";
  const auto trace = imported(header("(3,1,1)") + empty + block(kSmall) + empty, scratch.path);
  CHECK(trace->ctas().size() == 1);
  CHECK_FALSE(trace->whole_grid());
  CHECK(trace->launch().notes.back() == "2 thread blocks are present but empty: left out");
  CHECK(refusal(header() + empty).find("1 thread block is present but empty") != std::string::npos);
}

TEST_CASE("instructions without active lanes are legal and counted (37)", "[accelsim]") {
  const ScratchFile scratch;
  std::vector<std::string> lines = kSmall;
  lines.insert(lines.begin() + 1, "0040 00000000 0 BRA 0 0 0");
  lines.insert(lines.begin() + 2, "0050 00000000 1 R9 LDG.E 1 R2 4 1 0x0 0 0");
  const auto trace = imported(header() + block(lines), scratch.path);
  CHECK(executed(trace)[2].active_mask == 0);
  CHECK(trace->launch().notes.back() == "2 instructions were executed by no lane");
}

TEST_CASE("global addresses that are all zero are refused (127)", "[accelsim]") {
  const std::string message =
      refusal(header() + block({"0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x0 0 0", "0010 ffffffff 0 EXIT 0 0 0"}));
  CHECK(message.find("all addresses of global accesses are zero") != std::string::npos);
}

TEST_CASE("matrix instructions span registers by opcode, with and without the trailing field (475)", "[accelsim]") {
  for (const std::string& tail : {std::string(" 0"), std::string()}) {
    const ScratchFile scratch;
    const auto trace = imported(
        header() + block({"0000 ffffffff 1 R22 LDSM.16.M88.2 1 R2 16 1 0x40 16 0",
                          "0010 ffffffff 1 R31 LDG.E 1 R4 4 1 0x4000 4 0",
                          "0020 ffffffff 1 R40 HMMA.16816.F16 3 R20 R30 R40 0" + tail, "0030 ffffffff 0 EXIT 0 0 0"}),
        scratch.path);
    const auto& code = trace->program().instructions;
    // A of HMMA.16816 are R20 to R23, B R30 and R31: it waits for both loads.
    REQUIRE(code[0].write_scoreboard < isa::kScoreboards);
    REQUIRE(code[1].write_scoreboard < isa::kScoreboards);
    CHECK(code[2].wait_mask == (1U << code[0].write_scoreboard | 1U << code[1].write_scoreboard));
    CHECK(trace->program().registers_referenced == 42);  // F16: R40 and R41
    CHECK(code[2].flops_per_lane == 128);
  }
  const ScratchFile scratch;
  const auto trace =
      imported(header() + block({"0000 ffffffff 1 R40 HMMA.16816.F32 3 R20 R30 R40 0 0", "0010 ffffffff 0 EXIT 0 0 0"}),
               scratch.path);
  CHECK(trace->program().registers_referenced == 44);  // F32: R40 to R43
}

TEST_CASE("shapes and types of matrix instructions say registers, work and pipe", "[accelsim]") {
  struct MatrixCase {
    const char* opcode;
    int a, b;             // registers
    std::uint32_t flops;  // per lane: 2 x 16 x 8 x K / 32
    isa::Pipe pipe;
  };
  // PTX: fragments of mma.m16n8k16 (16-bit), k8 (16-bit), k8 (TF32) and k4 (TF32).
  for (const MatrixCase& shape : {MatrixCase{"HMMA.16816.F32.BF16", 4, 2, 128, isa::Pipe::kTensor},
                                  MatrixCase{"HMMA.1688.F32", 2, 1, 64, isa::Pipe::kTensorShort},
                                  MatrixCase{"HMMA.1688.F32.TF32", 4, 2, 64, isa::Pipe::kTensor},
                                  MatrixCase{"HMMA.1684.F32.TF32", 2, 1, 32, isa::Pipe::kTensorShort}}) {
    INFO(shape.opcode);
    const ScratchFile scratch;
    std::vector<std::string> lines;
    for (const int reg : {20, 21, 22, 23, 30, 31}) {  // one load for each register that A and B could have
      lines.push_back("00" + std::to_string(lines.size()) + "0 ffffffff 1 R" + std::to_string(reg) +
                      " LDG.E 1 R4 4 1 0x4000 4 0");
    }
    lines.push_back("0060 ffffffff 1 R40 " + std::string(shape.opcode) + " 3 R20 R30 R40 0 0");
    lines.emplace_back("0070 ffffffff 0 EXIT 0 0 0");
    const auto trace = imported(header() + block(lines), scratch.path);
    const auto& code = trace->program().instructions;
    std::uint8_t awaited = 0;
    for (int i = 0; i < 6; ++i) {
      const bool read = i < 4 ? i < shape.a : i - 4 < shape.b;
      CHECK((code[static_cast<std::size_t>(i)].write_scoreboard < isa::kScoreboards) == read);
      awaited =
          static_cast<std::uint8_t>(awaited | (read ? 1U << code[static_cast<std::size_t>(i)].write_scoreboard : 0U));
    }
    CHECK(code[6].wait_mask == awaited);
    CHECK(code[6].flops_per_lane == shape.flops);
    CHECK(code[6].pipe == shape.pipe);
  }
}

TEST_CASE("shared loads answer in order, so the last one of those that an instruction needs stands for them",
          "[accelsim]") {
  const ScratchFile scratch;
  const auto trace =
      imported(header() + block({"0000 ffffffff 1 R8 LDS 1 R2 4 1 0x40 4 0", "0010 ffffffff 1 R9 LDS 1 R2 4 1 0x40 4 0",
                                 "0020 ffffffff 1 R10 LDG.E 1 R4 4 1 0x4000 4 0",
                                 "0030 ffffffff 1 R11 FFMA 3 R8 R9 R11 0 0", "0040 ffffffff 1 R2 IADD3 1 R2 0 0",
                                 "0050 ffffffff 1 R4 IADD3 1 R10 0 0", "0060 ffffffff 0 EXIT 0 0 0"}),
               scratch.path);
  const auto& code = trace->program().instructions;
  CHECK(code[0].write_scoreboard == isa::kNoScoreboard);
  REQUIRE(code[1].write_scoreboard < isa::kScoreboards);
  REQUIRE(code[2].write_scoreboard < isa::kScoreboards);
  CHECK(code[2].write_scoreboard != code[1].write_scoreboard);
  CHECK(code[3].wait_mask == 1U << code[1].write_scoreboard);
  CHECK(code[4].wait_mask == 0);  // R2 was read when the data came
  CHECK(code[5].wait_mask == 1U << code[2].write_scoreboard);
}

TEST_CASE("operands are kept for the next instruction unless this one overwrites them", "[accelsim]") {
  const ScratchFile scratch;
  const auto trace =
      imported(header() + block({"0000 ffffffff 1 R8 IMAD.WIDE 3 R9 R4 R6 0 0",
                                 "0010 ffffffff 1 R12 IMAD 3 R9 R4 R7 0 0", "0020 ffffffff 0 EXIT 0 0 0"}),
               scratch.path);
  const isa::Instruction& wide = trace->program().instructions[0];  // writes R8 and R9
  REQUIRE(wide.read_count == 3);
  CHECK(wide.reads[0].reg == 9);
  CHECK_FALSE(wide.reads[0].reuse);
  CHECK(wide.reads[1].reuse);
  CHECK_FALSE(wide.reads[2].reuse);  // R6, where the next one reads R7
}

TEST_CASE("a store's registers are overwritten when it has read them", "[accelsim]") {
  const ScratchFile scratch;
  const auto trace = imported(header() + block({"0000 ffffffff 0 STS 2 R2 R3 4 1 0x40 4 0",
                                                "0010 ffffffff 1 R3 MOV 1 R9 0 0", "0020 ffffffff 0 EXIT 0 0 0"}),
                              scratch.path);
  const auto& code = trace->program().instructions;
  REQUIRE(code[0].read_scoreboard < isa::kScoreboards);
  CHECK(code[1].wait_mask == 1U << code[0].read_scoreboard);
}

TEST_CASE("tracer versions differ in what stands before the address (409)", "[accelsim]") {
  const ScratchFile scratch;
  const auto with = [](const std::string& prefix) {
    std::vector<std::string> lines = kSmall;
    for (std::string& line : lines) {
      line = prefix + line;
    }
    return block(lines);
  };
  for (const int version : {1, 2}) {
    CHECK(executed(imported(header("(1,1,1)", version) + with("0 0 0 0 "), scratch.path)).size() == 4);
  }
  for (const int version : {3, 4, 5}) {
    CHECK(executed(imported(header("(1,1,1)", version) + with(""), scratch.path)).size() == 4);
    CHECK(executed(imported(header("(1,1,1)", version, true) + with("17 "), scratch.path)).size() == 4);
  }
  CHECK(refusal(header("(1,1,1)", 7) + with("")).find("tracer version 7 is not known") != std::string::npos);
}

TEST_CASE("version 6 has cluster lines, a second immediate and register values", "[accelsim]") {
  const ScratchFile scratch;
  std::string text = block({"0000 ffffffff 1 R16 LDG.E 1 R2 4 1 0x1000 4 0 0 NoVal",
                            "0010 ffffffff 1 UR4 UMOV 0 0 0 0 Val 1 5", "0020 ffffffff 0 EXIT 0 0 0 0 NoVal"});
  text.insert(text.find("\nwarp"), "cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n");
  CHECK(executed(imported(header("(1,1,1)", 6) + text, scratch.path)).size() == 3);
  CHECK(
      refusal(header("(1,1,1)", 6) + block({"0000 ffffffff 0 UTMALDG.2D 1 R2 4 0x0 0 1 0 3 0 0"})).find("UTMALDG.2D") !=
      std::string::npos);
  CHECK(refusal(header("(1,1,1)", 6) + block({"0000 ffffffff 1 R24 HGMMA.64x128x16.F32 1 R24 1 0 0 0 NoVal"}))
            .find("HGMMA") != std::string::npos);
}

TEST_CASE("calls and returns are branches, and the lines behind them stay (NVBit 136)", "[accelsim]") {
  const ScratchFile scratch;
  const auto trace =
      imported(header() + block({"0000 ffffffff 1 R20 CALL.REL.NOINC 1 R20 0 0", "0040 ffffffff 1 R1 MOV 0 0 0",
                                 "0050 ffffffff 1 R20 RET.REL.NODEC 1 R20 0 0", "0010 ffffffff 0 EXIT 0 0 0"}),
               scratch.path);
  const auto all = executed(trace);
  REQUIRE(all.size() == 4);
  CHECK(all[0].branch_taken);
  CHECK(all[1].index == 4);
  CHECK(all[2].branch_taken);
  CHECK(all[3].index == 1);
  CHECK(trace->program().instructions[0].branch_target == 4);
}

TEST_CASE("a loop is found, waits across its branch, and is the main loop", "[accelsim]") {
  const ScratchFile scratch;
  std::vector<std::string> lines{"0000 ffffffff 1 R1 MOV 0 0 0"};
  for (int trip = 0; trip < 40; ++trip) {
    lines.push_back("0010 ffffffff 1 R8 FFMA 3 R17 R4 R8 0 0");  // of what the trip before loaded
    lines.push_back("0020 ffffffff 1 R17 LDG.E 1 R2 4 1 0x" + std::to_string(700000 + 1000 * trip) + " 4 0");
    lines.push_back("0030 ffffffff 0 BRA 0 0 0");
  }
  lines.push_back("0040 ffffffff 0 EXIT 0 0 0");
  const auto trace = imported(header() + block(lines), scratch.path);
  CHECK(trace->launch().loop_branch == 3);
  CHECK(trace->launch().loop_trips == 40);
  const auto& code = trace->program().instructions;
  CHECK((code[1].wait_mask >> code[2].write_scoreboard & 1U) == 1);
  CHECK(executed(trace).size() == lines.size());
}

TEST_CASE("trips of a loop that polls a semaphore are left out and counted (467)", "[accelsim]") {
  const ScratchFile scratch;
  const auto spinning = [](const std::string& opcode) {
    std::vector<std::string> lines{"0000 ffffffff 1 R1 MOV 0 0 0"};
    for (int trip = 0; trip < 50; ++trip) {
      lines.push_back("0010 00000001 1 R8 " + opcode + " 1 R2 4 1 0x7000 0 0");
      lines.emplace_back("0020 00000001 0 ISETP.NE.AND 1 R8 0 0");
      lines.emplace_back("0030 00000001 0 BRA 0 0 0");
    }
    lines.emplace_back("0040 ffffffff 0 EXIT 0 0 0");
    return lines;
  };
  const auto polling = imported(header() + block(spinning("LDG.E.STRONG.GPU")), scratch.path);
  // The branch is taken 49 times: the first trip stays, 48 repeat it, the last does not branch back.
  CHECK(polling->instructions() == 1 + 2 * 3 + 1);
  CHECK(executed(polling).size() == 8);
  CHECK(polling->launch().notes.back() == "144 instructions of loops that wait for other CTAs are left out");
  // A plain load does not see what others store: whoever repeats it does it for some reason.
  CHECK(imported(header() + block(spinning("LDG.E")), scratch.path)->instructions() == 152);
}

TEST_CASE("imported code keeps its registers when it is written as text again", "[accelsim]") {
  const ScratchFile scratch;
  const auto trace = imported(header() + block(kSmall), scratch.path);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < kSmall.size(); ++i) {
    lines.push_back(accelsim_text(trace->program().instructions[i], trace->program().text[i]).before);
  }
  CHECK(lines == std::vector<std::string>{" 1 R1 MOV 0 0", " 1 R16 LDG.E.128 1 R2 16", " 1 R8 FFMA 3 R17 R4 R8 0",
                                          " 0 EXIT 0 0"});
}

TEST_CASE("copies say whether they pass the L1", "[accelsim]") {
  for (const bool bypass : {false, true}) {
    const ScratchFile scratch;
    const auto trace = imported(header() + block({"0000 ffffffff 0 LDGSTS.E" + std::string(bypass ? ".BYPASS" : "") +
                                                      ".128 2 R2 R4 16 1 0x7f0000001000 16 0",
                                                  "0010 ffffffff 0 EXIT 0 0 0"}),
                                scratch.path);
    const isa::CopyLane lane = isa::CopyLane::of(executed(trace)[0].addresses[3]);
    CHECK(lane.bypass == bypass);
    CHECK(lane.global == 0x7f0000001000 + 3 * 16);
  }
}

TEST_CASE("local memory is not global memory", "[accelsim]") {
  const ScratchFile scratch;
  // The header's local memory begins at 0x7f1000000000. The second line has the thread's own address in all lanes.
  const auto trace =
      imported(header() + block({"0000 ffffffff 0 STL 2 R1 R4 4 1 0x7f1000000100 4 0",
                                 "0010 ffffffff 1 R4 LDL 1 R1 4 1 0x7f1000000010 0 0", "0020 ffffffff 0 EXIT 0 0 0"}),
               scratch.path);
  const auto all = executed(trace);
  for (const std::size_t lane : {std::size_t{0}, std::size_t{31}}) {
    CHECK(all[0].addresses[lane] == isa::kLocalWindow + 0x100 + 4 * lane);
    CHECK(all[1].addresses[lane] == isa::local_address(4, static_cast<unsigned>(lane), 0));
  }
  CHECK(isa::is_local(all[0]));
  CHECK(trace->program().instructions[0].mio_registers == 2);
  CHECK(trace->program().instructions[1].mio_registers == 1);
}

TEST_CASE("traces that are cut, mixed or no traces are refused with the line", "[accelsim]") {
  const std::string whole = header() + block(kSmall);
  CHECK(refusal(whole.substr(0, whole.find("0020 "))).find("the trace is cut: warp 0 has 2 of 4 instructions") !=
        std::string::npos);
  CHECK(refusal(whole.substr(0, whole.find("#END_TB"))).find("no #END_TB") != std::string::npos);
  CHECK(refusal("").find("empty") != std::string::npos);
  CHECK(refusal("hello\nworld\n").find("the file is no trace") != std::string::npos);
  CHECK(refusal("#include <x>\n").find("the file is no trace") != std::string::npos);
  CHECK(refusal("-grid dim = (1,1,1)\n#\n").find("the file is no trace") != std::string::npos);
  CHECK(refusal(" \n\n").find("the trace is empty") != std::string::npos);
  CHECK(refusal(header() + block({"0000 ffffffff 0 FROB.E 0 0 0"})).find("FROB.E is not known @ kernel-1.traceg:23") !=
        std::string::npos);
  CHECK(refusal(header() + block({"0000 ffffffff 0 NOP 0 0 0", "0000 ffffffff 0 EXIT 0 0 0"}))
            .find("where NOP was before") != std::string::npos);
  CHECK(refusal(header() + block({"0008 ffffffff 0 NOP 0 0 0"})).find("0x8 is no address") != std::string::npos);
  CHECK(refusal(header("(0,1,1)") + block(kSmall)).find("grid dim") != std::string::npos);
  std::string odd = header() + block(kSmall);
  odd.replace(odd.find("version = 80"), 12,
              "version = 8160");  // a fuzzer found it: the trace could not be opened again
  CHECK(refusal(odd).find("'8160' is no value of 'binary version'") != std::string::npos);
  CHECK(refusal(header() + block(kSmall) + block(kSmall)).find("2 thread blocks, its grid 1") != std::string::npos);
}

TEST_CASE("text may be compressed; a cut file is noticed", "[accelsim]") {
  const std::string whole = header() + block(kSmall);
  for (const std::string suffix : {".traceg", ".traceg.gz", ".traceg.zst", ".traceg.xz"}) {
    INFO(suffix);
    const ScratchFile text(suffix);
    const ScratchFile out;
    const auto sink = TextSink::create(text.path);
    REQUIRE(sink.has_value());
    REQUIRE((*sink)->write(whole).has_value());
    REQUIRE((*sink)->finish().has_value());
    const auto source = TextSource::open(text.path);
    REQUIRE(source.has_value());
    CHECK(import_accelsim(**source, out.path).has_value());
    std::filesystem::resize_file(text.path, std::filesystem::file_size(text.path) / 2);
    const auto cut = TextSource::open(text.path);
    REQUIRE(cut.has_value());
    const auto refused = import_accelsim(**cut, out.path);
    REQUIRE_FALSE(refused.has_value());
    // Plain text ends somewhere in its header then.
    CHECK((suffix == ".traceg" || refused.error().message.find("cut") != std::string::npos));
  }
}

TEST_CASE("what is exported is imported again with the same instructions, lanes and addresses", "[accelsim]") {
  const ScratchFile own;
  const ScratchFile text(".traceg");
  const ScratchFile back(".back.tst");
  const auto kernel = open_kernel(sgemm_kernels()[1], {128, 64, 16 * 20});
  auto writer = TraceWriter::create(own.path);
  REQUIRE(writer.has_value());
  LaunchRecord launch;
  launch.kernel = "k";
  launch.code = "compiled";
  launch.grid = kernel->grid();
  launch.block = kernel->block();
  launch.registers = 64;
  launch.shared_bytes = 16384;
  for (const std::uint64_t cta : {0, 1}) {
    REQUIRE(record_cta(*kernel, cta, cta, *writer).has_value());
  }
  REQUIRE(writer->finish(kernel->program(), launch).has_value());
  const auto trace = TraceFile::open(own.path);
  REQUIRE(trace.has_value());
  const TraceKernel recorded(*trace);
  const auto sink = TextSink::create(text.path);
  REQUIRE(sink.has_value());
  REQUIRE((*sink)->write(accelsim_header((*trace)->program(), launch)).has_value());
  for (const std::uint32_t cta : {0, 1}) {
    REQUIRE(export_cta(recorded, cta, {0, cta, 0}, **sink).has_value());
  }
  REQUIRE((*sink)->finish().has_value());
  const auto source = TextSource::open(text.path);
  REQUIRE(source.has_value());
  const auto summary = import_accelsim(**source, back.path);
  INFO((summary ? "" : summary.error().message + " " + summary.error().where));
  REQUIRE(summary.has_value());
  CHECK(summary->instructions == (*trace)->instructions());
  const auto again = TraceFile::open(back.path);
  REQUIRE(again.has_value());
  const TraceKernel reimported(*again);
  const auto& before = kernel->program().instructions;
  for (const std::uint64_t cta : {0, 1}) {
    const auto a = recorded.open(cta, nullptr);
    const auto b = reimported.open(cta, nullptr);
    isa::DynamicInstruction x;
    isa::DynamicInstruction y;
    std::uint64_t different = 0;
    for (int w = 0; w < a->warp_count(); ++w) {
      while (!a->warp(w).exited()) {
        REQUIRE(a->warp(w).step(x));
        REQUIRE(b->warp(w).step(y));
        bool same = x.index == y.index && x.active_mask == y.active_mask && x.branch_taken == y.branch_taken;
        for (std::size_t lane = 0; before[x.index].memory != isa::MemoryOp::kNone && lane < 32; ++lane) {
          same = same && ((x.active_mask >> lane & 1U) == 0 || x.addresses[lane] == y.addresses[lane]);
        }
        different += same ? 0 : 1;
      }
      CHECK(b->warp(w).exited());
    }
    CHECK(different == 0);
  }
  const auto& after = (*again)->program().instructions;
  for (std::size_t i = 0; i < after.size(); ++i) {
    INFO(i << " " << kernel->program().text[i]);
    CHECK(after[i].memory == before[i].memory);
    CHECK(after[i].access_bytes == before[i].access_bytes);
    if ((*again)->program().text[i] != "(not executed)") {
      CHECK(after[i].pipe == before[i].pipe);
      CHECK(after[i].flops_per_lane == before[i].flops_per_lane);
    }
  }
}

}  // namespace tilesim::traces
