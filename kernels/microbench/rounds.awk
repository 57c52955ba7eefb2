# Rows of several rounds as one: `cat ROUND/*.csv | awk -f sorted.awk -f rounds.awk`, rows name,param,value,unit,spread on stdin, where
# name and param may stand many times. Value: the median over the rounds; spread: least..most of all of them.
{
  if (!match($0, /,[-+0-9.eE]+,("[^"]*"|[^",]*),[^,]*$/)) next
  key = substr($0, 1, RSTART - 1)
  rest = substr($0, RSTART + 1)
  value = substr(rest, 1, index(rest, ",") - 1)
  rest = substr(rest, index(rest, ",") + 1)
  match(rest, /,[^,]*$/)
  spread = substr(rest, RSTART + 1)
  if (!(key in count)) {
    order[++keys] = key
    units[key] = substr(rest, 1, RSTART - 1)
  }
  values[key, ++count[key]] = value
  n = split(spread, ends, /\.\./)
  least = n == 2 ? ends[1] : value
  most = n == 2 ? ends[2] : value
  if (count[key] == 1 || least + 0 < lowest[key] + 0) lowest[key] = least
  if (count[key] == 1 || most + 0 > highest[key] + 0) highest[key] = most
}

END {
  for (k = 1; k <= keys; k++) {
    key = order[k]
    n = count[key]
    sort_values(values, key, n)
    middle = values[key, int((n + 1) / 2)]
    if (n % 2 == 0) middle = sprintf("%.9g", (middle + values[key, n / 2 + 1]) / 2)
    print key "," middle "," units[key] "," lowest[key] ".." highest[key]
  }
}
