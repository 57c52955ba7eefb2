// The tile generator: its code is a legal order of the algorithm, touches what a tiled product must touch, and costs
// what the model counts.
#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <span>
#include <unordered_map>

#include "model/legality.h"
#include "model/register_plan.h"
#include "model/shared_memory_rules.h"
#include "model/tile_access.h"
#include "sim/isa/lane_address.h"
#include "tests/support/catch.h"
#include "traces/generator/scheduler.h"
#include "traces/generator/tile_kernel.h"

using namespace tilesim;
using namespace tilesim::traces;

namespace {

/// A random legal configuration and a problem of a few tiles.
struct Case {
  model::TileConfig config;
  model::Problem problem;
};

Case random_case(unsigned seed) {
  const auto gpu = *model::find_gpu_spec("h200");
  std::mt19937 random(seed);
  const auto below = [&random](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  for (;;) {
    Case c;
    c.config.family = below(2) == 0 ? model::Family::kSimt : model::Family::kMma;
    c.config.bm = 16LL << below(4);
    c.config.bn = 16LL << below(4);
    c.config.bk = 4LL << below(4);
    c.config.tm = 1LL << below(4);
    c.config.tn = 1LL << below(4);
    c.config.wm = 16LL << below(3);
    c.config.wn = 8LL << below(4);
    if (const std::int64_t rows = 1LL << below(6); c.config.family == model::Family::kSimt) {
      const bool warp_tiles = below(2) == 0;
      c.config.wm = warp_tiles ? rows * c.config.tm : 0;
      c.config.wn = warp_tiles ? 32 / rows * c.config.tn : 0;
    }
    c.config.dtype =
        c.config.family == model::Family::kSimt ? model::DataType::kF32 : static_cast<model::DataType>(1 + below(3));
    c.problem.dtype = c.config.dtype;
    c.config.stages = 1 + below(3);
    c.config.vec = 1LL << below(4);
    c.config.copy = below(2) == 0 ? model::CopyPath::kRegister : model::CopyPath::kAsync;
    const bool direct = c.config.family == model::Family::kSimt && below(4) == 0;
    c.config.pad_a = 4 * below(3);
    c.config.pad_b = 4 * below(3);
    c.config.swizzle = below(3);
    if (direct) {
      c.config.copy = model::CopyPath::kDirect;
      c.config.stages = c.config.vec = 1;
      c.config.pad_a = c.config.pad_b = c.config.swizzle = 0;
    }
    c.config.layout = static_cast<model::Layout>(below(4));
    c.config.raster = {static_cast<model::RasterKind>(below(3)), 2};
    const std::int64_t unit = below(2) == 0 ? 4 : 8;
    c.problem.m = unit * (1 + below(40));
    c.problem.n = unit * (1 + below(40));
    c.problem.k = unit * (1 + below(16));
    const auto legality = model::check_legality(c.config, c.problem, gpu);
    if (legality && legality->legal()) {
      return c;
    }
  }
}

std::unique_ptr<TileKernel> kernel_of(const Case& c) {
  auto kernel = TileKernel::create(c.config, c.problem);
  RC_ASSERT(kernel.has_value());
  return std::move(*kernel);
}

/// Steps a warp to its end; calls visit(instruction, what it did).
template <class Visit>
void walk(const TileKernel& kernel, isa::WarpStream& warp, Visit&& visit) {
  isa::DynamicInstruction dynamic;
  while (!warp.exited()) {
    REQUIRE(warp.step(dynamic));
    visit(kernel.program().instructions[dynamic.index], dynamic);
  }
}

}  // namespace

TEST_CASE("naive and coalesced kernels: what a warp reads of nn matrices, and what a warp tile stores") {
  Case c;
  c.config.bm = c.config.bn = 32;
  c.config.bk = 4;
  c.config.tm = c.config.tn = 1;
  c.config.vec = 1;
  c.config.copy = model::CopyPath::kDirect;
  c.problem.m = c.problem.n = c.problem.k = 64;
  struct Form {
    std::int64_t wm, wn;
    std::size_t lines_a, lines_b, lines_c;  // of 128 bytes, by a warp: rows are 256 bytes apart
  };
  // 32 rows of A are 32 lines, 32 columns of B one; and the other way round one element is for all lanes.
  for (const Form& form : {Form{32, 1, 32, 1, 32}, Form{1, 32, 1, 1, 1}, Form{0, 0, 1, 1, 1}, Form{4, 8, 4, 1, 4}}) {
    c.config.wm = form.wm;
    c.config.wn = form.wn;
    CAPTURE(form.wm, form.wn);
    const auto kernel = kernel_of(c);
    const auto stream = kernel->open(0, nullptr);
    REQUIRE(stream->warp_count() == 32);
    std::set<std::uint64_t> a_and_b, of_c;
    std::size_t loads = 0;
    walk(*kernel, stream->warp(0), [&](const isa::Instruction& inst, const isa::DynamicInstruction& dynamic) {
      CHECK(inst.memory != isa::MemoryOp::kLoadShared);
      CHECK(inst.control != isa::ControlOp::kBarrier);
      if (inst.memory == isa::MemoryOp::kNone) {
        return;
      }
      std::set<std::uint64_t> lines;
      for (const std::uint64_t address : dynamic.addresses) {
        lines.insert(address / 128);
      }
      if (inst.memory == isa::MemoryOp::kStoreGlobal) {
        CHECK(lines.size() == form.lines_c);
      } else {
        ++loads;
        CHECK((lines.size() == form.lines_a || lines.size() == form.lines_b));
        a_and_b.insert(lines.size());
      }
    });
    CHECK(loads == 2 * 64);  // an element of A and of B for each step of K
    CHECK(a_and_b == std::set<std::size_t>{form.lines_a, form.lines_b});
  }
}

TEST_CASE("direct loads where K is no multiple of BK: every product once, and nothing beyond the matrices") {
  for (const std::int64_t k : {1, 3, 8, 11}) {
    Case c;
    c.config.bm = c.config.bn = 32;
    c.config.bk = 4;
    c.config.tm = c.config.tn = 2;
    c.config.vec = 1;
    c.config.copy = model::CopyPath::kDirect;
    c.problem.m = 33;
    c.problem.n = 31;
    c.problem.k = k;
    CAPTURE(k);
    const auto kernel = kernel_of(c);
    std::set<std::uint64_t> read;
    std::uint64_t products = 0;
    std::size_t stored = 0;
    for (std::uint64_t cta = 0; cta < kernel->grid().count(); ++cta) {
      const auto stream = kernel->open(cta, nullptr);
      for (int w = 0; w < stream->warp_count(); ++w) {
        walk(*kernel, stream->warp(w), [&](const isa::Instruction& inst, const isa::DynamicInstruction& dynamic) {
          products += inst.flops_per_lane == 2 ? 32 : 0;
          for (unsigned l = 0; l < 32 && inst.memory == isa::MemoryOp::kLoadGlobal; ++l) {
            if ((dynamic.active_mask >> l & 1U) != 0) {
              read.insert(dynamic.addresses[l]);
            }
          }
          stored += inst.memory == isa::MemoryOp::kStoreGlobal
                        ? static_cast<std::size_t>(std::popcount(dynamic.active_mask))
                        : 0U;
        });
      }
    }
    CHECK(read.size() == static_cast<std::size_t>((33 + 31) * k));
    CHECK(stored == 33 * 31);
    CHECK(products == static_cast<std::uint64_t>(2 * 32 * 32 * k));  // two CTAs of whole tiles
  }
}

TEST_CASE("the parts of K store products of their own, behind each other") {
  Case c;
  c.config.vec = 4;
  c.problem.m = c.problem.n = 256;
  c.problem.k = 96;
  c.problem.split_k = 3;
  c.problem.batch = 2;
  const auto kernel = kernel_of(c);
  REQUIRE(kernel->grid().count() == 4 * 3 * 2);
  std::set<std::uint64_t> stored;
  std::size_t stores = 0;
  for (std::uint64_t cta = 0; cta < kernel->grid().count(); ++cta) {
    const auto stream = kernel->open(cta, nullptr);
    std::uint64_t first = ~std::uint64_t{0};
    for (int w = 0; w < stream->warp_count(); ++w) {
      walk(*kernel, stream->warp(w), [&](const isa::Instruction& inst, const isa::DynamicInstruction& dynamic) {
        if (inst.memory == isa::MemoryOp::kStoreGlobal) {
          for (const std::uint64_t address : dynamic.addresses) {
            stored.insert(address);
            ++stores;
            first = std::min(first, address);
          }
        }
      });
    }
    // 256 x 256 elements of 4 bytes for each part and batch entry.
    CHECK((first - *stored.begin()) / (256 * 256 * 4) == cta / 4);
  }
  CHECK(stored.size() == stores);  // none twice
}

TEST_CASE("with beta every element of C is read once, in front of its store; without it none is") {
  for (const model::Family family : {model::Family::kSimt, model::Family::kMma}) {
    for (const double beta : {0.0, 0.5}) {
      CAPTURE(static_cast<int>(family), beta);
      Case c;
      c.config.family = family;
      c.config.wm = family == model::Family::kSimt ? 0 : 64;
      c.config.wn = family == model::Family::kSimt ? 0 : 32;
      c.config.dtype = c.problem.dtype =
          family == model::Family::kSimt ? model::DataType::kF32 : model::DataType::kBf16;
      c.config.vec = 4;
      c.problem.m = 200;  // ragged
      c.problem.n = 136;
      c.problem.k = 64;
      c.problem.alpha = 2.0;
      c.problem.beta = beta;
      const auto kernel = TileKernel::create(c.config, c.problem);
      REQUIRE(kernel.has_value());
      std::set<std::uint64_t> read, written;
      std::uint64_t lowest = ~std::uint64_t{0};  // of C, which lies behind A and B
      for (const bool stores : {true, false}) {
        for (std::uint64_t cta = 0; cta < (*kernel)->grid().count(); ++cta) {
          const auto stream = (*kernel)->open(cta, nullptr);
          for (int w = 0; w < stream->warp_count(); ++w) {
            walk(**kernel, stream->warp(w), [&](const isa::Instruction& inst, const isa::DynamicInstruction& dynamic) {
              const bool store = inst.memory == isa::MemoryOp::kStoreGlobal;
              if (store != stores || (!store && inst.memory != isa::MemoryOp::kLoadGlobal)) {
                return;
              }
              for (std::size_t lane = 0; lane < 32; ++lane) {
                for (std::uint64_t b = 0; (dynamic.active_mask >> lane & 1U) != 0 && b < inst.access_bytes; b += 4) {
                  const std::uint64_t at = dynamic.addresses[lane] + b;
                  lowest = store ? std::min(lowest, at) : lowest;
                  if (store) {
                    CHECK(written.insert(at).second);
                  } else if (at >= lowest) {
                    CHECK(read.insert(at).second);
                  }
                }
              }
            });
          }
        }
      }
      CHECK(written.size() == 200U * 136U);
      CHECK(read.size() == (beta != 0.0 ? written.size() : 0U));
      CHECK(std::includes(written.begin(), written.end(), read.begin(), read.end()));
    }
  }
}

TEST_CASE("what a cap of registers leaves no room for goes through local memory once per K-step") {
  Case c;
  c.config.stages = 2;
  c.config.register_cap = 80;
  c.problem.m = c.problem.n = 128;
  c.problem.k = 64;
  const auto kernel = TileKernel::create(c.config, c.problem);
  REQUIRE(kernel.has_value());
  const model::Spill spill = model::spill_of(c.config);
  REQUIRE(spill.spills());
  CHECK((*kernel)->estimate().registers == 80);
  CHECK((*kernel)->estimate().spilled_bytes == 4 * spill.registers);
  std::set<std::uint64_t> lines[2];
  std::int64_t loads = 0;
  std::int64_t stores = 0;
  const auto stream = (*kernel)->open(0, nullptr);
  for (int w = 0; w < 2; ++w) {
    walk(**kernel, stream->warp(w), [&](const isa::Instruction& inst, const isa::DynamicInstruction& dynamic) {
      if (isa::is_global(inst.memory) && dynamic.active_mask != 0 && isa::is_local(dynamic)) {
        (inst.memory == isa::MemoryOp::kLoadGlobal ? loads : stores) += 1;
        lines[w].insert(dynamic.addresses[0]);
      }
    });
  }
  const auto trips = static_cast<std::int64_t>((*kernel)->loop_trips());
  CHECK(loads == 2 * trips * spill.loads_per_k_step);
  CHECK(stores == 2 * trips * spill.stores_per_k_step);
  CHECK(lines[0].size() == static_cast<std::size_t>(spill.registers));
  std::vector<std::uint64_t> common;
  std::set_intersection(lines[0].begin(), lines[0].end(), lines[1].begin(), lines[1].end(), std::back_inserter(common));
  CHECK(common.empty());  // each warp has its own
}

TEST_CASE("generated kernels read every element of A and B that a tile needs and store every element of C once") {
  const bool holds = rc::check([](unsigned seed) {
    const Case c = random_case(seed);
    const auto kernel = kernel_of(c);
    std::unordered_map<std::uint64_t, int> reads;
    std::unordered_map<std::uint64_t, int> writes;
    for (std::uint64_t cta = 0; cta < kernel->grid().count(); ++cta) {
      const auto stream = kernel->open(cta, nullptr);
      for (int w = 0; w < stream->warp_count(); ++w) {
        walk(*kernel, stream->warp(w), [&](const isa::Instruction& inst, const isa::DynamicInstruction& dynamic) {
          if (!isa::is_global(inst.memory)) {
            return;
          }
          const bool store = inst.memory == isa::MemoryOp::kStoreGlobal;
          const auto element = static_cast<std::uint64_t>(store ? 4 : model::element_bytes(c.config.dtype));
          for (std::size_t lane = 0; lane < 32; ++lane) {
            for (std::uint64_t b = 0; (dynamic.active_mask >> lane & 1U) != 0 && b < inst.access_bytes; b += element) {
              const bool copy = inst.memory == isa::MemoryOp::kCopyAsync;
              const std::uint64_t at =
                  copy ? isa::CopyLane::of(dynamic.addresses[lane]).global : dynamic.addresses[lane];
              if (at != 0) {  // else a copy of zeros
                ++(store ? writes : reads)[at + b];
              }
            }
          }
        });
      }
    }
    const auto m = static_cast<std::size_t>(c.problem.m);
    const auto n = static_cast<std::size_t>(c.problem.n);
    const auto k = static_cast<std::size_t>(c.problem.k);
    RC_ASSERT(reads.size() == m * k + k * n);
    RC_ASSERT(writes.size() == m * n);
    RC_ASSERT(std::all_of(writes.begin(), writes.end(), [](const auto& w) { return w.second == 1; }));
    // Every element of A is read once per tile column, every element of B once per tile row; direct: by every thread
    // that multiplies it.
    const bool direct = !model::uses_shared_memory(c.config);
    const auto times_a = model::ceil_div(c.problem.n, c.config.bn) * (direct ? c.config.bn / c.config.tn : 1);
    const auto times_b = model::ceil_div(c.problem.m, c.config.bm) * (direct ? c.config.bm / c.config.tm : 1);
    std::map<int, std::size_t> expected;
    expected[static_cast<int>(times_a)] += m * k;
    expected[static_cast<int>(times_b)] += k * n;
    std::map<int, std::size_t> found;
    for (const auto& [address, times] : reads) {
      ++found[times];
    }
    RC_ASSERT(found == expected);
  });
  CHECK(holds);
}

TEST_CASE("shared accesses of generated kernels cost what the model counts") {
  const bool holds = rc::check([](unsigned seed) {
    Case c = random_case(seed);
    if (model::uses_shared_memory(c.config)) {
      c.config.copy = model::CopyPath::kRegister;
    }
    c.problem.m = c.config.bm;
    c.problem.n = c.config.bn;
    c.problem.k = 3 * c.config.bk;
    const auto kernel = kernel_of(c);
    const auto stream = kernel->open(0, nullptr);
    std::int64_t loads = 0;
    std::int64_t stores = 0;
    for (int w = 0; w < stream->warp_count(); ++w) {
      walk(*kernel, stream->warp(w), [&](const isa::Instruction& inst, const isa::DynamicInstruction& dynamic) {
        std::array<std::uint32_t, 32> lanes{};
        std::transform(dynamic.addresses.begin(), dynamic.addresses.end(), lanes.begin(),
                       [](std::uint64_t a) { return static_cast<std::uint32_t>(a); });
        if (inst.memory == isa::MemoryOp::kLoadShared) {
          loads += model::shared_load_wavefronts(lanes, ~0U, inst.access_bytes).wavefronts;
        } else if (inst.memory == isa::MemoryOp::kStoreShared) {
          stores += model::shared_store_wavefronts(lanes, ~0U, inst.access_bytes).wavefronts;
        } else if (inst.memory == isa::MemoryOp::kLoadMatrix) {
          const int rows = std::popcount(dynamic.active_mask);
          loads += model::matrix_load_wavefronts(std::span(lanes).first(static_cast<std::size_t>(rows)), rows / 8)
                       .wavefronts;
        }
      });
    }
    const auto costs = model::shared_access_costs(c.config);
    if (costs.empty()) {
      RC_ASSERT(loads == 0);
      RC_ASSERT(stores == 0);
      return;
    }
    RC_ASSERT(stores == 3 * (costs[0].wavefronts + costs[1].wavefronts));
    RC_ASSERT(loads == 3 * (costs[2].wavefronts + costs[3].wavefronts));
  });
  CHECK(holds);
}

TEST_CASE("a stream that steps from one global access to the next makes the same accesses") {
  const bool holds = rc::check([](unsigned seed) {
    const Case c = random_case(seed);
    const auto kernel = kernel_of(c);
    const auto slow = kernel->open(0, nullptr);
    const auto fast = kernel->open(0, nullptr);
    for (int w = 0; w < slow->warp_count(); ++w) {
      isa::DynamicInstruction jump;
      std::uint64_t steps = 0;
      walk(*kernel, slow->warp(w), [&](const isa::Instruction& inst, const isa::DynamicInstruction& dynamic) {
        ++steps;
        if (isa::is_global(inst.memory) && dynamic.active_mask != 0) {
          RC_ASSERT(fast->warp(w).step_to_global(kernel->program(), jump));
          RC_ASSERT(jump.index == dynamic.index);
          RC_ASSERT(jump.active_mask == dynamic.active_mask);
          RC_ASSERT(jump.addresses == dynamic.addresses);
        }
      });
      RC_ASSERT(fast->warp(w).step_to_global(kernel->program(), jump));
      RC_ASSERT(jump.active_mask == 0U);
      RC_ASSERT(slow->warp(w).executed() == steps);
      RC_ASSERT(fast->warp(w).executed() == steps);
    }
  });
  CHECK(holds);
}

TEST_CASE("products executed: 2 M N K FLOP in whole tiles, whatever the stages and the type") {
  const auto stages = GENERATE(1, 2, 3);
  const auto dtype =
      GENERATE(model::DataType::kF32, model::DataType::kTf32, model::DataType::kF16, model::DataType::kBf16);
  {
    model::TileConfig config;
    config.family = dtype == model::DataType::kF32 ? model::Family::kSimt : model::Family::kMma;
    config.wm = dtype == model::DataType::kF32 ? 0 : 64;
    config.wn = dtype == model::DataType::kF32 ? 0 : 32;
    config.dtype = dtype;
    config.bk = 16;
    config.stages = stages;
    model::Problem problem;
    problem.dtype = dtype;
    problem.m = problem.n = 256;
    problem.k = 64;
    const auto kernel = *TileKernel::create(config, problem);
    std::uint64_t flops = 0;
    for (std::uint64_t cta = 0; cta < kernel->grid().count(); ++cta) {
      const auto stream = kernel->open(cta, nullptr);
      for (int w = 0; w < stream->warp_count(); ++w) {
        walk(*kernel, stream->warp(w),
             [&](const isa::Instruction& inst, const isa::DynamicInstruction&) { flops += 32 * inst.flops_per_lane; });
      }
    }
    CAPTURE(stages);
    CHECK(flops == 2ULL * 256 * 256 * 64);
  }
}

TEST_CASE("skipped trips end at the same K-slice") {
  model::TileConfig config;
  config.stages = 2;
  model::Problem problem;
  problem.m = problem.n = 128;
  problem.k = 1024;
  const auto last_load = [&](std::uint64_t skip) {
    const auto kernel = *TileKernel::create(config, problem);
    if (skip != 0) {
      kernel->skip_trips(4, skip);
    }
    const auto stream = kernel->open(0, nullptr);
    std::uint64_t address = 0;
    std::uint64_t steps = 0;
    walk(*kernel, stream->warp(0), [&](const isa::Instruction& inst, const isa::DynamicInstruction& dynamic) {
      ++steps;
      address = inst.memory == isa::MemoryOp::kLoadGlobal ? dynamic.addresses[0] : address;
    });
    return std::pair{address, steps};
  };
  const auto [all_address, all_steps] = last_load(0);
  const auto [address, steps] = last_load(100);
  CHECK(address == all_address);
  CHECK(steps < all_steps / 4);
}

TEST_CASE("generated mma code: HMMAs of a warp 6 cycles apart, LDSM of the next fragments in between") {
  // 128x128x32 with 64x32 per warp as ptxas 13.0 orders it: two steps of 4 x 4 products, 6 LDSM each; with 128
  // registers 11 of them in front of the first HMMA, with 96 four.
  model::TileConfig config;
  config.family = model::Family::kMma;
  config.wm = 64;
  config.wn = 32;
  config.dtype = model::DataType::kBf16;
  config.bk = 32;
  config.vec = 8;
  config.stages = 3;
  config.copy = model::CopyPath::kAsync;
  config.layout = model::Layout::kNT;
  model::Problem problem;
  problem.dtype = config.dtype;
  problem.m = problem.n = 256;
  problem.k = 128;
  const auto between_products = [&problem](const model::TileConfig& tile) {
    const auto kernel = *TileKernel::create(tile, problem);
    int cycle = 0, last_product = -6, products = 0, matrices = 0, between = 0;
    for (const isa::Instruction& inst : kernel->program().instructions) {
      if (inst.pipe == isa::Pipe::kTensor) {
        CHECK(cycle - last_product >= 6);
        last_product = cycle;
        ++products;
        CHECK(inst.flops_per_lane == 2 * 16 * 8 * 16 / 32);
        CHECK(inst.read_count == 3);
      }
      matrices += inst.memory == isa::MemoryOp::kLoadMatrix ? 1 : 0;
      between += inst.memory == isa::MemoryOp::kLoadMatrix && products > 0 ? 1 : 0;
      cycle += inst.stall;
    }
    CHECK(products == 32);
    CHECK(matrices == 12);
    return between;
  };
  CHECK(between_products(config) <= 2);
  config.register_cap = 96;
  CHECK(between_products(config) >= 8);
}

TEST_CASE("the scheduler keeps dependences, for random blocks") {
  const bool holds = rc::check([](unsigned seed) {
    std::mt19937 random(seed);
    generator::Block block;
    const isa::Pipe product = random() % 2 == 0 ? isa::Pipe::kFma : isa::Pipe::kTensor;
    block.values.push_back({1, true});
    const int count = 5 + static_cast<int>(random() % 80);
    for (int i = 0; i < count; ++i) {
      generator::Operation op;
      const auto kind = random() % 4;
      op.code.pipe = kind == 0 ? isa::Pipe::kAlu : kind == 1 ? isa::Pipe::kLsu : product;
      if (kind == 1) {
        op.code.memory = isa::MemoryOp::kLoadShared;
        op.kind = generator::ResultKind::kShared;
      }
      for (auto u = random() % 3; u > 0; --u) {
        op.uses.push_back({static_cast<int>(random() % block.values.size()), 0});
      }
      block.values.push_back({1 << (random() % 3), false});
      op.result = static_cast<int>(block.values.size()) - 1;
      if (i > 0 && random() % 5 == 0) {
        op.after.push_back(static_cast<int>(random() % static_cast<unsigned>(i)));
      }
      block.operations.push_back(op);
    }
    const generator::Schedule schedule =
        generator::schedule(block, {static_cast<int>(4 + random() % 40), random() % 2 == 0});
    RC_ASSERT(schedule.order.size() == block.operations.size());
    std::vector<int> place(block.operations.size(), -1);
    for (std::size_t i = 0; i < schedule.order.size(); ++i) {
      place[static_cast<std::size_t>(schedule.order[i])] = static_cast<int>(i);
    }
    std::map<int, int> writer;
    for (std::size_t i = 0; i < block.operations.size(); ++i) {
      RC_ASSERT(place[i] >= 0);
      for (const generator::Use& use : block.operations[i].uses) {
        const auto from = writer.find(use.value);
        if (from != writer.end()) {
          RC_ASSERT(place[static_cast<std::size_t>(from->second)] < place[i]);
        }
      }
      for (const int before : block.operations[i].after) {
        RC_ASSERT(place[static_cast<std::size_t>(before)] < place[i]);
      }
      writer[block.operations[i].result] = static_cast<int>(i);
    }
  });
  CHECK(holds);
}
