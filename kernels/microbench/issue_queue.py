"""Item 2: queue of the memory pipe, from the issue times of consecutive requests while other warps fill the pipe."""
import sm90
from parts import LDS_ADDRESS, by_role, delay, for_window, lds_stream
from suite import ADDRESS, SHARED, begin, finish

REQUESTS = 40

PROBES = {
    'lds128': lambda k, i: k.emit(sm90.lds(32 + 4 * (i % 4), SHARED, 128), write=0),
    'lds32': lambda k, i: k.emit(sm90.lds(32 + i % 16, SHARED, 32), write=0),
    'sts32': lambda k, i: k.emit(sm90.sts(SHARED, 32, 32), read=1),
    'ldg128': lambda k, i: k.emit(sm90.ldg(32 + 4 * (i % 4), ADDRESS, 128, 512 * i, 'constant'), write=0, read=1),
}

# Roles of the warps: 0 idle, 1 background stream, 2 probe. Warp w runs on sub-partition w % 4.
SETS = {
    'alone': [2, 0, 0, 0],
    'alone2': [2, 0, 0, 0, 2, 0, 0, 0],
    'others1': [2, 1, 1, 1],
    'others2': [2, 1, 1, 1, 0, 1, 1, 1],
    'all1': [2, 1, 1, 1, 1, 0, 0, 0],
    'all2': [2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0],
    'all3': [2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0],
    'two_probes_others2': [2, 1, 1, 1, 2, 1, 1, 1],
    'burst4': [2] * 4,
    'burst8': [2] * 8,
    'burst16': [2] * 16,
}


def probe(request):
    """R64 = clock at the start, then one clock after every request, then one with all data back."""

    def part(k, tag):
        delay(k, tag)
        k.emit(sm90.clock(64), stall=2)
        for i in range(REQUESTS):
            request(k, i)
            k.emit(sm90.clock(65 + i), stall=1)
        k.wait(2, 0x3f)
        k.emit(sm90.clock(65 + REQUESTS), stall=2)

    return part


def issue_queue(s):
    bodies = [lambda k, tag: None, for_window(lds_stream())]
    for name, request in PROBES.items():
        kernel = s.kernel(f'queue_{name}', lambda k: (begin(k), by_role(k, bodies + [probe(request)]),
                                                      finish(k, range(64, 66 + REQUESTS))))
        for where, roles in SETS.items():
            crowded = 1 in roles
            for wavefronts in (2, 4, 8) if name == 'lds128' else (4,):
                for behind in (2, 4, 8) if crowded else (4,):

                    def address(w, l):
                        if roles[w] == 1:
                            return LDS_ADDRESS[behind](w, l)
                        return LDS_ADDRESS[wavefronts](w, l) if name == 'lds128' else 512 * w + 4 * l

                    s.test(f'queue/{name}/{wavefronts}/{where}/{behind if crowded else 0}', kernel, 32 * len(roles),
                           reps=3, window=9000, shared=address, role=lambda w, l: roles[w],
                           global_offset=lambda w, l: 32768 * w + 16 * l,
                           delay=lambda w, l: 100 if roles[w] == 2 and crowded else 0)
