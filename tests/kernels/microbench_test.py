#!/usr/bin/env python3
"""The machine-code microbenchmarks without a GPU: everything but the launches.

  microbench_test.py FOLDER      exit code 4: no nvcc, which makes the placeholders

$TILESIM is the command; NVCC, CUDA_HOME and PATH say where nvcc is.
"""
import csv
import fnmatch
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, '..', '..', 'kernels', 'microbench')
KERNELS_PER_CHECK = 97
FAILURES = []


def check(condition, text):
    if not condition:
        FAILURES.append(text)
        print('FAILED:', text)


def nvcc():
    home = os.environ.get('CUDA_HOME')
    for name in (os.environ.get('NVCC'), 'nvcc', home and home + '/bin/nvcc', '/usr/local/cuda/bin/nvcc'):
        if name and shutil.which(name):
            return name
    print('no nvcc: the placeholders were not compiled; install the CUDA toolkit 13.0')
    sys.exit(4)


def launches(folder):
    """The lines of tests.txt against the files that they point into."""
    pack = os.path.getsize(os.path.join(folder, 'pack.bin'))
    rows = os.path.getsize(os.path.join(folder, 'rows.bin'))
    tests = {}
    with open(os.path.join(folder, 'tests.txt')) as f:
        for line in f:
            name, *fields = line.split()
            offset, size, grid, block, shared, reps, first, *inputs = map(int, fields)
            check(name not in tests, f'{name} is there twice')
            check(offset + size <= pack and size > 0, f'{name}: the cubin lies outside pack.bin')
            check(1 <= grid <= 264 and block % 32 == 0 and 32 <= block <= 1024, f'{name}: {grid} CTAs of {block}')
            check(shared <= 100 * 1024 and reps >= 1, f'{name}: {shared} bytes, {reps} repetitions')
            check(len(inputs) == 11, f'{name}: {len(inputs)} inputs')
            check(all(0 <= i and i + 4 * block <= rows for i in inputs[:10]), f'{name}: inputs outside rows.bin')
            tests[name] = grid, block, reps, first
    return tests


def kernels(folder):
    """Name -> registers and lines of the text that was assembled."""
    found = {}
    with open(os.path.join(folder, 'text')) as f:
        for line in f:
            if line.startswith('.kernel '):
                name = line.split()[1]
                found[name] = [0, []]
            elif line.startswith('.registers '):
                found[name][0] = int(line.split()[1])
            elif line.startswith('['):
                found[name][1].append(line.rstrip('\n'))
    return found


def read_back(folder):
    """Some cubins are what their text says; every kernel has one EXIT."""
    all_kernels = kernels(folder)
    check(len(all_kernels) > 1000, f'{len(all_kernels)} kernels')
    for name, (registers, lines) in all_kernels.items():
        check(sum(' EXIT' in line for line in lines) == 1, f'{name}: one EXIT is expected')
        check(24 <= registers <= 128, f'{name}: {registers} registers')
    places = []
    with open(os.path.join(folder, 'tests.txt')) as f:
        for line in f:
            place = tuple(map(int, line.split()[1:3]))
            if place not in places[-1:]:
                places.append(place)
    places = sorted(set(places))
    check(len(places) == len(all_kernels), f'{len(places)} cubins for {len(all_kernels)} kernels')
    with open(os.path.join(folder, 'pack.bin'), 'rb') as f:
        pack = f.read()
    for (offset, size), name in list(zip(places, all_kernels))[::KERNELS_PER_CHECK]:
        registers, lines = all_kernels[name]
        cubin = os.path.join(folder, 'one.cubin')
        with open(cubin, 'wb') as f:
            f.write(pack[offset:offset + size])
        text = subprocess.run([os.environ['TILESIM'], 'trace', 'disassemble', cubin], check=True, capture_output=True,
                              text=True).stdout.split('\n')
        check(text[1] == f'.registers {registers}', f'{name}: {text[1]}')
        for line, wanted in zip(text[2:], lines):
            if ' BRA ' not in wanted and '+0x0]' not in wanted:
                check(line == wanted, f'{name}: {line} instead of {wanted}')
        check(all(line.endswith(' NOP') for line in text[2 + len(lines):-1]), f'{name}: more than NOPs behind the code')


# Requests of a warp that issue at once: of the spec's queues of 10 and 20 places, and of 2 for MUFU.
IN_FLIGHT = {('LDS_32_conflict32', '1sub1w'): 30, ('LDS_32_conflict32', '4sub4w'): 15, ('MUFU', '1sub1w'): 2}
DERIVED = {
    'memory queue of a sub-partition': 10, 'memory queue that all share': 20, 'queue of MUFU': 2,
    'L0 of instructions: the longest loop without 5 more cycles per trip than 160': 5632,
    'L1 of instructions: the longest loop without 5 more cycles per trip than 640': 31744,
    'L1.5 of instructions: the longest loop without 5 % more cycles per instruction than 5120': 129024}


def trip(instructions):
    """Cycles of a loop through caches of 352, 1984 and 8064 instructions."""
    return (instructions + (61 if instructions > 352 else 50) + (1.06 * instructions if instructions > 1984 else 0) +
            (3.6 * instructions if instructions > 8064 else 0))



def made_up(name, warp):
    """Results of one warp: clocks that go on, and a stop of issue where a queue is full."""
    kind, *rest = name.split('/')
    if kind == 'curve':
        first = trip(int(rest[0]))
        return [1000, 1000 + int(2 * first), 2000, 2000 + int(22 * first)]
    if kind != 'kth':
        return [1000 + 13 * i + (i * i + warp) % 7 for i in range(128)]
    count = int(rest[2])
    issued = 7 + count + 64 * max(0, count - IN_FLIGHT.get((rest[0], rest[1]), 100))
    return [1000, 1000 + issued, 1100 + issued]


def report(folder, tests):
    """Rows of made-up results: every test has rows, and all that spec_rows.csv names of the machine code are there."""
    raw = os.path.join(folder, 'raw')
    os.makedirs(raw, exist_ok=True)
    with open(os.path.join(raw, 'sass.txt'), 'w') as f:
        for name, (grid, block, reps, first) in tests.items():
            for rep in range(-1 if first else 0, reps):
                for cta in range(grid if name.startswith('stg') else 1):
                    for warp in range(block // 32):
                        words = ' '.join(f'{word:x}' for word in made_up(name, warp))
                        f.write(f'{name} {rep} {cta} {warp} {words}\n')
    written = os.path.join(folder, 'rows.csv')
    with open(written, 'w') as f:
        subprocess.run([sys.executable, os.path.join(SOURCES, 'report.py'), raw], check=True, stdout=f)
    with open(written) as f:
        found = list(csv.DictReader(f))
    names = [(row['name'], row['param']) for row in found]
    check(len(names) == len(set(names)), 'a row is there twice')
    for row in found:
        low, high = map(float, row['spread'].split('..'))
        value, where = float(row['value']), f'{row["name"]}, {row["param"]}'
        check(low <= value <= high, f'{where}: {value} outside {row["spread"]}')
    for param, value in DERIVED.items():
        values = [float(row['value']) for row in found if (row['name'], row['param']) == ('derived', param)]
        check(values == [value], f'derived, {param}: {values} instead of {value}')
    code_names = {name for name, _ in names}
    with open(os.path.join(SOURCES, 'spec_rows.csv')) as f:
        for rule in csv.DictReader(f):
            if rule['row_name'] in code_names:
                fits = [param for name, param in names
                        if name == rule['row_name'] and fnmatch.fnmatchcase(param, rule['row_param'])]
                check(fits, f'{rule["spec_key"]}: no row {rule["row_name"]}, {rule["row_param"]}')
    return len(found)


def main():
    folder = os.path.join(os.path.abspath(sys.argv[1]), 'microbench')
    environment = dict(os.environ, NVCC=nvcc(), BUILD=folder, PYTHONDONTWRITEBYTECODE='1')
    os.environ.update(environment)
    text = os.path.join(folder, 'text')
    subprocess.run([sys.executable, os.path.join(SOURCES, 'gen.py'), '--text', text], check=True)
    tests = launches(folder)
    read_back(folder)
    rows = report(folder, tests)
    print(f'{len(tests)} tests, {rows} rows, {len(FAILURES)} failures')
    sys.exit(1 if FAILURES else 0)


if __name__ == '__main__':
    main()
