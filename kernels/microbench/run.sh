#!/usr/bin/env bash
# Builds the microbenchmarks and runs them on the GPU of this machine (sm_90).
#   run.sh build BUILD_DIR             nvcc, python3 and tilesim ($TILESIM, else from PATH); no GPU
#   run.sh measure BUILD_DIR OUT_DIR   the GPU; programs of an earlier `build`; ncu if it is there
#   run.sh twice BUILD_DIR OUT_DIR     two runs: OUT_DIR/run1.csv and run2.csv, and OUT_DIR/run.log
# `measure` leaves rows name,param,value,unit,spread in OUT_DIR/rows.csv and says on stdout what it left out and why.
# Exit codes: 0 fine, 1 a program failed (its rows are missing, the others are there), 2 wrong use, 4 no nvcc, no
# programs or no GPU.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
programs=(l1 l2 bandwidth dram atomics ctas memory)
export PYTHONDONTWRITEBYTECODE=1

build() {
  local nvcc program
  # shellcheck source=/dev/null
  source "$here/../common/compile.bash"
  nvcc=$(find_nvcc)
  mkdir -p "$1"
  for program in "${programs[@]}" start runner copies copy_groups copy_words l1_sets; do
    [[ $1/$program -nt $here/$program.cu && $1/$program -nt $here/measure.cuh ]] && continue
    "$nvcc" -O2 -std=c++20 -arch=sm_90 -Xcompiler -static-libstdc++,-static-libgcc -o "$1/$program" "$here/$program.cu"
  done
  if [[ -s $1/tests.txt && -z $(find "$here" -name '*.py' -newer "$1/tests.txt") ]]; then
    return
  elif command -v python3 >/dev/null; then
    BUILD=$1 NVCC=$nvcc python3 "$here/gen.py"
  else
    echo "left out: machine-code tests; put python3 into PATH and build again"
  fi
}

# Runs a command whose rows go to FILE; a failure is told and counted.
#   rows FILE COMMAND...
failures=0
rows() {
  local file=$1 begin=$SECONDS
  shift
  local code=0
  "$@" >"$file.part" || code=$?
  if [[ $code == 0 ]]; then
    grep -v '^name,param,value,unit,spread$' "$file.part" >"$file" || true
    rm -f "$file.part"
    echo "$(basename "$file" .csv): $(wc -l <"$file") rows in $((SECONDS - begin)) s"
  else
    failures=$((failures + 1))
    rm -f "$file.part"
    echo "failed: $* (exit code $code)"
  fi
}

machine_code() {
  if [[ ! -s $1/tests.txt ]]; then
    echo "left out: machine-code tests, which are not in $1: 'run.sh build $1' with python3 in PATH makes them"
  elif ! command -v python3 >/dev/null; then
    echo "left out: machine-code tests; put python3 into PATH, which reads their results"
  else
    mkdir -p "$2/raw"
    if ! timeout 200 "$1/runner" "$1" "$2/raw/sass.txt"; then
      failures=$((failures + 1))
      echo "failed: $1/runner; rows of the tests that it ended are kept"
    fi
    rows "$2/machine_code.csv" python3 "$here/report.py" "$2/raw"
  fi
}

# Rows of what Nsight Compute counts for start.cu.
#   ncu_rows CACHES FLAG... PROGRAM
ncu_rows() {
  local caches=$1
  shift
  timeout 150 ncu --clock-control none --csv --page raw --print-units base "$@" |
    awk -v caches="$caches" -f "$here/counted.awk"
}

# What only it can count: empty kernels, start and end, bytes of writes that reach DRAM.
counted() {
  if ! command -v ncu >/dev/null; then
    echo "left out: rows of Nsight Compute (start, cta_launch, kernel_launch, write_back); put ncu into PATH"
    return
  fi
  local spins=(--kernel-name "regex:empty|spin"
    --metrics "sm__cycles_active.avg,sm__cycles_active.max,sm__cycles_active.min,sm__cycles_elapsed.max" "$1/start")
  rows "$2/counted_warm.csv" ncu_rows warm --cache-control none "${spins[@]}"
  rows "$2/counted_flushed.csv" ncu_rows flushed --cache-control all "${spins[@]}"
  rows "$2/counted_bytes.csv" ncu_rows "" --cache-control none --kernel-name "regex:fill|read_other" \
    --metrics dram__bytes_write.sum "$1/start"
}

measure() {
  local program
  for program in "${programs[@]}" start; do
    if [[ ! -x $1/$program ]]; then
      echo "no program $1/$program: 'run.sh build $1' makes it where nvcc is" >&2
      exit 4
    fi
  done
  if [[ ! -e /dev/nvidiactl ]]; then
    echo "no NVIDIA GPU with its driver: take $here and $1 to a machine that has one" >&2
    exit 4
  fi
  mkdir -p "$2/parts"
  rm -f "$2"/parts/*.csv "$2/parts/raw/sass.txt" "$2/rows.csv"
  for program in "${programs[@]}"; do
    rows "$2/parts/$program.csv" timeout 120 "$1/$program"
  done
  machine_code "$1" "$2/parts"
  counted "$1" "$2/parts"
  {
    echo name,param,value,unit,spread
    cat "$2"/parts/*.csv
  } >"$2/rows.csv"
  [[ $failures == 0 ]]
}

twice() {
  mkdir -p "$2"
  (
    code=0
    for run in 1 2; do
      "${BASH_SOURCE[0]}" measure "$1" "$2/run$run" || code=$?
      [[ $code == 4 ]] && break
      mv "$2/run$run/rows.csv" "$2/run$run.csv"
    done
    exit "$code"
  ) 2>&1 | tee "$2/run.log"
}

case "${1:-} $#" in
  "build 2") build "$2" ;;
  "measure 3") measure "$2" "$3" ;;
  "twice 3") twice "$2" "$3" ;;
  *)
    sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
