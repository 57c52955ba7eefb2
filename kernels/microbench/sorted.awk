# For the other awk programs: `awk -f sorted.awk -f PROGRAM`.

# Puts values[key, 1] to values[key, n] in ascending order of numbers; they stay as they were written.
function sort_values(values, key, n,    i, j, v) {
  for (i = 2; i <= n; i++) {
    v = values[key, i]
    for (j = i - 1; j > 0 && values[key, j] + 0 > v + 0; j--) values[key, j + 1] = values[key, j]
    values[key, j + 1] = v
  }
}
