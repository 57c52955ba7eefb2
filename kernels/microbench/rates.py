"""Cycles per instruction, or per group of instructions, in steady state: the difference of two loops.

A unit (one instruction, or a group of them) is repeated SHORT times in one loop and LONG times in the other, TRIPS trips
each; what the loops share drops out of the difference. Everything runs twice and the second pass counts, so that the
instruction caches are warm; the longer loop fits the innermost one.
"""
import sm90
from parts import TIMES
from suite import ONE, ROLE, begin, finish

SHORT, LONG, TRIPS = 16, 80, 64
SUBPARTITION = {1: [1], 2: [1, 0, 0, 0, 1], 4: [1, 0, 0, 0] * 4}  # active warps that share one sub-partition
SPREAD = {4: '4sub4w', 8: '4sub8w', 16: '4sub16w'}  # warps over all four of them
INSTRUCTIONS = 320  # of the longer loop, at most: 5 KB


def copies(length):
    """Units in the short and in the long loop if a unit has `length` instructions."""
    if length == 1:
        return SHORT, LONG
    long = max(2, min(LONG, INSTRUCTIONS // length))
    return max(1, long // 5), long


def loops(kernel, unit, length=1, fill=range(32, 64), setup=None, counter=0):
    """Writes the two loops; R12-R15 are their clocks. R32-R63 hold 1.0 and UR8-UR23 their own numbers.

    Predicate `counter` ends the loops, P6 holds for the warps with role 1; R10 counts.
    """
    e = kernel.emit
    begin(kernel)
    for i in range(8, 24):
        e(sm90.umov_imm(i, i), stall=2)
    for i in fill:
        e(sm90.mov(i, ONE), stall=2)
    if setup:
        setup(kernel)
    for r in TIMES:
        e(sm90.mov_imm(r, 0), stall=2)
    e(sm90.isetp_eq_imm(6, ROLE, 1), stall=15)
    short, long = copies(length)
    for pass_ in range(2):
        for count, at in ((short, 12), (long, 14)):
            tag = f'{pass_}{count}'
            e(sm90.BAR_SYNC, stall=6)
            kernel.branch('skip' + tag, guard=6, negate=True)
            kernel.wait(30)
            e(sm90.mov_imm(10, TRIPS), stall=6)
            e(sm90.clock(at), stall=6)
            kernel.label('loop' + tag)
            e(sm90.iadd3_imm(10, 10, -1), stall=6)
            e(sm90.isetp_ne_imm(counter, 10, 0), stall=2)
            for i in range(count):
                unit(kernel, i)
            kernel.wait(13)
            kernel.branch('loop' + tag, guard=counter)
            kernel.wait(2, 0x3f)
            e(sm90.clock(at + 1), stall=6)
            kernel.label('skip' + tag)
    finish(kernel, TIMES)


def rate(s, name, unit, warps=(1, 2, 4), spread=False, **more):
    """Cycles per instruction."""
    sets = {f'1sub{n}w': SUBPARTITION[n] for n in warps}
    if spread:
        sets.update({'4sub4w': [1] * 4, '4sub16w': [1] * 16})
    measure(s, 'rate', name, unit, sets, **more)


def measure(s, kind, name, unit, sets, length=1, registers=118, fill=range(32, 64), setup=None, **inputs):
    """A kernel for one unit, and a test for each set of warps: name of the set -> roles, 1 = active."""
    kernel = s.kernel(f'{kind}_{name}', lambda k: loops(k, unit, length, fill, setup), registers)
    for where, roles in sets.items():
        end = '' if kind == 'rate' else f'/{length}'
        s.test(f'{kind}/{name}/{where}{end}', kernel, 32 * len(roles), role=lambda w, l: roles[w], **inputs)


def plain(encode):
    return lambda k, i: k.emit(encode(i))


def then_wait(encode):
    return lambda k, i: (k.emit(encode(i), stall=2, write=0), k.wait(2, 1))
