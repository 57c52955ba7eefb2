// tilesim trace info, cat, convert: what traces hold.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/cli/numbers.h"
#include "tools/lib/trace_convert.h"
#include "tools/lib/trace_open.h"
#include "tools/reports/trace_text.h"
#include "tools/tilesim/application.h"
#include "tools/tilesim/gpu_flags.h"
#include "tools/tilesim/launch_flags.h"
#include "tools/tilesim/trace_record.h"
#include "traces/trace/trace_kernel.h"

namespace tilesim::cli {

namespace {

Result<std::shared_ptr<const traces::TraceFile>> trace_from(const Invocation& invocation) {
  if (invocation.positionals().empty()) {
    return fail(ErrorKind::kUsage, "no trace is given",
                fmt::format("write 'tilesim {} FILE'", invocation.subcommand().name));
  }
  return app::open_trace(invocation.positionals().front());
}

Result<ExitCode> run_info(const Invocation& invocation) {
  const auto outputs = outputs_from(invocation);
  if (!outputs) {
    return tl::unexpected<Error>(outputs.error());
  }
  const auto trace = trace_from(invocation);
  if (!trace) {
    return tl::unexpected<Error>(trace.error());
  }
  const bool verified = invocation.has("verify");
  if (verified) {
    if (const auto done = (*trace)->verify(); !done) {
      return tl::unexpected<Error>(done.error());
    }
  }
  const app::TraceOnDisk disk = app::trace_on_disk(invocation.positionals().front());
  return deliver(*outputs, reports::trace_info_text(**trace, disk, verified, outputs->palette),
                 reports::trace_info_json(**trace, disk, verified));
}

/// The flags of `trace cat`.
struct CatRequest {
  std::vector<std::uint64_t> ctas;
  std::vector<std::uint64_t> warps;
  std::uint64_t first = 100;
};

Result<CatRequest> cat_request_from(const Invocation& invocation, const traces::TraceFile& trace) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  CatRequest request;
  const auto ctas = app::parse_ctas(invocation.text("ctas").value_or("0"), trace.ctas().size());
  const auto warps = app::parse_numbers("warps", invocation.text("warps").value_or("0"),
                                        static_cast<std::uint64_t>(trace.warps_per_cta()), "the CTAs' warps");
  const auto first = invocation.integer("first", 0, kMost);
  if (!ctas || !warps || !first) {
    return tl::unexpected<Error>(!ctas ? ctas.error() : !warps ? warps.error() : first.error());
  }
  request.ctas = *ctas;
  request.warps = *warps;
  request.first = static_cast<std::uint64_t>(first->value_or(static_cast<std::int64_t>(request.first)));
  return request;
}

Result<ExitCode> run_cat(const Invocation& invocation) {
  const auto trace = trace_from(invocation);
  if (!trace) {
    return tl::unexpected<Error>(trace.error());
  }
  const auto request = cat_request_from(invocation, **trace);
  if (!request) {
    return tl::unexpected<Error>(request.error());
  }
  const Output out = Output::standard();
  const traces::TraceKernel kernel(*trace);
  constexpr std::size_t kChunk = 1U << 16;
  std::string text;
  isa::DynamicInstruction executed;
  for (const std::uint64_t cta : request->ctas) {
    const auto stream = kernel.open(cta, nullptr);
    for (const std::uint64_t w : request->warps) {
      isa::WarpStream& warp = stream->warp(static_cast<int>(w));
      text += fmt::format("CTA {}, warp {}\n", (*trace)->ctas()[static_cast<std::size_t>(cta)].id, w);
      for (std::uint64_t i = 0; !warp.exited() && (request->first == 0 || i < request->first); ++i) {
        if (!warp.step(executed)) {
          return tl::unexpected<Error>(warp.error());
        }
        text += reports::executed_line(executed, kernel.program());
        if (text.size() >= kChunk) {
          if (const auto done = out.write(text); !done) {
            return tl::unexpected<Error>(done.error());
          }
          text.clear();
        }
      }
      text += warp.exited() ? "" : fmt::format("  ... (--first {}; 0 for all)\n", request->first);
    }
  }
  const auto done = out.write(text);
  return done ? Result<ExitCode>(ExitCode::kFine) : tl::unexpected<Error>(done.error());
}

Result<ExitCode> run_convert(const Invocation& invocation) {
  const auto outputs = outputs_from(invocation);
  if (!outputs) {
    return tl::unexpected<Error>(outputs.error());
  }
  if (invocation.positionals().size() != 2) {
    return fail(ErrorKind::kUsage, "convert takes two files", "write 'tilesim trace convert FROM TO'");
  }
  if (app::is_command_list(invocation.positionals()[0])) {
    const auto recordings = app::convert_list(invocation.positionals()[0], invocation.positionals()[1],
                                              [](const std::string& line) { std::fputs(line.c_str(), stderr); });
    return recordings ? deliver_recordings(*outputs, "trace convert", *recordings)
                      : tl::unexpected<Error>(recordings.error());
  }
  const auto recording = app::convert_trace(invocation.positionals()[0], invocation.positionals()[1],
                                            invocation.text("ctas").value_or(""), announce_size);
  if (!recording) {
    return tl::unexpected<Error>(recording.error());
  }
  return deliver_recordings(*outputs, "trace convert", {*recording});
}

}  // namespace

Subcommand trace_info_subcommand() {
  Subcommand s;
  s.name = "trace info";
  s.summary = "launch, code and size of a trace";
  s.usage = "FILE [FLAGS]";
  s.description = "Reads traces of 'trace record' and Accel-Sim's .traceg, plain or compressed (.gz, .zst, .xz).";
  s.examples = {"tilesim trace info sgemm.tst", "tilesim trace info kernel-1.traceg.xz --json -"};
  s.flags = {{"verify", "", "read all of it and check every block", "Trace", {}, false}};
  for (const Flag& flag : output_flags()) {
    s.flags.push_back(flag);
  }
  s.maximum_positionals = 1;
  s.needs_positional = true;
  s.run = run_info;
  return s;
}

Subcommand trace_cat_subcommand() {
  Subcommand s;
  s.name = "trace cat";
  s.summary = "what the warps of a trace executed, as text";
  s.usage = "FILE [--ctas LIST] [--warps LIST] [--first N]";
  s.description = "One line an instruction: number, active lanes, text, addresses of the active lanes.";
  s.examples = {"tilesim trace cat sgemm.tst --ctas 3 --warps 0-3", "tilesim trace cat sgemm.tst --first 0"};
  s.flags = {{"ctas", "LIST", "CTAs by their place in the trace, as 0-3,7 (default: 0)", "Trace", {}, false},
             {"warps", "LIST", "warps of each (default: 0)", "Trace", {}, false},
             {"first", "N", "instructions of each warp; 0 for all (default: 100)", "Trace", {}, false}};
  s.maximum_positionals = 1;
  s.needs_positional = true;
  s.run = run_cat;
  return s;
}

Subcommand trace_convert_subcommand() {
  Subcommand s;
  s.name = "trace convert";
  s.summary = "Accel-Sim's text traces to ours and back";
  s.usage = "FROM TO [--ctas LIST]";
  s.description =
      "TO is written as Accel-Sim text (tracer version 5) if its name ends with .traceg, with .gz, .zst or .xz behind\n"
      "compressed; else in our format. Accel-Sim itself reads .traceg and .traceg.xz, and wants names that begin with\n"
      "'kernel'. With a command list (.g) every kernel that it names is converted into the folder TO. Accel-Sim's\n"
      "traces lack stall counts, scoreboards and register ranges: these are rebuilt, and results are\n"
      "marked approximate.";
  s.examples = {"tilesim trace convert kernel-1.traceg.xz kernel-1.tst",
                "tilesim trace convert sgemm.tst kernel-1.traceg.xz --ctas 0-131",
                "tilesim trace convert traces/kernelslist.g converted/"};
  s.flags = {ctas_flag("the trace")};
  for (const Flag& flag : output_flags()) {
    s.flags.push_back(flag);
  }
  s.maximum_positionals = 2;
  s.needs_positional = true;
  s.run = run_convert;
  return s;
}

}  // namespace tilesim::cli
