"""Parts that several tests share: roles of warps, timed windows, streams of requests, address patterns."""
import sm90
from suite import ADDRESS, DELAY, MASK_HIGH, MASK_LOW, ROLE, SCALE, SHARED, WINDOW

KB = 1024
TIMES = [12, 13, 14, 15]

# Addresses (warp, lane) of an LDS.128, by the wavefronts it takes.
LDS_ADDRESS = {
    2: lambda w, l: 512 * w + 32 * (l // 16),
    4: lambda w, l: 512 * w + 16 * l,
    8: lambda w, l: 512 * w + 32 * (l % 16),
}


def rows(lanes_per_row, pitch, lane_bytes):
    """Offsets of lanes that lie in rows of a matrix."""
    return lambda l: l // lanes_per_row * pitch + l % lanes_per_row * lane_bytes


def delay(k, tag):
    """Idles about 27 cycles for each count of the delay input."""
    k.emit(sm90.isetp_eq_imm(5, DELAY, 0), stall=15)
    k.branch('go' + tag, guard=5)
    k.emit(sm90.mov(27, DELAY), stall=6)
    k.label('wait' + tag)
    k.emit(sm90.iadd3_imm(27, 27, -1), stall=6)
    k.emit(sm90.isetp_ne_imm(5, 27, 0), stall=15)
    k.branch('wait' + tag, guard=5)
    k.label('go' + tag)


def by_role(k, bodies):
    """Warps of role i run bodies[i]; all start together after a barrier."""
    e = k.emit
    for r in TIMES:
        e(sm90.mov_imm(r, 0), stall=2)
    e(sm90.BAR_SYNC, stall=6)
    k.wait(30)
    for i in range(len(bodies)):
        e(sm90.isetp_eq_imm(i, ROLE, i), stall=15)
        k.branch(f'role{i}', guard=i)
    k.branch('end')
    for i, body in enumerate(bodies):
        k.label(f'role{i}')
        body(k, f'r{i}')
        k.branch('end')
    k.label('end')


def for_window(body):
    """Repeats body until the window is over. R12 start, R13 trips, R14 issue time, R15 time with all data back."""

    def part(k, tag):
        e = k.emit
        delay(k, tag)
        e(sm90.mov_imm(28, 0), stall=2)
        e(sm90.clock(12), stall=6)
        k.label('loop' + tag)
        body(k)
        e(sm90.iadd3_imm(13, 13, 1), stall=2)
        e(sm90.clock(14), stall=6)
        e(sm90.iadd3_neg_b(29, 14, 12), stall=6)
        e(sm90.isetp_lt(5, 29, WINDOW), stall=15)
        k.branch('loop' + tag, guard=5)
        k.wait(2, 0x3f)
        e(sm90.clock(15), stall=6)
        e(sm90.iadd3_neg_b(14, 14, 12), stall=6)
        e(sm90.iadd3_neg_b(15, 15, 12), stall=6)

    return part


def lds_stream(size=128, count=16):

    def body(k):
        for i in range(count):
            k.emit(sm90.lds(32 + 4 * (i % 4), SHARED, size), write=0)

    return body


def walk(k, step):
    """R2:R3 = next address of the walk, once earlier requests have read the old one. R28 counts by `step`."""
    e = k.emit
    e(sm90.and_(8, 28, MASK_LOW), stall=2)
    e(sm90.and_(9, 28, MASK_HIGH), stall=6)
    e(sm90.imad(8, 9, SCALE, 8), stall=6)
    e(sm90.imad_wide_u32_imm(2, 8, 1, ADDRESS), stall=6, wait=2)
    e(sm90.iadd3_imm(28, 28, step), stall=6)


def ldg_stream(size, kind, loads, stride, blocking):
    """`loads` loads `stride` bytes apart; blocking: then waits for their data."""

    def body(k):
        walk(k, loads * stride)
        for i in range(loads):
            k.emit(sm90.ldg(32 + 4 * (i % 4), 2, size, i * stride, kind), stall=2, write=0, read=1)
        if blocking:
            k.wait(2, 1)

    return body


def stg_stream(size, stores, stride, step):

    def body(k):
        walk(k, step)
        for i in range(stores):
            k.emit(sm90.stg(2, 32, size, i * stride), stall=2, read=1)

    return body
