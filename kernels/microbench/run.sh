#!/usr/bin/env bash
# Builds the microbenchmarks and runs them on the GPU of this machine (sm_90).
#   run.sh build BUILD_DIR                      nvcc, python3 and tilesim ($TILESIM, else from PATH); no GPU
#   run.sh measure BUILD_DIR OUT_DIR [ROUNDS]   the GPU; programs of an earlier `build`; ncu if it is there
#   run.sh twice BUILD_DIR OUT_DIR [ROUNDS]     two sets of rounds: OUT_DIR/run1.csv and run2.csv, and OUT_DIR/run.log
# A round (5 if not said) goes through all programs, each a process of its own: where memory lies, which SM a CTA gets
# and what the clock does differ from process to process. `measure` leaves rows name,param,value,unit,spread in
# OUT_DIR/rows.csv, the median over the rounds and least..most of all, and says on stdout what it left out and why.
# Exit codes: 0 fine, 1 a program failed (what it measured in other rounds is there), 2 wrong use, 4 no nvcc, no
# programs or no GPU.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
programs=(l1 l2 bandwidth dram atomics ctas memory)
export PYTHONDONTWRITEBYTECODE=1
trap 'exit 130' INT TERM HUP

build() {
  local nvcc program
  # shellcheck source=/dev/null
  source "$here/../common/compile.bash"
  nvcc=$(find_nvcc)
  mkdir -p "$1"
  for program in "${programs[@]}" start runner copies copy_groups copy_words l1_sets; do
    [[ $1/$program -nt $here/$program.cu && $1/$program -nt $here/measure.cuh ]] && continue
    echo "compiling $program"
    "$nvcc" -O2 -std=c++20 -arch=sm_90 -Xcompiler -static-libstdc++,-static-libgcc -o "$1/$program" "$here/$program.cu"
  done
  if [[ -s $1/tests.txt && -z $(find "$here" -name '*.py' -newer "$1/tests.txt") ]]; then
    return
  elif command -v python3 >/dev/null; then
    echo "writing machine-code tests"
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

# Launches the machine-code tests; their results become rows when all rounds are over.
machine_code() {
  if [[ ! -s $1/tests.txt ]]; then
    echo "left out: machine-code tests, which are not in $1: 'run.sh build $1' with python3 in PATH makes them"
  elif ! command -v python3 >/dev/null; then
    echo "left out: machine-code tests; put python3 into PATH, which reads their results"
  else
    mkdir -p "$2/raw"
    if ! timeout --foreground 200 "$1/runner" "$1" "$2/raw/sass.txt"; then
      failures=$((failures + 1))
      echo "failed: $1/runner; rows of the tests that it ended are kept"
    fi
  fi
}

# Rows of what Nsight Compute counts for start.cu.
#   ncu_rows CACHES FLAG... PROGRAM
ncu_rows() {
  local caches=$1
  shift
  timeout --foreground 150 ncu --clock-control none --csv --page raw --print-units base "$@" |
    awk -v caches="$caches" -f "$here/sorted.awk" -f "$here/counted.awk"
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

one_round() {
  local program
  mkdir -p "$2"
  for program in "${programs[@]}"; do
    rows "$2/$program.csv" timeout --foreground 120 "$1/$program"
  done
  machine_code "$1" "$2"
  counted "$1" "$2"
}

measure() {
  local program round begin raw
  for program in "${programs[@]}" start; do
    if [[ ! -x $1/$program ]]; then
      echo "no program $1/$program: 'run.sh build $1' makes it where nvcc is" >&2
      exit 4
    fi
  done
  need_gpu
  mkdir -p "$2"
  rm -rf "$2"/round* "$2/rows.csv"
  for round in $(seq "$3"); do
    begin=$SECONDS
    one_round "$1" "$2/round$round"
    echo "round $round of $3: $((SECONDS - begin)) s"
  done
  # Without the GPU, all at once.
  local readers=()
  for raw in "$2"/round*/raw; do
    [[ -d $raw ]] || continue
    python3 "$here/report.py" "$raw" >"${raw%/raw}/machine_code.csv" &
    readers+=($!)
  done
  local reader
  for reader in ${readers[@]+"${readers[@]}"}; do
    if ! wait "$reader"; then
      failures=$((failures + 1))
      echo "failed: $here/report.py; the machine-code rows of a round are missing"
    fi
  done
  rm -rf "$2"/round*/raw
  {
    echo name,param,value,unit,spread
    cat "$2"/round*/*.csv | awk -f "$here/sorted.awk" -f "$here/rounds.awk"
  } >"$2/rows.csv"
  echo "$(($(wc -l <"$2/rows.csv") - 1)) rows of $3 rounds"
  [[ $failures == 0 ]]
}

# Before anything is built or run.
need_gpu() {
  if [[ ! -e /dev/nvidiactl ]]; then
    echo "no NVIDIA GPU with its driver here" >&2
    exit 4
  fi
}

twice() {
  mkdir -p "$2"
  (
    code=0
    for run in 1 2; do
      "${BASH_SOURCE[0]}" measure "$1" "$2/run$run" "$3" || code=$?
      [[ $code == 4 || $code == 2 ]] && break
      mv "$2/run$run/rows.csv" "$2/run$run.csv"
    done
    exit "$code"
  ) 2>&1 | tee "$2/run.log"
}

usage() {
  sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

rounds=${4:-5}
[[ $rounds =~ ^[1-9][0-9]?$ ]] || usage
case "${1:-} $#" in
  "build 2") build "$2" ;;
  "gpu 1") need_gpu ;;
  "measure 3" | "measure 4") measure "$2" "$3" "$rounds" ;;
  "twice 3" | "twice 4") twice "$2" "$3" "$rounds" ;;
  *) usage ;;
esac
