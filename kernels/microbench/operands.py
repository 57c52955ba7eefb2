"""Items 3 and 4: uniform datapath and constant operands."""
import sm90
from latencies import STALLS, sweep
from rates import plain, rate, then_wait
from sm90 import RZ, URZ
from suite import ONE, SHARED, begin, finish

UNIFORM = {
    'UIADD3': lambda i: sm90.uiadd3(8 + i % 8, 16, 17),
    'UIADD3_imm': lambda i: sm90.uiadd3_imm(8 + i % 8, 16, 5),
    'ULOP3': lambda i: sm90.ulop3(8 + i % 8, 16, 17),
    'USHF': lambda i: sm90.ushf_l_imm(8 + i % 8, 16, 3),
    'ULEA': lambda i: sm90.ulea(8 + i % 8, 16, 17, 3),
    'UMOV_imm': lambda i: sm90.umov_imm(8 + i % 8, 7),
    'UMOV': lambda i: sm90.umov(8 + i % 8, 16),
    'UIMAD': lambda i: sm90.uimad(8 + i % 8, 16, 17, 18),
    'ULDC': lambda i: sm90.uldc(8 + i % 8, 0x228),
    'R2UR': lambda i: sm90.r2ur(8 + i % 8, 32),
}
VECTOR = {
    'FFMA': lambda i: sm90.ffma(48 + i % 8, 32, 32, 32),
    'IADD3': lambda i: sm90.iadd3(48 + i % 8, 32, 32, 32),
    'IMAD': lambda i: sm90.imad(48 + i % 8, 32, 32, 32),
}
READERS = {
    'FFMA_UR': lambda i: sm90.ffma_ur(48 + i % 8, 32, 16, 32),
    'IADD3_UR': lambda i: sm90.iadd3_ur(48 + i % 8, 32, 16, 32),
    'IMAD_UR': lambda i: sm90.imad_ur(48 + i % 8, 32, 16, 32),
    'MOV_UR': lambda i: sm90.mov_ur(48 + i % 8, 16),
}


def uniform(s):
    for name, encode in UNIFORM.items():
        rate(s, name, plain(encode), spread=name in ('UIADD3', 'UIMAD', 'ULDC'))
        if name in ('ULOP3', 'USHF', 'UIADD3_imm', 'UMOV'):
            continue
        for other, encode2 in VECTOR.items():
            rate(s, f'{name}+{other}', plain(lambda i: encode(i // 2) if i % 2 else encode2(i // 2)))
            rate(s, f'{name}+3{other}', plain(lambda i: encode(i // 4) if i % 4 == 3 else encode2(i)))
    for other in ('UIMAD', 'ULEA'):
        rate(s, f'UIADD3+{other}', plain(lambda i: UNIFORM['UIADD3' if i % 2 else other](i)))
    for name, encode in READERS.items():
        rate(s, name, plain(encode))
    rate(s, 'S2UR_wait', then_wait(lambda i: sm90.s2ur(8, sm90.SR_CTAID)), warps=(1,))
    latencies(s)


def latencies(s):
    """Results for every stall count between producer and consumer; the smallest one with the right result counts."""

    def settle(k, encoding):
        k.emit(encoding, stall=15)
        k.wait(30)

    producers = {
        'UIADD3': sm90.uiadd3(8, 16, 17),
        'ULOP3': sm90.ulop3(8, 16, 17),
        'USHF': sm90.ushf_l_imm(8, 16, 1),
        'ULEA': sm90.ulea(8, 16, 17, 2),
        'UMOV': sm90.umov(8, 17),
        'UIMAD': sm90.uimad(8, 16, 17, 18),
        'ULDC': sm90.uldc(8, 0x218),
        'R2UR': sm90.r2ur(8, 33),
    }
    consumers = {
        'UIADD3': lambda k, d: (settle(k, sm90.uiadd3(9, 8, URZ)), settle(k, sm90.mov_ur(d, 9))),
        'UIMAD': lambda k, d: (settle(k, sm90.uimad(9, 8, 19, URZ)), settle(k, sm90.mov_ur(d, 9))),
        'ULEA': lambda k, d: (settle(k, sm90.ulea(9, 8, 20, 1)), settle(k, sm90.mov_ur(d, 9))),
        'MOV': lambda k, d: settle(k, sm90.mov_ur(d, 8)),
        'IADD3': lambda k, d: settle(k, sm90.iadd3_ur(d, 34, 8)),
        'IMAD': lambda k, d: settle(k, sm90.imad_ur(d, 34, 8, RZ)),
        'FFMA': lambda k, d: settle(k, sm90.ffma_ur(d, ONE, 8, RZ)),
        'LDS_address': lambda k, d: (k.emit(sm90.lds_ur(d, 8), stall=15, write=0), k.wait(30, 1)),
    }

    def latency(producer, make, consumer, use, clear):

        def setup(k):
            for i, v in ((16, 48), (17, 16), (18, 4), (19, 3), (20, 64)):
                k.emit(sm90.umov_imm(i, v), stall=15)
            k.emit(sm90.mov_imm(33, 80), stall=15)
            k.emit(sm90.mov_imm(34, 5), stall=15)
            k.emit(sm90.sts(SHARED, SHARED), stall=15, read=0)
            k.wait(60, 1)

        sweep(s, producer, make, consumer, use, clear, setup, STALLS)

    for producer, make in producers.items():
        for consumer, use in consumers.items():
            if consumer != 'LDS_address' or producer in ('UIADD3', 'UMOV'):
                latency(producer, make, consumer, use, lambda k: k.emit(sm90.umov_imm(8, 0), stall=15))
    latency('IADD3', sm90.iadd3(35, 33, 33, RZ), 'R2UR',
            lambda k, d: (settle(k, sm90.r2ur(8, 35)), settle(k, sm90.mov_ur(d, 8))),
            lambda k: k.emit(sm90.mov_imm(35, 0), stall=15))


# Offsets touched one after the other at the start of a kernel; parameters start at 0x210.
NEAR = [0x28, 0x28, 0x0, 0x208, 0x210, 0x218, 0x228, 0x240, 0x27c, 0x280, 0x2c0, 0x300, 0x340, 0x380, 0x3c0, 0x400,
        0x400, 0x440]
FAR = [0x800, 0x900, 0xa00, 0xb00, 0x804, 0x820, 0x840, 0x880, 0x8c0, 0xd00, 0xd08, 0xd10, 0xd20, 0xd40, 0xd80, 0xdc0,
       0xe00]


def constants(s):
    rates = {
        'FFMA_const': lambda i: sm90.ffma_c(48 + i % 8, 32, 0x228, 33),
        'IMAD_const': lambda i: sm90.imad_c(48 + i % 8, 32, 0x228, 33),
        'FFMA_const_8words': lambda i: sm90.ffma_c(48 + i % 8, 32, 0x228 + 4 * (i % 8), 33),
        'FFMA_const_16lines': lambda i: sm90.ffma_c(48 + i % 8, 32, 0x240 + 64 * (i % 16), 33),
        'ULDC_16lines': lambda i: sm90.uldc(8 + i % 8, 0x240 + 64 * (i % 16)),
    }
    for name, encode in rates.items():
        rate(s, name, plain(encode), spread=True)
    rate(s, 'LDC_wait', then_wait(lambda i: sm90.ldc(48, 0x228)), warps=(1,))
    rate(s, 'LDC_16lines_wait', then_wait(lambda i: sm90.ldc(48, 0x240 + 64 * (i % 16))), warps=(1,))
    touches = {
        'LDC': lambda k, offset: (k.emit(sm90.ldc(30, offset), stall=2, write=0), k.wait(2, 1)),
        'ULDC': lambda k, offset: (k.emit(sm90.uldc(8, offset), stall=15), k.emit(sm90.mov_ur(30, 8), stall=6)),
        'FFMA': lambda k, offset: k.emit(sm90.ffma_c(30, 31, offset, 31), stall=6),
        'nothing': lambda k, offset: k.wait(8),
    }
    for name, touch in touches.items():
        for where, offsets in (('near', NEAR), ('far', FAR)):

            def build(k):
                k.emit(sm90.clock(64), stall=2)
                for i, offset in enumerate(offsets):
                    touch(k, offset)
                    k.emit(sm90.clock(65 + i), stall=2)
                begin(k)
                finish(k, range(64, 65 + len(offsets)))

            kernel = s.kernel(f'cold_{name}_{where}', build)
            for warps, grid in ((1, 1), (8, 1), (8, 132)):
                s.test(f'cold/{name}/{where}/{warps}/{grid}', kernel, 32 * warps, grid=grid, first=True, reps=4)
