// tilesim trace assemble, disassemble: machine code from text and back.
#include "tools/lib/trace_assemble.h"

#include <fmt/format.h>

#include "model/counted.h"
#include "tools/cli/invocation.h"
#include "tools/cli/output.h"
#include "tools/tilesim/application.h"

namespace tilesim::cli {

namespace {

Result<ExitCode> print(const std::string& text) {
  const auto done = Output::standard().write(text);
  return done ? Result<ExitCode>(ExitCode::kFine) : tl::unexpected<Error>(done.error());
}

Result<ExitCode> run_assemble(const Invocation& invocation) {
  if (invocation.positionals().empty() || !invocation.has("into") || !invocation.has("out")) {
    return fail(ErrorKind::kUsage, "a text, a placeholder and a name for the result are needed",
                "write 'tilesim trace assemble TEXT --into PLACEHOLDER.cubin --out OUT.cubin'");
  }
  const auto made =
      app::assemble_into(invocation.positionals().front(), invocation.all("into"), invocation.text("out").value_or(""));
  if (!made) {
    return tl::unexpected<Error>(made.error());
  }
  std::string text;
  for (const app::AssembledCubin& cubin : *made) {
    text += fmt::format("{}: {} of {} in {}\n", cubin.path,
                        counted(static_cast<std::int64_t>(cubin.instructions), "instruction"), cubin.kernel,
                        cubin.placeholder);
  }
  return print(text);
}

Result<ExitCode> run_disassemble(const Invocation& invocation) {
  if (invocation.positionals().empty()) {
    return fail(ErrorKind::kUsage, "no file is given", "write 'tilesim trace disassemble FILE'");
  }
  const auto text = app::assembly_of(invocation.positionals().front(), invocation.text("kernel").value_or(""));
  return text ? print(*text) : tl::unexpected<Error>(text.error());
}

}  // namespace

Subcommand trace_assemble_subcommand() {
  Subcommand s;
  s.name = "trace assemble";
  s.summary = "SASS text into compiled placeholder kernels";
  s.usage = "TEXT --into CUBIN [--into CUBIN...] --out PATH";
  s.description =
      "Text as 'trace disassemble' prints it, for sm_90. A line '.kernel NAME' begins a kernel, '.registers N' says "
      "how\n"
      "many registers a thread has, 'NAME:' is a label, '//' a comment. Every instruction begins with its control "
      "field:\n"
      "  [B01----:R-:W2:Y:S04] @!P0 LDG.E.64 R2, desc[UR4][R6.64+0x10]\n"
      "B: scoreboards (0 to 5) it waits for; R, W: the one released when its sources are read, when its result is "
      "there;\n"
      "Y: another warp may go on (else -); S: stall count. Reuse flags stand at the operands.\n"
      "Each kernel takes the place of the code of the first placeholder with room, a cubin of nvcc 13 that holds one\n"
      "kernel; its parameters, shared memory and launch bounds stay. Several kernels, or a PATH that ends in /: a "
      "folder\n"
      "of NAME.cubin.";
  s.examples = {"tilesim trace disassemble kernel.cubin > kernel.txt",
                "tilesim trace assemble kernel.txt --into kernel.cubin --out changed.cubin"};
  s.flags = {{"into", "CUBIN", "placeholder, the shortest first", "Trace", {}, true},
             {"out", "PATH", "cubin or folder to write", "Trace", {}, false}};
  s.maximum_positionals = 1;
  s.needs_positional = true;
  s.run = run_assemble;
  return s;
}

Subcommand trace_disassemble_subcommand() {
  Subcommand s;
  s.name = "trace disassemble";
  s.summary = "a kernel as text that assembles to it";
  s.usage = "FILE [--kernel NAME]";
  s.description = "FILE is a cubin, object, program or SASS listing. 'trace assemble' explains the text.";
  s.examples = {"tilesim trace disassemble traces/calibration/ptxas/simt_64x64x16_8x4_s2_nn_v4.cubin",
                "tilesim trace disassemble traces/calibration/h200/sgemm_32_32_32_2_2_s1_p0.sass"};
  s.flags = {{"kernel", "NAME", "mangled or C++ name, or a unique part of it", "Trace", {}, false}};
  s.maximum_positionals = 1;
  s.needs_positional = true;
  s.run = run_disassemble;
  return s;
}

}  // namespace tilesim::cli
