// Recordings: what is read, what is refused and how it is called, the split, SHA-256.
#include "traces/recorded/recording.h"

#include <map>
#include <span>

#include "tests/support/catch.h"
#include "traces/recorded/sha256.h"

namespace tilesim::traces {

namespace {

const std::string kGood = R"({
 "schema_version": 1, "kind": "tilesim-recording",
 "meta": {"gpu": "NVIDIA H200", "clocks": {"sm_mhz": 1980}},
 "kernel": {"name": "k", "symbol": "tile_gemm"},
 "configuration": {"family": "mma", "dtype": "bf16", "layout": "nt", "bm": 64, "bn": 128, "bk": 32, "wm": 32, "wn": 64,
   "stages": 3, "copy": "cpasync", "vec": 8, "pad_a": 8, "pad_b": 4, "swizzle": 0, "raster": "group:4",
   "register_cap": 0, "min_ctas": 2},
 "codes": {"plain": {"code": "k.cubin.zst", "sha256": "0000000000000000000000000000000000000000000000000000000000000000",
   "registers": 100, "static_shared_bytes": 0, "dynamic_shared_bytes": 61440}},
 "runs": [{"code": "plain", "problem": {"m": 1024, "n": 512, "k": 256, "alpha": 1.0, "beta": 0.5, "split_k": 1},
   "launch": {"grid": [4, 16, 1], "block": [128, 1, 1], "shared_bytes": 61440, "arguments": "i32:1024"},
   "metrics": {"sm__cycles_elapsed.max": {"value": 2000, "unit": "cycle", "spread": 0.01, "repeats": 5},
               "gpu__time_duration.sum": {"value": 1000, "unit": "ns", "spread": 0, "repeats": 5}},
   "timing": {"flushed_us": {"median": 12.5, "spread": 0.1, "count": 20}}}]
})";

/// The error of the good text with one thing changed.
std::string error_of(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const auto recording = parse_recording(text, "folder/k.json");
  REQUIRE_FALSE(recording.has_value());
  CHECK(recording.error().kind == ErrorKind::kUsage);
  CHECK(recording.error().where == "folder/k.json");
  CHECK_FALSE(recording.error().remedy.empty());
  return recording.error().message;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a recording as it is written") {
  const auto r = parse_recording(kGood, "folder/k.json");
  REQUIRE(r.has_value());
  CHECK(r->name == "k");
  CHECK(r->configuration->family == model::Family::kMma);
  CHECK(r->configuration->wn == 64);
  CHECK(r->configuration->pad_b == 4);
  CHECK(r->configuration->copy == model::CopyPath::kAsync);
  CHECK(r->configuration->raster == model::Raster{model::RasterKind::kGroup, 4});
  CHECK(r->configuration->min_ctas == 2);
  CHECK(r->codes.at("plain").file == "folder/k.cubin.zst");
  REQUIRE(r->runs.size() == 1);
  const RecordedRun& run = r->runs[0];
  CHECK(run.problem.n == 512);
  CHECK(run.problem.beta == 0.5);
  CHECK(run.problem.dtype == model::DataType::kBf16);
  CHECK(model::output_bytes(run.problem) == 4);  // the kernels store sums in FP32
  CHECK(run.grid.y == 16);
  CHECK(run.metrics.at("sm__cycles_elapsed.max").spread == 0.01);
  CHECK(run.flushed_us == 12.5);
  CHECK_FALSE(run.warm_us.has_value());
  CHECK(r->clock_mhz(run) == Approx(2000.0));  // 2,000 cycles in 1,000 ns
  RecordedRun untimed = run;
  untimed.metrics.erase("gpu__time_duration.sum");
  CHECK(r->clock_mhz(untimed) == 1980.0);
}

TEST_CASE("families without a tile configuration are read too") {
  std::string text = kGood;
  text.replace(text.find("\"mma\""), 5, "\"naive\"");
  const auto r = parse_recording(text, "k.json");
  REQUIRE(r.has_value());
  CHECK(r->family == "naive");
  CHECK_FALSE(r->configuration.has_value());
}

TEST_CASE("bad recordings are refused by key") {
  CHECK(holds(error_of("\"schema_version\": 1", "\"schema_version\": 2"), "key schema_version is 2"));
  CHECK(holds(error_of("tilesim-recording", "other"), "key kind is \"other\""));
  CHECK(holds(error_of("\"sm_mhz\": 1980", "\"sm_mhz\": \"fast\""), "key meta.clocks.sm_mhz is \"fast\""));
  CHECK(holds(error_of("\"name\": \"k\"", "\"name\": 7"), "key kernel.name is 7"));
  CHECK(holds(error_of("\"bm\": 64, ", ""), "key configuration.bm is missing"));
  CHECK(holds(error_of("\"bn\": 128", "\"bn\": 1.5"), "key configuration.bn is 1.5"));
  CHECK(holds(error_of("\"bk\": 32", "\"bk\": 18446744073709551615"), "key configuration.bk"));
  CHECK(holds(error_of("group:4", "spiral"), "key configuration.raster is \"spiral\""));
  CHECK(holds(error_of("\"k.cubin.zst\"", "\"../k\""), "key codes.plain.code"));
  CHECK(holds(error_of("0000000000", "000000000G"), "key codes.plain.sha256"));
  CHECK(holds(error_of("\"registers\": 100", "\"registers\": 0"), "key codes.plain.registers is 0"));
  CHECK(holds(error_of("\"code\": \"plain\"", "\"code\": \"ragged\""), "key runs[0].code names \"ragged\""));
  CHECK(holds(error_of("[4, 16, 1]", "[4, 16]"), "key runs[0].launch.grid"));
  CHECK(holds(error_of("[4, 16, 1]", "[4, 0, 1]"), "key runs[0].launch.grid[1] is 0"));
  CHECK(holds(error_of("[4, 16, 1]", "[2147483648, 1, 1]"), "key runs[0].launch.grid[0] is 2147483648"));
  CHECK(holds(error_of("[4, 16, 1]", "[4, 65536, 1]"), "key runs[0].launch is none that CUDA allows: Grid y is 65536"));
  CHECK(holds(error_of("[4, 16, 1]", "[2147483647, 2147483647, 4]"), "Grid y is 2147483647"));
  CHECK(holds(error_of("\"block\": [128, 1, 1]", "\"block\": [64, 32, 1]"), "A block of 2048 threads"));
  CHECK(holds(error_of("\"block\": [128, 1, 1]", "\"block\": [1, 1, 65]"), "Block z is 65"));
  CHECK(holds(error_of("\"m\": 1024", "\"m\": -1"), "key runs[0].problem.m is -1"));
  CHECK(holds(error_of("\"value\": 2000", "\"value\": null"),
              "key runs[0].metrics.sm__cycles_elapsed.max.value is null"));
  CHECK(holds(error_of("\"value\": 2000", "\"value\": 1e999"), "is not JSON"));
  CHECK(holds(error_of("\"median\": 12.5", "\"median\": []"), "key runs[0].timing.flushed_us.median is a list"));
  CHECK(holds(error_of("\"runs\": [", "\"runs\": [3, "), "key runs[0] is no object"));
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  CHECK(holds(error_of("\"value\": 2000", "\"value\": " + deep), "is a list"));
  CHECK_FALSE(parse_recording("[]", "k.json").has_value());
  CHECK_FALSE(parse_recording("", "k.json").has_value());
}

TEST_CASE("the split goes by the SHA-256 of the names within family and type") {
  // In the order of their digests: k2 k6 k3 k1 k5 k4 k0 (sha256sum); each third is locked.
  std::vector<Recording> recordings(7);
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    recordings[i].name = "k" + std::to_string(i);
    recordings[i].family = "simt";
    recordings[i].dtype = "f32";
  }
  std::string locked;
  const auto parts = split(recordings);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    locked += parts[i] == Part::kLocked ? recordings[i].name : "";
  }
  CHECK(locked == "k3k4");
  recordings[3].dtype = "bf16";  // alone there: nothing of bf16 is locked, and the others move up
  const auto regrouped = split(recordings);
  CHECK(regrouped[3] == Part::kDevelopment);
  CHECK(regrouped[1] == Part::kLocked);
}

TEST_CASE("kernels without shared memory and with warp tiles are split by themselves") {
  std::vector<Recording> recordings(7);
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    recordings[i].name = "k" + std::to_string(i);
    recordings[i].family = "simt";
    recordings[i].dtype = "f32";
    recordings[i].configuration.emplace();
  }
  const auto before = split(recordings);
  CHECK(form_of(recordings[0]).empty());
  Recording direct = recordings[0];
  direct.configuration->copy = model::CopyPath::kDirect;
  Recording warps = recordings[0];
  warps.configuration->wm = 32;
  warps.configuration->wn = 64;
  CHECK(form_of(direct) == "direct");
  CHECK(form_of(warps) == "warp tiles");
  for (int i = 0; i < 3; ++i) {
    direct.name = "d" + std::to_string(i);
    warps.name = "w" + std::to_string(i);
    recordings.insert(recordings.end(), {direct, warps});
  }
  const auto after = split(recordings);
  CHECK(std::equal(before.begin(), before.end(), after.begin()));
  CHECK(std::count(after.begin() + 7, after.end(), Part::kLocked) == 2);  // one of three each
}

TEST_CASE("warp tiles of SIMT kernels are read where they are said") {
  std::string text = kGood;
  const auto change = [&text](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  change("\"family\": \"mma\", \"dtype\": \"bf16\"", "\"family\": \"simt\", \"dtype\": \"f32\", \"tm\": 8, \"tn\": 4");
  const auto with = parse_recording(text, "k.json");
  REQUIRE(with.has_value());
  CHECK(with->configuration->tm == 8);
  CHECK(with->configuration->wm == 32);
  change("\"wm\": 32, \"wn\": 64,", "");
  const auto without = parse_recording(text, "k.json");
  REQUIRE(without.has_value());
  CHECK(without->configuration->wm == 0);
  CHECK_FALSE(model::has_warp_tiles(*without->configuration));
}

TEST_CASE("the shipped set can be read, its code is what was measured, and enough of it is locked") {
  const auto recordings = read_recordings(TILESIM_RECORDED_FOLDER);
  REQUIRE(recordings.has_value());
  const auto parts = split(*recordings);
  std::map<std::string, int> all;
  std::map<std::string, int> locked;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Recording& r = (*recordings)[i];
    INFO(r.path);
    for (const auto& [label, code] : r.codes) {
      const auto same = check_code(code);
      INFO(label << ": " << (same ? "" : same.error().message));
      CHECK(same.has_value());
    }
    const std::string group = r.family == "mma" ? r.dtype : "f32";
    ++all[group];
    locked[group] += parts[i] == Part::kLocked ? 1 : 0;
    for (const RecordedRun& run : r.runs) {
      CHECK(run.metrics.contains("sm__cycles_elapsed.max"));
    }
  }
  // What the set is meant to hold.
  CHECK(all["f32"] >= 60);
  CHECK(all["bf16"] >= 40);
  CHECK(all["f16"] >= 10);
  CHECK(all["tf32"] >= 10);
  CHECK(locked["f32"] >= 16);
  CHECK(locked["bf16"] >= 12);
}

TEST_CASE("SHA-256: the examples of FIPS 180-4, and lengths around a block") {
  const auto digest = [](const std::string& text) { return sha256(std::as_bytes(std::span(text))); };
  CHECK(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(digest(std::string(55, 'a')) == "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  CHECK(digest(std::string(63, 'a')) == "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
  CHECK(digest(std::string(64, 'a')) == "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  CHECK(digest(std::string(65, 'a')) == "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0");
  CHECK(digest(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace tilesim::traces
