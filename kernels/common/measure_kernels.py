"""Runs the kept cubins of a kernel family on this machine's GPU under Nsight Compute; the `measure` of the family calls
main(). Needs nvcc and ncu (from PATH) and a GPU of compute capability 9.0.

Caches are flushed before each launch, clocks are as found; of three launches the median and the spread are written. Then
event times of 20 launches each, L2 flushed and warm, without Nsight Compute. C is compared with a product in double.
"""
import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, '..', '..', 'traces', 'calibration', 'ptxas')
METRICS = ['sm__cycles_active.avg', 'sm__cycles_elapsed.max', 'smsp__inst_executed.sum', 'dram__bytes_read.sum',
           'launch__occupancy_limit_registers', 'launch__occupancy_limit_shared_mem', 'launch__occupancy_limit_warps',
           'launch__shared_mem_config_size', 'launch__registers_per_thread',
           'l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum'] + [
    f'smsp__average_warps_issue_stalled_{s}_per_issue_active.ratio'
    for s in ('barrier', 'branch_resolving', 'dispatch_stall', 'drain', 'lg_throttle', 'long_scoreboard',
              'math_pipe_throttle', 'mio_throttle', 'no_instruction', 'not_selected', 'selected', 'short_scoreboard',
              'wait')]
MORE_METRICS = ['gpu__time_duration.sum', 'dram__bytes_write.sum', 'lts__t_sector_op_read_hit_rate.pct',
                'sm__inst_executed_pipe_tensor.sum', 'l1tex__data_pipe_lsu_wavefronts_mem_shared.sum']
LAUNCHES = 3
TIMED = 20
EVENTS = ['flushed us', 'flushed spread', 'warm us', 'warm spread']


def program_call(program, row, shape, launches):
    return [program, os.path.join(CORPUS, row['name'] + '.cubin'), *map(str, shape), row['BM'], row['BN'], row['threads'],
            row['dynamic_shared_bytes'], row['LAYOUT'], row.get('DTYPE', 'f32'), str(launches)]


def run(row, command):
    """What the command prints; ends the script if it fails or if C is wrong."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or 'error over bound' not in done.stdout:
        raise SystemExit(f"{row['name']}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def profile(program, row, shape, metrics):
    command = ['ncu', '--csv', '--print-units', 'base', '--cache-control', 'all', '--clock-control', 'none', '-k',
               'tile_gemm', '--metrics', ','.join(metrics)] + program_call(program, row, shape, LAUNCHES)
    lines = [line for line in run(row, command).splitlines() if line.startswith('"')]
    values = {}
    for cell in csv.DictReader(lines):
        values.setdefault(cell['Metric Name'], []).append(float(cell['Metric Value'].replace(',', '')))
    return values


def event_times(program, row, shape):
    text = run(row, program_call(program, row, shape, 2) + [str(TIMED)])
    return [number for name in ('flushed', 'warm')
            for number in re.search(name + r' us (\S+) spread (\S+)', text).groups()]


def main(family, out, shape=(2048, 2048, 1024)):
    metrics = METRICS + MORE_METRICS
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, 'measure')
        subprocess.run(['nvcc', '-O2', '-std=c++17', '-arch=sm_90', '-o', program, os.path.join(HERE, 'measure.cu'), '-lcuda'],
                       check=True)
        with open(os.path.join(CORPUS, family + '.csv'), encoding='utf-8') as file:
            rows = [r for r in csv.DictReader(file) if os.path.exists(os.path.join(CORPUS, r['name'] + '.cubin'))]
        with open(out, 'w', encoding='utf-8', newline='') as file:
            writer = csv.writer(file, lineterminator='\n')
            writer.writerow(['name', 'm', 'n', 'k', 'sm__cycles_active.avg spread'] + metrics + EVENTS)
            for row in rows:
                if row['EPILOGUE'] != '0':
                    continue
                values = profile(program, row, shape, metrics)
                cycles = values['sm__cycles_active.avg']
                spread = round((max(cycles) - min(cycles)) / statistics.median(cycles), 4)
                writer.writerow([row['name'], *shape, spread] + [statistics.median(values[m]) for m in metrics] +
                                event_times(program, row, shape))
                file.flush()
                print(row['name'], statistics.median(cycles), flush=True)


def command_line(family, usage, arguments):
    if len(arguments) not in (1, 4) or arguments[0].startswith('-'):
        raise SystemExit(usage)
    main(family, arguments[0], *([tuple(map(int, arguments[1:]))] if len(arguments) == 4 else []))
