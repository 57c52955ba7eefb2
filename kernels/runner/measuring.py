"""Runs the runner, plain and under Nsight Compute, as long as the time lasts. What is read goes into a folder as it came, for
joining.py: of each batch of launches NN_PART.json (what was asked), .manifest, .jsonl (the runner's lines), .csv (ncu's log)."""
import dataclasses
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import time

import compiling
import records

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = ('timing', 'light', 'scan', 'counters')
FIRST_SHAPES = 3      # of the set: both parts of these are measured before anything else
LEAST_SECONDS = 10.0  # a batch is not begun with less
GRACE_SECONDS = 120   # to end in, after the runner's time is over: ncu writes down what it has


@dataclasses.dataclass
class Batch:
    part: str  # timing, light or counters
    launches: list


def metric_names(part):
    """Of counters.txt: the few of every run, or all the others."""
    with open(os.path.join(HERE, 'counters.txt'), encoding='ascii') as file:
        words = [line.split('#')[0].strip() for line in file]
    if part == 'light':
        return [word[1:] for word in words if word.startswith('+')]
    return [word for word in words if word and not word.startswith('+')]


def plan(chosen, shapes, parts):
    """Batches, the most valuable first. Given shapes leave out the scan."""
    batches = []

    def add(launches):
        batches.extend(Batch(part, launches) for part in ('timing', 'light') if part in parts)

    all_shapes = shapes or chosen.shapes
    telling = chosen.shapes[:FIRST_SHAPES]
    for group in ([s for s in all_shapes if s in telling], [s for s in all_shapes if s not in telling]):
        if group:
            add(chosen.launches(group))
    if 'scan' in parts and not shapes:
        batches.extend(Batch(part, chosen.scan_launches()) for part in ('timing', 'light'))
    if 'counters' in parts:
        batches.append(Batch('counters', chosen.launches([s for s in chosen.counter_shapes if s in all_shapes])))
    return [batch for batch in batches if batch.launches]


def is_recorded(launch, part, folder):
    record = records.read(folder, launch.kernel.name)
    run = record and records.run_of(record, launch)
    return bool(run) and ('timing' in run if part == 'timing' else metric_names(part)[0] in run['metrics'])


def job_line(job, launch):
    kernel, grid = launch.kernel, launch.kernel.grid_for(launch.shape)
    alpha, beta = kernel.alpha_beta()
    words = [job, compiling.cubin_of(kernel, launch.code), kernel.dtype, kernel.keys['LAYOUT'], *launch.shape, kernel.parts, *grid[:2],
             kernel.threads, kernel.dynamic_shared_bytes(), int(kernel.keys['EPILOGUE'] != 0), alpha, beta]
    return ' '.join(map(str, words))


def ncu_command(metrics, log):
    """What comes in front of the runner: caches flushed before every launch, clocks as found; ncu_csv.py reads the log."""
    return ['ncu', '--csv', '--page', 'raw', '--print-units', 'base', '--cache-control', 'all', '--clock-control', 'none',
            '--kernel-name', 'tile_gemm', '--metrics', ','.join(metrics), '--log-file', log]


def read_lines(path):
    """The runner's lines: dictionaries with "job"."""
    lines = []
    with open(path, encoding='utf-8') as file:
        for text in file:
            try:
                lines.append(json.loads(text))
            except ValueError:
                continue  # an empty line, or one cut short
    return [line for line in lines if isinstance(line, dict) and 'job' in line]


def ask(command):
    """The output of a program; empty if it is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ''


def describe_machine():
    fields = ('name', 'compute_cap', 'driver_version', 'clocks.max.sm', 'clocks.max.memory')
    answer = ask(['nvidia-smi', f'--query-gpu={",".join(fields)}', '--format=csv,noheader,nounits']).splitlines()
    if not answer or answer[0].count(',') != len(fields) - 1:
        print(f'record: no GPU (nvidia-smi says {answer[:1]}); measure on a machine with one', file=sys.stderr)
        sys.exit(4)
    name, capability, driver, sm_mhz, memory_mhz = [word.strip() for word in answer[0].split(',')]
    found = re.search(r'Version (\S+)', ask(['ncu', '--version']))
    return {'gpu': name, 'compute_capability': capability, 'driver': driver, 'ncu': found.group(1) if found else 'absent',
            'date': datetime.date.today().isoformat(),
            'clocks': {'sm_mhz': float(sm_mhz), 'memory_mhz': float(memory_mhz)}}


class Measuring:

    def __init__(self, options):
        self.options = options
        self.end = time.monotonic() + options.limit_s
        self.wrong = set()  # (kernel, code) whose C was wrong or that could not be launched
        os.makedirs(options.raw, exist_ok=True)
        self.number = len([name for name in os.listdir(options.raw) if name.endswith('.manifest')])

    def seconds_left(self):
        return min(self.end - time.monotonic(), 1e6)

    def run_batch(self, batch):
        todo = [launch for launch in batch.launches if (launch.kernel.name, launch.code) not in self.wrong and not
                (self.options.skip_existing and is_recorded(launch, batch.part, self.options.to))]
        if not todo or self.seconds_left() < LEAST_SECONDS:
            print(f'{batch.part}: {len(todo)} launches left out', flush=True)
            return
        begin = time.monotonic()
        self.number += 1
        stem = os.path.join(self.options.raw, f'{self.number:02d}_{batch.part}')
        with open(stem + '.json', 'w', encoding='ascii') as file:
            json.dump({'part': batch.part,
                       'launches': [[launch.kernel.name, launch.code, list(launch.shape)] for launch in todo]}, file)
        run = self.run_plain if batch.part == 'timing' else self.run_profiled
        run(stem, todo, batch.part)
        lines = read_lines(stem + '.jsonl')
        self.wrong |= {(todo[line['job']].kernel.name, todo[line['job']].code) for line in lines
                       if 'failed' in line or not line.get('check', {}).get('right', True)}
        print(f'{batch.part}: {len(lines)} of {len(todo)} in {time.monotonic() - begin:.0f} s', flush=True)

    def runner(self, mode, stem, jobs):
        with open(stem + '.manifest', 'w', encoding='ascii') as file:
            file.writelines(f'{job_line(job, launch)}\n' for job, launch in jobs)
        return ['./runner', mode, os.path.abspath(stem + '.manifest'), f'{self.seconds_left():.1f}']

    def run_in_time(self, command, stem, mode):
        """The exit code; None if the program had to be ended. Its lines go into .jsonl."""
        with open(stem + '.jsonl', mode, encoding='utf-8') as out:
            try:
                return subprocess.run(command, cwd=self.options.build, stdout=out, check=False,
                                      timeout=self.seconds_left() + GRACE_SECONDS).returncode
            except subprocess.TimeoutExpired:
                return None

    def run_plain(self, stem, todo, _):
        """A launch that fails ends the runner: it is started again behind that."""
        jobs = list(enumerate(todo))
        while jobs and self.seconds_left() > 0:
            code = self.run_in_time(self.runner('time', stem, jobs), stem, 'a')
            if code is None:
                print('record: the runner did not end in time; what it had measured by then is kept', file=sys.stderr)
                return
            lines = read_lines(stem + '.jsonl')
            if code != 1 or not lines or 'failed' not in lines[-1]:
                if code != 0:
                    print(f'record: the runner ended with exit code {code}', file=sys.stderr)
                return
            jobs = [(job, launch) for job, launch in jobs if job > lines[-1]['job']]

    def run_profiled(self, stem, todo, part):
        command = ncu_command(metric_names(part), stem + '.csv')
        repeats = self.options.repeats if part == 'light' else 1
        code = self.run_in_time(command + self.runner('launch', stem, list(enumerate(todo))) + [str(repeats)], stem, 'w')
        if code is None:
            print('record: ncu did not end in time; what it read is lost', file=sys.stderr)
        elif code != 0:
            print(f'record: ncu ended with exit code {code}; see {stem}.csv', file=sys.stderr)


def measure(chosen, options):
    index = compiling.read_index(options.build)
    absent = [compiling.cubin_of(*code) for code in compiling.codes_of(chosen) if compiling.cubin_of(*code) not in index]
    if absent or not os.path.exists(os.path.join(options.build, 'runner')):
        sys.exit(f'record: {absent[0] if absent else "the runner"} is not in {options.build}; run `record compile` first')
    machine = describe_machine()
    measuring = Measuring(options)
    with open(os.path.join(options.raw, 'machine.json'), 'w', encoding='ascii') as file:
        json.dump(machine, file, indent=1)
    options.raw, options.build = os.path.abspath(options.raw), os.path.abspath(options.build)
    with_ncu = shutil.which('ncu') is not None
    if not with_ncu:
        print('record: no ncu: events only, no counters; install Nsight Compute for these', file=sys.stderr)
    for batch in plan(chosen, options.shapes, options.parts):
        if batch.part == 'timing' or with_ncu:
            measuring.run_batch(batch)
    for name, code in sorted(measuring.wrong):
        print(f'record: {name} ({code}): C is wrong, or a launch failed', file=sys.stderr)
