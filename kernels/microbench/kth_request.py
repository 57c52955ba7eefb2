"""When the K-th of a row of requests issues, and when all K are done: depths and rates of the queues behind issue."""
import sm90
from pipes import request
from rates import SUBPARTITION
from suite import ROLE, begin, finish

COUNTS = list(range(37)) + [40, 44, 48]
SETS = {'1sub1w': [1], '1sub2w': SUBPARTITION[2], '4sub4w': [1] * 4, '4sub16w': [1] * 16}
# name: (writes one request, bytes between lanes in shared memory)
KINDS = {
    'LDS_32': (lambda k, i: request(k, 'LDS_32', i), 4),
    'LDS_32_conflict32': (lambda k, i: request(k, 'LDS_32', i), 128),
    'LDS_128': (lambda k, i: request(k, 'LDS_128', i), 16),
    'STS_32': (lambda k, i: request(k, 'STS_32', i), 4),
    'STS_128': (lambda k, i: request(k, 'STS_128', i), 16),
    'LDG_128_L1': (lambda k, i: request(k, 'LDG_128_L1', i), 16),
    'LDSM_4': (lambda k, i: request(k, 'LDSM_4', i), 16),
    'LDGSTS_128': (lambda k, i: request(k, 'LDGSTS_128', i), 16),
    'LDGSTS_BYPASS_128': (lambda k, i: request(k, 'LDGSTS_BYPASS_128', i), 16),
    'SHFL': (lambda k, i: k.emit(f'SHFL.BFLY PT, R{64 + i % 32}, R25, 0x1, 0x1f', write=0), 0),
    'MUFU': (lambda k, i: k.emit(f'MUFU.EX2 R{64 + i % 32}, R25', write=0), 0),
}


def drain(k, name):
    """Waits for all requests; copies and stores have no scoreboard of their own result."""
    if name.startswith('LDGSTS'):
        k.emit('LDGDEPBAR', stall=2, write=0)
        k.emit('DEPBAR.LE SB0, 0x0', stall=4, wait=1)
    elif name.startswith('STS'):
        k.emit('LDS R60, [R16]', stall=2, write=0)
    k.wait(2, 0x3f)


def kth_request(s):
    """Rows queue_issue and queue_done. R52-R54: clock before, after the K-th, with all done; of the second pass."""
    for name, (one, lane_bytes) in KINDS.items():
        for count in COUNTS:

            def build(k):
                begin(k)
                k.emit(sm90.mov_imm(52, 0), stall=6)
                k.emit(sm90.mov_imm(11, 2), stall=6)
                k.emit(sm90.isetp_eq_imm(6, ROLE, 1), stall=15)
                k.label('pass')
                k.emit(sm90.BAR_SYNC, stall=6)
                k.branch('skip', guard=6, negate=True)
                k.wait(60)
                k.emit(sm90.clock(52), stall=6)
                for i in range(count):
                    one(k, i)
                k.emit(sm90.clock(53), stall=1)
                drain(k, name)
                k.emit(sm90.clock(54), stall=6)
                k.label('skip')
                k.emit(sm90.iadd3_imm(11, 11, -1), stall=6)
                k.emit(sm90.isetp_ne_imm(0, 11, 0), stall=15)
                k.branch('pass', guard=0)
                finish(k, [52, 53, 54])

            kernel = s.kernel(f'kth_{name}_{count}', build, 96)
            for where, roles in SETS.items():
                s.test(f'kth/{name}/{where}/{count}', kernel, 32 * len(roles), reps=3, role=lambda w, l: roles[w],
                       shared=lambda w, l: lane_bytes * l, global_offset=lambda w, l: 16 * l)
