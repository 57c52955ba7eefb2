// tilesim validate: predictions against measurements.
#include "tools/tilesim/validate.h"

#include "tools/tilesim/application.h"
#include "tools/tilesim/launch_flags.h"

namespace tilesim::cli {

namespace {

std::vector<Flag> validate_flags() {
  std::vector<Flag> flags;
  for (const auto& more :
       {recorded_flags(), live_flags(), profile_flags(), simulation_flags(), gpu_flags(), output_flags()}) {
    flags.insert(flags.end(), more.begin(), more.end());
  }
  return flags;
}

Result<ExitCode> run(const Invocation& invocation) {
  if (!invocation.has("ncu")) {
    if (const auto done = refuse(invocation, profile_flags(), "needs --ncu", "leave it out, or give a profile");
        !done) {
      return tl::unexpected<Error>(done.error());
    }
  }
  if (!invocation.has("live") && !invocation.has("ncu")) {
    if (const auto done = refuse(invocation, live_flags(), "needs --live", "leave it out, or measure with --live");
        !done) {
      return tl::unexpected<Error>(done.error());
    }
  }
  return with_setting(invocation, [&invocation](const Setting& setting) {
    return invocation.has("ncu")    ? validate_profile(invocation, setting)
           : invocation.has("live") ? validate_live(invocation, setting)
                                    : validate_recorded(invocation, setting);
  });
}

}  // namespace

Subcommand validate_subcommand() {
  Subcommand s;
  s.name = "validate";
  s.summary = "predictions against recorded measurements, or a profile of yours";
  s.usage =
      "--replay | --run [--recorded DIR] [--shapes MxNxK,...] [--max-mape PERCENT ...] [FLAGS]\n"
      "       tilesim validate --live [--only PATTERN] [FLAGS]\n"
      "       tilesim validate --ncu FILE [--launch ID] [--cubin FILE | --sass FILE --args LIST | --tile ... --m --n "
      "--k]";
  s.description =
      "Simulates every recorded kernel (--replay its machine code, --run code generated for its configuration) and\n"
      "prints how far the predictions are off. Two thirds of the kernels are shown one by one; the last third is\n"
      "locked: scored as a whole only, and what the gates are about. A gate that fails ends with exit code 3.\n"
      "Where no run at all can be simulated the exit code is 1.\n"
      "--ncu lists what an export of Nsight Compute holds; with code or a tile it puts a prediction beside it.";
  s.examples = {"tilesim validate --replay --shapes 1024x1024x1024,4096x4096x4096 --html scatter.html",
                "tilesim validate --run --family simt --max-mape 10 --min-tau 0.8 --csv rows.csv",
                "tilesim validate --ncu profile.csv --cubin kernel.cubin --args i32:4096,...,ptr:64MiB"};
  s.flags = validate_flags();
  s.run = run;
  return s;
}

}  // namespace tilesim::cli
