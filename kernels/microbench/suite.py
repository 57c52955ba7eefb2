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
    e(sm90.imm(0x7819, 8, RZ, 5, 0x00011600), stall=6)  # SHF.R.U32.HI R8 = R0 >> 5
    e(sm90.imad_wide_u32_imm(2, 1, 32 * RESULTS * 4, 2), stall=6, wait=1)
    e(sm90.imad_wide_u32_imm(2, 8, RESULTS * 4, 2), stall=6)


def finish_trace(kernel):
    """Copies the 128 words at shared address R17 (one trace per warp) to the results and ends the kernel."""
    e = kernel.emit
    e(sm90.BAR_SYNC, stall=6)
    kernel.wait(15, 0x3f)
    e(sm90.word(0x7812, 8, 0, 31, 0x078ec0ff), stall=6)  # R8 = R0 & 31
    e(sm90.imm(0x7824, 9, 8, 4, 0x078e0200 | SHARED2), stall=6)
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
    def __init__(self):
        os.makedirs(BUILD, exist_ok=True)
        self.pack, self.cubins = bytearray(), {}
        self.rows, self.known = bytearray(), {}
        self.tests, self.names = [], set()

    def kernel(self, name, build, registers=118):
        """Assembles build(kernel) once under this name."""
        if name not in self.cubins:
            kernel = Kernel()
            build(kernel)
            text = kernel.assemble()
            cubin = sm90.wrap(text, registers)
            self.cubins[name] = len(self.pack), len(cubin), text
            self.pack += cubin
        return name

    def test(self, name, kernel, block, grid=1, dynamic=32768, reps=5, first=False, cta_offset=None, **inputs):
        """One launch description, kept once per name. Each input is a number or a function (warp, lane) -> number."""
        if name in self.names:
            return
        assert ' ' not in name, name
        self.names.add(name)
        inputs.setdefault('one', 0x3f800000)
        offsets = [self._row(inputs.get(key, 0), block) for key in INPUTS]
        if cta_offset:
            offsets.append(self._add(struct.pack(f'<{grid}I', *[cta_offset(c) for c in range(grid)])))
        else:
            offsets.append(-1)
        at, size, _ = self.cubins[kernel]
        fields = [name, at, size, grid, block, dynamic, reps, int(first)] + offsets
        self.tests.append(' '.join(map(str, fields)))

    def _row(self, value, block):
        values = [value(t // 32, t % 32) if callable(value) else value for t in range(block)]
        return self._add(struct.pack(f'<{block}I', *[v & 0xffffffff for v in values]))

    def _add(self, data):
        if data not in self.known:
            self.known[data] = len(self.rows)
            self.rows += data
        return self.known[data]

    def write(self):
        with open(os.path.join(BUILD, 'pack.bin'), 'wb') as f:
            f.write(self.pack)
        with open(os.path.join(BUILD, 'rows.bin'), 'wb') as f:
            f.write(self.rows)
        with open(os.path.join(BUILD, 'tests.txt'), 'w') as f:
            f.write('\n'.join(self.tests) + '\n')
        for name, (_, _, text) in self.cubins.items():
            folder = os.path.join(BUILD, 'text')
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, name.replace('/', '_') + '.bin'), 'wb') as f:
                f.write(text)
        print(f'{len(self.cubins)} kernels, {len(self.tests)} tests, {len(self.pack) / 1e6:.1f} MB')
