# Sourced by the `compile` of a kernel family, which declares `value` (keys and defaults) and `numbers` (the keys whose
# values are numbers) and then calls compile_tile SOURCE OUT.cubin [KEY=VALUE...].
# Compiles one kernel for sm_90. What ptxas says about registers and spills goes to standard error.
# nvcc: $NVCC, else $CUDA_HOME/bin/nvcc, else from PATH. Exit code 2: wrong arguments; 4: no nvcc; else nvcc's.

usage() {
  echo "compile: $1" >&2
  echo "usage: compile OUT.cubin [KEY=VALUE...]; keys: ${!value[*]}" >&2
  exit 2
}

find_nvcc() {
  local nvcc=${NVCC:-}
  if [[ -z $nvcc && -n ${CUDA_HOME:-} && -x $CUDA_HOME/bin/nvcc ]]; then
    nvcc=$CUDA_HOME/bin/nvcc
  fi
  command -v "${nvcc:-nvcc}" || {
    echo "compile: no nvcc. Install the CUDA toolkit (12.0 or later), or name the program in NVCC or its folder in" \
      "CUDA_HOME." >&2
    exit 4
  }
}

compile_tile() {
  local source=$1 out argument key nvcc flags=()
  shift
  [[ $# -ge 1 && $1 != *=* ]] || usage "the first argument is the file to write"
  out=$1
  shift
  for argument in "$@"; do
    key=${argument%%=*}
    [[ $argument == *=* && -n ${value[$key]:-} ]] || usage "'$argument' is not a known KEY=VALUE"
    value[$key]=${argument#*=}
  done
  for key in "${numbers[@]}"; do
    [[ ${value[$key]} =~ ^[0-9]{1,4}$ ]] || usage "$key is a number, not '${value[$key]}'"
    flags+=("-DTILE_$key=${value[$key]}")
  done
  case ${value[COPY]} in
    reg) flags+=(-DTILE_ASYNC=0 -DTILE_COPY=kRegisters) ;;
    cpasync) flags+=(-DTILE_ASYNC=1 -DTILE_COPY=kAsynchronous) ;;
    direct) flags+=(-DTILE_COPY=kDirect) ;;
    *) usage "COPY is reg, cpasync or direct, not '${value[COPY]}'" ;;
  esac
  case ${value[DTYPE]:-} in
    '') ;;
    bf16) flags+=(-DTILE_TYPE=kBf16) ;;
    f16) flags+=(-DTILE_TYPE=kF16) ;;
    tf32) flags+=(-DTILE_TYPE=kTf32) ;;
    *) usage "DTYPE is bf16, f16 or tf32, not '${value[DTYPE]}'" ;;
  esac
  [[ ${value[LAYOUT]} =~ ^[nt][nt]$ ]] || usage "LAYOUT is nn, nt, tn or tt, not '${value[LAYOUT]}'"
  [[ ${value[LAYOUT]} == t? ]] && flags+=(-DTILE_TRANSPOSED_A=1) || flags+=(-DTILE_TRANSPOSED_A=0)
  [[ ${value[LAYOUT]} == ?t ]] && flags+=(-DTILE_TRANSPOSED_B=1) || flags+=(-DTILE_TRANSPOSED_B=0)
  case ${value[RASTER]} in
    n) flags+=(-DTILE_RASTER=kAlongN -DTILE_GROUP=1) ;;
    m) flags+=(-DTILE_RASTER=kAlongM -DTILE_GROUP=1) ;;
    group:*)
      [[ ${value[RASTER]} =~ ^group:[1-9][0-9]{0,3}$ ]] || usage "RASTER group:G takes G from 1 to 9999"
      flags+=(-DTILE_RASTER=kGroup "-DTILE_GROUP=${value[RASTER]#group:}")
      ;;
    *) usage "RASTER is n, m or group:G, not '${value[RASTER]}'" ;;
  esac
  ((value[REGS] == 0)) || flags+=("-maxrregcount=${value[REGS]}")
  nvcc=$(find_nvcc)
  exec "$nvcc" -cubin -arch=sm_90 -std=c++17 -O3 -Xptxas=-v "${flags[@]}" -o "$out" "$source"
}
