"""Machine-code tests as text: lists of SASS instructions with their control fields.

`tilesim trace assemble` makes cubins of the text (traces/sass/assembler.h says how it is written); this module only
spells. The functions below name the instructions that many tests share; `emit` takes any other line of SASS as a string.
"""
import os
import subprocess
import sys
import tempfile

RZ, URZ, PT = 255, 63, 7
HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get('BUILD') or os.path.join(HERE, '..', '..', 'build', 'microbench')

SR_TID, SR_CTAID = 'SR_TID.X', 'SR_CTAID.X'
DESC = 4  # uniform register pair that holds the global memory descriptor


def r(n):
    return 'RZ' if n == RZ else f'R{n}'


def u(n):
    return 'URZ' if n == URZ else f'UR{n}'


def c(offset, bank=0):
    return f'c[{bank:#x}][{offset:#x}]'


def _size(bits):
    return '' if bits == 32 else f'.{bits}'


def _offset(n):
    return f'+{n:#x}' if n else ''


def _sum(*parts):
    return f'[{"+".join(parts)}]'


# --- vector arithmetic
def ffma(d, a, b, c_): return f'FFMA {r(d)}, {r(a)}, {r(b)}, {r(c_)}'
def ffma_ur(d, a, ub, c_): return f'FFMA {r(d)}, {r(a)}, {u(ub)}, {r(c_)}'
def ffma_c(d, a, offset, c_): return f'FFMA {r(d)}, {r(a)}, {c(offset)}, {r(c_)}'
def imad(d, a, b, c_): return f'IMAD {r(d)}, {r(a)}, {r(b)}, {r(c_)}'
def imad_imm(d, a, value, c_): return f'IMAD {r(d)}, {r(a)}, {value:#x}, {r(c_)}'
def imad_ur(d, a, ub, c_): return f'IMAD {r(d)}, {r(a)}, {u(ub)}, {r(c_)}'
def imad_c(d, a, offset, c_): return f'IMAD {r(d)}, {r(a)}, {c(offset)}, {r(c_)}'
def imad_wide_u32_imm(d, a, value, c_): return f'IMAD.WIDE.U32 {r(d)}, {r(a)}, {value:#x}, {r(c_)}'
def iadd3(d, a, b, c_): return f'IADD3 {r(d)}, {r(a)}, {r(b)}, {r(c_)}'
def iadd3_ur(d, a, ub, c_=RZ): return f'IADD3 {r(d)}, {r(a)}, {u(ub)}, {r(c_)}'
def iadd3_neg_b(d, a, b, c_=RZ): return f'IADD3 {r(d)}, {r(a)}, -{r(b)}, {r(c_)}'
def iadd3_imm(d, a, value): return f'IADD3 {r(d)}, {r(a)}, {value:#x}, RZ'
def and_(d, a, b): return f'LOP3.LUT {r(d)}, {r(a)}, {r(b)}, RZ, 0xc0, !PT'
def and_imm(d, a, value): return f'LOP3.LUT {r(d)}, {r(a)}, {value:#x}, RZ, 0xc0, !PT'
def shift_right_imm(d, a, value): return f'SHF.R.U32.HI {r(d)}, RZ, {value:#x}, {r(a)}'
def mov(d, a): return f'MOV {r(d)}, {r(a)}'
def mov_imm(d, value): return f'MOV {r(d)}, {value:#x}'
def mov_ur(d, ua): return f'MOV {r(d)}, {u(ua)}'
def isetp_lt(p, a, b): return f'ISETP.LT.AND P{p}, PT, {r(a)}, {r(b)}, PT'
def isetp_ge_imm(p, a, value): return f'ISETP.GE.AND P{p}, PT, {r(a)}, {value:#x}, PT'
def isetp_eq_imm(p, a, value): return f'ISETP.EQ.AND P{p}, PT, {r(a)}, {value:#x}, PT'
def isetp_ne_imm(p, a, value): return f'ISETP.NE.AND P{p}, PT, {r(a)}, {value:#x}, PT'
def clock(d): return f'CS2R.32 {r(d)}, SR_CLOCKLO'
def s2r(d, special): return f'S2R {r(d)}, {special}'


# --- uniform datapath
def uiadd3(d, a, b): return f'UIADD3 {u(d)}, {u(a)}, {u(b)}, URZ'
def uiadd3_imm(d, a, value): return f'UIADD3 {u(d)}, {u(a)}, {value:#x}, URZ'
def ulop3(d, a, b): return f'ULOP3.LUT {u(d)}, {u(a)}, {u(b)}, URZ, 0x3c, !UPT'
def ulop3_imm(d, a, value): return f'ULOP3.LUT {u(d)}, {u(a)}, {value:#x}, URZ, 0x3c, !UPT'
def ushf_l_imm(d, a, value): return f'USHF.L.U32 {u(d)}, {u(a)}, {value:#x}, URZ'
def ulea(d, a, b, shift): return f'ULEA {u(d)}, {u(a)}, {u(b)}, {shift:#x}'
def umov_imm(d, value): return f'UMOV {u(d)}, {value:#x}'
def umov(d, a): return f'UMOV {u(d)}, {u(a)}'
def uimad(d, a, b, c_): return f'UIMAD {u(d)}, {u(a)}, {u(b)}, {u(c_)}'
def r2ur(d, a): return f'R2UR {u(d)}, {r(a)}'
def s2ur(d, special): return f'S2UR {u(d)}, {special}'
def uldc(d, offset, size=32): return f'ULDC{_size(size)} {u(d)}, {c(offset)}'


# --- memory
def ldc(d, offset, size=32, a=RZ):
    place = c(offset) if a == RZ else f'c[0x0][{r(a)}{_offset(offset)}]'
    return f'LDC{_size(size)} {r(d)}, {place}'


def lds(d, a, size=32, offset=0): return f'LDS{_size(size)} {r(d)}, [{r(a)}{_offset(offset)}]'
def lds_ur(d, ua): return f'LDS {r(d)}, [{u(ua)}]'
def sts(a, v, size=32, offset=0): return f'STS{_size(size)} [{r(a)}{_offset(offset)}], {r(v)}'


def ldg(d, a, size=32, offset=0, kind='plain'):
    order = {'plain': '', 'constant': '.CONSTANT', 'strong': '.STRONG.GPU'}[kind]
    return f'LDG.E{_size(size)}{order} {r(d)}, desc[{u(DESC)}][{r(a)}.64{_offset(offset)}]'


def stg(a, v, size=32, offset=0): return f'STG.E{_size(size)} desc[{u(DESC)}][{r(a)}.64{_offset(offset)}], {r(v)}'


BAR_SYNC = 'BAR.SYNC.DEFER_BLOCKING 0x0'
MEMBAR_GPU = 'MEMBAR.SC.GPU'
NOP = 'NOP'
EXIT = 'EXIT'


class Kernel:
    """Lines of text with labels."""

    def __init__(self):
        self.lines, self.count = [], 0

    def __len__(self):
        return self.count

    def emit(self, text, stall=1, yield_=None, write=7, read=7, wait=0, reuse=0, guard=PT, negate=False):
        """Appends one instruction. write/read name scoreboards (7 = none); wait is a mask of scoreboards; reuse one of
        the sources a, b, c (1, 2, 4)."""
        if yield_ is None:
            yield_ = 1 if stall <= 2 else 0
        waits = ''.join(str(i) if wait >> i & 1 else '-' for i in range(6))
        boards = ['-' if board == 7 else str(board) for board in (read, write)]
        guarded = '' if guard == PT and not negate else f'@{"!" if negate else ""}P{"T" if guard == PT else guard} '
        if reuse:
            head, operands = text.split(' ', 1)
            parts = operands.split(', ')
            text = head + ' ' + ', '.join(p + ('.reuse' if i and reuse >> (i - 1) & 1 else '')
                                          for i, p in enumerate(parts))
        self.lines.append(f'[B{waits}:R{boards[0]}:W{boards[1]}:{"-" if yield_ else "Y"}:S{stall:02}] {guarded}{text}')
        self.count += 1

    def label(self, name):
        self.lines.append(name + ':')

    def branch(self, name, guard=PT, negate=False):
        self.emit('BRA ' + name, stall=5, yield_=1, guard=guard, negate=negate)

    def wait(self, cycles=2, mask=0):
        """Idles for about `cycles`, after waiting for the scoreboards in `mask`."""
        while cycles > 0:
            self.emit(NOP, stall=min(cycles, 15), wait=mask)
            cycles, mask = cycles - 15, 0


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
SIZES = (400, 1000, 2000, 4000, 10400)  # instructions


def placeholder(size):
    """A compiled kernel with room for `size` instructions."""
    path = os.path.join(BUILD, f'placeholder{size}.cubin')
    if not os.path.exists(path):
        os.makedirs(BUILD, exist_ok=True)
        source = path.replace('.cubin', '.cu')
        filler = 'asm volatile("fma.rn.f32 %0,%0,%1,%2;" : "+f"(a) : "f"(b), "f"(c));'
        with open(source, 'w') as f:
            f.write(PLACEHOLDER.format(fillers='\n  '.join([filler] * size)))
        subprocess.check_call([os.environ.get('NVCC', 'nvcc'), '-arch=sm_90', '-cubin', '-o', path, source])
    return path


def write_text(kernels, path):
    """The text that is assembled, with the registers that the hardware gives: two beyond the highest one, in eights."""
    with open(path, 'w') as f:
        for name, (kernel, registers) in kernels.items():
            allotted = max(24, (registers + 2 + 7) // 8 * 8)
            f.write('\n'.join([f'.kernel {name}', f'.registers {allotted}'] + kernel.lines) + '\n')


def assemble(kernels):
    """Name -> cubin for name -> (Kernel, highest register). All in one call of tilesim."""
    longest = max(len(kernel) for kernel, _ in kernels.values())
    cubins = {}
    with tempfile.TemporaryDirectory(dir=BUILD) as out:
        text = os.path.join(out, 'text')
        write_text(kernels, text)
        command = [os.environ.get('TILESIM', 'tilesim'), 'trace', 'assemble', text, '--out', out + '/']
        for i, size in enumerate(SIZES):
            if i == 0 or SIZES[i - 1] < longest:
                command += ['--into', placeholder(size)]
        try:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        except FileNotFoundError:
            sys.exit(f'no {command[0]}: name the command in TILESIM, or put it into PATH')
        for name in kernels:
            with open(os.path.join(out, name + '.cubin'), 'rb') as f:
                cubins[name] = f.read()
    return cubins
