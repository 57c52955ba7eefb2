#!/bin/sh
# Builds the microbenchmarks, runs them on the GPU of this machine (sm_90) and writes extra_microbench.csv.
# Usage: run.sh build | run.sh measure OUT_DIR | run.sh all OUT_DIR
set -e
cd "$(dirname "$0")"
build=../../build/microbench
export PYTHONDONTWRITEBYTECODE=1

build_all() {
  mkdir -p "$build"
  python3 gen.py
  for program in runner memory start copies l1_sets; do
    nvcc -O2 -std=c++20 -arch=sm_90 -Xcompiler -static-libstdc++,-static-libgcc -o "$build/$program" "$program.cu"
  done
}

# Nsight Compute adds the counters of start.cu; without it those rows are left out.
measure() {
  mkdir -p "$1"
  "$build/runner" "$build" "$1/sass.txt"
  "$build/memory" > "$1/memory.csv"
  "$build/copies" > "$1/copies.csv"
  "$build/l1_sets" > "$1/l1_sets.csv"
  metrics=sm__cycles_active.avg,sm__cycles_active.max,sm__cycles_active.min,sm__cycles_elapsed.max
  if command -v ncu > /dev/null; then
    for cache in none all; do
      ncu --clock-control none --cache-control $cache --metrics $metrics --csv --page raw "$build/start" \
        > "$1/start_$cache.csv"
    done
  fi
  python3 report.py "$1" > "$1/extra_microbench.csv"
}

case "$1" in
  build) build_all ;;
  measure) measure "${2:?OUT_DIR is missing}" ;;
  all) build_all && measure "${2:?OUT_DIR is missing}" ;;
  *) echo "usage: run.sh build | run.sh measure OUT_DIR | run.sh all OUT_DIR" >&2; exit 2 ;;
esac
