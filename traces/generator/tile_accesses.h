// Every memory access of a tile kernel, lane by lane: where it lies relative to its tile, so that a stream only adds
// the position of the CTA and the K-slice. Layouts are those of model/tile_layout.h.
#pragma once

#include <cstdint>
#include <vector>

#include "model/tile_config.h"
#include "model/tile_layout.h"
#include "sim/isa/stream.h"

namespace tilesim::traces::generator {

enum class AccessKind : std::uint8_t {
  kLoadOperand,   ///< global, into registers
  kCopyOperand,   ///< global to shared, asynchronously
  kStoreOperand,  ///< registers to shared
  kLoadDirect,    ///< global, one element of a fragment
  kLoadFragment,  ///< shared to registers
  kLoadMatrix,    ///< the same with LDSM
  kStoreC,
  kLocal,  ///< spilled value number `first`, loaded or stored
};

struct Access {
  AccessKind kind = AccessKind::kLoadOperand;
  bool is_b = false;
  std::int64_t first = 0;   ///< copy number of the thread; depth of the fragment; row of C
  std::int64_t second = 0;  ///< element of the copy; first element of the fragment; column of C
  std::int64_t width = 1;   ///< elements; of LDSM: matrices
  friend bool operator==(const Access&, const Access&) = default;
};

/// Where a CTA's tile lies.
struct TilePosition {
  std::int64_t row = 0;     ///< of C
  std::int64_t column = 0;  ///< of C
  std::int64_t k = 0;       ///< first of the CTA's part of K
  std::int64_t k_end = 0;
  std::int64_t batch = 0;
  std::int64_t part = 0;  ///< of K
  std::int64_t cta = 0;   ///< linear
};

/// Bytes at which the generated kernel's matrices and shared memory lie. The matrices are aligned to 256 bytes, apart.
struct AddressSpace {
  std::uint64_t a = 0, b = 0, c = 0;
};

class TileAccesses {
 public:
  TileAccesses(const model::TileConfig& config, const model::Problem& problem);

  /// The number of the access; adds it if it is new.
  int add(const Access& access);
  [[nodiscard]] const Access& at(int access) const { return accesses_[static_cast<std::size_t>(access)]; }
  [[nodiscard]] const model::TileConfig& config() const { return config_; }
  [[nodiscard]] const model::Problem& problem() const { return problem_; }
  /// True if tiles cover the matrices exactly.
  [[nodiscard]] bool in_bounds() const { return in_bounds_; }

  /// Addresses and mask of the lanes of `warp`, as DynamicInstruction wants them. `slice` counts K-slices from the
  /// CTA's first one. Lanes outside the matrix are off; in a copy they write zeros. A copy beyond the last slice is
  /// off.
  void describe(int access, int warp, const TilePosition& position, std::int64_t slice,
                isa::DynamicInstruction& out) const;

 private:
  struct Lane {
    std::int32_t row = 0, column = 0;  ///< in the stored matrix, relative to the tile
    std::int64_t offset = 0;           ///< bytes, in global memory, relative to the tile
    std::uint32_t shared = 0;          ///< bytes, in the buffer
  };
  [[nodiscard]] Lane lane(const Access& access, std::int64_t thread) const;
  [[nodiscard]] Lane fragment_lane(const Access& access, std::int64_t thread) const;
  [[nodiscard]] Lane c_lane(const Access& access, std::int64_t thread) const;
  void global(const Access& access, const Lane* lanes, const TilePosition& position, std::int64_t slice,
              isa::DynamicInstruction& out) const;
  void copy(const Access& access, const Lane* lanes, std::int64_t slice, isa::DynamicInstruction& out) const;
  [[nodiscard]] std::uint64_t buffer(const Access& access, std::int64_t slice) const;

  model::TileConfig config_;
  model::Problem problem_;
  std::int64_t element_bytes_;  ///< of A and B
  model::GlobalTile global_[2];
  model::SharedTile shared_[2];
  std::uint64_t stage_bytes_[2] = {0, 0};
  std::uint64_t shared_base_[2] = {0, 0};
  AddressSpace space_;
  bool in_bounds_ = true;
  std::int64_t spilled_ = 0;  ///< values of a thread in local memory
  std::vector<Access> accesses_;
  std::vector<std::vector<Lane>> lanes_;  ///< by access and thread
};

}  // namespace tilesim::traces::generator
