#!/usr/bin/env python3
"""Writes the machine-code tests: one function per item of README.md. Usage: gen.py"""
import sm90
from sm90 import RZ, URZ
from suite import (ADDRESS, DELAY, MASK_HIGH, MASK_LOW, OFFSET, ONE, ROLE, SCALE, SHARED, SHARED2, WINDOW, Suite, begin,
                   finish, finish_trace)

KB = 1024
WINDOW_CYCLES = 40000
TIMES = [12, 13, 14, 15]


# --- parts of kernels
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
    """Role i runs bodies[i]; other roles do nothing. All start together after a barrier."""
    e = k.emit
    for r in (12, 13, 14, 15):
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
    """R2:R3 = next address of the global walk, once earlier requests have read the old one."""
    e = k.emit
    e(sm90.and_(8, 28, MASK_LOW), stall=2)
    e(sm90.and_(9, 28, MASK_HIGH), stall=6)
    e(sm90.imad(8, 9, SCALE, 8), stall=6)
    e(sm90.imad_wide_u32_imm(2, 8, 1, ADDRESS), stall=6, wait=2)
    e(sm90.iadd3_imm(28, 28, step), stall=6)


def ldg_stream(size, kind, loads, stride, step, blocking):
    def body(k):
        walk(k, step)
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


# --- addresses: functions of (warp, lane)
LDS_ADDRESS = {  # by wavefronts of an LDS.128
    2: lambda w, l: 512 * w + 32 * (l // 16),
    4: lambda w, l: 512 * w + 16 * l,
    8: lambda w, l: 512 * w + 32 * (l % 16),
}


def rows(lanes_per_row, pitch, lane_bytes):
    return lambda l: l // lanes_per_row * pitch + l % lanes_per_row * lane_bytes


# --- 1. loads and stores to global memory beside a saturated stream of LDS
# name: (bits, offset of a lane, distance of consecutive loads of a warp, walk through the 256 KB of a warp)
FRESH = dict(mask_low=0, mask_high=0x3ffff, scale=1)
LOADS = {
    '512B_4lines': (128, lambda l: 16 * l, 512, FRESH),
    '16x32B_pitch4096': (128, rows(2, 4096, 16), 32, dict(mask_low=4095, mask_high=0x3000, scale=16)),
    '16x32B_pitch128': (128, rows(2, 128, 16), 2048, FRESH),
    '8x64B_pitch4096': (128, rows(4, 4096, 16), 64, dict(mask_low=4095, mask_high=0x7000, scale=8)),
    '8x64B_pitch128': (128, rows(4, 128, 16), 1024, FRESH),
    '32x16B_pitch4096': (128, lambda l: 4096 * l, 32, dict(mask_low=4095, mask_high=0x1000, scale=32)),
    '32x16B_pitch128': (128, lambda l: 128 * l, 4096, FRESH),
    '32x16B_8lines': (128, lambda l: 32 * l, 1024, FRESH),
    'w64_256B_2lines': (64, lambda l: 8 * l, 256, FRESH),
    'w32_128B_1line': (32, lambda l: 4 * l, 128, FRESH),
    'w32_8x16B_pitch128': (32, rows(4, 128, 4), 1024, FRESH),
    'w32_32x4B_8lines': (32, lambda l: 32 * l, 1024, FRESH),
    'w32_32x4B_pitch128': (32, lambda l: 128 * l, 4096, FRESH),
    'w32_broadcast': (32, lambda l: 0, 128, FRESH),
}


def two_roles(s, name, first, second):
    parts = [for_window(first), for_window(second)]
    return s.kernel(name, lambda k: (begin(k), by_role(k, parts), finish(k, TIMES)))


def pair_test(s, name, kernel, lds_warps, others, lane, warp_stride, lds_address, **more):
    """lds_warps warps of role 0, then `others` of role 1 that walk through global memory."""
    s.test(name, kernel, 32 * (lds_warps + others), window=WINDOW_CYCLES, shared=lds_address,
           role=lambda w, l: 0 if w < lds_warps else 1,
           global_offset=lambda w, l: max(0, w - lds_warps) * warp_stride + lane(l), **more)


def loads_beside_lds(s):
    kernel = two_roles(s, 'lds_only', lds_stream(), lds_stream(32))
    for wavefronts, address in LDS_ADDRESS.items():
        for warps in (1, 4, 8, 16):
            s.test(f'lds/{wavefronts}/{warps}', kernel, 32 * warps, window=WINDOW_CYCLES, shared=address)
    s.test('lds/1/8', kernel, 256, window=WINDOW_CYCLES, role=1, shared=lambda w, l: 512 * w + 4 * l)
    for name, (bits, lane, stride, masks) in LOADS.items():
        for loads, blocking in ((1, True), (2, True), (4, True), (8, True), (8, False)):
            for cache in ('L2', 'L1'):
                hit = cache == 'L1'
                kernel = two_roles(s, f'ldg{bits}_{stride}_{loads}_{blocking}', lds_stream(),
                                   ldg_stream(bits, 'constant', loads, stride, loads * stride, blocking))
                walking = dict(mask_low=0, mask_high=0, scale=0) if hit else masks
                warp_stride = 256 * KB if not hit else 64 * KB if '4096' in name else 32 * KB
                for others in (4, 8):
                    if hit and others == 8 and '4096' not in name and stride * loads * others > 128 * KB:
                        continue
                    for lds_warps in (8, 0):
                        tag = f'U{loads}' + ('w' if blocking else 'c')
                        pair_test(s, f'ldg/{name}/{cache}/{lds_warps}lds/{others}ldg/{tag}', kernel, lds_warps, others,
                                  lane, warp_stride, LDS_ADDRESS[4], reps=3, **walking)
    # the same load without .CONSTANT, and beside other LDS streams
    for name in ('512B_4lines', '16x32B_pitch4096'):
        bits, lane, stride, masks = LOADS[name]
        for kind in ('plain', 'strong'):
            kernel = two_roles(s, f'ldg_{kind}_{stride}', lds_stream(), ldg_stream(bits, kind, 4, stride, 4 * stride, True))
            pair_test(s, f'ldg_{kind}/{name}/L2/8lds/8ldg/U4w', kernel, 8, 8, lane, 256 * KB, LDS_ADDRESS[4], reps=3, **masks)
        for wavefronts in (2, 8):
            kernel = f'ldg{bits}_{stride}_4_True'
            pair_test(s, f'ldg_lds{wavefronts}/{name}/L2/8lds/8ldg/U4w', kernel, 8, 8, lane, 256 * KB,
                      LDS_ADDRESS[wavefronts], reps=3, **masks)


PITCH = 8192
ROW_WALK = dict(mask_low=0xe000, mask_high=0x70000, scale=16)  # 8 rows of a tile, then the next tile
# name: (bits, offset of a lane, distance of consecutive stores, step of the walk, walk)
STORES = {
    'epi8x8_8lines32sectors': (32, lambda l: l // 16 * 8 * PITCH + l % 16 * 32, 4, PITCH, ROW_WALK),
    'epi4x4_4lines16sectors': (32, lambda l: l // 16 * 4 * PITCH + l % 16 * 16, 4, PITCH, ROW_WALK),
    'epi2x2_2lines8sectors': (32, lambda l: l // 16 * 2 * PITCH + l % 16 * 8, 4, PITCH, ROW_WALK),
    'w64_hgemm_8lines8sectors': (64, lambda l: l // 4 * PITCH + l % 4 * 8, 32, 8 * PITCH, dict(mask_low=0, mask_high=0x30000, scale=4)),
    'w128_epi8x8_8lines32sectors': (128, lambda l: l // 16 * 8 * PITCH + l % 16 * 32, 16, PITCH, ROW_WALK),
    '32x4B_8lines': (32, lambda l: 32 * l, 1024, 8192, FRESH),
    '32x4B_16lines': (32, lambda l: 64 * l, 2048, 16384, FRESH),
    '32x4B_32lines': (32, lambda l: 128 * l, 4096, 32768, FRESH),
    '32x4B_32lines_samesector': (32, lambda l: 128 * l, 4, 32768, FRESH),
    '8x16B_8lines': (32, rows(4, 128, 4), 1024, 8192, FRESH),
    '128B_1line': (32, lambda l: 4 * l, 128, 1024, FRESH),
    'w64_256B_2lines': (64, lambda l: 8 * l, 256, 2048, FRESH),
    'w128_512B_4lines': (128, lambda l: 16 * l, 512, 4096, FRESH),
}


def tile_offset(cta):
    return cta % 16 * 512 + cta // 16 * 128 * PITCH


def stores(s):
    for name, (bits, lane, stride, step, masks) in STORES.items():
        kernel = two_roles(s, f'stg_{name}', lds_stream(), stg_stream(bits, 8 if stride * 8 <= 32768 else 4, stride, step))
        fresh = masks is FRESH
        warp_stride = 256 * KB if fresh else 16 * PITCH
        for warps in (1, 4, 8, 16):
            pair_test(s, f'stg/{name}/0lds/{warps}stg/1sm', kernel, 0, warps, lane, warp_stride, 0, reps=3, **masks)
        for warps in (1, 8):  # one tile per SM, rewritten, so that everything stays in L2
            stay = dict(mask_low=0x7fff, mask_high=0, scale=0) if fresh else dict(masks, mask_high=0)
            pair_test(s, f'stg/{name}/0lds/{warps}stg/132sm', kernel, 0, warps, lane, 32 * KB if fresh else warp_stride, 0,
                      reps=3, grid=132, cta_offset=(lambda c: c * 256 * KB) if fresh else tile_offset, **stay)
            pair_test(s, f'stg/{name}/0lds/{warps}stg/1smstay', kernel, 0, warps, lane, 32 * KB if fresh else warp_stride, 0,
                      reps=3, **stay)
        for others in (1, 4, 8):
            pair_test(s, f'stg/{name}/8lds/{others}stg/1sm', kernel, 8, others, lane, warp_stride, LDS_ADDRESS[4], reps=3, **masks)
    # an epilogue: every warp stores its 64 values of an 8x8 tile per thread; a clock after every fourth store
    def burst(k):
        begin(k)
        k.emit(sm90.BAR_SYNC, stall=6)
        k.wait(60)
        k.emit(sm90.clock(64), stall=2)
        for row in range(8):
            for column in range(8):
                k.emit(sm90.stg(ADDRESS, 32, 32, row * PITCH + column * 4), stall=2, read=1)
                if column % 4 == 3:
                    k.emit(sm90.clock(65 + row * 2 + column // 4), stall=2)
        k.wait(2, 0x3f)
        k.emit(sm90.clock(81), stall=2)
        k.emit(sm90.MEMBAR_GPU, stall=6, read=0)
        k.wait(2, 1)
        k.emit(sm90.clock(82), stall=2)
        finish(k, range(64, 83))
    kernel = s.kernel('stg_burst', burst)
    lane = STORES['epi8x8_8lines32sectors'][1]
    for warps in (1, 4, 8, 16):
        for grid in (1, 64, 132):
            s.test(f'stgburst/{warps}/{grid}', kernel, 32 * warps, grid=grid, reps=2, cta_offset=tile_offset,
                   global_offset=lambda w, l: w * 16 * PITCH + lane(l))


# --- 2. queue of the memory pipe: issue times of consecutive requests
REQUESTS = 40


def probe(request, tag_delay=True):
    """R64 = clock at the start, then one clock after every request, then one with all data back."""
    def part(k, tag):
        if tag_delay:
            delay(k, tag)
        k.emit(sm90.clock(64), stall=2)
        for i in range(REQUESTS):
            request(k, i)
            k.emit(sm90.clock(65 + i), stall=1)
        k.wait(2, 0x3f)
        k.emit(sm90.clock(65 + REQUESTS), stall=2)
    return part


def issue_queue(s):
    probes = {
        'lds': lambda k, i: k.emit(sm90.lds(32 + 4 * (i % 4), SHARED, 128), write=0),
        'lds32': lambda k, i: k.emit(sm90.lds(32 + i % 16, SHARED, 32), write=0),
        'sts': lambda k, i: k.emit(sm90.sts(SHARED, 32, 32), read=1),
        'ldg': lambda k, i: k.emit(sm90.ldg(32 + 4 * (i % 4), ADDRESS, 128, 512 * i, 'constant'), write=0, read=1),
    }
    # warps: 1 = background, 2 = probe, 0 = idle; sub-partition = warp % 4
    sets = {
        'probe_only': [2, 0, 0, 0],
        'probe2_only': [2, 0, 0, 0, 2, 0, 0, 0],
        'others1': [2, 1, 1, 1],
        'others2': [2, 1, 1, 1, 0, 1, 1, 1],
        'all1': [2, 1, 1, 1, 1, 0, 0, 0],
        'all2': [2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0],
        'all3': [2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0],
        'probe2_others2': [2, 1, 1, 1, 2, 1, 1, 1],
        'burst4': [2] * 4,
        'burst8': [2] * 8,
        'burst16': [2] * 16,
    }
    background = for_window(lds_stream())
    for name, request in probes.items():
        kernel = s.kernel(f'queue_{name}', lambda k: (begin(k), by_role(k, [lambda k, t: None, background, probe(request)]),
                                                      finish(k, range(64, 66 + REQUESTS))))
        for where, roles in sets.items():
            for wavefronts in (2, 4, 8):
                for behind in (2, 4, 8):
                    if ('burst' in where or 'only' in where) and behind != 4:
                        continue
                    if name != 'lds' and (wavefronts != 4 or behind == 2):
                        continue
                    def address(w, l):
                        if roles[w] == 1:
                            return LDS_ADDRESS[behind](w, l)
                        return 512 * w + 4 * l if name in ('lds32', 'sts') else LDS_ADDRESS[wavefronts](w, l)
                    s.test(f'queue/{name}{wavefronts}/{where}/bg{behind}', kernel, 32 * len(roles), reps=3, window=9000,
                           shared=address, role=lambda w, l: roles[w], global_offset=lambda w, l: 32768 * w + 16 * l,
                           delay=lambda w, l: 100 if roles[w] == 2 and 'burst' not in where and 'only' not in where else 0)


# --- 3 and 4. uniform datapath and constant operands
SUBPARTITION = {1: [1], 2: [1, 0, 0, 0, 1], 4: [1, 0, 0, 0] * 4}  # warps on one sub-partition
SHORT, LONG, TRIPS = 16, 80, 64


def rate(s, name, unit, warps=(1, 2, 4), spread=False, setup=None, registers=118):
    """Cycles per instruction from two loops, one with LONG and one with SHORT copies of `unit`; R12-R15 their clocks."""
    def build(k):
        e = k.emit
        begin(k)
        for i in range(8, 24):
            e(sm90.umov_imm(i, i), stall=2)
        for i in range(32, 64):
            e(sm90.mov(i, ONE), stall=2)
        if setup:
            setup(k)
        for r in TIMES:
            e(sm90.mov_imm(r, 0), stall=2)
        e(sm90.isetp_eq_imm(6, ROLE, 1), stall=15)
        for pass_ in range(2):
            for copies, at in ((SHORT, 12), (LONG, 14)):
                tag = f'{pass_}{copies}'
                e(sm90.BAR_SYNC, stall=6)
                k.branch('skip' + tag, guard=6, negate=True)
                k.wait(30)
                e(sm90.mov_imm(10, TRIPS), stall=6)
                e(sm90.clock(at), stall=6)
                k.label('loop' + tag)
                e(sm90.iadd3_imm(10, 10, -1), stall=6)
                e(sm90.isetp_ne_imm(0, 10, 0), stall=2)
                for i in range(copies):
                    unit(k, i)
                k.wait(13)
                k.branch('loop' + tag, guard=0)
                k.wait(2, 0x3f)
                e(sm90.clock(at + 1), stall=6)
                k.label('skip' + tag)
        finish(k, TIMES)
    kernel = s.kernel('rate_' + name, build, registers)
    for n in warps:
        roles = SUBPARTITION[n]
        s.test(f'rate/{name}/1sub{n}w', kernel, 32 * len(roles), role=lambda w, l: roles[w])
    if spread:
        s.test(f'rate/{name}/4sub4w', kernel, 128, role=1)
        s.test(f'rate/{name}/4sub16w', kernel, 512, role=1)


def uniform(s):
    one = lambda encode: lambda k, i, st=1: k.emit(encode(i), stall=st)
    independent = {
        'UIADD3': lambda i: sm90.uiadd3(8 + i % 8, 16, 17), 'UIADD3_imm': lambda i: sm90.uiadd3_imm(8 + i % 8, 16, 5),
        'ULOP3': lambda i: sm90.ulop3(8 + i % 8, 16, 17), 'USHF': lambda i: sm90.ushf_l_imm(8 + i % 8, 16, 3),
        'ULEA': lambda i: sm90.ulea(8 + i % 8, 16, 17, 3), 'UMOV_imm': lambda i: sm90.umov_imm(8 + i % 8, 7),
        'UMOV': lambda i: sm90.umov(8 + i % 8, 16), 'UIMAD': lambda i: sm90.uimad(8 + i % 8, 16, 17, 18),
        'ULDC': lambda i: sm90.uldc(8 + i % 8, 0x228), 'R2UR': lambda i: sm90.r2ur(8 + i % 8, 32),
    }
    vector = {
        'FFMA': lambda i: sm90.ffma(48 + i % 8, 32, 32, 32), 'IADD3': lambda i: sm90.iadd3(48 + i % 8, 32, 32, 32),
        'IMAD': lambda i: sm90.imad(48 + i % 8, 32, 32, 32),
    }
    for name, encode in independent.items():
        rate(s, name, one(encode), spread=name in ('UIADD3', 'UIMAD', 'ULDC'))
    for name, encode in independent.items():
        for other, encode2 in vector.items():
            if name in ('UIADD3', 'UIMAD', 'ULEA', 'UMOV_imm', 'R2UR', 'ULDC'):
                rate(s, f'{name}+{other}', lambda k, i: k.emit(encode(i // 2) if i % 2 else encode2(i // 2)))
                rate(s, f'{name}+3{other}', lambda k, i: k.emit(encode(i // 4) if i % 4 == 3 else encode2(i)))
    rate(s, 'UIADD3+UIMAD', lambda k, i: k.emit(independent['UIADD3'](i) if i % 2 else independent['UIMAD'](i)))
    rate(s, 'UIADD3+ULEA', lambda k, i: k.emit(independent['UIADD3'](i) if i % 2 else independent['ULEA'](i)))
    readers = {'FFMA_UR': lambda i: sm90.ffma_ur(48 + i % 8, 32, 16, 32), 'IADD3_UR': lambda i: sm90.iadd3_ur(48 + i % 8, 32, 16, 32),
               'IMAD_UR': lambda i: sm90.imad_ur(48 + i % 8, 32, 16, 32), 'MOV_UR': lambda i: sm90.mov_ur(48 + i % 8, 16)}
    for name, encode in readers.items():
        rate(s, name, one(encode))
    # round trip through the scoreboard
    rate(s, 'S2UR_wait', lambda k, i: (k.emit(sm90.s2ur(8, sm90.SR_CTAID), stall=2, write=0), k.wait(2, 1)), warps=(1,))
    rate(s, 'R2UR_wait', lambda k, i: (k.emit(sm90.r2ur(8, 32), stall=2, write=0), k.wait(2, 1)), warps=(1,))
    # smallest stall count that gives the right result
    producers = {
        'UIADD3': lambda d: sm90.uiadd3(d, 16, 17), 'ULOP3': lambda d: sm90.ulop3(d, 16, 17), 'USHF': lambda d: sm90.ushf_l_imm(d, 16, 1),
        'ULEA': lambda d: sm90.ulea(d, 16, 17, 2), 'UMOV': lambda d: sm90.umov(d, 17), 'UIMAD': lambda d: sm90.uimad(d, 16, 17, 18),
        'ULDC': lambda d: sm90.uldc(d, 0x218), 'R2UR': lambda d: sm90.r2ur(d, 33),
    }
    via = lambda k, encode: (k.emit(encode, stall=15), k.wait(30))
    consumers = {
        'UIADD3': lambda k, d: (via(k, sm90.uiadd3(9, 8, URZ)), via(k, sm90.mov_ur(d, 9))),
        'UIMAD': lambda k, d: (via(k, sm90.uimad(9, 8, 19, URZ)), via(k, sm90.mov_ur(d, 9))),
        'ULEA': lambda k, d: (via(k, sm90.ulea(9, 8, 20, 1)), via(k, sm90.mov_ur(d, 9))),
        'MOV': lambda k, d: via(k, sm90.mov_ur(d, 8)),
        'IADD3': lambda k, d: via(k, sm90.iadd3_ur(d, 34, 8)),
        'IMAD': lambda k, d: via(k, sm90.imad_ur(d, 34, 8, RZ)),
        'FFMA': lambda k, d: via(k, sm90.ffma_ur(d, ONE, 8, RZ)),
        'LDS_address': lambda k, d: (k.emit(sm90.mem(0x7984, d, RZ, 8, 0, 0x08000800), stall=15, write=0), k.wait(30, 1)),
    }
    for producer, make in producers.items():
        for consumer, use in consumers.items():
            if consumer == 'LDS_address' and producer not in ('UIADD3', 'UMOV'):
                continue
            def build(k):
                begin(k)
                for i, v in ((16, 48), (17, 16), (18, 4), (19, 3), (20, 64)):
                    k.emit(sm90.umov_imm(i, v), stall=15)
                k.emit(sm90.mov_imm(33, 80), stall=15)
                k.emit(sm90.mov_imm(34, 5), stall=15)
                k.emit(sm90.sts(SHARED, SHARED), stall=15, read=0)
                k.wait(60, 1)
                for i, stall in enumerate(list(range(1, 17)) + [40]):
                    k.emit(sm90.umov_imm(8, 0), stall=15)
                    k.wait(30)
                    k.emit(make(8), stall=min(stall, 15))
                    if stall > 15:
                        k.wait(stall - 15)
                    use(k, 64 + i)
                    k.wait(30)
                finish(k, range(64, 81))
            kernel = s.kernel(f'ulat_{producer}_{consumer}', build)
            s.test(f'ulat/{producer}/{consumer}', kernel, 32, shared=lambda w, l: 4 * l, reps=2)
    for consumer, use in (('R2UR', None),):  # vector result to R2UR
        def build(k):
            begin(k)
            k.emit(sm90.mov_imm(33, 80), stall=15)
            for i, stall in enumerate(list(range(1, 17)) + [40]):
                k.emit(sm90.mov_imm(34, 0), stall=15)
                k.emit(sm90.umov_imm(8, 0), stall=15)
                k.wait(30)
                k.emit(sm90.iadd3(34, 33, 33, RZ), stall=min(stall, 15))
                if stall > 15:
                    k.wait(stall - 15)
                k.emit(sm90.r2ur(8, 34), stall=15, write=0)
                k.wait(30, 1)
                k.emit(sm90.mov_ur(64 + i, 8), stall=15)
                k.wait(30)
            finish(k, range(64, 81))
        s.test('ulat/IADD3/R2UR', s.kernel('ulat_IADD3_R2UR', build), 32, reps=2)


def constants(s):
    acc = lambda i: 48 + i % 8
    for name, encode in {
            'FFMA_const': lambda i: sm90.ffma_c(acc(i), 32, 0x228, 33), 'IMAD_const': lambda i: sm90.imad_c(acc(i), 32, 0x228, 33),
            'FFMA_const8': lambda i: sm90.ffma_c(acc(i), 32, 0x228 + 4 * (i % 8), 33),
            'FFMA_const_lines': lambda i: sm90.ffma_c(acc(i), 32, 0x240 + 64 * (i % 16), 33),
            'ULDC_lines': lambda i: sm90.uldc(8 + i % 8, 0x240 + 64 * (i % 16))}.items():
        rate(s, name, lambda k, i: k.emit(encode(i)), spread=True)
    rate(s, 'LDC_wait', lambda k, i: (k.emit(sm90.ldc(48, 0x228), stall=2, write=0), k.wait(2, 1)), warps=(1,))
    rate(s, 'LDC_lines_wait', lambda k, i: (k.emit(sm90.ldc(48, 0x240 + 64 * (i % 16)), stall=2, write=0), k.wait(2, 1)), warps=(1,))
    rate(s, 'ULDC_use', lambda k, i: (k.emit(sm90.uldc(8, 0x228), stall=12), k.emit(sm90.mov_ur(48, 8), stall=2)), warps=(1,))
    # first touches at kernel start: nothing but clocks before them
    steps = {
        'LDC': lambda k, offset: (k.emit(sm90.ldc(30, offset), stall=2, write=0), k.wait(2, 1)),
        'ULDC': lambda k, offset: (k.emit(sm90.uldc(8, offset), stall=15), k.emit(sm90.mov_ur(30, 8), stall=6)),
        'FFMA': lambda k, offset: k.emit(sm90.ffma_c(30, 31, offset, 31), stall=6),
        'NOP': lambda k, offset: k.wait(8),
    }
    near = [0x28, 0x28, 0x0, 0x208, 0x210, 0x218, 0x228, 0x240, 0x27c, 0x280, 0x2c0, 0x300, 0x340, 0x380, 0x3c0, 0x400, 0x400, 0x440]
    far = [0x800 + 256 * i for i in range(4)] + [0x804, 0x820, 0x840, 0x880, 0x8c0, 0xd00, 0xd08, 0xd10, 0xd20, 0xd40, 0xd80, 0xdc0, 0xe00]
    for name, touch in steps.items():
        for where, offsets in (('near', near), ('far', far)):
            def build(k):
                k.emit(sm90.clock(64), stall=2)
                for i, offset in enumerate(offsets):
                    touch(k, offset)
                    k.emit(sm90.clock(65 + i), stall=2)
                begin(k)
                finish(k, range(64, 65 + len(offsets)))
            kernel = s.kernel(f'cold_{name}_{where}', build)
            for warps, grid in ((1, 1), (8, 1), (8, 132)):
                s.test(f'cold/{name}/{where}/{warps}w{grid}', kernel, 32 * warps, grid=grid, first=True, reps=4)


# --- 7. instruction fetch
def fetch(s):
    trips = 60
    for n in (64, 216, 356, 448, 570, 850, 1150, 1700, 2200):
        for name, stall in (('ffma', 1), ('alu', 2)):
            def build(k):
                e = k.emit
                begin(k)
                e(sm90.mov(9, SHARED2), stall=6)
                e(sm90.mov_imm(10, trips), stall=6)
                e(sm90.BAR_SYNC, stall=6)
                k.wait(30)
                delay(k, 'd')
                k.label('loop')
                e(sm90.clock(11), stall=6)
                e(sm90.iadd3_imm(10, 10, -1), stall=4)
                e(sm90.sts(9, 11), stall=4, read=0)
                e(sm90.isetp_ne_imm(0, 10, 0), stall=2)
                for i in range(n):
                    if name == 'ffma':
                        e(sm90.ffma(32 + i % 8, 20, 20, 20))
                    else:
                        e(sm90.ffma(32 + i % 8, 20, 20, 20) if i % 2 else sm90.iadd3(40 + i % 8, 20, 20, 20))
                e(sm90.iadd3_imm(9, 9, 4), stall=12, wait=1)
                k.branch('loop', guard=0)
                e(sm90.clock(11), stall=6)
                e(sm90.sts(9, 11), stall=6, read=0)
                finish_trace(k)
            kernel = s.kernel(f'fetch_{name}_{n}', build, 64)
            half = max(1, n // 54)
            for label, block, wait in (('4w', 128, 0), ('8w_inphase', 256, 0), ('8w_half', 256, lambda w, l: half if w >= 4 else 0),
                                       ('8w_third', 256, lambda w, l: 1 + (half * 2 * w) // 11), ('1w', 32, 0), ('16w', 512, 0)):
                s.test(f'fetch/{name}/{n}/{label}', kernel, block, reps=3, delay=wait, shared2=lambda w, l: 512 * w)


# --- 8. progress of warps through a tiled loop with barriers
def progress(s):
    tiles, steps = 15, 8
    a_regs, b_regs, acc = (28, 44), (36, 52), 60

    def load(k, step):
        half = step % 2
        for i in range(2):
            k.emit(sm90.lds(a_regs[half] + 4 * i, SHARED, 128, 4096 + 1024 * (step % 8) + 16 * i), stall=1, write=half)
        for i in range(2):
            k.emit(sm90.lds(b_regs[half] + 4 * i, 27, 128, 16384 + 1024 * (step % 8) + 16 * i), stall=1, write=half)

    def step_code(k, step, pipelined):
        half = step % 2
        if pipelined and step + 1 < steps:
            load(k, step + 1)
        if not pipelined:
            load(k, step)
        for i in range(8):
            for j in range(8):
                d = acc + 8 * i + (j ^ 1)
                k.emit(sm90.ffma(d, a_regs[half] + i, b_regs[half] + j, d), reuse=1 if j < 7 else 0,
                       wait=1 << half if i == j == 0 else 0)
        k.emit(sm90.clock(11), stall=6)
        k.emit(sm90.sts(9, 11), stall=2, read=2)
        k.emit(sm90.iadd3_imm(9, 9, 4), stall=2, wait=4)

    for pipelined in (True, False):
        for barrier in (True, False):
            def build(k):
                e = k.emit
                begin(k)
                e(sm90.mov(9, SHARED2), stall=6)
                e(sm90.mov(27, OFFSET), stall=6)
                e(sm90.mov_imm(10, tiles), stall=6)
                e(sm90.BAR_SYNC, stall=6)
                k.wait(30)
                k.label('tile')
                e(sm90.iadd3_imm(10, 10, -1), stall=6)
                e(sm90.isetp_ne_imm(0, 10, 0), stall=2)
                if pipelined:
                    load(k, 0)
                for step in range(steps):
                    step_code(k, step, pipelined)
                if barrier:
                    e(sm90.BAR_SYNC, stall=6)
                k.branch('tile', guard=0)
                finish_trace(k)
            kernel = s.kernel(f'progress_{int(pipelined)}{int(barrier)}', build, 124)
            a = lambda w, l: 64 * w + 32 * (l // 16)
            b = {'lds_bound': lambda w, l: 32 * (l % 16), 'fma_bound': lambda w, l: 16 * (l % 16) + 256 * (l // 16)}
            for bound, b_address in b.items():
                for warps in (4, 8, 16):
                    s.test(f'progress/{"pipelined" if pipelined else "serial"}/{"barrier" if barrier else "free"}/{bound}/{warps}',
                           kernel, 32 * warps, dynamic=57344, reps=3, shared=a, shared2=lambda w, l: 32768 + 512 * w,
                           global_offset=b_address)


def main():
    suite = Suite()
    for part in (loads_beside_lds, stores, issue_queue, uniform, constants, fetch, progress):
        part(suite)
    suite.write()


if __name__ == '__main__':
    main()
