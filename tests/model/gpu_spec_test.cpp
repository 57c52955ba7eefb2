// Spec files: the shipped ones hold what was measured; every way to write one wrongly is refused with file, line and
// key.
#include "model/gpu_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "model/nearest_name.h"
#include "tests/support/catch.h"

namespace tilesim::model {
namespace {

// The text of a shipped spec, written anew from its values, so that single lines can be spoilt.
std::string spec_text() {
  const GpuSpec spec = *find_gpu_spec("h200");
  std::string text = "id = \"copy\"\nname = \"Copy\"\nnote = \"a copy\"\n";
  std::string section;
  for (const Provenance& p : spec.provenance) {
    const std::string own = p.key.substr(0, p.key.find('.'));
    if (own != section) text += fmt::format("[{}]\n", own);
    section = own;
    text += fmt::format("{} = {{ value = {}, unit = \"{}\", source = \"test\", confidence = \"{}\" }}\n",
                        p.key.substr(p.key.find('.') + 1), p.value, p.unit, to_string(p.confidence));
  }
  return text;
}

struct Spoilt {
  std::string text;
  int line = 0;  ///< where the replaced text stands
};

// Replaces the first `from` after the first `after` by `to`.
Spoilt spoil(const std::string& after, const std::string& from, const std::string& to) {
  Spoilt result{spec_text(), 0};
  const std::size_t start = result.text.find(after);
  REQUIRE(start != std::string::npos);
  const std::size_t at = result.text.find(from, start);
  REQUIRE(at != std::string::npos);
  result.line =
      1 + static_cast<int>(std::count(result.text.begin(), result.text.begin() + static_cast<long>(at), '\n'));
  result.text.replace(at, from.size(), to);
  return result;
}

// Parses and expects an error at the spoilt line whose message and remedy together hold every one of `words`.
void check_refused(const Spoilt& spoilt, const std::vector<std::string>& words) {
  const Result<GpuSpec> spec = parse_gpu_spec(spoilt.text, "my.toml");
  REQUIRE_FALSE(spec);
  const Error& error = spec.error();
  INFO(error.where << ": " << error.message << " - " << error.remedy);
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK((error.where + ":").starts_with(fmt::format("my.toml:{}:", spoilt.line)));
  CHECK_FALSE(error.remedy.empty());
  for (const std::string& word : words) CHECK((error.message + " " + error.remedy).find(word) != std::string::npos);
}

}  // namespace

TEST_CASE("Shipped specs: h200, h100-sxm and article-card, complete, with provenance", "[model]") {
  CHECK(shipped_gpu_specs() == std::vector<std::string>{"h200", "h100-sxm", "article-card"});
  for (const std::string& id : shipped_gpu_specs()) {
    const Result<GpuSpec> spec = find_gpu_spec(id);
    REQUIRE(spec);
    CHECK(spec->id == id);
    std::set<std::string> keys;
    for (const Provenance& p : spec->provenance) {
      INFO(p.key);
      CHECK(keys.insert(p.key).second);
      CHECK_FALSE(p.unit.empty());
      CHECK(p.source.size() > 3);
      CHECK(std::isfinite(p.value));
    }
  }
}

TEST_CASE("The H200 spec holds the measured numbers", "[model]") {
  const GpuSpec spec = *find_gpu_spec("h200");
  CHECK(spec.device.sm_count == 132);
  CHECK(spec.device.compute_capability_major == 9);
  CHECK(spec.peak.fp32_fma_lanes_per_sm == 128);
  CHECK(spec.peak.shared_bytes_per_cycle == 128.0);
  CHECK(spec.pipe.alu_interval == 2);
  CHECK(spec.pipe.hmma_16816_interval == 6);
  CHECK(spec.lsu.lds_latency == 23);
  CHECK(spec.barrier.base_cycles == 12);
  CHECK(spec.barrier.cycles_per_warp == 2);
  CHECK(spec.l1.line_bytes == 128);
  CHECK(spec.l1.sector_bytes == 32);
  CHECK(spec.dram.peak_bytes_per_second == Approx(4.8e12));
  const auto entry = std::find_if(spec.provenance.begin(), spec.provenance.end(),
                                  [](const Provenance& p) { return p.key == "lsu.lds_latency"; });
  REQUIRE(entry != spec.provenance.end());
  CHECK(entry->value == 23.0);
  CHECK(entry->unit == "cycles");
  CHECK(entry->confidence == Confidence::kMeasured);
}

TEST_CASE("The H100 spec has the documents' figures, the SM of the H200, and no measurement", "[model]") {
  const GpuSpec h100 = *find_gpu_spec("h100-sxm");
  const GpuSpec h200 = *find_gpu_spec("h200");
  CHECK(h100.device.sm_count == 132);
  CHECK(h100.dram.peak_bytes_per_second == Approx(3.35e12));
  CHECK(h100.dram.capacity_bytes == std::int64_t{80} << 30);
  CHECK(h100.l2.capacity_bytes == 50 * 1024 * 1024);
  CHECK(h100.peak.tensor_f16_tflops == Approx(989.4));
  // The peaks that the datasheet states follow from the clocks.
  CHECK(2.0 * 128 * 132 * h100.device.clock_fp32_mhz / 1e6 == Approx(67.0).epsilon(0.005));
  CHECK(2.0 * 2048 * 132 * h100.device.clock_tensor_mhz / 1e6 == Approx(989.4).epsilon(0.001));
  REQUIRE(h100.provenance.size() == h200.provenance.size());
  for (std::size_t i = 0; i < h100.provenance.size(); ++i) {
    const Provenance& p = h100.provenance[i];
    INFO(p.key << ": " << p.source);
    CHECK((p.confidence == Confidence::kDatasheet || p.confidence == Confidence::kGuess));
    if (p.source.starts_with("as h200")) CHECK(p.value == h200.provenance[i].value);
  }
}

TEST_CASE("The article card states what the article states, and marks the rest as guess", "[model]") {
  const GpuSpec card = *find_gpu_spec("article-card");
  CHECK(card.device.sm_count == 140);
  CHECK(card.device.clock_fp32_mhz == 1500.0);
  CHECK(card.peak.fp32_fma_lanes_per_sm == 128);
  CHECK(card.peak.tensor_f16_tflops == 989.0);
  CHECK(card.dram.peak_bytes_per_second == Approx(3.35e12));
  // 384 GFLOP/s per SM, 53.76 TFLOP/s in all.
  CHECK(2.0 * 128 * card.device.clock_fp32_mhz / 1000 == Approx(384.0));
  CHECK(2.0 * 128 * card.device.clock_fp32_mhz * 140 / 1e6 == Approx(53.76));
  const GpuSpec h200 = *find_gpu_spec("h200");
  REQUIRE(card.provenance.size() == h200.provenance.size());
  int from_article = 0;
  for (std::size_t i = 0; i < card.provenance.size(); ++i) {
    const Provenance& p = card.provenance[i];
    const bool article = p.source.find("article") != std::string::npos && p.confidence != Confidence::kGuess;
    from_article += article ? 1 : 0;
    INFO(p.key << ": " << p.source);
    CHECK((article || p.confidence == Confidence::kGuess));
  }
  CHECK(from_article >= 5);
}

TEST_CASE("A spec that is written well is read", "[model]") {
  const Result<GpuSpec> spec = parse_gpu_spec(spec_text(), "my.toml");
  REQUIRE(spec);
  CHECK(spec->id == "copy");
  CHECK(spec->mio.queue_entries == find_gpu_spec("h200")->mio.queue_entries);
}

TEST_CASE("Spec errors: unknown keys name the nearest one", "[model]") {
  check_refused(spoil("[mio]", "queue_entries", "queue_entires"), {"mio.queue_entires", "mio.queue_entries"});
  check_refused(spoil("[barrier]", "[barrier]", "[barier]"), {"barier", "barrier"});
  check_refused(spoil("name", "name", "nmae"), {"nmae", "name"});
  check_refused(spoil("lds_latency", "source", "sorce"), {"lsu.lds_latency", "sorce", "source"});
}

TEST_CASE("A spread is read, holds its value, and goes when the number is overridden", "[model]") {
  const auto with = [](const std::string& spread) {
    return spoil("lds_latency", "source = ", fmt::format("spread = {}, source = ", spread));
  };
  const Result<GpuSpec> spec = parse_gpu_spec(with("[22.5, 24]").text, "my.toml");
  REQUIRE(spec);
  const auto entry = [](const GpuSpec& s) {
    return *std::find_if(s.provenance.begin(), s.provenance.end(),
                         [](const Provenance& p) { return p.key == "lsu.lds_latency"; });
  };
  REQUIRE(entry(*spec).spread);
  CHECK(entry(*spec).spread->least == 22.5);
  CHECK(entry(*spec).spread->most == 24.0);
  GpuSpec changed = *spec;
  REQUIRE(override_gpu_spec(changed, "lsu.lds_latency", "25"));
  CHECK_FALSE(entry(changed).spread);
  for (const char* bad : {"23", "[23]", "[22, 23, 24]", "[\"a\", 24]"})
    check_refused(with(bad), {"lsu.lds_latency", "spread", "[LEAST, MOST]"});
  check_refused(with("[24, 25]"), {"lsu.lds_latency", "24 to 25", "does not hold the value 23"});
  check_refused(with("[24, 22]"), {"does not hold"});
  check_refused(with("[nan, 24]"), {"does not hold"});
  check_refused(with("[-inf, 24]"), {"does not hold"});
}

TEST_CASE("A number is set with its provenance: rounded, checked, its spread made to hold it", "[model]") {
  GpuSpec spec = *find_gpu_spec("h200");
  const auto set = [&spec](const std::string& key, double value, const std::string& unit) {
    return set_gpu_number(spec, {key, unit, "test", Confidence::kMeasured, value, Spread{value, value}});
  };
  REQUIRE(set("lsu.lds_latency", 24.6, ""));
  CHECK(spec.lsu.lds_latency == 25);
  const auto entry = std::find_if(spec.provenance.begin(), spec.provenance.end(),
                                  [](const Provenance& p) { return p.key == "lsu.lds_latency"; });
  REQUIRE(entry != spec.provenance.end());
  CHECK(entry->value == 25.0);
  CHECK(entry->unit == "cycles");
  CHECK(entry->source == "test");
  CHECK(entry->spread->least == 24.6);
  CHECK(entry->spread->most == 25.0);
  CHECK(set("no.key", 1, "").error().message == "unknown GPU key \"no.key\"");
  CHECK(set("lsu.lds_latency", 24, "ns").error().remedy == "give the value in \"cycles\"");
  CHECK(set("lsu.lds_latency", 0.4, "").error().message == "lsu.lds_latency = 0 is out of range");
  CHECK(spec.lsu.lds_latency == 25);
}

TEST_CASE("Spec errors: missing keys", "[model]") {
  const std::string whole = spec_text();
  const std::size_t begin = whole.find("lds_latency");
  std::string text = whole;
  text.erase(begin, whole.find('\n', begin) + 1 - begin);
  const Result<GpuSpec> spec = parse_gpu_spec(text, "my.toml");
  REQUIRE_FALSE(spec);
  CHECK(spec.error().message.find("lsu.lds_latency") != std::string::npos);
  const std::string section = text.substr(0, text.find("[lsu]"));  // the section that lacks the key
  CHECK(spec.error().where == fmt::format("my.toml:{}", 1 + std::count(section.begin(), section.end(), '\n')));
  CHECK_FALSE(parse_gpu_spec("", "empty.toml"));
  CHECK(parse_gpu_spec("", "empty.toml").error().where.starts_with("empty.toml:"));
  check_refused(spoil("lds_latency", "value = 23, ", ""), {"lsu.lds_latency", "value"});
  check_refused(spoil("lds_latency", "source = \"test\", ", ""), {"lsu.lds_latency", "source"});
  check_refused(spoil("lds_latency", "source = \"test\"", "source = \"\""), {"lsu.lds_latency", "source", "empty"});
  // A section that is not one.
  const Result<GpuSpec> number = parse_gpu_spec("id = \"a\"\nmio = 3\n", "my.toml");
  REQUIRE_FALSE(number);
  CHECK(number.error().message == "mio is not a section");
  CHECK(number.error().where == "my.toml:2");
}

TEST_CASE("Spec errors: values out of range, mistyped or not finite", "[model]") {
  check_refused(spoil("lds_latency", "value = 23", "value = -23"), {"lsu.lds_latency", "-23", "1 to 1000", "cycles"});
  check_refused(spoil("lds_latency", "value = 23", "value = 100000"), {"lsu.lds_latency", "100000", "1 to 1000"});
  check_refused(spoil("lds_latency", "value = 23", "value = 23.5"), {"lsu.lds_latency", "integer"});
  check_refused(spoil("lds_latency", "value = 23", "value = \"23\""), {"lsu.lds_latency", "integer"});
  check_refused(spoil("lds_latency", "value = 23", "value = true"), {"lsu.lds_latency", "integer"});
  check_refused(spoil("latency_ns", "value = ", "value = nan, was = "), {"dram.latency_ns"});
  check_refused(spoil("latency_spread_ns", "value = ", "value = inf #"), {});
}

TEST_CASE("Spec errors: not a table, wrong unit, unknown confidence, duplicate key, no TOML", "[model]") {
  const std::string entry = "{ value = 23, unit = \"cycles\", source = \"test\", confidence = \"measured\" }";
  check_refused(spoil("lds_latency", entry, "23"), {"lsu.lds_latency", "unit", "source", "confidence"});
  check_refused(spoil("lds_latency", "unit = \"cycles\"", "unit = \"ns\""),
                {"lsu.lds_latency", "\"ns\"", "\"cycles\""});
  check_refused(spoil("lds_latency", "\"measured\"", "\"sure\""), {"lsu.lds_latency", "sure", "measured", "guess"});
  check_refused(spoil("lds64_extra", "lds64_extra", "lds_latency"), {"lds_latency"});
  check_refused(spoil("lds_latency", entry, "{ value = "), {});
}

TEST_CASE("Unknown GPUs and unreadable files", "[model]") {
  const auto unknown = find_gpu_spec("h20O");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().kind == ErrorKind::kUsage);
  CHECK(unknown.error().message.find("h20O") != std::string::npos);
  CHECK(unknown.error().remedy.find("h200") != std::string::npos);
  CHECK(unknown.error().remedy.find("article-card") != std::string::npos);
  CHECK_FALSE(find_gpu_spec(""));
  const auto missing = find_gpu_spec("no/such/gpu.toml");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("no/such/gpu.toml") != std::string::npos);
  CHECK_FALSE(load_gpu_spec(std::filesystem::temp_directory_path().string()));
}

TEST_CASE("Numbers that contradict each other, and what is no spec file", "[model]") {
  GpuSpec spec = *find_gpu_spec("h200");
  CHECK(override_gpu_spec(spec, "device.gpc_count", "133").error().message ==
        "device.gpc_count = 133 is more than device.sm_count = 132");
  CHECK(override_gpu_spec(spec, "l2.effective_bytes", "52428801").error().message ==
        "l2.effective_bytes = 52428801 is more than l2.capacity_bytes = 52428800");
  // A latency of a whole instruction holds those of its parts: 6 + 2 * 2 + 2 cycles in front of an L1 hit's return.
  CHECK(override_gpu_spec(spec, "l1.hit_latency", "12").error().message == "l1.hit_latency = 12 is too short");
  CHECK(override_gpu_spec(spec, "l1.hit_latency", "12").error().remedy.find("give at least 13") == 0);
  CHECK_FALSE(override_gpu_spec(spec, "lsu.lds_latency", "8"));
  CHECK_FALSE(override_gpu_spec(spec, "lsu.commit_latency", "8"));
  CHECK_FALSE(override_gpu_spec(spec, "lsu.copy_latency", "19"));
  CHECK_FALSE(override_gpu_spec(spec, "l2.hit_latency", "48"));
  CHECK_FALSE(override_gpu_spec(spec, "mio.transfer_start_cycles", "30"));
  CHECK(spec.device.gpc_count < 132);
  GpuSpec shortest = spec;
  CHECK(override_gpu_spec(shortest, "l1.hit_latency", "13"));
  CHECK(override_gpu_spec(shortest, "lsu.lds_latency", "9"));
  CHECK_FALSE(override_gpu_spec(spec, "l1.line_bytes", "100"));
  CHECK(load_gpu_spec("/dev/zero").error().message == "GPU spec \"/dev/zero\" is not a file");
  CHECK(load_gpu_spec("/no/such.toml").error().message == "GPU spec \"/no/such.toml\" does not exist");
  const auto empty = std::filesystem::temp_directory_path() / "tilesim_empty_spec.toml";
  std::ofstream(empty).flush();
  CHECK(load_gpu_spec(empty.string()).error().message == "GPU spec \"" + empty.string() + "\" is empty");
  std::filesystem::remove(empty);
}

TEST_CASE("A spec file on disk is found by its path", "[model]") {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("tilesim-spec-test-{}.toml", std::rand());
  std::ofstream(path) << spec_text();
  const auto spec = find_gpu_spec(path.string());
  std::filesystem::remove(path);
  REQUIRE(spec);
  CHECK(spec->name == "Copy");
}

TEST_CASE("Overrides change one number and its provenance", "[model]") {
  GpuSpec spec = *find_gpu_spec("h200");
  REQUIRE(override_gpu_spec(spec, "mio.queue_entries", "7"));
  CHECK(spec.mio.queue_entries == 7);
  const auto entry = std::find_if(spec.provenance.begin(), spec.provenance.end(),
                                  [](const Provenance& p) { return p.key == "mio.queue_entries"; });
  REQUIRE(entry != spec.provenance.end());
  CHECK(entry->value == 7.0);
  CHECK(entry->source !=
        find_gpu_spec("h200")->provenance[static_cast<std::size_t>(entry - spec.provenance.begin())].source);
  REQUIRE(override_gpu_spec(spec, "dram.latency_ns", "350.5"));
  CHECK(spec.dram.latency_ns == 350.5);
  for (const char* bad : {"", "x", "7x", "7.5", "-1", "0", "1e9", "nan", "inf", "99999999999999999999"}) {
    INFO("'" << bad << "'");
    const auto refused = override_gpu_spec(spec, "mio.queue_entries", bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("mio.queue_entries") != std::string::npos);
    CHECK(spec.mio.queue_entries == 7);
  }
  const auto unknown = override_gpu_spec(spec, "mio.queue_entrys", "7");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().remedy.find("mio.queue_entries") != std::string::npos);
}

TEST_CASE("Nearest names", "[model]") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("nmae", "name") == 1);
  CHECK(nearest_name("stagse", {"stages", "swizzle", "raster"}) == "stages");
  CHECK(nearest_name("anything", {}).empty());
  CHECK(near_name("frist", {"first", "last"}) == "first");
  CHECK(near_name("i8", {"f32", "f16"}).empty());
  CHECK(near_name("anything", {}).empty());
  CHECK(suggestion("stagse", {"stages"}) == "did you mean 'stages'?");
  CHECK(suggestion("stagse", {"stages"}, "\"", "Known: a.") == "did you mean \"stages\"? Known: a.");
  CHECK(suggestion("wide", {"stages"}, "'", "Known: a.") == "Known: a.");
}

}  // namespace tilesim::model
