"""Latencies: fixed ones by the smallest stall count with the right result, variable ones by chains."""
import sm90
from rates import loops
from suite import ADDRESS, SHARED, SHARED2, begin, finish

STALLS = list(range(1, 17)) + [40]
LONG_STALLS = list(range(1, 19)) + list(range(20, 37, 2)) + [60]


def sweep(s, producer, make, consumer, use, clear, setup, stalls):
    """Producer and consumer at every distance; each result goes to a register of its own. The last one is right."""

    def build(k):
        begin(k)
        setup(k)
        for i, stall in enumerate(stalls):
            clear(k)
            k.wait(30)
            k.emit(make, stall=min(stall, 15))
            k.wait(stall - 15)
            use(k, 64 + i)
            k.wait(30)
        finish(k, range(64, 64 + len(stalls)))

    kernel = s.kernel(f'latency_{producer}_{consumer}', build)
    s.test(f'latency/{producer}/{consumer}', kernel, 32, shared=lambda w, l: 4 * l, shared2=lambda w, l: 4 * l, reps=2)


def settle(k, text, **more):
    k.emit(text, stall=15, **more)


def through_scoreboard(k, text):
    settle(k, text, write=0)
    k.wait(30, 1)


# Sources: R36 1.0, R37 2.0, R38 and R39 pairs of halves, R33 and R34 integers. No result is 0 or, as a float,
# subnormal: 0 is what a consumer sees that comes too early.
PRODUCERS = {
    'FFMA': 'FFMA R35, R36, R37, R37',
    'FADD': 'FADD R35, R36, R37',
    'FMUL': 'FMUL R35, R37, R37',
    'IMAD': 'IMAD R35, R33, R34, R34',
    'IMAD_MOV': 'IMAD.MOV.U32 R35, RZ, RZ, R33',
    'IADD3': 'IADD3 R35, R33, R34, RZ',
    'LOP3': 'LOP3.LUT R35, R33, R34, RZ, 0xfc, !PT',
    'SHF': 'SHF.L.U32 R35, R33, 0x1, RZ',
    'LEA': 'LEA R35, R33, R34, 0x2',
    'MOV': 'MOV R35, R33',
    'SEL': 'SEL R35, R33, R34, PT',
    'PRMT': 'PRMT R35, R33, 0x3210, R34',
    'FMNMX': 'FMNMX R35, R36, R37, !PT',
    'I2FP': 'I2FP.F32.S32 R35, R33',
    'F2FP': 'F2FP.BF16.F32.PACK_AB R35, R36, R37',
    'HFMA2': 'HFMA2 R35, R38, R39, R39',
    'HADD2': 'HADD2 R35, R38, R39',
    'HMUL2': 'HMUL2 R35, R39, R39',
    'HFMA2_MMA': 'HFMA2.MMA R35, R38, R39, R39',
}
CONSUMERS = {
    'FFMA_a': lambda k, d: settle(k, f'FFMA R{d}, R35, R36, RZ'),
    'FFMA_c': lambda k, d: settle(k, f'FFMA R{d}, R36, R36, R35'),
    'IMAD': lambda k, d: settle(k, f'IMAD R{d}, R35, R34, RZ'),
    'IADD3': lambda k, d: settle(k, f'IADD3 R{d}, R35, R34, RZ'),
    'LOP3': lambda k, d: settle(k, f'LOP3.LUT R{d}, R35, R34, RZ, 0xfc, !PT'),
    'MOV': lambda k, d: settle(k, f'MOV R{d}, R35'),
    'HFMA2': lambda k, d: settle(k, f'HFMA2 R{d}, R35, R38, RZ'),
    'MUFU': lambda k, d: through_scoreboard(k, f'MUFU.RCP R{d}, R35'),
    'SHFL': lambda k, d: through_scoreboard(k, f'SHFL.BFLY PT, R{d}, R35, 0x0, 0x1f'),
    'STS_data': lambda k, d: (settle(k, 'STS [R16], R35', read=1), k.wait(30, 2),
                              through_scoreboard(k, f'LDS R{d}, [R16]')),
}
# Producers whose result may be an address of shared memory, and the LDS that reads there.
ADDRESSES = {
    'IMAD': 'IMAD R35, R33, 0x1, RZ',
    'IADD3': 'IADD3 R35, R33, RZ, RZ',
    'LOP3': 'LOP3.LUT R35, R33, RZ, RZ, 0xfc, !PT',
    'MOV': 'MOV R35, R33',
}
# Results of two registers, from an even one on.
WIDE = {
    'IMAD_WIDE': 'IMAD.WIDE.U32 R42, R33, R34, R44',
    'DFMA': 'DFMA R42, R44, R46, R46',
}
PREDICATES = {
    'SEL': lambda k, d: settle(k, f'SEL R{d}, R33, R34, P1'),
    'guard_MOV': lambda k, d: settle(k, f'MOV R{d}, R33', guard=1),
    'guard_FFMA': lambda k, d: settle(k, f'FFMA R{d}, R36, R36, RZ', guard=1),
    'guard_LDS': lambda k, d: (settle(k, f'LDS R{d}, [R16]', write=0, guard=1), k.wait(30, 1)),
    'BRA': lambda k, d: (k.branch(f'over{d}', guard=1), settle(k, f'MOV R{d}, R34'), k.label(f'over{d}')),
}


def constants_of(k):
    """The sources, and at shared address R16 a word that is not zero."""
    for register, value in ((36, 0x3f800000), (37, 0x40000000), (38, 0x3c003c00), (39, 0x40004000), (33, 0x41200050),
                            (34, 5), (44, 0x10000000), (45, 0x3ff00000), (46, 0), (47, 0x40000000)):
        k.emit(sm90.mov_imm(register, value), stall=15)
    k.emit(sm90.sts(SHARED, 37), stall=15, read=0)
    k.wait(60, 1)


def clear_result(k):
    k.emit('MOV R35, RZ', stall=15)


def fixed(s):
    """Rows fixed_latency."""
    for producer, make in PRODUCERS.items():
        for consumer, use in CONSUMERS.items():
            sweep(s, producer, make, consumer, use, clear_result, constants_of, STALLS)
    for producer, make in ADDRESSES.items():
        sweep(s, producer, make, 'LDS_address', lambda k, d: through_scoreboard(k, f'LDS R{d}, [R35]'), clear_result,
              address_constants, STALLS)
    for producer, make in WIDE.items():
        for word in (0, 1):
            for consumer, form in (('MOV', 'MOV R{d}, R{r}'), ('IMAD', 'IMAD R{d}, R{r}, R34, RZ')):
                sweep(s, f'{producer}_word{word}', make, consumer,
                      lambda k, d: settle(k, form.format(d=d, r=42 + word)),
                      lambda k: (k.emit('MOV R42, RZ', stall=15), k.emit('MOV R43, RZ', stall=15)), constants_of,
                      STALLS)
    for consumer, use in PREDICATES.items():
        sweep_predicate(s, consumer, use)


def address_constants(k):
    constants_of(k)
    k.emit('MOV R33, R16', stall=15)
    k.emit('STS [R33], R37', stall=15, read=0)
    k.wait(60, 1)
    k.emit('IADD3 R33, R16, 0x80, RZ', stall=15)
    k.emit('STS [R33], R36', stall=15, read=0)
    k.wait(60, 1)


def sweep_predicate(s, consumer, use):
    """ISETP sets P1, which was false; the result's register holds something else beforehand."""

    def build(k):
        begin(k)
        constants_of(k)
        for i, stall in enumerate(STALLS):
            k.emit(f'MOV R{64 + i}, R36' if consumer != 'guard_FFMA' else f'MOV R{64 + i}, R37', stall=15)
            k.emit('ISETP.LT.AND P1, PT, R33, R34, PT', stall=15)
            k.wait(30)
            k.emit('ISETP.GT.AND P1, PT, R33, R34, PT', stall=min(stall, 15))
            k.wait(stall - 15)
            use(k, 64 + i)
            k.wait(30)
        finish(k, range(64, 64 + len(STALLS)))

    kernel = s.kernel(f'latency_ISETP_{consumer}', build)
    s.test(f'latency/ISETP/{consumer}', kernel, 32, shared=lambda w, l: 4 * l, reps=2)


# --- chains: each link waits for the one before it.
def link(text):
    return lambda k, i: k.emit(text, stall=2, write=0, wait=1)


def copy_link(copy):
    """A copy, its group, and the wait until none is open."""

    def unit(k, i):
        if copy:
            k.emit(copy, stall=2)
        k.emit('LDGDEPBAR', stall=2, write=0)
        k.emit('DEPBAR.LE SB0, 0x0', stall=4, wait=1)

    return unit


def store_then_load(k, i):
    k.emit('STS [R16], R40', stall=2, wait=1)
    k.emit('LDS R40, [R16]', stall=2, write=0)


def fence(text, before=None):

    def unit(k, i):
        if before:
            k.emit(before, stall=2)
        k.emit(text, stall=6, read=0)
        k.wait(2, 1)

    return unit


def own_addresses(bits):
    """Every lane's shared word holds its own address R16, which R40 holds too."""

    def setup(k):
        for register in range(40, 44):
            k.emit(f'MOV R{register}, R16', stall=15)
        k.emit(sm90.sts(SHARED, 40, bits), stall=15, read=0)
        k.wait(60, 1)

    return setup


def matrix_addresses(k):
    """Word l of shared memory holds R17 of lane l (16 l or 0): what LDSM loads are the addresses of its rows."""
    k.emit(f'STS [R{SHARED}], R{SHARED2}', stall=15, read=0)
    k.wait(60, 1)
    k.emit(f'MOV R40, R{SHARED2}', stall=15)


def own_pointer(k):
    """The global word that R6:R7 points to holds that pointer; so does R36:R37."""
    for register, source in ((36, 'R6'), (37, 'R7'), (38, 'RZ'), (39, 'RZ')):
        k.emit(f'MOV R{register}, {source}', stall=15)
    k.emit(sm90.stg(ADDRESS, 36, 128), stall=15, read=0)
    k.wait(60, 1)
    k.emit(sm90.MEMBAR_GPU, stall=15, read=0)
    k.wait(60, 1)


def lanes(n):
    return dict(shared=lambda w, l: n * l, shared2=lambda w, l: n * l, global_offset=lambda w, l: n * l)


# name: (unit, instructions of a unit, setup, inputs)
CHAINS = {
    'MUFU': (link('MUFU.EX2 R40, R40'), 1, None, {}),
    'POPC': (link('POPC R40, R40'), 1, None, {}),
    'F2I': (link('F2I.TRUNC.NTZ R40, R40'), 1, None, {}),
    'SHFL': (link('SHFL.BFLY PT, R40, R40, 0x1, 0x1f'), 1, None, {}),
    'S2R_LANEID': (link('S2R R40, SR_LANEID'), 1, None, {}),
    'S2R_TID': (link('S2R R40, SR_TID.X'), 1, None, {}),
    'S2R_CTAID': (link('S2R R40, SR_CTAID.X'), 1, None, {}),
    'LDC': (link('LDC R40, c[0x0][R40]'), 1, lambda k: k.emit('MOV R40, 0x228', stall=15),
            dict(cta_offset=lambda c: 0x228)),
    'STS_LDS': (store_then_load, 2, None, lanes(4)),
    'DEPBAR_empty': (copy_link(None), 2, None, {}),
    'LDGSTS_32': (copy_link('LDGSTS.E [R16], desc[UR4][R6.64]'), 3, None, lanes(4)),
    'LDGSTS_64': (copy_link('LDGSTS.E.64 [R16], desc[UR4][R6.64]'), 3, None, lanes(8)),
    'LDGSTS_128': (copy_link('LDGSTS.E.128 [R16], desc[UR4][R6.64]'), 3, None, lanes(16)),
    'LDGSTS_BYPASS_128': (copy_link('LDGSTS.E.BYPASS.128 [R16], desc[UR4][R6.64]'), 3, None, lanes(16)),
    # Both ask for the same four lines, which this SM wrote.
    'LDGSTS_BYPASS_128_4lines': (copy_link('LDGSTS.E.BYPASS.128 [R16], desc[UR4][R6.64]'), 3, own_pointer, lanes(16)),
    'LDG_128_L2_4lines': (link('LDG.E.128.STRONG.GPU R36, desc[UR4][R36.64]'), 1, own_pointer, lanes(16)),
    # All lanes copy the same 16 bytes.
    'LDGSTS_BYPASS_128_broadcast': (copy_link('LDGSTS.E.BYPASS.128 [R16], desc[UR4][R6.64]'), 3, own_pointer,
                                    dict(shared=lambda w, l: 16 * l)),
    'MEMBAR_CTA': (fence('MEMBAR.SC.CTA'), 2, None, {}),
    'MEMBAR_GPU': (fence('MEMBAR.SC.GPU'), 2, None, {}),
    'STS_MEMBAR_CTA': (fence('MEMBAR.SC.CTA', 'STS [R16], R32'), 3, None, lanes(4)),
    'STG_MEMBAR_GPU': (fence('MEMBAR.SC.GPU', 'STG.E desc[UR4][R6.64], R32'), 3, None, lanes(4)),
    'R2UR_MOV': (lambda k, i: (k.emit('R2UR UR8, R40', stall=12), k.emit('MOV R40, UR8', stall=6)), 2, None, {}),
}
for _bits in (32, 64, 128):
    _size = '' if _bits == 32 else f'.{_bits}'
    CHAINS[f'LDS_{_bits}'] = (link(f'LDS{_size} R40, [R40]'), 1, own_addresses(_bits), lanes(_bits // 8))
    for _degree in (2, 4, 8, 16, 32) if _bits == 32 else (2, 4) if _bits == 64 else (2, 4, 8):
        CHAINS[f'LDS_{_bits}_conflict{_degree}'] = (link(f'LDS{_size} R40, [R40]'), 1, own_addresses(_bits),
                                                    lanes(_bits // 8 * _degree))
    CHAINS[f'LDS_{_bits}_broadcast'] = (link(f'LDS{_size} R40, [R40]'), 1, own_addresses(_bits), {})
    CHAINS[f'LDG_{_bits}_L1'] = (link(f'LDG.E{_size} R36, desc[UR4][R36.64]'), 1, own_pointer, {})
    CHAINS[f'LDG_{_bits}_L2'] = (link(f'LDG.E{_size}.STRONG.GPU R36, desc[UR4][R36.64]'), 1, own_pointer, {})
for _count in (1, 2, 4):
    for _form in ('M88', 'MT88'):
        _suffix = '' if _count == 1 else f'.{_count}'
        CHAINS[f'LDSM_{_count}{"_transposed" if _form == "MT88" else ""}'] = (
            link(f'LDSM.16.{_form}{_suffix} R40, [R40]'), 1, matrix_addresses,
            dict(shared=lambda w, l: 4 * l, shared2=(lambda w, l: 16 * l) if _form == 'M88' else 0))


def variable(s):
    """Rows chain."""
    for name, (unit, length, setup, inputs) in CHAINS.items():
        kernel = s.kernel(f'chain_{name}', lambda k: loops(k, unit, max(length, 4), setup=setup), 63)
        s.test(f'chain/{name}/{max(length, 4)}', kernel, 32, role=1, **inputs)
