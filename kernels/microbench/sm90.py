"""A small sm_90 assembler for microbenchmarks.

Writes machine code, with stall counts and scoreboards set by the caller, into the .text of a compiled placeholder
kernel. Only the instructions that gen.py needs are here; their encodings were read off ptxas output and are checked by
`python3 sm90.py LISTING.sass...` against listings printed by cuobjdump -sass.

An instruction is 128 bits: operation and operands in the low 64 and bits 0-40 of the high 64; the control field starts
at bit 41 of the high word: stall count (4 bits), yield (1), write scoreboard (3), read scoreboard (3), wait mask (6),
reuse flags (4).
"""
import os
import re
import struct
import subprocess
import sys

RZ, URZ, PT = 255, 63, 7
HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get('BUILD') or os.path.join(HERE, '..', '..', 'build', 'microbench')


def word(op, d=0, a=0, b=0, hi=0):
    """Register form: destination, first and second source; the rest of the high word is given as is."""
    return op | d << 16 | a << 24 | b << 32, hi


def imm(op, d=0, a=0, value=0, hi=0):
    """Immediate form: 32-bit value in place of the second source."""
    return word(op, d, a, value & 0xffffffff, hi)


def const(op, d=0, a=0, offset=0, hi=0, bank=0):
    """Constant form: c[bank][offset] in place of the second source."""
    return op | d << 16 | a << 24 | offset << 38 | bank << 54, hi


def mem(op, d=0, a=0, b=0, offset=0, hi=0):
    """Memory form: data register, address register, second register, 24-bit signed byte offset."""
    return op | d << 16 | a << 24 | b << 32 | (offset & 0xffffff) << 40, hi


_SIZE = {32: 0x800, 64: 0xa00, 128: 0xc00}
_GLOBAL = {32: 0x1900, 64: 0x1b00, 128: 0x1d00}
SR_TID, SR_CTAID = 0x21, 0x25
DESC = 4  # uniform register pair that holds the global memory descriptor


# --- vector arithmetic
def ffma(d, a, b, c): return word(0x7223, d, a, b, c)
def ffma_ur(d, a, ub, c): return word(0x7c23, d, a, ub, 0x08000000 | c)
def ffma_c(d, a, offset, c): return const(0x7a23, d, a, offset, c)
def imad(d, a, b, c): return word(0x7224, d, a, b, 0x078e0200 | c)
def imad_ur(d, a, ub, c): return word(0x7c24, d, a, ub, 0x0f8e0200 | c)
def imad_c(d, a, offset, c): return const(0x7a24, d, a, offset, 0x078e0200 | c)
def imad_wide_u32_imm(d, a, value, c): return imm(0x7825, d, a, value, 0x078e0000 | c)
def iadd3(d, a, b, c): return word(0x7210, d, a, b, 0x07ffe000 | c)
def iadd3_ur(d, a, ub, c=RZ): return word(0x7c10, d, a, ub, 0x0fffe000 | c)
def iadd3_neg_b(d, a, b, c=RZ): return word(0x7210, d, a, b | 1 << 31, 0x07ffe000 | c)
def iadd3_imm(d, a, value): return imm(0x7810, d, a, value, 0x07ffe0ff)
def and_(d, a, b): return word(0x7212, d, a, b, 0x078ec0ff)
def mov(d, a): return word(0x7202, d, 0, a, 0x0f00)
def mov_imm(d, value): return imm(0x7802, d, 0, value, 0x0f00)
def mov_ur(d, ua): return word(0x7c02, d, 0, ua, 0x08000f00)
def isetp_lt(p, a, b): return word(0x720c, 0, a, b, 0x03f01270 | p << 17)
def isetp_ge_imm(p, a, value): return imm(0x780c, 0, a, value, 0x03f06270 + (p << 17))
def isetp_eq_imm(p, a, value): return imm(0x780c, 0, a, value, 0x03f02270 + (p << 17))
def isetp_ne_imm(p, a, value): return imm(0x780c, 0, a, value, 0x03f05270 + (p << 17))
def clock(d): return word(0x7805, d, hi=0x5000)
def s2r(d, special): return word(0x7919, d, hi=special << 8)


# --- uniform datapath
def uiadd3(d, a, b): return word(0x7290, d, a, b, 0x0fffe03f)
def uiadd3_imm(d, a, value): return imm(0x7890, d, a, value, 0x0fffe03f)
def ulop3(d, a, b): return word(0x7292, d, a, b, 0x0f8e3c3f)
def ulop3_imm(d, a, value): return imm(0x7892, d, a, value, 0x0f8e3c3f)
def ushf_l_imm(d, a, value): return imm(0x7899, d, a, value, 0x0800063f)
def ulea(d, a, b, shift): return word(0x7291, d, a, b, 0x0f8e003f | shift << 11)
def umov_imm(d, value): return imm(0x7882, d, 0, value)
def umov(d, a): return word(0x7c82, d, 0, a, 0x08000000)
def uimad(d, a, b, c): return word(0x72a4, d, a, b, 0x0f8e0200 | c)
def r2ur(d, a): return word(0x72ca, d, a, hi=0x000e0000)
def s2ur(d, special): return word(0x79c3, d, hi=special << 8)
def uldc(d, offset, size=32): return const(0x7ab9, d, 0, offset, _SIZE[size])


# --- memory
def ldc(d, offset, size=32, a=RZ): return const(0x7b82, d, a, offset, _SIZE[size])
def lds(d, a, size=32, offset=0): return mem(0x7984, d, a, 0, offset, _SIZE[size])
def lds_ur(d, ua): return mem(0x7984, d, RZ, ua, 0, 0x08000000 | _SIZE[32])
def sts(a, v, size=32, offset=0): return mem(0x7388, 0, a, v, offset, _SIZE[size])
def ldg(d, a, size=32, offset=0, kind='plain'):
    extra = {'plain': 0, 'constant': 0x8000, 'strong': 0xe000}[kind]
    return mem(0x7981, d, a, DESC, offset, 0x0c1e0000 + _GLOBAL[size] + extra)


def stg(a, v, size=32, offset=0): return mem(0x7986, 0, a, v, offset, 0x0c100000 | _GLOBAL[size] | DESC)


BAR_SYNC = (0x7b1d, 0x00010000)
MEMBAR_GPU = (0x7992, 0x2000)
NOP = (0x7918, 0)
EXIT = (0x794d, 0x03800000)
BRA = (0x7947, 0x03800000)


class Kernel:
    """A list of encoded instructions with labels."""

    def __init__(self):
        self.code, self.labels, self.branches = [], {}, []

    def __len__(self):
        return len(self.code)

    def emit(self, encoding, stall=1, yield_=None, write=7, read=7, wait=0, reuse=0, guard=PT, negate=False):
        """Appends one instruction. write/read name scoreboards (7 = none); wait is a mask of scoreboards."""
        lo, hi = encoding
        assert lo >> 64 == 0 and hi >> 41 == 0, encoding
        if yield_ is None:
            yield_ = 1 if stall <= 2 else 0
        lo = (lo & ~0xf000) | (guard | negate << 3) << 12
        control = stall | yield_ << 4 | write << 5 | read << 8 | wait << 11 | reuse << 17
        self.code.append([lo, hi | control << 41])

    def label(self, name):
        self.labels[name] = len(self.code)

    def branch(self, name, guard=PT, negate=False):
        self.branches.append((len(self.code), name))
        self.emit(BRA, stall=5, yield_=1, guard=guard, negate=negate)

    def wait(self, cycles=2, mask=0):
        """Idles for about `cycles`, after waiting for the scoreboards in `mask`."""
        while cycles > 0:
            self.emit(NOP, stall=min(cycles, 15), wait=mask)
            cycles, mask = cycles - 15, 0

    def assemble(self):
        for at, name in self.branches:
            distance = (self.labels[name] - at - 1) * 4 & (1 << 56) - 1
            self.code[at][0] |= (distance & 0xff) << 16 | (distance >> 8 & 0x3fffffff) << 34
            self.code[at][1] |= distance >> 38 & 0x3ffff
        return b''.join(struct.pack('<QQ', lo, hi) for lo, hi in self.code)


PLACEHOLDER = '''#include <cstdint>
struct Parameters {{ uint32_t v[900]; }};
extern "C" __global__ void k(uint32_t* out, const uint32_t* in, uint32_t* buffer, const Parameters p) {{
  extern __shared__ uint32_t shared[];
  uint32_t x = in[threadIdx.x];
  asm volatile("bar.sync %0, %1;" ::"r"(x & 15), "r"(64));
  float a = in[1], b = in[2], c = in[3];
  {fillers}
  out[threadIdx.x] = a + shared[x] + p.v[x];
}}
'''


def placeholder(size):
    """A compiled kernel with room for `size` instructions."""
    path = os.path.join(BUILD, f'placeholder{size}.cubin')
    if not os.path.exists(path):
        os.makedirs(BUILD, exist_ok=True)
        source = path.replace('.cubin', '.cu')
        filler = 'asm volatile("fma.rn.f32 %0,%0,%1,%2;" : "+f"(a) : "f"(b), "f"(c));'
        with open(source, 'w') as f:
            f.write(PLACEHOLDER.format(fillers='\n  '.join([filler] * size)))
        subprocess.check_call(['nvcc', '-arch=sm_90', '-cubin', '-o', path, source])
    with open(path, 'rb') as f:
        return bytearray(f.read())


def sections(elf):
    start, = struct.unpack_from('<Q', elf, 0x28)
    entry, count, names = struct.unpack_from('<HHH', elf, 0x3a)
    headers = [struct.unpack_from('<IIQQQQIIQQ', elf, start + i * entry) for i in range(count)]
    strings = headers[names][4]
    return {elf[strings + h[0]:elf.index(0, strings + h[0])].decode(): (h[4], h[5]) for h in headers}


def wrap(text, registers):
    """Puts machine code with exactly one EXIT into a placeholder and returns the cubin."""
    count = len(text) // 16
    elf = placeholder(next(s for s in (400, 1000, 2000, 4000) if s >= count + 2))
    found = sections(elf)
    offset, size = found['.text.k']
    nop = struct.pack('<QQ', 0x7918, 0x7e0 << 41)
    elf[offset:offset + size] = text + nop * ((size - len(text)) // 16)
    exits = [i * 16 for i in range(count) if struct.unpack_from('<Q', text, i * 16)[0] & 0xfff == 0x94d]
    assert len(exits) == 1, exits
    registers = max(24, (registers + 2 + 7) // 8 * 8)  # the hardware needs two beyond the highest one used
    for name in ('.nv.info', '.nv.info.k'):
        at, size = found[name]
        end = at + size
        while at < end:
            form, attribute = elf[at], elf[at + 1]
            if form != 4:
                at += 4
                continue
            if attribute == 0x2f:
                struct.pack_into('<I', elf, at + 8, registers)
            if attribute == 0x1c:
                struct.pack_into('<I', elf, at + 4, exits[0])
            at += 4 + struct.unpack_from('<H', elf, at + 2)[0]
    return bytes(elf)


# --- self-check against listings
def _number(s):
    return RZ if s == 'RZ' else URZ if s == 'URZ' else int(s.lstrip('UR'), 0)


_CHECKS = [
    (r'FFMA (R\w+), (R\w+), (R\w+), (R\w+)$', ffma),
    (r'IMAD (R\w+), (R\w+), (R\w+), (R\w+)$', imad),
    (r'IMAD (R\w+), (R\w+), (UR\w+), (R\w+)$', imad_ur),
    (r'IADD3 (R\w+), (R\w+), (R\w+), (R\w+)$', iadd3),
    (r'IADD3 (R\w+), (R\w+), -(R\w+), (R\w+)$', iadd3_neg_b),
    (r'IADD3 (R\w+), (R\w+), (UR\w+), RZ$', iadd3_ur),
    (r'IADD3 (R\w+), (R\w+), (0x\w+), RZ$', iadd3_imm),
    (r'MOV (R\w+), (R\w+)$', mov),
    (r'MOV (R\w+), (0x\w+)$', mov_imm),
    (r'MOV (R\w+), (UR\w+)$', mov_ur),
    (r'UIADD3 (UR\w+), (UR\w+), (UR\w+), URZ$', uiadd3),
    (r'UIADD3 (UR\w+), (UR\w+), (0x\w+), URZ$', uiadd3_imm),
    (r'ULOP3\.LUT (UR\w+), (UR\w+), (0x\w+), URZ, 0x3c, !UPT$', ulop3_imm),
    (r'USHF\.L\.U32 (UR\w+), (UR\w+), (0x\w+), URZ$', ushf_l_imm),
    (r'ULEA (UR\w+), (UR\w+), (UR\w+), (0x\w+)$', ulea),
    (r'UMOV (UR\w+), (0x\w+)$', umov_imm),
    (r'UMOV (UR\w+), (UR\w+)$', umov),
    (r'ULDC (UR\w+), c\[0x0\]\[(0x\w+)\]$', uldc),
    (r'LDC (R\w+), c\[0x0\]\[(0x\w+)\]$', ldc),
    (r'LDS\.128 (R\w+), \[(R\w+)\+(0x\w+)\]$', lambda d, a, o: lds(d, a, 128, o)),
    (r'STS \[(R\w+)\+(0x\w+)\], (R\w+)$', lambda a, o, v: sts(a, v, 32, o)),
    (r'STS\.128 \[(R\w+)\], (R\w+)$', lambda a, v: sts(a, v, 128)),
    (r'LDG\.E\.128\.CONSTANT (R\w+), desc\[UR\d+\]\[(R\w+)\.64\]$', lambda d, a: ldg(d, a, 128, 0, 'constant')),
    (r'STG\.E desc\[UR\d+\]\[(R\w+)\.64\+(0x\w+)\], (R\w+)$', lambda a, o, v: stg(a, v, 32, o)),
    (r'STG\.E\.64 desc\[UR\d+\]\[(R\w+)\.64\+(0x\w+)\], (R\w+)$', lambda a, o, v: stg(a, v, 64, o)),
    (r'S2UR (UR\w+), SR_CTAID\.X$', lambda d: s2ur(d, SR_CTAID)),
    (r'S2R (R\w+), SR_TID\.X$', lambda d: s2r(d, SR_TID)),
    (r'ISETP\.GE\.AND P0, PT, (R\w+), (0x\w+), PT$', lambda a, v: isetp_ge_imm(0, a, v)),
]


def check(paths):
    """Compares the encoders with every instruction of the listings that one of them covers."""
    seen = wrong = 0
    for path in paths:
        with open(path) as f:
            lines = f.read().split('\n')
        for first, second in zip(lines, lines[1:]):
            a = re.match(r'\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;\s+/\* 0x([0-9a-f]{16}) \*/', first)
            b = re.match(r'\s+/\* 0x([0-9a-f]{16}) \*/', second)
            if not a or not b:
                continue
            words = int(a[2], 16), int(b[1], 16) & (1 << 41) - 1
            for pattern, encoder in _CHECKS:
                m = re.match(pattern, a[1].replace('.reuse', ''))
                if m:
                    lo, hi = encoder(*[_number(g) for g in m.groups()])
                    if 'desc[' in a[1]:  # the descriptor register differs from listing to listing
                        at, register = (0, hi & 0xff) if 'STG' in a[1] else (32, 0)
                        words = (words[0] & ~(0xff << 32), words[1]) if at else (words[0], words[1] & ~0xff)
                        lo, hi = (lo & ~(0xff << 32), hi) if at else (lo, hi & ~0xff)
                    seen += 1
                    if (lo, hi) != words:
                        wrong += 1
                        print(f'{a[1]}: {words[0]:016x} {words[1]:011x}, encoded {lo:016x} {hi:011x}')
                    break
    print(f'{seen} instructions compared, {wrong} differ')
    return wrong


if __name__ == '__main__':
    sys.exit(1 if check(sys.argv[1:]) else 0)
