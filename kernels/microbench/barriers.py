"""Barriers: of a whole CTA, named ones of a part of it, and hand-off by BAR.ARV."""
import sm90
from parts import delay
from rates import loops
from suite import MASK_LOW, ROLE, SHARED, begin, finish

WARPS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32)
FEW = dict(fill=range(32, 48))  # registers, so that 1,024 threads find room
HIGHEST = 61
LATE = 12  # counts of `delay`
IDS = 8  # named barriers of a burst


def barrier(number, threads, mode='SYNC'):
    """`number`: a text, 0x1 or a register."""
    return f'BAR.{mode}{".DEFER_BLOCKING" if mode == "SYNC" else ""} {number}' + (f', {threads:#x}' if threads else '')


def back_to_back(s):
    """Rows barrier_interval: all warps meet again and again."""
    kernel = s.kernel('chain_BAR_SYNC',
                      lambda k: loops(k, lambda k, i: k.emit(sm90.BAR_SYNC, stall=6), 4, **FEW), HIGHEST)
    for n in WARPS:
        s.test(f'bar/whole_CTA/{n}/1/4', kernel, 32 * n, role=1)
    for n in (1, 2, 4, 8, 16):
        for groups in (1, 2, 4):
            if n * groups <= 32:
                named(s, n, groups)


def named(s, n, groups):
    """`groups` groups of n neighbouring warps, each with a barrier of its own, by register and by number."""
    by_register = s.kernel(
        f'chain_BAR_register_{n}', lambda k: loops(k, lambda k, i: k.emit(barrier(f'R{MASK_LOW}', 32 * n), stall=6), 4,
                                                   **FEW), HIGHEST)
    s.test(f'bar/register/{n}/{groups}/4', by_register, 32 * n * groups, role=1, mask_low=lambda w, l: 1 + w // n)

    def numbers(k, i):
        for group in range(groups):
            k.emit(barrier(hex(1 + group), 32 * n), stall=6, guard=group)

    by_number = s.kernel(
        f'chain_BAR_number_{n}_{groups}',
        lambda k: loops(k, numbers, max(4, groups), setup=lambda k: membership(k, groups), counter=5, **FEW), HIGHEST)
    s.test(f'bar/number/{n}/{groups}/{max(4, groups)}', by_number, 32 * n * groups, role=1,
           mask_low=lambda w, l: 1 + w // n)


def membership(k, groups):
    """P0, P1, ...: the thread is of group 0, 1, ..."""
    for group in range(groups):
        k.emit(sm90.isetp_eq_imm(group, MASK_LOW, 1 + group), stall=15)


def after(k, register, how):
    """R`register` = the clock when the barrier is over, for which instructions of fixed latency do not wait."""
    if how == 'LDS':
        k.emit(sm90.lds(60, SHARED), stall=2, write=0)
    k.wait(2, 1 if how == 'LDS' else 0x3f)
    k.emit(sm90.clock(register), stall=6)


def release(s):
    """Rows barrier_release: every warp comes late by a delay of its own; when does each go on after the last?"""
    for how in ('LDS', 'NOP'):

        def build(k):
            begin(k)
            k.emit(sm90.BAR_SYNC, stall=6)
            k.wait(60)
            delay(k, 'late')
            k.emit(sm90.clock(52), stall=6)
            k.emit(sm90.BAR_SYNC, stall=6)
            after(k, 53, how)
            finish(k, [52, 53])

        kernel = s.kernel(f'barrier_release_{how}', build, HIGHEST)
        for n in (1, 2, 4, 8, 16, 32):
            for last in sorted({0, n - 1}):
                s.test(f'release/{how}/{n}/{last}', kernel, 32 * n,
                       delay=lambda w, l: 2 * LATE if w == last else 1 + w % LATE)


def hand_off(s):
    """Rows hand_off: producers arrive at a named barrier and go on, consumers wait for them."""
    for identity in ('number', 'register'):
        for producers, consumers in ((1, 1), (1, 4), (4, 1), (4, 4), (1, 8), (8, 8)):
            threads = 32 * (producers + consumers)
            names = [hex(1 + i) if identity == 'number' else f'R{40 + i}' for i in range(IDS)]
            one_way(s, identity, producers, consumers, threads, names)
            burst(s, identity, producers, consumers, threads, names)
            ping_pong(s, identity, producers, consumers, threads, names)


def start_hand_off(k):
    """R40, R41, ... hold barrier numbers 1, 2, ...; P1: the warp is a producer (role 0)."""
    begin(k)
    for i in range(IDS):
        k.emit(sm90.mov_imm(40 + i, 1 + i), stall=15)
    k.emit(sm90.isetp_eq_imm(1, ROLE, 0), stall=15)
    k.emit(sm90.BAR_SYNC, stall=6)
    k.wait(60)


def hand_off_test(s, name, build, producers, consumers, **inputs):
    kernel = s.kernel('handoff_' + name.replace('/', '_'), build, HIGHEST)
    s.test(f'handoff/{name}', kernel, 32 * (producers + consumers), role=lambda w, l: 0 if w < producers else 1,
           **inputs)


def one_way(s, identity, producers, consumers, threads, names):
    """R52 before the arrival, R53 right behind it, R54 when an LDS behind it is done: for consumers after the barrier."""

    def build(k):
        start_hand_off(k)
        delay(k, 'late')
        k.emit(sm90.clock(52), stall=6)
        k.emit(barrier(names[0], threads, 'ARV'), stall=6, guard=1)
        k.emit(barrier(names[0], threads), stall=6, guard=1, negate=True)
        k.emit(sm90.clock(53), stall=6)
        after(k, 54, 'LDS')
        finish(k, [52, 53, 54])

    hand_off_test(s, f'one_way/{identity}/{producers}/{consumers}', build, producers, consumers,
                  delay=lambda w, l: LATE + w if w < producers else 1)


def burst(s, identity, producers, consumers, threads, names):
    """IDS arrivals one after the other, for barriers that the consumers wait at in turn; a clock after each."""

    def build(k):
        start_hand_off(k)
        k.emit(sm90.clock(50), stall=6)
        k.branch('consumer', guard=1, negate=True)
        for i in range(IDS):
            k.emit(barrier(names[i], threads, 'ARV'), stall=1, yield_=1)
            k.emit(sm90.clock(51 + i), stall=1, yield_=1)
        after(k, 51 + IDS, 'LDS')
        k.branch('end')
        k.label('consumer')
        for i in range(IDS):
            k.emit(barrier(names[i], threads), stall=1, yield_=1)
            after(k, 51 + i, 'LDS')
        after(k, 51 + IDS, 'LDS')
        k.label('end')
        finish(k, range(50, 52 + IDS))

    hand_off_test(s, f'burst/{identity}/{producers}/{consumers}', build, producers, consumers)


def ping_pong(s, identity, producers, consumers, threads, names):
    """There and back IDS times: one side arrives at barrier 1 and waits at 2, the other waits at 1 and arrives at 2."""

    def build(k):
        start_hand_off(k)
        after(k, 50, 'LDS')
        k.branch('consumer', guard=1, negate=True)
        for i in range(IDS):
            k.emit(barrier(names[0], threads, 'ARV'), stall=6)
            k.emit(barrier(names[1], threads), stall=6)
            after(k, 51 + i, 'LDS')
        k.branch('end')
        k.label('consumer')
        for i in range(IDS):
            k.emit(barrier(names[0], threads), stall=6)
            k.emit(barrier(names[1], threads, 'ARV'), stall=6)
            after(k, 51 + i, 'LDS')
        k.label('end')
        finish(k, range(50, 51 + IDS))

    hand_off_test(s, f'ping_pong/{identity}/{producers}/{consumers}', build, producers, consumers)


def barriers(s):
    back_to_back(s)
    release(s)
    hand_off(s)
