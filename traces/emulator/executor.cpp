#include "traces/emulator/executor.h"

#include <bit>
#include <cmath>

#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

constexpr std::uint32_t kAllLanes = ~std::uint32_t{0};
constexpr std::uint32_t kSignBit = 0x80000000U;

std::uint32_t changed(std::uint32_t bits, Change change) {
  switch (change) {
    case Change::kNone:
      return bits;
    case Change::kNegate:
      return 0U - bits;
    case Change::kInvert:
      return ~bits;
    case Change::kFloatNegate:
      return bits ^ kSignBit;
    case Change::kFloatAbsolute:
      return bits & ~kSignBit;
    case Change::kFloatNegateAbsolute:
      return bits | kSignBit;
  }
  return bits;
}

std::uint32_t logic(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  std::uint32_t result = 0;
  for (unsigned k = 0; k < 8; ++k) {
    if ((table >> k & 1U) != 0) {
      result |= ((k & 4U) != 0 ? a : ~a) & ((k & 2U) != 0 ? b : ~b) & ((k & 1U) != 0 ? c : ~c);
    }
  }
  return result;
}

/// SHF: funnel shifts of the pair (a low, c high) by b. Right shifts without .HI give the low word of the shifted pair.
std::uint32_t shift(const Operation& op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const unsigned limit = op.wide ? 63U : 31U;
  const unsigned amount = op.wrap ? b & limit : b;
  const std::uint64_t pair = std::uint64_t{c} << 32 | a;
  if (!op.right) {
    const std::uint64_t moved = amount > 63 ? 0 : pair << amount;
    if (op.high) {
      return static_cast<std::uint32_t>(moved >> 32);
    }
    return amount > 31 ? 0 : a << amount;
  }
  if (op.high) {
    if (op.is_signed) {
      return static_cast<std::uint32_t>(static_cast<std::int32_t>(c) >> (amount > 31 ? 31U : amount));
    }
    return amount > 31 ? 0 : c >> amount;
  }
  if (amount > 63) {
    return op.is_signed && (c & kSignBit) != 0 ? kAllLanes : 0;
  }
  return op.is_signed ? static_cast<std::uint32_t>(static_cast<std::int64_t>(pair) >> amount)
                      : static_cast<std::uint32_t>(pair >> amount);
}

std::uint32_t permute(std::uint32_t a, std::uint32_t selector, std::uint32_t c) {
  const std::uint64_t bytes = std::uint64_t{c} << 32 | a;
  std::uint32_t result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const std::uint32_t nibble = selector >> (4 * k) & 15U;
    std::uint32_t byte = static_cast<std::uint32_t>(bytes >> (8 * (nibble & 7U))) & 0xffU;
    if ((nibble & 8U) != 0) {
      byte = (byte & 0x80U) != 0 ? 0xffU : 0U;
    }
    result |= byte << (8 * k);
  }
  return result;
}

bool compare(const Operation& op, std::uint32_t a, std::uint32_t b) {
  const auto order = [](auto x, auto y) { return x < y ? 1U : x == y ? 2U : 4U; };  // bits: less, equal, greater
  const unsigned bits = op.is_signed ? order(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)) : order(a, b);
  return (op.compare & bits) != 0;
}

std::uint32_t combine(unsigned boolean, std::uint32_t a, std::uint32_t b) {
  return boolean == 0 ? a & b : boolean == 1 ? a | b : a ^ b;
}

/// One lane's results: two words, a carry or comparison, a second predicate's carry.
struct LaneResult {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  bool flag = false;
};

struct LaneSources {
  std::uint32_t a = 0, b = 0, c = 0, c_high = 0, b_high = 0, carry = 0;
};

LaneResult add3(const LaneSources& in) {
  const std::uint64_t sum = std::uint64_t{in.a} + in.b + in.c + in.carry;
  return {static_cast<std::uint32_t>(sum), 0, (sum >> 32) != 0};
}

LaneResult multiply_add_wide(const Operation& op, const LaneSources& in) {
  const std::uint64_t addend = std::uint64_t{in.c_high} << 32 | in.c;
  const std::uint64_t product =
      op.is_signed
          ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(in.a)} * static_cast<std::int32_t>(in.b))
          : std::uint64_t{in.a} * in.b;
  const std::uint64_t sum = product + addend;
  return {static_cast<std::uint32_t>(sum), static_cast<std::uint32_t>(sum >> 32), false};
}

LaneResult lea_high(const Operation& op, const LaneSources& in) {
  const std::uint64_t pair = op.is_signed ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(in.a)})
                                          : std::uint64_t{in.c} << 32 | in.a;
  const std::uint64_t sum = (pair << op.immediate >> 32 & 0xffffffffU) + in.b + in.carry;
  return {static_cast<std::uint32_t>(sum), 0, (sum >> 32) != 0};
}

LaneResult evaluate(const Operation& op, const LaneSources& in) {
  switch (op.function) {
    case Function::kMove:
      return {in.b, in.b_high, false};
    case Function::kSelect:
      return {in.carry != 0 ? in.a : in.b, 0, false};
    case Function::kAdd3:
      return add3(in);
    case Function::kMultiplyAdd:
      return {in.a * in.b + in.c, 0, false};
    case Function::kMultiplyAddWide:
      return multiply_add_wide(op, in);
    case Function::kLea: {
      const std::uint64_t sum = std::uint64_t{in.a << (op.immediate & 31U)} + in.b + in.carry;
      return {static_cast<std::uint32_t>(sum), 0, (sum >> 32) != 0};
    }
    case Function::kLeaHigh:
      return lea_high(op, in);
    case Function::kShift:
      return {shift(op, in.a, in.b, in.c), 0, false};
    case Function::kLogic: {
      const std::uint32_t value = logic(in.a, in.b, in.c, op.immediate);
      return {value, 0, value != 0};
    }
    case Function::kCompare:
      return {0, 0, compare(op, in.a, in.b)};
    case Function::kPermute:
      return {permute(in.a, in.b, in.c), 0, false};
    case Function::kSpecial:
      return {};
    case Function::kFloatFma:
      return {std::bit_cast<std::uint32_t>(
                  std::fma(std::bit_cast<float>(in.a), std::bit_cast<float>(in.b), std::bit_cast<float>(in.c))),
              0, false};
    case Function::kFloatAdd:
      return {std::bit_cast<std::uint32_t>(std::bit_cast<float>(in.a) + std::bit_cast<float>(in.b)), 0, false};
    case Function::kFloatMultiply:
      return {std::bit_cast<std::uint32_t>(std::bit_cast<float>(in.a) * std::bit_cast<float>(in.b)), 0, false};
  }
  return {};
}

std::uint32_t special(const WarpPosition& p, int number, std::uint32_t lane) {
  const std::uint32_t thread = p.warp * isa::kWarpSize + lane;
  switch (number) {
    case kSrLaneId:
      return lane;
    case kSrTidX:
      return thread % p.block.x;
    case kSrTidY:
      return thread / p.block.x % p.block.y;
    case kSrTidZ:
      return thread / p.block.x / p.block.y;
    case kSrCtaidX:
      return p.cta_x;
    case kSrCtaidY:
      return p.cta_y;
    case kSrCtaidZ:
      return p.cta_z;
    default:  // SR_CgaCtaId: 0 without clusters
      return 0;
  }
}

std::uint32_t predicate(const std::array<std::uint32_t, 8>& file, const PredicateSource& source) {
  return source.negated ? ~file[source.index] : file[source.index];
}

void write_predicate(std::array<std::uint32_t, 8>& file, std::uint8_t index, std::uint32_t value, std::uint32_t mask) {
  if (index != kPredicatePt) {
    file[index] = (file[index] & ~mask) | (value & mask);
  }
}

/// The flag that goes to the predicate destination: carries as they are, comparisons and LOP3 combined with the input.
void write_flags(const Operation& op, std::uint32_t flags, std::uint32_t input, std::uint32_t mask,
                 std::array<std::uint32_t, 8>& file) {
  if (op.function == Function::kCompare) {
    write_predicate(file, op.predicate_out, combine(op.boolean, flags, input), mask);
    write_predicate(file, op.predicate_out2, combine(op.boolean, ~flags, input), mask);
  } else if (op.function == Function::kLogic) {
    write_predicate(file, op.predicate_out, flags | input, mask);
  } else {
    write_predicate(file, op.predicate_out, flags, mask);
  }
}

bool uses_carry(const Operation& op) { return op.carry_in || op.function == Function::kSelect; }

void execute_uniform(const Operation& op, const MicroProgram& program, const WarpPosition& position, WarpRegisters& r) {
  const auto read = [&](const Source& source) {
    const std::uint32_t bits = source.kind == Source::Kind::kConstant  ? program.constants[source.index].lane[0]
                               : source.kind == Source::Kind::kUniform ? r.uniform[source.index]
                                                                       : r.rows[source.index].lane[0];
    return changed(bits, source.change);
  };
  const std::uint32_t input = predicate(r.uniform_predicates, op.predicate_in);
  const std::uint32_t input2 = predicate(r.uniform_predicates, op.predicate_in2);
  LaneSources in{read(op.a[0]), read(op.b[0]), read(op.c[0]), read(op.c[1]), read(op.b[1]), 0};
  if (uses_carry(op)) {
    in.carry = (input & 1U) + (op.predicate_in2.index != kPredicatePt ? input2 & 1U : 0U);
  }
  LaneResult result = evaluate(op, in);
  if (op.function == Function::kSpecial) {
    result.low = special(position, op.immediate, 0);
  }
  if (op.destination[0] != kNoDestination) {
    r.uniform[op.destination[0]] = result.low;
  }
  if (op.destination[1] != kNoDestination) {
    r.uniform[op.destination[1]] = result.high;
  }
  write_flags(op, result.flag ? kAllLanes : 0U, input, kAllLanes, r.uniform_predicates);
}

/// A source's 32 lanes: its row as it is when nothing changes it, else a copy in `storage`.
const std::uint32_t* lanes(const Source& source, const MicroProgram& program, const WarpRegisters& r,
                           LaneRow& storage) {
  if (source.kind == Source::Kind::kUniform) {
    storage.lane.fill(changed(r.uniform[source.index], source.change));
    return storage.lane.data();
  }
  const LaneRow& row = source.kind == Source::Kind::kConstant ? program.constants[source.index] : r.rows[source.index];
  if (source.change == Change::kNone) {
    return row.lane.data();
  }
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    storage.lane[lane] = changed(row.lane[lane], source.change);
  }
  return storage.lane.data();
}

void store_row(LaneRow& target, const LaneRow& value, std::uint32_t mask) {
  if (mask == kAllLanes) {
    target = value;
    return;
  }
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    if ((mask >> lane & 1U) != 0) {
      target.lane[lane] = value.lane[lane];
    }
  }
}

}  // namespace

/// The rows an operation reads and writes, and what comes in and goes out by predicates.
struct Rows {
  const std::uint32_t* a;
  const std::uint32_t* b;
  const std::uint32_t* c;
  const std::uint32_t* c_high;
  std::uint32_t input = 0;
  std::uint32_t input2 = 0;
};

std::uint32_t gather(const std::array<std::uint32_t, isa::kWarpSize>& bits) {
  std::uint32_t mask = 0;
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    mask |= bits[lane] << lane;
  }
  return mask;
}

/// a + b + c + carries with the carry out, in 32-bit steps that vectorise.
std::uint32_t add_rows(const Operation& op, const Rows& in, LaneRow& low) {
  const bool second = op.predicate_in2.index != kPredicatePt;
  std::array<std::uint32_t, isa::kWarpSize> carry{};
  if (op.carry_in) {
    for (int lane = 0; lane < isa::kWarpSize; ++lane) {
      carry[lane] = (in.input >> lane & 1U) + (second ? in.input2 >> lane & 1U : 0U);
    }
  }
  std::array<std::uint32_t, isa::kWarpSize> out;
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    const std::uint32_t ab = in.a[lane] + in.b[lane];
    const std::uint32_t abc = ab + in.c[lane];
    const std::uint32_t sum = abc + carry[lane];
    out[lane] = (ab < in.a[lane] ? 1U : 0U) | (abc < ab ? 1U : 0U) | (sum < abc ? 1U : 0U);
    low.lane[lane] = sum;
  }
  return op.predicate_out == kPredicatePt ? 0U : gather(out);
}

std::uint32_t compare_rows(const Operation& op, const Rows& in) {
  const std::uint32_t flip = op.is_signed ? kSignBit : 0U;
  std::array<std::uint32_t, isa::kWarpSize> out;
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    const std::uint32_t x = in.a[lane] ^ flip;
    const std::uint32_t y = in.b[lane] ^ flip;
    const std::uint32_t order = (x < y ? 1U : 0U) | (x == y ? 2U : 0U) | (x > y ? 4U : 0U);
    out[lane] = (order & op.compare) != 0 ? 1U : 0U;
  }
  return gather(out);
}

void multiply_add_wide_rows(const Operation& op, const Rows& in, LaneRow& low, LaneRow& high) {
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    const std::uint64_t addend = std::uint64_t{in.c_high[lane]} << 32 | in.c[lane];
    std::uint64_t product = std::uint64_t{in.a[lane]} * in.b[lane];
    if (op.is_signed) {  // a signed product from the unsigned one
      product -= (std::uint64_t{in.a[lane] >> 31} * in.b[lane] + std::uint64_t{in.b[lane] >> 31} * in.a[lane]) << 32;
    }
    const std::uint64_t sum = product + addend;
    low.lane[lane] = static_cast<std::uint32_t>(sum);
    high.lane[lane] = static_cast<std::uint32_t>(sum >> 32);
  }
}

/// (a << s) + b with carries: an addition of rows whose first operand is shifted.
std::uint32_t lea_rows(const Operation& op, const Rows& in, LaneRow& low) {
  LaneRow shifted, zero;
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    shifted.lane[lane] = in.a[lane] << (op.immediate & 31U);
    zero.lane[lane] = 0;
  }
  return add_rows(op, Rows{shifted.lane.data(), in.b, zero.lane.data(), nullptr, in.input, in.input2}, low);
}

/// The upper word of a sign-extended a << s, plus b with carries.
void lea_high_rows(const Operation& op, const Rows& in, LaneRow& low, std::uint32_t& flags) {
  LaneRow shifted, zero;
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    const auto wide = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(in.a[lane])});
    shifted.lane[lane] = static_cast<std::uint32_t>(wide << op.immediate >> 32);
    zero.lane[lane] = 0;
  }
  flags = add_rows(op, Rows{shifted.lane.data(), in.b, zero.lane.data(), nullptr, in.input, in.input2}, low);
}

/// The common functions a whole row at a time. False if `op` is not one of them.
bool execute_row(const Operation& op, const Rows& in, LaneRow& low, LaneRow& high, std::uint32_t& flags) {
  const auto each = [&low](auto&& value) {
    for (int lane = 0; lane < isa::kWarpSize; ++lane) {
      low.lane[lane] = value(lane);
    }
    return true;
  };
  switch (op.function) {
    case Function::kMove:
      return op.destination[1] == kNoDestination && each([&in](int lane) { return in.b[lane]; });
    case Function::kAdd3:
      flags = add_rows(op, in, low);
      return true;
    case Function::kMultiplyAdd:
      return each([&in](int lane) { return in.a[lane] * in.b[lane] + in.c[lane]; });
    case Function::kMultiplyAddWide:
      multiply_add_wide_rows(op, in, low, high);
      return true;
    case Function::kLea:
      flags = lea_rows(op, in, low);
      return true;
    case Function::kLeaHigh:
      return op.is_signed && (lea_high_rows(op, in, low, flags), true);
    case Function::kShift: {
      const bool plain_left = !op.right && !op.high && !op.wide;
      return plain_left && each([&in](int lane) { return in.b[lane] > 31 ? 0U : in.a[lane] << (in.b[lane] & 31U); });
    }
    case Function::kLogic:
      return op.predicate_out == kPredicatePt &&
             each([&in, &op](int lane) { return logic(in.a[lane], in.b[lane], in.c[lane], op.immediate); });
    case Function::kCompare:
      flags = compare_rows(op, in);
      return true;
    case Function::kFloatFma:
      return each([&in](int lane) {
        return std::bit_cast<std::uint32_t>(std::fma(std::bit_cast<float>(in.a[lane]), std::bit_cast<float>(in.b[lane]),
                                                     std::bit_cast<float>(in.c[lane])));
      });
    default:
      return false;
  }
}

void execute(const Operation& op, const MicroProgram& program, const WarpPosition& position, std::uint32_t mask,
             WarpRegisters& r) {
  if (mask == 0) {
    return;
  }
  if (op.uniform) {
    execute_uniform(op, program, position, r);
    return;
  }
  LaneRow sa, sb, sc, sc1, sb1;  // deliberately not initialised
  const std::uint32_t* a = lanes(op.a[0], program, r, sa);
  const std::uint32_t* b = lanes(op.b[0], program, r, sb);
  const std::uint32_t* c = lanes(op.c[0], program, r, sc);
  const std::uint32_t* c1 = lanes(op.c[1], program, r, sc1);
  const std::uint32_t* b1 = lanes(op.b[1], program, r, sb1);
  const std::uint32_t input = predicate(r.predicates, op.predicate_in);
  const std::uint32_t input2 = predicate(r.predicates, op.predicate_in2);
  const bool carries = uses_carry(op);
  const bool second = op.predicate_in2.index != kPredicatePt;
  LaneRow low, high;
  std::uint32_t flags = 0;
  if (execute_row(op, Rows{a, b, c, c1, input, input2}, low, high, flags)) {
    if (op.destination[0] != kNoDestination) {
      store_row(r.rows[op.destination[0]], low, mask);
    }
    if (op.destination[1] != kNoDestination) {
      store_row(r.rows[op.destination[1]], high, mask);
    }
    write_flags(op, flags, input, mask, r.predicates);
    return;
  }
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    const std::uint32_t carry = carries ? (input >> lane & 1U) + (second ? input2 >> lane & 1U : 0U) : 0U;
    const LaneResult result = evaluate(op, LaneSources{a[lane], b[lane], c[lane], c1[lane], b1[lane], carry});
    low.lane[lane] = result.low;
    high.lane[lane] = result.high;
    flags |= (result.flag ? 1U : 0U) << lane;
  }
  if (op.function == Function::kSpecial) {
    for (int lane = 0; lane < isa::kWarpSize; ++lane) {
      low.lane[lane] = special(position, op.immediate, static_cast<std::uint32_t>(lane));
    }
  }
  if (op.destination[0] != kNoDestination) {
    store_row(r.rows[op.destination[0]], low, mask);
  }
  if (op.destination[1] != kNoDestination) {
    store_row(r.rows[op.destination[1]], high, mask);
  }
  write_flags(op, flags, input, mask, r.predicates);
}

}  // namespace tilesim::traces
