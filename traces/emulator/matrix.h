// Tensor-core instructions: what HMMA and LDSM compute, and which elements a lane's registers hold (fragment layouts:
// PTX ISA, "Matrix Fragments" of mma.m16n8k4, k8 and k16, and ldmatrix).
#pragma once

#include "traces/emulator/micro_program.h"

namespace tilesim::traces {

/// D = A B + C over a whole warp, A of 16 x depth, B of depth x 8, C and D of 16 x 8.
///
/// Products are exact. They and the sum so far are added in blocks: every addend is cut off (towards zero) below the
/// last kept bit under the largest exponent of the block, their sum is exact, and the result is cut off to FP32, or
/// rounded to nearest even for FP16 accumulators. The rule: Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of
/// NVIDIA tensor cores" (PeerJ CS 2021). Blocks are those of an A100 (8 products of 16-bit types, 4 of TF32, one bit
/// below FP32's last); later chips fuse more products and keep more bits (Khattak and Mikaitis, arXiv 2512.07004),
/// which stays within matrix_error_bound().
void multiply_matrices(const MatrixOperation& operation, LaneRow* rows);

/// Bound of the error of a K-term sum as multiply_matrices() forms it, for a sum of magnitudes of 1: each of the
/// ceil(K / depth of a block) steps cuts off up to one FP32 unit of each addend and of the result, or rounds to FP16.
[[nodiscard]] double matrix_error_bound(int k, bool half_accumulator);

}  // namespace tilesim::traces
