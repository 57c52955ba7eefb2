"""Raw results in, rows name,param,value,unit,spread out."""
import contextlib
import csv
import math
import statistics
import sys
from collections import defaultdict

OUT = csv.writer(sys.stdout, lineterminator='\n')
WRITTEN = {}  # (name, param) -> all values of the row


def row(name, param, values, unit, digits=2):
    """Median with smallest and largest value, these rounded outwards; nothing where a test left no value."""
    values = sorted(values)
    if not values:
        print(f'no row {name}, {param}: its test has no results', file=sys.stderr)
        return
    WRITTEN[name, param] = values
    OUT.writerow([name, param, round(statistics.median(values), digits), unit,
                  f'{outwards(values[0], digits, math.floor)}..{outwards(values[-1], digits, math.ceil)}'])


def outwards(value, digits, rounding):
    """To the digits; what is but for the last bits of its arithmetic a number of so many digits stays that one."""
    scaled = value * 10**digits
    near = round(scaled)
    return (near if abs(scaled - near) < 1e-6 else rounding(scaled)) / 10**digits


def signed(x):
    x &= 0xffffffff
    return x - (1 << 32) if x >> 31 else x


def read(path):
    """test -> repetition -> (CTA, warp) -> words."""
    tests = defaultdict(lambda: defaultdict(dict))
    with open(path) as f:
        for line in f:
            if not line.endswith('\n'):
                break  # the run was stopped while it wrote this
            name, rep, cta, warp, *words = line.split()
            tests[name][int(rep)][int(cta), int(warp)] = [int(w, 16) for w in words]
    return tests


@contextlib.contextmanager
def guarded(name):
    """What a test that failed or was cut leaves behind costs its own rows only."""
    try:
        yield
    except (IndexError, KeyError, StopIteration, ValueError, ZeroDivisionError) as error:
        print(f'rows left out at {name}: {error!r}', file=sys.stderr)
