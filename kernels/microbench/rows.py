"""Raw results in, rows name,param,value,unit,spread out."""
import csv
import statistics
import sys
from collections import defaultdict

OUT = csv.writer(sys.stdout, lineterminator='\n')
WRITTEN = {}  # (name, param) -> all values of the row


def row(name, param, values, unit, digits=2):
    """Median with smallest and largest value."""
    values = sorted(values)
    WRITTEN[name, param] = values
    OUT.writerow([name, param, round(statistics.median(values), digits), unit,
                  f'{round(values[0], digits)}..{round(values[-1], digits)}'])


def signed(x):
    x &= 0xffffffff
    return x - (1 << 32) if x >> 31 else x


def read(path):
    """test -> repetition -> (CTA, warp) -> words."""
    tests = defaultdict(lambda: defaultdict(dict))
    with open(path) as f:
        for line in f:
            name, rep, cta, warp, *words = line.split()
            tests[name][int(rep)][int(cta), int(warp)] = [int(w, 16) for w in words]
    return tests
