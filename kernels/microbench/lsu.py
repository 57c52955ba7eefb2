"""Item 1: loads and stores to global memory, alone and beside a saturated stream of LDS.128."""
import sm90
from parts import KB, LDS_ADDRESS, TIMES, by_role, for_window, ldg_stream, lds_stream, rows, stg_stream
from suite import ADDRESS, begin, finish

WINDOW_CYCLES = 40000

# Walks through global memory: offset = (count & mask_low) + (count & mask_high) * scale.
FRESH = dict(mask_low=0, mask_high=0x3ffff, scale=1)  # through 256 KB per warp, more than L1 for all of them
ROWS_16 = dict(mask_low=4095, mask_high=0x3000, scale=16)  # along 4 KB rows, then to the next 16 rows
ROWS_8 = dict(mask_low=4095, mask_high=0x7000, scale=8)
ROWS_32 = dict(mask_low=4095, mask_high=0x1000, scale=32)

# name: (bits, offset of a lane, distance of consecutive loads of a warp, walk)
LOADS = {
    '512B_4lines': (128, lambda l: 16 * l, 512, FRESH),
    '16x32B_pitch4096': (128, rows(2, 4096, 16), 32, ROWS_16),
    '16x32B_pitch128': (128, rows(2, 128, 16), 2048, FRESH),
    '8x64B_pitch4096': (128, rows(4, 4096, 16), 64, ROWS_8),
    '8x64B_pitch128': (128, rows(4, 128, 16), 1024, FRESH),
    '32x16B_pitch4096': (128, lambda l: 4096 * l, 32, ROWS_32),
    '32x16B_pitch128': (128, lambda l: 128 * l, 4096, FRESH),
    '32x16B_8lines': (128, lambda l: 32 * l, 1024, FRESH),
    'w64_256B_2lines': (64, lambda l: 8 * l, 256, FRESH),
    'w32_128B_1line': (32, lambda l: 4 * l, 128, FRESH),
    'w32_8x16B_pitch128': (32, rows(4, 128, 4), 1024, FRESH),
    'w32_32x4B_8lines': (32, lambda l: 32 * l, 1024, FRESH),
    'w32_32x4B_pitch128': (32, lambda l: 128 * l, 4096, FRESH),
    'w32_broadcast': (32, lambda l: 0, 128, FRESH),
    # as many lines without bank conflicts: tells a cost by lines from a cost by banks
    '16x32B_pitch160': (128, rows(2, 160, 16), 4096, FRESH),
    '16x32B_pitch4128': (128, rows(2, 4128, 16), 32, ROWS_16),
    '8x64B_pitch192': (128, rows(4, 192, 16), 2048, FRESH),
    '32x16B_pitch144': (128, lambda l: 144 * l, 8192, FRESH),
    '32x16B_pitch528': (128, lambda l: 528 * l, 528 * 32, FRESH),
    '4lines_permuted_conflict': (128, lambda l: l % 4 * 128 + l // 4 * 16, 512, FRESH),
    '4lines_permuted_free': (128, lambda l: l % 4 * 128 + (l // 4 + 2 * (l % 4)) % 8 * 16, 512, FRESH),
    '2lines_pairs': (128, lambda l: l // 2 * 16, 256, FRESH),
    'w32_8x16B_pitch144': (32, rows(4, 144, 4), 2048, FRESH),
    'w32_32x4B_pitch132': (32, lambda l: 132 * l, 8192, FRESH),
    'w32_16x8B_pitch136': (32, rows(2, 136, 4), 4096, FRESH),
    'w32_2lines_conflict': (32, lambda l: 8 * l, 256, FRESH),
}

# Stores of epilogues go to C with 8 KB rows: 8 rows of a tile, then the tile 128 rows below.
PITCH = 8192
TILE_ROWS = dict(mask_low=0xe000, mask_high=0x70000, scale=16)
HGEMM_ROWS = dict(mask_low=0, mask_high=0x30000, scale=4)

# name: (bits, offset of a lane, distance of consecutive stores, stores per step, bytes per step, walk)
STORES = {
    'epi8x8_8lines32sectors': (32, lambda l: l // 16 * 8 * PITCH + l % 16 * 32, 4, 8, PITCH, TILE_ROWS),
    'epi4x4_4lines16sectors': (32, lambda l: l // 16 * 4 * PITCH + l % 16 * 16, 4, 8, PITCH, TILE_ROWS),
    'epi2x2_2lines8sectors': (32, lambda l: l // 16 * 2 * PITCH + l % 16 * 8, 4, 8, PITCH, TILE_ROWS),
    'w64_hgemm_8lines8sectors': (64, lambda l: l // 4 * PITCH + l % 4 * 8, 32, 8, 8 * PITCH, HGEMM_ROWS),
    'w128_epi8x8_8lines32sectors': (128, lambda l: l // 16 * 8 * PITCH + l % 16 * 32, 16, 8, PITCH, TILE_ROWS),
    '32x4B_8lines': (32, lambda l: 32 * l, 1024, 8, 8192, FRESH),
    '32x4B_16lines': (32, lambda l: 64 * l, 2048, 8, 16384, FRESH),
    '32x4B_32lines': (32, lambda l: 128 * l, 4096, 8, 32768, FRESH),
    '8x16B_8lines': (32, rows(4, 128, 4), 1024, 8, 8192, FRESH),
    '128B_1line': (32, lambda l: 4 * l, 128, 8, 1024, FRESH),
    'w64_256B_2lines': (64, lambda l: 8 * l, 256, 8, 2048, FRESH),
    'w128_512B_4lines': (128, lambda l: 16 * l, 512, 8, 4096, FRESH),
}


def two_roles(s, name, first, second):
    parts = [for_window(first), for_window(second)]
    return s.kernel(name, lambda k: (begin(k), by_role(k, parts), finish(k, TIMES)))


def pair_test(s, name, kernel, lds_warps, others, lane, warp_stride, lds_address, **more):
    """lds_warps warps of role 0, then `others` of role 1 that walk through global memory."""
    s.test(name, kernel, 32 * (lds_warps + others), reps=3, window=WINDOW_CYCLES, shared=lds_address,
           role=lambda w, l: 0 if w < lds_warps else 1,
           global_offset=lambda w, l: max(0, w - lds_warps) * warp_stride + lane(l), **more)


def lds_alone(s):
    kernel = two_roles(s, 'lds_only', lds_stream(), lds_stream(32))
    for wavefronts, address in LDS_ADDRESS.items():
        for warps in (1, 4, 8, 16):
            s.test(f'lds/{wavefronts}/{warps}', kernel, 32 * warps, window=WINDOW_CYCLES, shared=address)
    s.test('lds/1/8', kernel, 256, window=WINDOW_CYCLES, role=1, shared=lambda w, l: 512 * w + 4 * l)


def loads(s):
    lds_alone(s)
    for name, (bits, lane, stride, walk) in LOADS.items():
        for count, blocking in ((1, True), (2, True), (4, True), (8, True), (8, False)):
            kernel = two_roles(s, f'ldg{bits}_{stride}_{count}_{blocking}', lds_stream(),
                               ldg_stream(bits, 'constant', count, stride, blocking))
            for cache in ('L2', 'L1'):
                hit = cache == 'L1'
                walking = dict(mask_low=0, mask_high=0, scale=0) if hit else walk
                warp_stride = 256 * KB if not hit else 64 * KB if '4096' in name else 32 * KB
                for others in (4, 8):
                    if hit and others == 8 and '4096' not in name and stride * count * others > 128 * KB:
                        continue  # would not fit L1
                    for lds_warps in (8, 0):
                        tag = f'U{count}' + ('w' if blocking else 'c')
                        pair_test(s, f'ldg/{name}/{cache}/{lds_warps}lds/{others}ldg/{tag}', kernel, lds_warps, others,
                                  lane, warp_stride, LDS_ADDRESS[4], **walking)
    other_kinds(s)


def other_kinds(s):
    """Loads without .CONSTANT, and beside LDS of two and of eight wavefronts."""
    for name in ('512B_4lines', '16x32B_pitch4096'):
        bits, lane, stride, walk = LOADS[name]
        for kind in ('plain', 'strong'):
            kernel = two_roles(s, f'ldg_{kind}_{stride}', lds_stream(), ldg_stream(bits, kind, 4, stride, True))
            pair_test(s, f'ldg_{kind}/{name}/4', kernel, 8, 8, lane, 256 * KB, LDS_ADDRESS[4], **walk)
        for wavefronts in (2, 8):
            pair_test(s, f'ldg_constant/{name}/{wavefronts}', f'ldg{bits}_{stride}_4_True', 8, 8, lane, 256 * KB,
                      LDS_ADDRESS[wavefronts], **walk)


def tile_offset(cta):
    """Offset of a CTA's 128x128 tile of C."""
    return cta % 16 * 512 + cta // 16 * 128 * PITCH


def stores(s):
    lds_alone(s)
    for name, (bits, lane, stride, count, step, walk) in STORES.items():
        kernel = two_roles(s, f'stg_{name}', lds_stream(), stg_stream(bits, count, stride, step))
        fresh = walk is FRESH
        warp_stride = 256 * KB if fresh else 16 * PITCH
        for warps in (1, 4, 8, 16):
            pair_test(s, f'stg/{name}/0lds/{warps}stg/1sm', kernel, 0, warps, lane, warp_stride, 0, **walk)
        for others in (1, 4, 8):
            pair_test(s, f'stg/{name}/8lds/{others}stg/1sm', kernel, 8, others, lane, warp_stride, LDS_ADDRESS[4],
                      **walk)
        # on all SMs every warp rewrites its part of one tile, so that everything stays in L2
        stay = dict(mask_low=0x7fff, mask_high=0, scale=0) if fresh else dict(walk, mask_high=0)
        offset = (lambda c: c * 256 * KB) if fresh else tile_offset
        warp_stride = 32 * KB if fresh else warp_stride
        for warps in (1, 8):
            pair_test(s, f'stg/{name}/0lds/{warps}stg/132sm', kernel, 0, warps, lane, warp_stride, 0, grid=132,
                      cta_offset=offset, **stay)
    merging(s)
    epilogue(s)


def merging(s):
    """Eight consecutive stores to the same sectors, by lines of a warp, sectors of a line, and warps."""
    kernel = two_roles(s, 'stg_merge', lds_stream(), stg_stream(32, 8, 4, 8192))
    for lines in (1, 2, 4, 8, 16, 32):
        for sectors in (1, 4):
            if lines * sectors > 32:
                continue
            for warps in (1, 2, 3, 4, 6, 8, 12, 16):
                pair_test(s, f'stgmerge/{lines}/{sectors}/{warps}', kernel, 0, warps,
                          lambda l: l % (lines * sectors) * (128 // sectors), 256 * KB, 0, **FRESH)


def epilogue(s):
    """Every warp stores its 64 values of an 8x8 tile per thread; a clock after every fourth store."""

    def burst(k):
        begin(k)
        k.emit(sm90.BAR_SYNC, stall=6)
        k.wait(60)
        k.emit(sm90.clock(64), stall=2)
        for i in range(64):
            k.emit(sm90.stg(ADDRESS, 32, 32, i // 8 * PITCH + i % 8 * 4), stall=2, read=1)
            if i % 4 == 3:
                k.emit(sm90.clock(65 + i // 4), stall=2)
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
            s.test(f'stgburst/{warps}/{grid}', kernel, 32 * warps, grid=grid, reps=3, cta_offset=tile_offset,
                   global_offset=lambda w, l: w * 16 * PITCH + lane(l))
