# Rows of what Nsight Compute counted for start.cu: `ncu --csv --page raw --print-units base` on stdin.
#   awk -v caches=warm -f sorted.awk -f counted.awk
# One row per kind of kernel and metric: the median of its launches, smallest..largest of them. With warm caches the first
# launch of a kind does not count: it fetches its code.
function number(text) { gsub(/,/, "", text); return text + 0 }

function first_number(text) { match(text, /[0-9]+/); return substr(text, RSTART, RLENGTH) + 0 }

# The numbers between < and > of a name such as spin_store<5000, 48>(...), whatever casts stand before them.
function arguments(name, found,    inner, n) {
  match(name, /<.*>/)
  inner = substr(name, RSTART + 1, RLENGTH - 2)
  gsub(/\([a-z ]*\)/, "", inner)
  gsub(/u/, "", inner)
  n = split(inner, found, /, */)
  return n
}

function add(name, param, unit, value,    key) {
  key = name "," param
  if (caches == "warm" && !(key in met)) { met[key]; return }
  if (!(key in count)) { order[++keys] = key; units[key] = unit }
  values[key, ++count[key]] = value
}

/^"/ {
  line = $0
  sub(/^"/, "", line)
  sub(/"\r?$/, "", line)
  n = split(line, field, "\",\"")
  if (field[1] == "ID") {
    for (i = 1; i <= n; i++) column[field[i]] = i
    next
  }
  if (field[1] == "") next  # the row of units
  kernel = field[column["Kernel Name"]]
  ctas = first_number(field[column["Grid Size"]])
  threads = first_number(field[column["Block Size"]])
  if (kernel ~ /spin_store/) {
    arguments(kernel, a)
    what = "spin " a[1] " and store" (a[2] > 0 ? " with " a[2] " KB" : "")
  } else if (kernel ~ /spin/) {
    arguments(kernel, a)
    what = "spin " a[1]
  } else if (kernel ~ /empty/) {
    what = "empty " threads " threads"
  } else if (kernel ~ /fill/) {
    mebibytes = ctas / 128
    add("write_back", mebibytes " MiB written once; written to DRAM within the kernel", "B",
        number(field[column["dram__bytes_write.sum"]]))
    next
  } else {
    if (kernel ~ /1>/ || kernel ~ /true/)
      add("write_back", mebibytes " MiB written once; written to DRAM by a later kernel that reads 512 MiB", "B",
          number(field[column["dram__bytes_write.sum"]]))
    next
  }
  elapsed = number(field[column["sm__cycles_elapsed.max"]])
  most = number(field[column["sm__cycles_active.max"]])
  mean = number(field[column["sm__cycles_active.avg"]])
  where = what "; " ctas " CTAs; caches " caches
  if (ctas > 1) {  # one SM of many says nothing by its mean
    add("start", where "; sm__cycles_active.avg", "cycles", mean)
    add("start", where "; sm__cycles_active.min", "cycles", number(field[column["sm__cycles_active.min"]]))
    if (what ~ /^spin [0-9]+$/) add("cta_launch", where "; active beyond the spin", "cycles", mean - a[1])
  }
  add("start", where "; sm__cycles_active.max", "cycles", most)
  add("start", where "; sm__cycles_elapsed.max", "cycles", elapsed)
  add("kernel_launch", where "; elapsed beyond active", "cycles", elapsed - most)
}

END {
  for (k = 1; k <= keys; k++) {
    key = order[k]
    n = count[key]
    sort_values(values, key, n)
    printf "%s,%.9g,%s,%.9g..%.9g\n", key, values[key, int(n / 2) + 1], units[key], values[key, 1], values[key, n]
  }
}
