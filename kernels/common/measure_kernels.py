"""Runs the kept cubins of a kernel family on this machine's GPU under Nsight Compute; the `measure` of the family calls
main(). Needs nvcc and ncu (from PATH) and a GPU of compute capability 9.0.

Caches are flushed before each launch, clocks are as found; of three launches the median and the spread are written. Then
event medians, L2 flushed and warm, without Nsight Compute. C is checked by ../runner/runner.cu, which also launches.
"""
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'runner'))
import compiling  # noqa: E402  (found through the path above)
import measuring  # noqa: E402
import ncu_csv  # noqa: E402
import recorded_set  # noqa: E402

CORPUS = os.path.join(HERE, '..', '..', 'traces', 'calibration', 'ptxas')
METRICS = ['sm__cycles_active.avg', 'sm__cycles_elapsed.max', 'smsp__inst_executed.sum', 'dram__bytes_read.sum',
           'launch__occupancy_limit_registers', 'launch__occupancy_limit_shared_mem', 'launch__occupancy_limit_warps',
           'launch__shared_mem_config_size', 'launch__registers_per_thread',
           'l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum'] + [
    f'smsp__average_warps_issue_stalled_{s}_per_issue_active.ratio'
    for s in ('barrier', 'branch_resolving', 'dispatch_stall', 'drain', 'lg_throttle', 'long_scoreboard',
              'math_pipe_throttle', 'mio_throttle', 'no_instruction', 'not_selected', 'selected', 'short_scoreboard',
              'wait')] + [
    'gpu__time_duration.sum', 'dram__bytes_write.sum', 'lts__t_sector_op_read_hit_rate.pct',
    'sm__inst_executed_pipe_tensor.sum', 'l1tex__data_pipe_lsu_wavefronts_mem_shared.sum']
LAUNCHES = 3
EVENTS = ['flushed us', 'flushed spread', 'warm us', 'warm spread']


def kept_kernels(family_name):
    """The kernels of the family's `corpus` whose cubins are kept, without those that scale: as launches of any shape."""
    family = recorded_set.family_of(family_name, grid=True)
    return [recorded_set.Kernel(family.name_of(config), family, dict(config, SPLIT_K=1)) for config, keep, _ in family.entries
            if keep and not config['EPILOGUE']]


def run(kernel, command, folder):
    """What the command prints; ends the script if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 0:
        raise SystemExit(f'{kernel.name}: {done.stdout[-2000:]}{done.stderr[-2000:]}')
    return done.stdout


def measure_one(kernel, shape, folder):
    """The cells of a row behind the name and the shape."""
    manifest, log = os.path.join(folder, 'manifest'), os.path.join(folder, 'log')
    shutil.copy(os.path.join(CORPUS, kernel.name + '.cubin'), folder)
    with open(manifest, 'w', encoding='ascii') as file:
        file.write(measuring.job_line(0, recorded_set.Launch(kernel, shape, 'plain')) + '\n')
    timed = json.loads(run(kernel, ['./runner', 'time', manifest, 'inf'], folder))
    if not timed['check']['right']:
        raise SystemExit(f"{kernel.name}: C is wrong: {timed['check']}")
    run(kernel, [*measuring.ncu_command(METRICS, log), './runner', 'launch', manifest, 'inf', str(LAUNCHES)], folder)
    launches = ncu_csv.read_launches(log)
    cycles = [launch.values['sm__cycles_active.avg'] for launch in launches]
    spread = round((max(cycles) - min(cycles)) / statistics.median(cycles), 4)
    medians = [statistics.median(launch.values[metric] for launch in launches) for metric in METRICS]
    events = [timed['timing'][way][key] for way in ('flushed_us', 'warm_us') for key in ('median', 'spread')]
    return [spread, *medians, *events]


def main(family, out, shape=(2048, 2048, 1024)):
    with tempfile.TemporaryDirectory() as folder, open(out, 'w', encoding='utf-8', newline='') as file:
        compiling.compile_runner(folder)
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow(['name', 'm', 'n', 'k', 'sm__cycles_active.avg spread', *METRICS, *EVENTS])
        for kernel in kept_kernels(family):
            writer.writerow([kernel.name, *shape, *measure_one(kernel, shape, folder)])
            file.flush()
            print(kernel.name, flush=True)


def command_line(family, usage, arguments):
    if len(arguments) not in (1, 4) or arguments[0].startswith('-'):
        raise SystemExit(usage)
    main(family, arguments[0], *([tuple(map(int, arguments[1:]))] if len(arguments) == 4 else []))
