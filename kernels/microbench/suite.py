"""Collects patched kernels and launch descriptions into the three files that runner.cu reads.

pack.bin holds the cubins, rows.bin the per-thread inputs, tests.txt one line per test. Every kernel built with
`begin` finds per-thread inputs in R16-R25 and, in R6:R7, the global address buffer + R18 + offset of its CTA.
Results go to 128 words per warp.
"""
import os
import struct

import sm90
from sm90 import BUILD, RZ, Kernel

# Names of the per-thread inputs and the registers they are loaded into.
INPUTS = ('shared', 'shared2', 'global_offset', 'role', 'delay', 'mask_low', 'mask_high', 'scale', 'window', 'one')
SHARED, SHARED2, OFFSET, ROLE, DELAY, MASK_LOW, MASK_HIGH, SCALE, WINDOW, ONE = range(16, 26)
ADDRESS = 6  # register pair
RESULTS = 128


def begin(kernel):
    """Loads the inputs; afterwards R0 is the thread, R1 the CTA."""
    e = kernel.emit
    e(sm90.uldc(sm90.DESC, 0x208, 64), stall=1)
    e(sm90.s2r(0, sm90.SR_TID), write=0)
    e(sm90.s2r(1, sm90.SR_CTAID), write=0)
    e(sm90.ldc(2, 0x218, 64), write=1)
    e(sm90.ldc(4, 0x220, 64), stall=2, write=1)
    e(sm90.imad_wide_u32_imm(2, 0, 4, 2), stall=6, wait=3)
    for i in range(len(INPUTS)):
        e(sm90.ldg(16 + i, 2, offset=4096 * i), stall=2, write=2)
    e(sm90.imad_wide_u32_imm(8, 1, 4, RZ), stall=6)
    e(sm90.ldc(8, 0x228, a=8), stall=2, write=3)
    e(sm90.iadd3(8, 8, OFFSET, RZ), stall=6, wait=12)
    e(sm90.imad_wide_u32_imm(ADDRESS, 8, 1, 4), stall=6)


def finish(kernel, registers):
    """Stores the given registers as the warp's results and ends the kernel."""
    e = kernel.emit
    warp_pointer(kernel)
    for i, register in enumerate(registers):
        e(sm90.stg(2, register, offset=4 * i), stall=2, read=0)
    kernel.wait(2, 1)
    e(sm90.EXIT, stall=5)


def warp_pointer(kernel):
    """R2:R3 = address of the results of this warp. Overwrites R8 and R9."""
    e = kernel.emit
    kernel.wait(15, 0x3f)
    e(sm90.ldc(2, 0x210, 64), stall=2, write=0)
    e(sm90.shift_right_imm(8, 0, 5), stall=6)
    e(sm90.imad_wide_u32_imm(2, 1, 32 * RESULTS * 4, 2), stall=6, wait=1)
    e(sm90.imad_wide_u32_imm(2, 8, RESULTS * 4, 2), stall=6)


def finish_trace(kernel):
    """Copies the 128 words at shared address R17 (one trace per warp) to the results and ends the kernel."""
    e = kernel.emit
    e(sm90.BAR_SYNC, stall=6)
    kernel.wait(15, 0x3f)
    e(sm90.and_imm(8, 0, 31), stall=6)
    e(sm90.imad_imm(9, 8, 4, SHARED2), stall=6)
    for i in range(4):
        e(sm90.lds(10 + i, 9, 32, 128 * i), stall=2, write=0)
    kernel.wait(2, 1)
    e(sm90.mov(27, 8), stall=6)
    warp_pointer(kernel)
    e(sm90.imad_wide_u32_imm(2, 27, 4, 2), stall=6)
    for i in range(4):
        e(sm90.stg(2, 10 + i, offset=128 * i), stall=2, read=0)
    kernel.wait(2, 1)
    e(sm90.EXIT, stall=5)


class Suite:
    """Kernels and launch descriptions."""

    def __init__(self):
        self.kernels = {}
        self.rows, self.known = bytearray(), {}
        self.tests, self.names = [], set()

    def kernel(self, name, build, registers=118):
        """Keeps build(kernel) once under this name; `registers` is the highest register that it uses, or more."""
        if name not in self.kernels:
            kernel = Kernel()
            build(kernel)
            self.kernels[name] = kernel, registers
        return name

    def test(self, name, kernel, block, grid=1, dynamic=32768, reps=3, first=False, cta_offset=None, **inputs):
        """One launch description, kept once per name. Each input is a number or a function (warp, lane) -> number."""
        if name in self.names:
            return
        assert ' ' not in name, name
        assert kernel in self.kernels, kernel
        self.names.add(name)
        inputs.setdefault('one', 0x3f800000)
        offsets = [self._row(inputs.get(key, 0), block) for key in INPUTS]
        if cta_offset:
            offsets.append(self._add(struct.pack(f'<{grid}I', *[cta_offset(c) for c in range(grid)])))
        else:
            offsets.append(-1)
        self.tests.append((name, kernel, [grid, block, dynamic, reps, int(first)] + offsets))

    def _row(self, value, block):
        values = [value(t // 32, t % 32) if callable(value) else value for t in range(block)]
        return self._add(struct.pack(f'<{block}I', *[v & 0xffffffff for v in values]))

    def _add(self, data):
        if data not in self.known:
            self.known[data] = len(self.rows)
            self.rows += data
        return self.known[data]

    def write(self):
        """Assembles all kernels and writes the three files."""
        os.makedirs(BUILD, exist_ok=True)
        pack, places = bytearray(), {}
        for name, cubin in sm90.assemble(self.kernels).items():
            places[name] = len(pack), len(cubin)
            pack += cubin
        with open(os.path.join(BUILD, 'pack.bin'), 'wb') as f:
            f.write(pack)
        with open(os.path.join(BUILD, 'rows.bin'), 'wb') as f:
            f.write(self.rows)
        with open(os.path.join(BUILD, 'tests.txt'), 'w') as f:
            for name, kernel, fields in self.tests:
                f.write(' '.join(map(str, [name, *places[kernel], *fields])) + '\n')
        print(f'{len(self.kernels)} kernels, {len(self.tests)} tests, {len(pack) / 1e6:.1f} MB')
