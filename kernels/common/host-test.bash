# Sourced by the `host-test` of a kernel family, which calls host_test FOLDER [KEY=VALUE...] < CONFIGURATIONS, one a line:
# builds FOLDER/host_test.cpp with the C++ compiler ($CXX, else c++) and the sanitizers for each of them, or only for the
# keys given, and runs it. Fails if one is wrong.

host_test() (
  cd "$1" || exit
  shift
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # `compile` translates the keys; here the C++ compiler stands in for nvcc.
  cat >"$work/nvcc" <<'END_OF_SCRIPT'
#!/usr/bin/env bash
flags=()
for argument in "$@"; do
  case $argument in -DTILE_*) flags+=("$argument") ;; esac
done
exec "${CXX:-c++}" -std=c++17 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all "${flags[@]}" \
  -o "$HOST_TEST_PROGRAM" host_test.cpp
END_OF_SCRIPT
  chmod +x "$work/nvcc"

  check() {
    rm -f "$work/program"
    NVCC=$work/nvcc HOST_TEST_PROGRAM=$work/program ./compile unused "$@" || return 1
    if ASAN_OPTIONS=detect_stack_use_after_return=0 "$work/program"; then
      echo "right: $*"
    else
      echo "WRONG: $*"
      return 1
    fi
  }

  if (($# > 0)); then
    check "$@"
    exit
  fi
  failed=0
  while read -r -a keys; do
    check "${keys[@]}" || failed=1
  done
  exit "$failed"
)
