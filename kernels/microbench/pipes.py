"""Issue, pipes and register banks: cycles per instruction, alone and in groups."""
import sm90
from rates import SUBPARTITION, measure, plain, rate

ALONE = {f'1sub{n}w': SUBPARTITION[n] for n in (1, 2, 4)}
ONE_WARP = {'1sub1w': [1]}

# Instructions whose sources are one register, so that operand fetch limits none of them. d: a register, e: an even one.
OPERATIONS = {
    'FFMA': 'FFMA {d}, R32, R32, R32',
    'FFMA_imm': 'FFMA {d}, R32, 2, R32',
    'FADD': 'FADD {d}, R32, R32',
    'FMUL': 'FMUL {d}, R32, R32',
    'IMAD': 'IMAD {d}, R32, R32, R32',
    'IMAD_MOV': 'IMAD.MOV.U32 {d}, RZ, RZ, R32',
    'VIADD': 'VIADD {d}, R32, 0x5',
    'IMAD_WIDE': 'IMAD.WIDE.U32 {e}, R32, R32, R32',
    'HFMA2': 'HFMA2 {d}, R32, R32, R32',
    'HFMA2_BF16': 'HFMA2.BF16_V2 {d}, R32, R32, R32',
    'HADD2': 'HADD2 {d}, R32, R32',
    'HMUL2': 'HMUL2 {d}, R32, R32',
    'HFMA2_MMA': 'HFMA2.MMA {d}, R32, R32, R32',
    'IADD3': 'IADD3 {d}, R32, R32, R32',
    'LOP3': 'LOP3.LUT {d}, R32, R32, R32, 0xc0, !PT',
    'SHF': 'SHF.R.U32.HI {d}, RZ, 0x3, R32',
    'LEA': 'LEA {d}, R32, R32, 0x2',
    'MOV': 'MOV {d}, R32',
    'SEL': 'SEL {d}, R32, R32, P1',
    'ISETP': 'ISETP.GE.AND P1, PT, R32, R32, PT',
    'PRMT': 'PRMT {d}, R32, 0x5410, R32',
    'FMNMX': 'FMNMX {d}, R32, R32, PT',
    'I2FP': 'I2FP.F32.S32 {d}, R32',
    'F2FP': 'F2FP.BF16.F32.PACK_AB {d}, R32, R32',
    'VOTE': 'VOTE.ANY {d}, PT, PT',
    'CS2R': 'CS2R.32 {d}, SR_CLOCKLO',
    'DFMA': 'DFMA {e}, R32, R32, R32',
    'NOP': 'NOP',
}
# Results come through a scoreboard.
QUEUED = {
    'MUFU': 'MUFU.EX2 {d}, R32',
    'POPC': 'POPC {d}, R32',
    'F2I': 'F2I.TRUNC.NTZ {d}, R32',
    'SHFL': 'SHFL.BFLY PT, {d}, R32, 0x1, 0x1f',
    'MOVM': 'MOVM.16.MT88 {d}, R32',
    'S2R': 'S2R {d}, SR_LANEID',
    'LDC': 'LDC {d}, c[0x0][0x228]',
}
PER_SM = ('SHFL', 'MOVM', 'S2R', 'LDC', 'MUFU')

# What a group holds, in order.
GROUPS = [['FFMA', x] for x in ('IADD3', 'LOP3', 'IMAD', 'FADD', 'HFMA2', 'HFMA2_MMA', 'MUFU', 'DFMA', 'IMAD_WIDE', 'CS2R')]
GROUPS += [['FFMA'] * n + [x] for n in (2, 3) for x in ('IADD3', 'IMAD', 'HFMA2', 'HFMA2_MMA', 'IMAD_WIDE', 'MUFU')]
GROUPS += [['IMAD', 'IADD3'], ['IADD3', 'HFMA2'], ['HFMA2', 'HFMA2_MMA'], ['IMAD', 'IMAD_MOV'], ['IADD3', 'LOP3'],
           ['IADD3', 'ISETP'], ['IADD3', 'MOV'], ['IADD3', 'SHF'], ['IADD3', 'PRMT'], ['IADD3', 'F2FP'], ['IADD3', 'I2FP']]
GROUPS += [['FFMA'] * 16 + ['MUFU'], ['IMAD_WIDE'] + ['NOP'] * 8]


def text(name, i):
    """Instruction `name`, writing another register of R48-R63 each time."""
    form = OPERATIONS.get(name) or QUEUED[name]
    return form.format(d=f'R{48 + i % 16}', e=f'R{48 + 2 * (i % 8)}')


def emit(kernel, name, i):
    kernel.emit(text(name, i), write=0 if name in QUEUED else 7)


def group_name(names):
    """2FFMA+IADD3 for ['FFMA', 'FFMA', 'IADD3']."""
    parts = []
    for name in dict.fromkeys(names):
        count = names.count(name)
        parts.append(f'{count if count > 1 else ""}{name}')
    return '+'.join(parts)


def group(s, names, sets=None, **more):

    def unit(k, i):
        for j, name in enumerate(names):
            emit(k, name, i * len(names) + j)

    measure(s, 'group', group_name(names), unit, sets or ALONE, length=len(names), **more)


def pipes(s):
    for name in OPERATIONS:
        rate(s, name, lambda k, i: emit(k, name, i))
    for name in QUEUED:
        rate(s, name, lambda k, i: emit(k, name, i), spread=name in PER_SM)
    for names in GROUPS:
        group(s, names)
    issue(s)
    banks(s)


def issue(s):
    """Yield bit, stall counts, dependent chains, taken branches."""
    for stall, yield_ in ((1, 1), (1, 0), (2, 1), (2, 0), (4, 1), (4, 0)):
        rate(s, f'FFMA_stall{stall}_{"stay" if yield_ else "yield"}',
             lambda k, i: k.emit(text('FFMA', i), stall=stall, yield_=yield_))
    rate(s, 'FFMA_chain', lambda k, i: k.emit('FFMA R48, R48, R32, R32', stall=4), warps=(1, 4))

    def taken(k, i):
        k.branch(f'next{len(k)}')
        k.label(f'next{len(k) - 1}')

    rate(s, 'BRA_taken', taken, warps=(1, 2))
    rate(s, 'WARPSYNC', lambda k, i: k.emit('WARPSYNC.ALL', stall=5, yield_=1), warps=(1,))


# Register numbers of the sources a, b, c of an FFMA whose result goes elsewhere; by what the patterns are called.
PATTERNS = {
    'even_even_even': lambda i: (32 + 2 * (i % 2), 36 + 2 * (i % 2), 40 + 2 * (i % 2)),
    'even_even_odd': lambda i: (32 + 2 * (i % 2), 36 + 2 * (i % 2), 41 + 2 * (i % 2)),
    'even_odd_even': lambda i: (32 + 2 * (i % 2), 37 + 2 * (i % 2), 40 + 2 * (i % 2)),
    'odd_even_even': lambda i: (33 + 2 * (i % 2), 36 + 2 * (i % 2), 40 + 2 * (i % 2)),
    'odd_odd_even': lambda i: (33 + 2 * (i % 2), 37 + 2 * (i % 2), 40 + 2 * (i % 2)),
    'odd_odd_odd': lambda i: (33 + 2 * (i % 2), 37 + 2 * (i % 2), 41 + 2 * (i % 2)),
    'two_by_turns': lambda i: (32, 36, 41) if i % 2 else (32, 37, 41),
    'same_and_other_bank': lambda i: (32, 32, 37 + 2 * (i % 2)),
    'same_and_same_bank': lambda i: (32, 32, 36 + 2 * (i % 2)),
    'distance_4': lambda i: (32, 36, 40),
    'distance_8': lambda i: (32, 40, 44),
}


def banks(s):
    for name, registers in PATTERNS.items():
        rate(s, 'banks_' + name, plain(lambda i: sm90.ffma(48 + i % 16, *registers(i))), warps=(1, 4))
    for distance in range(1, 9):
        rate(s, f'banks_distance{distance}', plain(lambda i: f'FADD R{48 + i % 16}, R32, R{32 + distance}'), warps=(1, 4))
    for run in (1, 2, 3, 4, 8):  # so many instructions that read one bank twice, then as many that read the other

        def turns(i):
            return sm90.ffma(48 + i % 16, 32 + 2 * (i % 2), 37 + 2 * (i % 2), (40 if i // run % 2 else 41) + 2 * (i % 2))

        rate(s, f'banks_turns{run}', plain(turns), warps=(1, 4))
    for name, b in (('other_bank', 37), ('same_bank', 36)):
        for kept, reuse in (('reuse', 1), ('no_reuse', 0)):

            def unit(k, i):
                k.emit(sm90.ffma(48 + i % 16, 32, b + 2 * (i % 2), 40 + 2 * (i % 2)), reuse=reuse)

            rate(s, f'banks_{kept}_{name}', unit, warps=(1, 4))
    conflicts(s)
    outer_products(s)


def conflicts(s):
    """An FFMA with a bank conflict, then n that read one register each: how long the conflict holds them up."""
    kinds = {'3in1bank_fill_other': ((32, 36, 40), 33), '3in1bank_fill_same': ((32, 36, 40), 34),
             '2in1bank_fill_lighter': ((32, 36, 41), 43)}
    for name, (sources, filler) in kinds.items():
        for n in range(5):

            def unit(k, i):
                k.emit(sm90.ffma(48 + i % 8, *sources))
                for j in range(n):
                    k.emit(sm90.ffma(56 + j, filler, filler, filler))

            measure(s, 'group', f'banks_{name}_{n}', unit, ONE_WARP, length=1 + n)


def outer_products(s):
    """8x8 outer products; accumulators R56-R119."""
    for name in ('no_reuse', 'reuse', 'snake'):

        def unit(k, i):
            for row in range(8):
                for j in range(8):
                    column = 7 - j if name == 'snake' and row % 2 else j
                    d = 56 + 8 * row + column
                    k.emit(sm90.ffma(d, 32 + row, 40 + column, d), reuse=1 if name != 'no_reuse' and j < 7 else 0)

        measure(s, 'group', f'banks_outer8x8_{name}', unit, ALONE, length=64, registers=119,
                fill=range(32, 120))


# Memory instructions on one sub-partition and on all: the way to the memory pipe and the data pipe.
REQUESTS = {
    'LDS_32': ('LDS R{d}, [R16]', 4), 'LDS_64': ('LDS.64 R{d}, [R16]', 8), 'LDS_128': ('LDS.128 R{d}, [R16]', 16),
    'STS_32': ('STS [R16], R32', 4), 'STS_64': ('STS.64 [R16], R32', 8), 'STS_128': ('STS.128 [R16], R32', 16),
    'LDSM_1': ('LDSM.16.M88 R{d}, [R16]', 16), 'LDSM_2': ('LDSM.16.M88.2 R{d}, [R16]', 16),
    'LDSM_4': ('LDSM.16.M88.4 R{d}, [R16]', 16), 'LDSM_4_transposed': ('LDSM.16.MT88.4 R{d}, [R16]', 16),
    'LDG_32_L1': ('LDG.E R{d}, desc[UR4][R6.64]', 4), 'LDG_64_L1': ('LDG.E.64 R{d}, desc[UR4][R6.64]', 8),
    'LDG_128_L1': ('LDG.E.128 R{d}, desc[UR4][R6.64]', 16),
    'LDGSTS_32': ('LDGSTS.E [R16], desc[UR4][R6.64]', 4), 'LDGSTS_64': ('LDGSTS.E.64 [R16], desc[UR4][R6.64]', 8),
    'LDGSTS_128': ('LDGSTS.E.128 [R16], desc[UR4][R6.64]', 16),
    'LDGSTS_BYPASS_128': ('LDGSTS.E.BYPASS.128 [R16], desc[UR4][R6.64]', 16),
}
CONFLICTS = {'LDS_32': (2, 4, 8, 16, 32), 'LDS_64': (2, 4), 'LDS_128': (2, 4), 'STS_32': (2, 4, 8, 16, 32),
             'STS_64': (2, 4), 'STS_128': (2, 4)}
REQUEST_SETS = {**ALONE, '4sub4w': [1] * 4, '4sub8w': [1] * 8, '4sub16w': [1] * 16}


def request(k, name, i):
    form = REQUESTS[name][0]
    k.emit(form.format(d=64 + 4 * (i % 8)), write=0 if '{d}' in form else 7)


def requests(s):
    """Rates of memory instructions, and what they take from FFMA beside them."""
    for name, (form, lane_bytes) in REQUESTS.items():
        where = dict(shared=lambda w, l: lane_bytes * l, global_offset=lambda w, l: lane_bytes * l)
        measure(s, 'rate', name, lambda k, i: request(k, name, i), REQUEST_SETS, registers=96, **where)
        for n in (8, 16):

            def unit(k, i):
                for j in range(n):
                    k.emit(text('FFMA', j))
                request(k, name, i)

            measure(s, 'group', f'{n}FFMA+{name}', unit, REQUEST_SETS, length=n + 1, registers=96, **where)
        for degree in CONFLICTS.get(name, ()):
            kernel, stride = f'rate_{name}', lane_bytes * degree
            for where_, roles in REQUEST_SETS.items():
                s.test(f'rate/{name}_conflict{degree}/{where_}', kernel, 32 * len(roles), role=lambda w, l: roles[w],
                       shared=lambda w, l: stride * l)
