// Special registers, predicates and constants at an index.
#include <cstring>

#include "traces/emulator/lane_executor.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {

template <int N>
void Executor<N>::special() {
  const isa::Dim3& block = position_.block;
  for (unsigned i = 0; i < N; ++i) {
    const unsigned thread = position_.first_thread + i;
    Word value = 0;
    switch (op_.immediate) {
      case kSrLaneId:
        value = i;
        break;
      case kSrTidX:
        value = thread % block.x;
        break;
      case kSrTidY:
        value = thread / block.x % block.y;
        break;
      case kSrTidZ:
        value = thread / (block.x * block.y);
        break;
      case kSrCtaidX:
      case kSrCtaidY:
      case kSrCtaidZ:
        value = position_.cta[op_.immediate - static_cast<unsigned>(kSrCtaidX)];
        break;
      case kSrEqualMask:
        value = 1U << i;
        break;
      case kSrLessMask:
        value = (1U << i) - 1;
        break;
      case kSrLessEqualMask:
        value = (2U << i) - 1;
        break;
      case kSrGreaterMask:
        value = ~((2U << i) - 1);
        break;
      case kSrGreaterEqualMask:
        value = ~((1U << i) - 1);
        break;
      default:  // SR_CgaCtaId without clusters, SRZ
        break;
    }
    result_.lane[i] = value;
  }
  commit(op_.destination[0], result_);
}

template <int N>
void Executor<N>::predicate_logic() {
  const Word a = predicate(op_.predicate_in);
  const Word b = predicate(op_.predicate_in2);
  const Word c = predicate(op_.predicate_in3);
  const auto look_up = [&](unsigned table) {
    Word result = 0;
    for (unsigned term = 0; term < 8; ++term) {
      if ((table >> term & 1) != 0) {
        result |= ((term & 4) != 0 ? a : ~a) & ((term & 2) != 0 ? b : ~b) & ((term & 1) != 0 ? c : ~c);
      }
    }
    return result;
  };
  set_predicate(op_.predicate_out, look_up(op_.immediate));
  set_predicate(op_.predicate_out2, look_up(op_.immediate2));
}

// Of the active lanes; on the uniform datapath with a predicate of the lanes.
template <int N>
void Executor<N>::vote() {
  constexpr unsigned kAny = 1;
  constexpr unsigned kEqual = 2;
  const Word ballot = predicate(op_.predicate_in) & mask_;
  const bool holds = op_.immediate == kAny     ? ballot != 0
                     : op_.immediate == kEqual ? ballot == 0 || ballot == mask_
                                               : ballot == mask_;
  result_.lane.fill(ballot);
  commit(op_.destination[0], result_);
  set_predicate(op_.predicate_out, holds ? kAllLanes : 0);
}

// LDC with an index in a register; zeros outside the bank.
template <int N>
void Executor<N>::indexed_constant() {
  constexpr unsigned kBytes[] = {1, 1, 2, 2, 4, 8, 16, 0};
  const unsigned bytes = kBytes[op_.immediate & 7];
  const std::vector<std::byte>& bank = program_.banks[op_.bank];
  const Word* index = a();
  LaneRow high{};
  for (std::size_t i = 0; i < N; ++i) {
    const std::int64_t place = std::int64_t{static_cast<std::int32_t>(index[i])} + op_.offset;
    std::uint64_t value = 0;
    if (place >= 0 && static_cast<std::uint64_t>(place) + bytes <= bank.size()) {
      std::memcpy(&value, bank.data() + place, std::min<std::size_t>(bytes, sizeof value));
    }
    const unsigned unused = 64 - 8 * std::min(bytes, 8U);
    const bool sign = op_.immediate == 1 || op_.immediate == 3;
    value = sign ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused) : value;
    result_.lane[i] = static_cast<Word>(value);
    high.lane[i] = static_cast<Word>(value >> 32);
  }
  commit_pair(high);
}

// P2R: byte `immediate` of a, where the mask b has bits, becomes the predicates.
template <int N>
void Executor<N>::bits_of_predicates() {
  const Word* old = a();
  const Word* mask = b();
  for (std::size_t i = 0; i < N; ++i) {
    Word bits = 0;
    for (std::size_t p = 0; p < kPredicatePt; ++p) {
      bits |= lanes::lane_bit(registers_.predicates[p], i) << p;
    }
    const unsigned shift = 8U * op_.immediate;
    result_.lane[i] = (old[i] & ~(mask[i] << shift)) | (bits & mask[i]) << shift;
  }
  commit(op_.destination[0], result_);
}

template <int N>
void Executor<N>::predicates_of_bits() {
  const Word* bits = a();
  const Word* mask = b();
  for (std::uint8_t p = 0; p < kPredicatePt; ++p) {
    const Word value =
        lanes::mask_of<N>([&](std::size_t i) { return (bits[i] >> (8U * op_.immediate) >> p & 1) != 0; });
    const Word written = lanes::mask_of<N>([&](std::size_t i) { return (mask[i] >> p & 1) != 0; });
    set_predicate(p, (value & written) | (registers_.predicates[p] & ~written));
  }
}

template void Executor<1>::special();
template void Executor<isa::kWarpSize>::special();
template void Executor<1>::predicate_logic();
template void Executor<isa::kWarpSize>::predicate_logic();
template void Executor<1>::vote();
template void Executor<isa::kWarpSize>::vote();
template void Executor<1>::indexed_constant();
template void Executor<isa::kWarpSize>::indexed_constant();
template void Executor<1>::bits_of_predicates();
template void Executor<isa::kWarpSize>::bits_of_predicates();
template void Executor<1>::predicates_of_bits();
template void Executor<isa::kWarpSize>::predicates_of_bits();

}  // namespace tilesim::traces
