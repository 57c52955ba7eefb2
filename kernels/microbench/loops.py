"""Items 7 and 8: instruction fetch of long loops, and the progress of warps through a tiled loop with barriers."""
import sm90
from parts import delay
from suite import OFFSET, SHARED, SHARED2, begin, finish, finish_trace

FETCH_SIZES = (64, 216, 356, 448, 570, 850, 1150, 1700, 2200)
FETCH_TRIPS = 60
TILES, STEPS = 15, 8


def fetch(s):
    """Loops of n instructions without register conflicts; a clock per trip goes to shared memory."""
    for n in FETCH_SIZES:
        for name in ('ffma', 'ffma_iadd3'):

            def build(k):
                e = k.emit
                begin(k)
                e(sm90.mov(9, SHARED2), stall=6)
                e(sm90.mov_imm(10, FETCH_TRIPS), stall=6)
                e(sm90.BAR_SYNC, stall=6)
                k.wait(30)
                delay(k, 'phase')
                k.label('loop')
                e(sm90.clock(11), stall=6)
                e(sm90.iadd3_imm(10, 10, -1), stall=4)
                e(sm90.sts(9, 11), stall=4, read=0)
                e(sm90.isetp_ne_imm(0, 10, 0), stall=2)
                for i in range(n):
                    if name == 'ffma' or i % 2:
                        e(sm90.ffma(32 + i % 8, 20, 20, 20))
                    else:
                        e(sm90.iadd3(40 + i % 8, 20, 20, 20))
                e(sm90.iadd3_imm(9, 9, 4), stall=12, wait=1)
                k.branch('loop', guard=0)
                e(sm90.clock(11), stall=6)
                e(sm90.sts(9, 11), stall=6, read=0)
                finish_trace(k)

            kernel = s.kernel(f'fetch_{name}_{n}', build, 64)
            half = max(1, n // 54)
            phases = {
                '1w': (1, 0),
                '4w': (4, 0),
                '8w': (8, 0),
                '8w_half_trip_apart': (8, lambda w, l: half if w >= 4 else 0),
                '8w_all_apart': (8, lambda w, l: 1 + half * 2 * w // 11),
                '16w': (16, 0),
            }
            for label, (warps, phase) in phases.items():
                s.test(f'fetch/{name}/{n}/{label}', kernel, 32 * warps, reps=3, delay=phase,
                       shared2=lambda w, l: 512 * w)


CURVE_SIZES = (160, 256, 320, 336, 352, 368, 384, 448, 640, 1024, 1600, 1920, 1984, 2016, 2032, 2048, 2176, 2560, 3840, 5120,
               7168, 7936, 8064, 8128, 8192, 8448, 9216, 10240)
CURVE_TRIPS = 24


def curve_loop(k, n):
    """A loop of n FFMA. R52, R53: clock at the start and at the end of the first trip; R54, R55: of all the trips behind
    it but the first."""
    e = k.emit
    begin(k)
    e(sm90.mov_imm(10, CURVE_TRIPS), stall=6)
    for register in range(52, 56):
        e(sm90.mov_imm(register, 0), stall=2)
    e(sm90.BAR_SYNC, stall=6)
    k.wait(60)
    e(sm90.clock(52), stall=6)
    k.label('loop')
    e(sm90.isetp_eq_imm(1, 10, CURVE_TRIPS - 2), stall=15)
    e(sm90.clock(54), stall=6, guard=1)
    e(sm90.iadd3_imm(10, 10, -1), stall=6)
    e(sm90.isetp_ne_imm(0, 10, 0), stall=2)
    for i in range(n):
        e(sm90.ffma(32 + i % 8, 25, 25, 25))
    e(sm90.isetp_eq_imm(1, 10, CURVE_TRIPS - 1), stall=15)
    e(sm90.clock(53), stall=6, guard=1)
    k.branch('loop', guard=0)
    e(sm90.clock(55), stall=6)
    finish(k, [52, 53, 54, 55])


def instructions_around():
    """Those of the kernel beside the FFMA."""
    kernel = sm90.Kernel()
    curve_loop(kernel, 0)
    return len(kernel)


CURVE_AROUND = instructions_around()


def curve(s):
    """Rows fetch_loop and fetch_first: one warp, or one on each sub-partition."""
    for n in CURVE_SIZES:
        kernel = s.kernel(f'curve_{n}', lambda k: curve_loop(k, n), 64)
        for warps, grid in ((1, 1), (4, 1), (4, 132)):
            s.test(f'curve/{n}/{warps}/{grid}', kernel, 32 * warps, grid=grid, reps=3, first=True)


A_REGISTERS, B_REGISTERS, ACCUMULATORS = (28, 44), (36, 52), 60  # two register sets for A and B


def load_step(k, step):
    half = step % 2
    for i in range(2):
        k.emit(sm90.lds(A_REGISTERS[half] + 4 * i, SHARED, 128, 4096 + 1024 * step + 16 * i), write=half)
    for i in range(2):
        k.emit(sm90.lds(B_REGISTERS[half] + 4 * i, 27, 128, 16384 + 1024 * step + 16 * i), write=half)


def compute_step(k, step):
    """An 8x8 outer product; then the clock goes to the trace."""
    half = step % 2
    for i in range(8):
        for j in range(8):
            d = ACCUMULATORS + 8 * i + (j ^ 1)  # never in the bank of B
            k.emit(sm90.ffma(d, A_REGISTERS[half] + i, B_REGISTERS[half] + j, d), reuse=1 if j < 7 else 0,
                   wait=1 << half if i == j == 0 else 0)
    k.emit(sm90.clock(11), stall=6)
    k.emit(sm90.sts(9, 11), stall=2, read=2)
    k.emit(sm90.iadd3_imm(9, 9, 4), stall=2, wait=4)


def progress(s):
    for pipelined in (True, False):
        for barrier in (True, False):

            def build(k):
                e = k.emit
                begin(k)
                e(sm90.mov(9, SHARED2), stall=6)
                e(sm90.mov(27, OFFSET), stall=6)
                e(sm90.mov_imm(10, TILES), stall=6)
                e(sm90.BAR_SYNC, stall=6)
                k.wait(30)
                k.label('tile')
                e(sm90.iadd3_imm(10, 10, -1), stall=6)
                e(sm90.isetp_ne_imm(0, 10, 0), stall=2)
                if pipelined:
                    load_step(k, 0)
                for step in range(STEPS):
                    if not pipelined:
                        load_step(k, step)
                    elif step + 1 < STEPS:
                        load_step(k, step + 1)
                    compute_step(k, step)
                if barrier:
                    e(sm90.BAR_SYNC, stall=6)
                k.branch('tile', guard=0)
                finish_trace(k)

            shape = ('pipelined' if pipelined else 'serial') + ('_barrier' if barrier else '_free')
            kernel = s.kernel(f'progress_{shape}', build, 124)
            b_addresses = {
                'lds_bound': lambda w, l: 32 * (l % 16),
                'fma_bound': lambda w, l: 16 * (l % 16) + 256 * (l // 16),
            }
            for bound, b_address in b_addresses.items():
                for warps in (4, 8, 16):
                    s.test(f'progress/{shape}/{bound}/{warps}', kernel, 32 * warps, dynamic=57344, reps=3,
                           shared=lambda w, l: 64 * w + 32 * (l // 16), shared2=lambda w, l: 32768 + 512 * w,
                           global_offset=b_address)
