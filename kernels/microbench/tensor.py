"""Tensor cores: rates and latencies of HMMA by shape and type, alone, beside other instructions and with fragments loaded."""
import sm90
from latencies import LONG_STALLS, settle, sweep
from rates import SUBPARTITION, measure
from suite import SHARED, SHARED2

# name: (instruction, registers of A, of B, a word of ones)
SHAPES = {
    'HMMA_16816_BF16': ('HMMA.16816.F32.BF16', 4, 2, 0x3f803f80),
    'HMMA_16816_F16': ('HMMA.16816.F32', 4, 2, 0x3c003c00),
    'HMMA_16816_F16_sum_F16': ('HMMA.16816.F16', 4, 2, 0x3c003c00),
    'HMMA_1688_BF16': ('HMMA.1688.F32.BF16', 2, 1, 0x3f803f80),
    'HMMA_1688_F16': ('HMMA.1688.F32', 2, 1, 0x3c003c00),
    'HMMA_1688_TF32': ('HMMA.1688.F32.TF32', 4, 2, 0x3f800000),
    'HMMA_1684_TF32': ('HMMA.1684.F32.TF32', 2, 1, 0x3f800000),
}
SETS = {**{f'1sub{n}w': SUBPARTITION[n] for n in (1, 2, 4)}, '4sub4w': [1] * 4, '4sub8w': [1] * 8, '4sub16w': [1] * 16}
FILL = range(32, 112)
REGISTERS = 111


def hmma(name, i, a=32, b=40, sums=16, first=48):
    """Accumulates in one of `sums` sets of four registers from `first` on, each in its turn."""
    d = first + 4 * (i % sums)
    return f'{SHAPES[name][0]} R{d}, R{a}, R{b}, R{d}'


def rates(s):
    for name in SHAPES:
        measure(s, 'rate', name, lambda k, i: k.emit(hmma(name, i)), SETS, registers=REGISTERS, fill=FILL)
        for stall in (2, 4, 6, 8):
            measure(s, 'rate', f'{name}_stall{stall}', lambda k, i: k.emit(hmma(name, i), stall=stall, yield_=1),
                    {'1sub1w': [1], '1sub2w': SUBPARTITION[2]}, registers=REGISTERS, fill=FILL)

        # As in a warp tile: A stays for four, B changes each time.
        def tile(k, i):
            k.emit(hmma(name, i, a=32 + 4 * (i // 4 % 2), b=40 + 2 * (i % 4)), reuse=1 if i % 4 != 3 else 0)

        measure(s, 'rate', name + '_tile', tile, SETS, registers=REGISTERS, fill=FILL)
        for sums in (1, 2, 3, 4, 6, 8):
            chain(s, name, sums)
        fillers(s, name)
        loads(s, name)
        pipeline(s, name)


def chain(s, name, sums):
    """Each sum waits 24 cycles for the one before it, as ptxas has it, with `sums` of them under way."""

    def unit(k, i):
        for j in range(sums):
            k.emit(hmma(name, j, sums=sums), stall=max(1, 24 // sums) if sums > 1 else 15)
        k.wait(9 if sums == 1 else 0)

    length = sums + (sums == 1)
    measure(s, 'group', f'{name}_sums{sums}', unit, {f'1sub{n}w': SUBPARTITION[n] for n in (1, 2, 4)}, length=length,
            registers=REGISTERS, fill=FILL)


def fillers(s, name):
    """An HMMA and n others: what it keeps busy beside its own pipe."""
    others = {
        'NOP': lambda j: 'NOP',
        'FFMA_noread': lambda j: f'FFMA R{100 + j % 8}, RZ, RZ, RZ',
        'FFMA': lambda j: f'FFMA R{100 + j % 8}, R46, R46, R46',
        'IADD3_noread': lambda j: f'IADD3 R{100 + j % 8}, RZ, RZ, RZ',
        'IMAD': lambda j: f'IMAD R{100 + j % 8}, R46, R46, R46',
    }
    for other, form in others.items():
        for n in (2, 4, 6, 8, 12):

            def unit(k, i):
                k.emit(hmma(name, i, sums=12))
                for j in range(n):
                    k.emit(form(j))

            measure(s, 'group', f'{name}+{n}{other}', unit, {'1sub1w': [1], '1sub4w': SUBPARTITION[4]}, length=n + 1,
                    registers=REGISTERS, fill=FILL)


LOADS = {
    'LDSM_4': lambda i: f'LDSM.16.M88.4 R{96 + 4 * (i % 4)}, [R{SHARED}]',
    'LDS_32': lambda i: f'LDS R{96 + i % 16}, [R{SHARED2}]',
}


def loads(s, name):
    """n HMMA to one load of fragments that nobody waits for."""
    for load, form in LOADS.items():
        for n in (1, 2, 4, 8):

            def unit(k, i):
                k.emit(form(i), write=0)
                for j in range(n):
                    k.emit(hmma(name, n * i + j, sums=12))

            measure(s, 'group', f'{n}{name}+{load}', unit, SETS, length=n + 1, registers=REGISTERS, fill=FILL,
                    shared=lambda w, l: 16 * l, shared2=lambda w, l: 4 * l)


def pipeline(s, name):
    """Steps of a warp tile of 2 x 4 fragments: loads of the next step's A and B, then this step's HMMA."""
    _, a_registers, b_registers, _ = SHAPES[name]
    for load in ('LDSM', 'LDS_for_B'):

        def step(k, half):
            """A in R32-R39 and R40-R47 (sets of four), B in R96-R103 and R104-R111."""
            a, b = 32 + 8 * (1 - half), 96 + 8 * (1 - half)
            for i in range(2):
                k.emit(f'LDSM.16.M88.4 R{a + 4 * i}, [R{SHARED}+{512 * i:#x}]', write=1 - half)
            if load == 'LDSM':
                for i in range(b_registers):
                    k.emit(f'LDSM.16.M88.4 R{b + 4 * i}, [R{SHARED}+{1024 + 512 * i:#x}]', write=1 - half)
            else:
                for i in range(4 * b_registers):
                    k.emit(f'LDS R{b + i}, [R{SHARED2}+{1024 + 128 * i:#x}]', write=1 - half)
            a, b = 32 + 8 * half, 96 + 8 * half
            for i in range(8):
                k.emit(hmma(name, i, a=a + 4 * (i // 4), b=b + b_registers * (i % 4), sums=8),
                       wait=1 << half if i == 0 else 0, reuse=1 if i % 4 != 3 else 0)

        def unit(k, i):
            step(k, 0)
            step(k, 1)

        loads_per_step = 2 + (b_registers if load == 'LDSM' else 4 * b_registers)
        measure(s, 'group', f'{name}_steps_{load}', unit, SETS, length=2 * (8 + loads_per_step), registers=REGISTERS,
                fill=FILL, shared=lambda w, l: 16 * l, shared2=lambda w, l: 4 * l)


def latencies(s):
    """Rows fixed_latency: from an HMMA's result to what reads it. Sources R44-R47 and R48:R49 hold ones."""
    for name, (instruction, _, _, ones) in SHAPES.items():

        def constants(k):
            for register in range(40, 50):
                k.emit(sm90.mov_imm(register, ones), stall=15)

        def clear(k):
            for register in range(52, 56):
                k.emit(f'MOV R{register}, RZ', stall=15)

        def then_hmma(a, b, c):

            def use(k, d):
                k.emit(f'{instruction} R56, {a}, {b}, {c}', stall=15)
                k.wait(45)
                settle(k, f'MOV R{d}, R56')

            return use

        consumers = {'C': then_hmma('R44', 'R48', 'R52'), 'A': then_hmma('R52', 'R48', 'RZ'),
                     'B': then_hmma('R44', 'R52', 'RZ')}
        for word in range(2 if name.endswith('sum_F16') else 4):
            consumers[f'MOV_word{word}'] = lambda k, d, word=word: settle(k, f'MOV R{d}, R{52 + word}')
            consumers[f'FADD_word{word}'] = lambda k, d, word=word: settle(k, f'FADD R{d}, R{52 + word}, RZ')
        consumers['STS_data'] = lambda k, d: (settle(k, 'STS [R16], R52', read=1), k.wait(30, 2),
                                              settle(k, f'LDS R{d}, [R16]', write=0), k.wait(30, 1))
        make = f'{instruction} R52, R44, R48, RZ'
        for consumer, use in consumers.items():
            sweep(s, name, make, consumer, use, clear, constants, LONG_STALLS)


def tensor(s):
    rates(s)
    latencies(s)
