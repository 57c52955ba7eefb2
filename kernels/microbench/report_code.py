"""Rows of the tests of pipes, latencies, barriers, queues and instruction fetch, and what several of them say together."""
import statistics

from barriers import IDS
from kth_request import COUNTS, KINDS
from kth_request import SETS as KTH_SETS
from latencies import LONG_STALLS
from loops import CURVE_AROUND, CURVE_SIZES, CURVE_TRIPS
from operands import STALLS
from rates import TRIPS, copies
from rows import WRITTEN, guarded, row, signed


def per_unit(test, length):
    """Cycles per unit of two loops (rates.py) in each repetition; none where a warp has no clocks."""
    short, long = copies(length)
    values = []
    for warps in test.values():
        v = [w for w in warps.values() if len(w) >= 4]
        if v:
            t = [[signed(w[i] - v[0][0]) for w in v] for i in range(4)]
            values.append((max(t[3]) - min(t[2]) - max(t[1]) + min(t[0])) / ((long - short) * TRIPS))
    return values


def smallest_right(test, stalls):
    """The smallest stall count from which on the result is the one of the longest."""
    values = []
    for warps in test.values():
        v = (warps[0, 0] + [0] * len(stalls))[:len(stalls)]
        right = [x == v[-1] for x in v]
        values.append(next(s for i, s in enumerate(stalls) if all(right[i:])))
    return values


def interval_rows(name, test):
    kind, *rest = name.split('/')
    if kind == 'rate':
        row('issue_interval', f'{rest[0]}; {rest[1]}', per_unit(test, 1), 'cycles per instruction of each warp')
    elif kind == 'group':
        row('group_interval', f'{rest[0]}; {rest[1]}', per_unit(test, int(rest[2])), 'cycles per group of each warp')
    elif kind == 'chain':
        row('chain', rest[0], per_unit(test, int(rest[1])), 'cycles from issue to dependent issue')
    elif kind == 'latency':
        stalls = LONG_STALLS if rest[0].startswith('HMMA') else STALLS
        row('fixed_latency', f'{rest[0]} -> {rest[1]}', smallest_right(test, stalls), 'smallest right stall count', 0)


def ends(test):
    """For each repetition the words of all warps as distances from the earliest first word, warp by warp."""
    for warps in test.values():
        origin = list(warps.values())[0][0]
        yield {w: [signed(x - origin) for x in words] for (_, w), words in warps.items()}


def barrier_rows(name, test):
    kind, *rest = name.split('/')
    if kind == 'bar':
        where = {'whole_CTA': 'whole CTA'}.get(rest[0], f'{rest[2]} groups; by {rest[0]}')
        row('barrier_interval', f'{rest[1]} warps; {where}', per_unit(test, int(rest[3])), 'cycles per barrier')
    elif kind == 'release':
        how, n, last = rest
        first, spread, apart = [], [], []
        for warps in ends(test):
            released = sorted(words[1] for words in warps.values())
            first.append(released[0] - max(words[0] for words in warps.values()))
            spread.append(released[-1] - released[0])
            apart.append(len(set(released)))
        param = f'{n} warps; warp {last} last; seen by {how}'
        row('barrier_release', param, first, 'cycles from before the last arrival to the first clock behind', 0)
        row('barrier_skew', param, spread, 'cycles from the first to the last warp that goes on', 0)
        row('barrier_release_times', param, apart, 'different times', 0)
    elif kind == 'handoff':
        hand_off(rest, test)


def hand_off(rest, test):
    what, identity, producers, consumers = rest
    param = f'{producers} to {consumers} warps; by {identity}'
    n = int(producers)
    values = list(ends(test))
    if what == 'one_way':
        arrive = [words[1] - words[0] for warps in values for w, words in warps.items() if w < n]
        go_on = [words[2] - words[0] for warps in values for w, words in warps.items() if w < n]
        wake = [max(words[2] for w, words in warps.items() if w >= n) - max(warps[w][0] for w in range(n))
                for warps in values]
        row('hand_off_arrive', param, arrive, 'cycles of the clock around BAR.ARV, its stall of 6 within', 0)
        row('hand_off_producer', param, go_on, 'cycles from before BAR.ARV to the data of an LDS behind it', 0)
        row('hand_off_wait', param, wake, 'cycles from before the last BAR.ARV to the data of the last LDS of a waiter', 0)
    elif what == 'burst':
        arrive = [(words[IDS] - words[0]) / IDS for warps in values for w, words in warps.items() if w < n]
        wait = [(words[IDS] - words[1]) / (IDS - 1) for warps in values for w, words in warps.items() if w >= n]
        row('hand_off_arrive_interval', param, arrive, 'cycles per BAR.ARV and clock')
        row('hand_off_wait_interval', param, wait, 'cycles per BAR.SYNC and dependent LDS')
    else:
        trips = [(words[IDS] - words[1]) / (IDS - 1) for warps in values for words in warps.values()]
        row('hand_off_round_trip', param, trips, 'cycles there and back, an LDS at either end')


def queues(tests):
    for name in KINDS:
        for where in KTH_SETS:
            for count in COUNTS:
                test = tests.get(f'kth/{name}/{where}/{count}')
                if not test:
                    continue
                issued, done = [], []
                for warps in test.values():
                    active = [[signed(x - v[0]) for x in v[:3]] for v in warps.values() if len(v) >= 3 and v[0]]
                    issued.append(max(v[1] for v in active))
                    done.append(max(v[2] for v in active))
                param = f'{name}; {where}; K = {count}'
                row('queue_issue', param, issued, 'cycles to the clock behind the K-th request, slowest warp', 0)
                row('queue_done', param, done, 'cycles until all K are done, slowest warp', 0)


def fetch(tests):
    for n in CURVE_SIZES:
        for warps, grid in ((1, 1), (4, 1), (4, 132)):
            test = tests.get(f'curve/{n}/{warps}/{grid}')
            if not test:
                continue
            loop = [signed(v[3] - v[2]) / (CURVE_TRIPS - 2) for rep, d in test.items() if rep >= 0 for v in d.values()]
            param = f'{n} instructions; {warps} warps; {grid} CTAs'
            row('fetch_loop', param, [x / n for x in loop], 'cycles per instruction', 3)
            row('fetch_trip', param, [x - n for x in loop], 'cycles per trip beyond one per instruction', 1)
            first = [signed(v[1] - v[0]) / n for v in test.get(-1, {}).values()]
            if first and (warps, grid) == (1, 1):
                row('fetch_first', param, first, 'cycles per instruction when the code was never run', 3)


def known(name, param):
    return WRITTEN.get((name, param))


def derive(param, rule, unit, *sources, digits=2):
    """A row of `rule` of the median, smallest and largest values of other rows; nothing where one of these is missing."""
    values = [known(*source) for source in sources]
    if all(values):
        middle = [statistics.median(v) for v in values]
        results = [rule(*middle)]
        for i, v in enumerate(values):
            for end in (v[0], v[-1]):
                results.append(rule(*middle[:i], end, *middle[i + 1:]))
        # The median of the row is the rule of the medians.
        low, high = min(results), max(results)
        row('derived', param, [low, results[0], high], unit, digits)


def interval(name, where='1sub1w'):
    return 'issue_interval', f'{name}; {where}'


def group(name, where='1sub1w'):
    return 'group_interval', f'{name}; {where}'


def derived():
    """Numbers that need several rows. The rules say how, so that the numbers can be made again by hand."""
    derive('extra cycles of an instruction that yields', lambda a, b: a - b, 'cycles', interval('FFMA_stall1_yield'),
           interval('FFMA_stall1_stay'))
    banks = [(d, known(*interval(f'banks_distance{d}'))) for d in range(1, 9)]
    if all(v for _, v in banks):
        row('derived', 'register banks: the smallest distance of two sources that conflict',
            [next((d for d, v in banks if statistics.median(v) > 1.5), 0)], '1', 0)
    derive('dispatch held by IMAD.WIDE: beside 8 NOP', lambda a: a - 9, 'cycles', group('IMAD_WIDE+8NOP'))
    derive('dispatch held by HMMA: beside 8 FFMA that read nothing', lambda a: a - 9, 'cycles',
           group('HMMA_16816_BF16+8FFMA_noread'))
    derive('constant miss less hit', lambda a, b: a - b, 'cycles',
           ('const_touch', 'LDC c[0][0x340] touch 12 of near; 1 warps 1 CTAs'),
           ('const_touch', 'LDC c[0][0x400] touch 16 of near; 1 warps 1 CTAs'))
    derive('transfer to the memory pipe: STS.128 less STS.32; by register', lambda a, b: (a - b) / 12, 'cycles',
           interval('STS_128', '1sub4w'), interval('STS_32', '1sub4w'))
    derive('requests of a warp and of 16: cycles per LDS of 4 wavefronts', lambda a, b: a / b, 'requests',
           ('lds_interval', '4 wavefronts; 1 warps'), ('lds_interval', '4 wavefronts; 16 warps'))
    derive('LDS.64 beyond LDS.32 and a wavefront of a lone warp', lambda a, b: a - b - 2, 'cycles', ('chain', 'LDS_64'),
           ('chain', 'LDS_32'))
    derive('LDS.128 beyond LDS.32 and 3 wavefronts of a lone warp', lambda a, b: a - b - 6, 'cycles',
           ('chain', 'LDS_128'), ('chain', 'LDS_32'))
    derive('empty group of copies less the stall of 4', lambda a: a - 4, 'cycles', ('chain', 'DEPBAR_empty'))
    derive('copy of 16 bytes from the L1 less the stall of 4', lambda a: a - 4, 'cycles', ('chain', 'LDGSTS_128'))
    # The data of a load are in the SM 20 cycles before its end: an L1 hit takes 31, 11 of them (queue 6, transfer of two
    # registers 4, look-up 1) before they are there; one of 128 bits 9 more, as at an L1 hit. A copy has one register
    # more to transfer, 2 cycles, before it asks for the same lines.
    derive('copy past the L1: end of the group after the last data', lambda copy, load, wide, narrow:
           (copy - 4) - (load - (wide - narrow) - (narrow - 11)) - 2, 'cycles', ('chain', 'LDGSTS_BYPASS_128_4lines'),
           ('chain', 'LDG_128_L2_4lines'), ('chain', 'LDG_128_L1'), ('chain', 'LDG_32_L1'))
    queue_depths()
    caches()
    derive('barrier: one named by a register less one by number', lambda a, b: a - b, 'cycles',
           ('barrier_interval', '4 warps; 1 groups; by register'), ('barrier_interval', '4 warps; 1 groups; by number'))
    # 32 warps in 4 groups keep the barrier unit busy: 2 cycles per arrival, the rest is 4 releases.
    derive('barrier: release of a group, of 4 groups of 8 warps', lambda a: (a - 2 * 32) / 4, 'cycles',
           ('barrier_interval', '8 warps; 4 groups; by register'))
    # Of 32 warps, eight of a sub-partition also keep each other from reading the clock.
    skew = known('barrier_skew', '16 warps; warp 15 last; seen by NOP')
    times = known('barrier_release_times', '16 warps; warp 15 last; seen by NOP')
    if skew and times and statistics.median(times) > 1:
        row('derived', 'barrier: warps released together', [16 / t for t in times], 'warps')
        row('derived', 'barrier: cycles between those', [a / (b - 1) for a, b in zip(skew, times) if b > 1], 'cycles')


def issued_before_stop(name, where, gap):
    """Requests that issue before the first that waits longer than `gap` cycles for the one before it."""
    at = [known('queue_issue', f'{name}; {where}; K = {count}') for count in COUNTS]
    if not all(at):
        return None
    for i in range(1, len(COUNTS)):
        if (statistics.median(at[i]) - statistics.median(at[i - 1])) / (COUNTS[i] - COUNTS[i - 1]) > gap:
            return COUNTS[i - 1]
    return None


def queue_depths():
    """One sub-partition fills its own queue and the shared one; four fill their own and a quarter of the shared one."""
    alone = issued_before_stop('LDS_32_conflict32', '1sub1w', 16)
    four = issued_before_stop('LDS_32_conflict32', '4sub4w', 16)
    if alone and four:
        row('derived', 'requests in flight from one sub-partition', [alone], 'requests', 0)
        row('derived', 'requests in flight from each of four sub-partitions', [four], 'requests', 0)
        row('derived', 'memory queue of a sub-partition', [(4 * four - alone) / 3], 'requests', 1)
        row('derived', 'memory queue that all share', [4 * (alone - four) / 3], 'requests', 1)
    multi = issued_before_stop('MUFU', '1sub1w', 4)
    if multi:
        row('derived', 'queue of MUFU', [multi], '1', 0)
    derive('LDS.32 of a lone warp: issue of the K-th request less 2 K', lambda a: a - 2 * 40, 'cycles',
           ('queue_issue', 'LDS_32; 1sub1w; K = 40'))


def size_row(level, rule, sizes, fits):
    """Size of a cache: the longest loop that fits, in bytes; at most the next longer one, which does not, with all the
    code around it, in whole lines, and one line of constants."""
    sizes = list(sizes)
    within = next((i for i, n in enumerate(sizes) if not fits(n)), len(sizes))
    if 0 < within < len(sizes):
        fitting, missing = 16 * sizes[within - 1], 16 * (sizes[within] + CURVE_AROUND)
        missing = (missing + 127) // 128 * 128 + 128
        row('derived', f'{level} of instructions: the longest loop {rule}', [fitting, fitting, missing], 'B', 0)


def caches():
    """Sizes of the caches of instructions, and what leaving the first costs.

    A trip costs its instructions and a constant for the branch. The L1 keeps up with issue and adds a constant only, the
    L1.5 feeds at a rate of its own: what a trip costs beyond these is the miss of the next level.
    """
    where = '1 warps; 1 CTAs'
    extra = {}
    for n in CURVE_SIZES:
        trip = known('fetch_trip', f'{n} instructions; {where}')
        if trip:
            extra[n] = statistics.median(trip)
    if not all(n in extra for n in (160, 256, 640, 5120)):
        return
    each = {n: 1 + v / n for n, v in extra.items()}
    size_row('L0', 'without 5 more cycles per trip than 160', extra, lambda n: extra[n] < extra[160] + 5)
    size_row('L1', 'without 5 more cycles per trip than 640', extra, lambda n: extra[n] < extra[640] + 5)
    size_row('L1.5', 'without 5 % more cycles per instruction than 5120', extra, lambda n: each[n] < 1.05 * each[5120])
    row('derived', 'trip of a loop beyond the L0 less one within', [extra[640] - extra[256]], 'cycles')


def code(tests):
    for name, test in tests.items():
        with guarded(name):
            interval_rows(name, test)
            barrier_rows(name, test)
    for part in (queues, fetch):
        with guarded(part.__name__):
            part(tests)
    with guarded('derived'):
        derived()
