// Functions that are loops over the 32 lanes of a warp, compiled for AVX2 too: the processor's own is taken when the
// program starts. Integers only, so that all of them compute the same.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TILESIM_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define TILESIM_VECTOR_CLONES
#endif
