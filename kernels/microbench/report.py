#!/usr/bin/env python3
"""Turns the raw results of the machine-code tests into rows name,param,value,unit,spread.

Usage: report.py DIR > ROWS.csv
"""
import os
import re
import statistics
import sys

from issue_queue import REQUESTS, SETS
from loops import FETCH_TRIPS, STEPS, TILES
from lsu import STORES
from operands import FAR, NEAR
from report_code import code
from rows import OUT, guarded, read, row, signed


def window_rates(test, first, last, per_trip, cta=0, finished=False):
    """Requests per cycle of warps first..last-1 of a CTA in each repetition."""
    at = 3 if finished else 2
    return [sum(v[1] * per_trip / v[at] for (c, w), v in warps.items() if c == cta and first <= w < last)
            for warps in test.values()]


def lsu(tests):
    alone = {}
    for name in tests:
        kind, *rest = name.split('/')
        if kind == 'lds':
            rates = window_rates(tests[name], 0, 32, 16)
            row('lds_interval', f'{rest[0]} wavefronts; {rest[1]} warps', [1 / r for r in rates], 'cycles per LDS', 3)
            alone[rest[0], rest[1]] = statistics.median(rates)
    for name, test in tests.items():
        kind, *rest = name.split('/')
        if kind in ('ldg', 'stg'):
            pattern, lds_warps, others = rest[0], int(rest[-3][:-3]), int(rest[-2][:-3])
            per_trip = int(rest[-1][1]) if kind == 'ldg' else STORES[pattern][3]
            where = f'{pattern}; {" ".join(rest[1:-3])} {others} warps {rest[-1]}'
            request = kind.upper()
            if rest[-1] == '132sm':
                values = [1 / r for c in range(132) for r in window_rates(test, 0, 32, per_trip, c, True)]
                row(kind + '_alone', where, values, f'cycles per {request} per SM')
                if kind == 'stg' and pattern.endswith('sectors'):
                    chip_rows(test, pattern, others, per_trip)
                continue
            rates = window_rates(test, lds_warps, 32, per_trip)
            if lds_warps == 0:
                row(kind + '_alone', where, [1 / r for r in rates], f'cycles per {request}')
                continue
            lds = window_rates(test, 0, lds_warps, 16)
            row(kind + '_cost_beside_lds', where, [(alone['4', '8'] - a) * 4 / b for a, b in zip(lds, rates)],
                f'LDS cycles lost per {request}')
            row(kind + '_rate_beside_lds', where, [1 / r for r in rates], f'cycles per {request}')
        elif kind in ('ldg_plain', 'ldg_strong', 'ldg_constant'):
            pattern, wavefronts = rest
            lds, rates = window_rates(test, 0, 8, 16), window_rates(test, 8, 32, 4)
            row('ldg_cost_beside_lds', f'{pattern}; {kind[4:]} L2 8 warps U4w beside LDS of {wavefronts} wavefronts',
                [(alone[wavefronts, '8'] - a) * int(wavefronts) / b for a, b in zip(lds, rates)],
                'LDS cycles lost per LDG')
        elif kind == 'stgmerge':
            row('stg_merge', f'{rest[0]} lines per warp; {rest[1]} sectors per line; {rest[2]} warps',
                [1 / r for r in window_rates(test, 0, 32, 8)], 'cycles per STG')
        elif kind == 'stgburst':
            where = f'{rest[0]} warps of 64 STG; {rest[1]} CTAs'
            for at, what in ((16, 'last STG issued'), (17, 'all sources read'), (18, 'MEMBAR done')):
                values = []
                for warps in test.values():
                    for cta in range(int(rest[1])):
                        mine = [v for (c, w), v in warps.items() if c == cta]
                        values.append(max(signed(v[at] - mine[0][0]) for v in mine))
                row('stg_burst', f'{where}; {what}; last warp of a CTA', values, 'cycles', 0)


def chip_rows(test, pattern, warps, per_trip):
    """What all SMs write together; the pattern's name ends with the sectors of a store."""
    sectors = int(re.search(r'(\d+)sectors$', pattern).group(1))
    each = [window_rates(test, 0, 32, per_trip, c, True) for c in range(132)]
    row('stg_chip', f'{pattern}; {warps} warps of each SM', [sectors * sum(rates) for rates in zip(*each)],
        'sectors/cycle')


def queue(tests):
    for name, test in tests.items():
        kind, *rest = name.split('/')
        if kind != 'queue':
            continue
        request, wavefronts, where, behind = rest
        param = f'{request} of {wavefronts} wavefronts; {where}'
        if behind != '0':
            param += f'; beside LDS of {behind}'
        free, interval, data = [], [], []
        for warps in test.values():
            for (_, warp), words in warps.items():
                if SETS[where][warp] != 2:
                    continue  # not a probe
                times = [signed(w - words[0]) for w in words]
                gaps = [b - a for a, b in zip(times, times[1:])]
                free.append(next((i for i, gap in enumerate(gaps[:REQUESTS]) if gap > 6), REQUESTS))
                interval.append((times[36] - times[20]) / 16)
                data.append(times[REQUESTS + 1] - times[REQUESTS])
        row('queue_free_requests', param, free, 'requests issued at once', 0)
        row('queue_interval', param, interval, 'cycles per request (20th to 36th)')
        row('queue_drain', param, data, 'cycles from the last issue to all data', 0)


def constants(tests):
    for name, test in tests.items():
        kind, *rest = name.split('/')
        if kind == 'cold':
            what, where, warps, ctas = rest
            offsets = NEAR if where == 'near' else FAR
            for i, offset in enumerate(offsets):
                values = [signed(v[i + 1] - v[i]) for rep, d in test.items() for v in d.values()]
                row('const_touch', f'{what} c[0][{offset:#x}] touch {i} of {where}; {warps} warps {ctas} CTAs', values,
                    'cycles', 0)


def loops(tests):
    for name, test in tests.items():
        kind, *rest = name.split('/')
        if kind == 'fetch':
            what, n, phase = rest
            values = []
            for warps in test.values():
                for part in range(4):
                    mine = [v for (c, w), v in warps.items() if w % 4 == part]
                    if mine:
                        start = min(signed(v[0] - mine[0][0]) for v in mine)
                        end = max(signed(v[FETCH_TRIPS] - mine[0][0]) for v in mine)
                        values.append((end - start) / (FETCH_TRIPS * len(mine)) - int(n))
            row('fetch_extra', f'{what}; {n} instructions; {phase}', values,
                'cycles per trip and warp over one per instruction', 1)
        elif kind == 'progress':
            shape, bound, warps = rest
            tile, ends, apart = [], [], []
            for d in test.values():
                origin = d[0, 0][0]
                t = {w: [signed(x - origin) for x in v[:TILES * STEPS]] for (c, w), v in d.items()}
                tile.append((max(v[-1] for v in t.values()) - max(v[3 * STEPS - 1] for v in t.values())) / (TILES - 3))
                for k in range(3, TILES):
                    at = [v[k * STEPS + STEPS - 1] for v in t.values()]
                    ends.append(max(at) - min(at))
                    for part in range(4):
                        at = [v[k * STEPS + STEPS // 2] for w, v in t.items() if w % 4 == part]
                        apart.append(max(at) - min(at))
            param = f'{shape}; {bound}; {warps} warps'
            row('progress_tile', param, tile, 'cycles per tile of 8 steps', 0)
            row('progress_spread', param, ends, 'cycles from first to last warp at the end of a tile', 0)
            row('progress_spread_subpartition', param, apart, 'cycles between warps of a sub-partition in mid tile', 0)


def main():
    folder = sys.argv[1]
    OUT.writerow(['name', 'param', 'value', 'unit', 'spread'])
    tests = read(os.path.join(folder, 'sass.txt'))
    for part in (lsu, queue, constants, loops, code):
        with guarded(part.__name__):
            part(tests)


if __name__ == '__main__':
    main()
