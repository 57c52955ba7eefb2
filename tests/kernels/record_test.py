"""kernels/runner without nvcc, GPU and ncu: programs that stand in for them say what they are asked and answer from a rule, so
that what reaches the records can be computed."""
import csv
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '..', '..')
RUNNER = os.path.join(ROOT, 'kernels', 'runner')
RECORD = os.path.join(RUNNER, 'record')
CALIBRATION = os.path.join(ROOT, 'traces', 'calibration')
sys.dont_write_bytecode = True
sys.path.insert(0, RUNNER)
import compiling  # noqa: E402  (found through the path above)
import measuring  # noqa: E402
import ncu_csv  # noqa: E402
import records  # noqa: E402
import recorded_set  # noqa: E402

NVCC = '''#!/usr/bin/env python3
import os, shutil, sys
if '--version' in sys.argv:
    print('nvcc: NVIDIA (R) Cuda compiler driver\\nCuda compilation tools, release 13.0, V13.0.88')
    sys.exit()
out = sys.argv[sys.argv.index('-o') + 1]
if '-cubin' in sys.argv:
    with open(out, 'w') as file:
        file.write(' '.join(sys.argv[1:sys.argv.index('-o')]))
    print('    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads', file=sys.stderr)
    print('ptxas info    : Used 77 registers, used 1 barriers, 4096 bytes smem', file=sys.stderr)
else:
    shutil.copyfile(os.environ['FAKES'] + '/fake_runner', out)
    os.chmod(out, 0o755)
'''
# A kernel called in WRONG gets a wrong C, one in BROKEN fails to be launched; STOP_AFTER: jobs after which its time is over.
FAKE_RUNNER = '''#!/usr/bin/env python3
import json, os, sys
mode, manifest, limit = sys.argv[1:4]
jobs = [line.split() for line in open(manifest)]
launches = []
for words in jobs[:int(os.environ.get('STOP_AFTER', len(jobs)))]:
    job, cubin, m = int(words[0]), words[1], int(words[4])
    assert os.path.exists(cubin), cubin
    if cubin.split('.')[0] in os.environ.get('BROKEN', ''):
        print('{"job": %d, \\n{"job": %d, "failed": "launch: no"}' % (job, job))
        sys.exit(1)
    if mode == 'time':
        right = cubin.split('.')[0] not in os.environ.get('WRONG', '')
        times = {"median": m + 0.5, "spread": 0.01, "count": 5}
        print(json.dumps({"job": job, "check": {"right": right, "max_error": 1e-7, "bound": 2e-6, "unwritten": 0, "elements": 9},
                          "timing": {"flushed_us": times, "warm_us": times}, "cublas": {"flushed_us": times, "warm_us": times}}))
    else:
        repeats = int(sys.argv[4])
        print(json.dumps({"job": job, "launches": repeats}))
        launches += [(cubin, m, words[8], words[9], words[7], words[10], i) for i in range(repeats)]
json.dump(launches, open(os.environ['FAKES'] + '/launches', 'w'))
'''
# The value of a metric: M * 1000 + number of the repeat, but for one that is not a number.
NCU = '''#!/usr/bin/env python3
import json, os, subprocess, sys
if '--version' in sys.argv:
    print('NVIDIA (R) Nsight Compute Command Line Profiler\\nVersion 2025.3.1.0 (build 1) (public-release)')
    sys.exit()
i = sys.argv.index('--log-file')
metrics = sys.argv[sys.argv.index('--metrics') + 1].split(',')
code = subprocess.run(sys.argv[i + 2:]).returncode
with open(sys.argv[i + 1], 'w') as out:
    print('==PROF== Connected to process 1 (runner)', file=out)
    names = ['ID', 'Process ID', 'Kernel Name', 'Block Size', 'Grid Size', 'CC'] + metrics
    print(','.join(f'"{name}"' for name in names), file=out)
    print(','.join(['""'] * 6 + ['"cycle"'] * len(metrics)), file=out)
    for n, (cubin, m, x, y, z, threads, repeat) in enumerate(json.load(open(os.environ['FAKES'] + '/launches'))):
        values = [n, 1, 'tile_gemm', f'({threads}, 1, 1)', f'({x}, {y}, {z})', '9.0'] + [
            'n/a' if 'waves' in name else f'{m * 1000 + repeat:,}' for name in metrics]
        print(','.join(f'"{value}"' for value in values), file=out)
sys.exit(code)
'''
NVIDIA_SMI = '''#!/bin/sh
echo "NVIDIA H200, 9.0, 580.159.04, 1980, 3201"
'''
needs_zstd = unittest.skipIf(shutil.which('zstd') is None, 'no zstd program')
SIMT = 'simt_64x64x16_8x8_s?_nn_v4'


class Set(unittest.TestCase):
    """What set.txt promises."""

    def setUp(self):
        self.set = recorded_set.read_set()

    def test_holds_enough_of_each_kind(self):
        counts = {}
        for kernel in self.set.kernels:
            counts.setdefault((kernel.family.name, kernel.dtype), []).append(kernel)
        for kind, least in {('simt', 'f32'): 60, ('mma', 'bf16'): 40, ('mma', 'f16'): 10, ('mma', 'tf32'): 10}.items():
            self.assertGreaterEqual(len(counts[kind]), least, kind)
        names = [kernel.name for kernel in self.set.kernels]
        self.assertEqual(len(names), len(set(names)))

    def test_keeps_away_from_what_the_simulator_is_fitted_to(self):
        kept = {name[:-len('.cubin')] for name in os.listdir(os.path.join(CALIBRATION, 'ptxas')) if name.endswith('.cubin')}
        self.assertGreater(len(kept), 50)
        fitted = set()  # of a calibration kernel: type and way of copying, BM BN BK and TM TN or WM WN, buffers
        for name in os.listdir(os.path.join(CALIBRATION, 'h200')):
            words = name.split('.')[0].split('_')
            if words[0] in ('sgemm', 'hgemm') and name.endswith('.sass'):
                kind = {'sgemm': ('f32', 'reg'), 'hgemm': ('bf16', 'cpasync')}[words[0]]
                fitted.add((*kind, *map(int, words[1:6]), int(words[6][1:])))
        self.assertEqual(len(fitted), 8)
        for kernel in self.set.kernels:
            tile = tuple(kernel.keys[key] for key in (*recorded_set.NUMBERS[kernel.family.name], 'STAGES'))
            self.assertNotIn((kernel.dtype, kernel.keys['COPY'], *tile), fitted, kernel.name)
            self.assertNotIn(kernel.name, kept)

    def test_locks_enough(self):
        """Of each form, as traces/recorded/recording.h splits them."""
        kinds = {}
        for kernel in self.set.kernels:
            form = 'direct' if kernel.keys['COPY'] == 'direct' else (
                'warp tiles' if kernel.family.name == 'simt' and kernel.keys['WM'] else '')
            kinds.setdefault((kernel.dtype, form), []).append(kernel.name)
        for kind, least in {('f32', ''): 16, ('bf16', ''): 12, ('f32', 'direct'): 2, ('f32', 'warp tiles'): 2}.items():
            by_hash = sorted(kinds[kind], key=lambda name: hashlib.sha256(name.encode()).hexdigest())
            self.assertGreaterEqual(len(by_hash[2::3]), least, kind)

    def test_names_say_what_lanes_and_buffers_are(self):
        chosen = self.set.only('simt_*_d_*,simt_*_w*')
        self.assertEqual(len(chosen.kernels), 13)
        keys = {kernel.name: kernel.keys for kernel in chosen.kernels}
        naive = keys['simt_32x32x8_1x1_d_nn_v1_w32x1']
        self.assertEqual([naive[key] for key in ('COPY', 'STAGES', 'VEC', 'WM', 'WN')], ['direct', 1, 1, 32, 1])
        self.assertIn('simt_128x128x16_8x8_a3_nn_v4_w32x64_pa4_pb4', keys)
        for kernel in chosen.kernels:
            if kernel.keys['COPY'] == 'direct':
                self.assertEqual(kernel.dynamic_shared_bytes(), 0)

    def test_runs_every_kernel_where_its_rows_allow(self):
        for kernel in self.set.kernels:
            for shape in self.set.shapes:
                code = kernel.code_for(shape)
                divides = all(x % kernel.keys[key] == 0 for x, key in zip(shape, ('BM', 'BN', 'BK')))
                odd_rows = kernel.keys['VEC'] > 1 and shape == (4095, 4097, 257)
                if odd_rows or (kernel.parts > 1 and not divides):
                    self.assertIsNone(code, (kernel.name, shape))
                else:
                    self.assertEqual(code, 'plain' if divides else 'ragged', (kernel.name, shape))
        self.assertGreaterEqual(sum(kernel.code_for((4095, 4097, 257)) is not None for kernel in self.set.kernels), 8)

    def test_scans_cross_two_boundaries_of_waves(self):
        for name, n, k, tiles in self.set.scans:
            kernel = next(kernel for kernel in self.set.kernels if kernel.name == name)
            self.assertEqual((n % kernel.keys['BN'], k % kernel.keys['BK']), (0, 0))
            wave = 2 * 132
            ctas = [count * n // kernel.keys['BN'] for count in tiles]
            self.assertEqual({-(-count // wave) for count in ctas}, {1, 2, 3})


class Csv(unittest.TestCase):

    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'log.csv')
            with open(path, 'w', encoding='ascii') as file:
                file.write(text)
            return ncu_csv.read_launches(path)

    HEADER = '"ID","Kernel Name","Block Size","Grid Size","a__b.sum","c__d.pct"\n"","","","","byte","%"\n'

    def test_reads_values_units_and_extents(self):
        one, two = self.read('==PROF== Connected\n' + self.HEADER +
                             '"0","tile_gemm","(256, 1, 1)","(32, 16, 4)","1,234,567","99.5"\n==PROF== more\n'
                             '"1","tile_gemm","(64, 1, 1)","(1, 1, 1)","8","n/a"\n')
        self.assertEqual((one.grid, one.block), ([32, 16, 4], [256, 1, 1]))
        self.assertEqual(one.values, {'a__b.sum': 1234567.0, 'c__d.pct': 99.5})
        self.assertEqual(one.units, {'a__b.sum': 'byte', 'c__d.pct': '%'})
        self.assertEqual(two.values, {'a__b.sum': 8.0})

    def test_refuses_another_form(self):
        self.assertEqual(self.read('==ERROR== no\n'), [])
        with self.assertRaisesRegex(ValueError, 'no column Grid Size'):
            self.read('"ID","Kernel Name","Block Size","Metric Name"\n"0","k","(1, 1, 1)","x"\n')
        with self.assertRaisesRegex(ValueError, 'units'):
            self.read(self.HEADER.splitlines()[0] + '\n"0","k","(1, 1, 1)","(1, 1, 1)","1","2"\n')


class Programs(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def program(self, *path, text='#!/bin/sh\n'):
        path = os.path.join(self.folder, *path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='ascii') as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def found(self, **environment):
        with mock.patch.dict(os.environ, {'NVCC': '', 'CUDA_HOME': '', **environment}):
            return compiling.nvcc_program()

    def test_nvcc_is_the_named_one_then_the_toolkits_then_that_in_path(self):
        named, toolkits, in_path = self.program('mine'), self.program('cuda', 'bin', 'nvcc'), self.program('path', 'nvcc')
        path, cuda = os.path.dirname(in_path), os.path.join(self.folder, 'cuda')
        self.assertEqual(self.found(NVCC=named, CUDA_HOME=cuda, PATH=path), named)
        self.assertEqual(self.found(CUDA_HOME=cuda, PATH=path), toolkits)
        self.assertEqual(self.found(CUDA_HOME=self.folder, PATH=path), in_path)
        self.assertEqual(self.found(PATH=path), in_path)
        for absent in ({'NVCC': 'no_such_nvcc', 'CUDA_HOME': cuda, 'PATH': path}, {'PATH': cuda}):
            with self.assertRaises(SystemExit) as end, mock.patch('sys.stderr'):
                self.found(**absent)
            self.assertEqual(end.exception.code, 4)

    def test_a_runner_that_hangs_is_ended(self):
        self.program('runner', text='#!/bin/sh\necho \'{"job": 0}\'\nexec sleep 60\n')
        stem = os.path.join(self.folder, '01_timing')
        measured = measuring.Measuring(types.SimpleNamespace(limit_s=1, raw=self.folder, build=self.folder))
        with mock.patch.object(measuring, 'GRACE_SECONDS', 0), mock.patch('sys.stderr') as said:
            measured.run_plain(stem, recorded_set.read_set().launches()[:2], 'timing')
        self.assertIn('did not end in time', said.write.call_args_list[0].args[0])
        self.assertEqual(measuring.read_lines(stem + '.jsonl'), [{'job': 0}])


class Text(unittest.TestCase):

    def test_metric_is_median_and_spread(self):
        self.assertEqual(records.metric([5.0, 4.0, 8.0], 'cycle'), {'value': 5, 'unit': 'cycle', 'spread': 0.8, 'repeats': 3})
        self.assertEqual(records.metric([0.0], ''), {'value': 0, 'unit': '', 'spread': 0, 'repeats': 1})

    def test_json_reads_back(self):
        value = {'a': [], 'b': [{'c': {'d': {'e': [1, 2]}}}], 'f': {}}
        self.assertEqual(json.loads(records.to_text(value)), value)


@needs_zstd
class Session(unittest.TestCase):
    """`record` from end to end."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name, text in (('nvcc', NVCC), ('fake_runner', FAKE_RUNNER), ('ncu', NCU), ('nvidia-smi', NVIDIA_SMI)):
            path = os.path.join(self.folder.name, name)
            with open(path, 'w', encoding='ascii') as file:
                file.write(text)
            os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        self.to = os.path.join(self.folder.name, 'to')

    def record(self, *arguments, code=0, **environment):
        path = self.folder.name + os.pathsep + os.environ['PATH']
        run = subprocess.run([RECORD, *arguments, '--build', os.path.join(self.folder.name, 'build'), '--to', self.to],
                             capture_output=True, text=True, check=False,
                             env=dict(os.environ, PATH=path, FAKES=self.folder.name, NVCC=os.path.join(self.folder.name, 'nvcc'),
                                      **environment))
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def read(self, name):
        with open(os.path.join(self.to, name + '.json'), encoding='ascii') as file:
            return json.load(file)

    def test_a_kernel_is_compiled_measured_and_written(self):
        self.record('--only', 'simt_64x64x16_8x8_s2_nn_v4', '--shapes', '1024x1024x1024,1000x1000x1000')
        record = self.read('simt_64x64x16_8x8_s2_nn_v4')
        self.assertEqual(record['meta']['gpu'], 'NVIDIA H200')
        self.assertEqual(record['meta']['toolkit'], '13.0.88')
        self.assertEqual(record['meta']['ncu'], '2025.3.1.0')
        self.assertEqual(record['meta']['clocks'], {'sm_mhz': 1980, 'memory_mhz': 3201})
        self.assertEqual(record['configuration']['stages'], 2)
        plain = record['codes']['plain']
        self.assertEqual((plain['registers'], plain['spill_store_bytes'], plain['spill_load_bytes']), (77, 12, 16))
        unpacked = subprocess.run(['zstd', '-dc', os.path.join(self.to, plain['code'])], capture_output=True, check=True).stdout
        self.assertEqual(plain['sha256'], hashlib.sha256(unpacked).hexdigest())
        self.assertIn(b'-DTILE_RAGGED=0', unpacked)
        run, ragged = record['runs']
        self.assertEqual(run['launch'], {'grid': [16, 16, 1], 'block': [64, 1, 1], 'shared_bytes': 4096,
                                         'arguments': 'i32:1024,i32:1024,i32:1024,ptr:4194304,ptr:4194304,ptr:4194304'})
        self.assertEqual(run['metrics']['sm__cycles_elapsed.max'],
                         {'value': 1024002, 'unit': 'cycle', 'spread': records.rounded(4 / 1024002), 'repeats': 5})
        self.assertEqual(run['metrics']['dram__bytes_read.sum']['repeats'], 1)
        self.assertNotIn('launch__waves_per_multiprocessor', run['metrics'])
        self.assertEqual(run['timing']['warm_us'], {'median': 1024.5, 'spread': 0.01, 'count': 5})
        self.assertEqual(run['cublas'], {'flushed_us': 1024.5, 'warm_us': 1024.5})
        self.assertEqual((ragged['code'], ragged['launch']['grid']), ('ragged', [16, 16, 1]))

    def test_what_is_wrong_or_fails_is_not_recorded(self):
        said = self.record('--only', SIMT, '--shapes', '1024x1024x1024', code=1, WRONG='simt_64x64x16_8x8_s1_nn_v4')
        self.assertIn('simt_64x64x16_8x8_s1_nn_v4 (plain)', said)
        self.assertEqual(os.listdir(self.to).count('simt_64x64x16_8x8_s1_nn_v4.json'), 0)
        self.read('simt_64x64x16_8x8_s2_nn_v4')

    def test_a_failed_launch_does_not_end_the_sitting(self):
        said = self.record('--only', SIMT, '--shapes', '1024x1024x1024', code=1, BROKEN='simt_64x64x16_8x8_s1_nn_v4')
        self.assertIn('launch: no', said)
        self.assertEqual(len(self.read('simt_64x64x16_8x8_s2_nn_v4')['runs'][0]['metrics']['sm__cycles_active.avg']), 4)

    def test_a_second_sitting_adds_what_is_missing(self):
        self.record('--only', SIMT, '--shapes', '1024x1024x1024,2048x2048x2048', '--parts', 'light', STOP_AFTER='3')
        names = ('simt_64x64x16_8x8_s1_nn_v4', 'simt_64x64x16_8x8_s2_nn_v4')
        self.assertEqual(sorted(len(self.read(name)['runs']) for name in names), [1, 2])
        raw = os.path.join(self.folder.name, 'again')
        said = self.record('measure', 'write', '--only', SIMT, '--shapes', '1024x1024x1024,2048x2048x2048', '--parts',
                           'light,counters', '--skip-existing', '--raw', raw)
        self.assertIn('light: 1 of 1', said)
        self.assertIn('counters: 2 of 2', said)
        for name in names:
            self.assertEqual([run['problem']['m'] for run in self.read(name)['runs']], [2048, 1024])

    def test_no_time_measures_nothing_and_says_so(self):
        self.assertIn('launches left out', self.record('compile', 'measure', '--only', SIMT, '--limit-s', '1'))
        self.assertIn('nothing measured', self.record('write', '--only', SIMT, '--raw', self.folder.name + '/none', code=1))

    def test_says_what_is_missing(self):
        self.assertIn('run `record compile` first', self.record('measure', '--only', SIMT, code=1))
        self.assertIn('neither a step', self.record('mesure', code=2))
        said = self.record('--only', 'mma_bf16_64x64x32_32x32_a3*', code=2)
        self.assertIn("no kernel of set.txt is called 'mma_bf16_64x64x32_32x32_a3*'; near: mma_bf16_", said)

    def test_another_compiler_drops_the_runs_of_the_old_code(self):
        self.record('--only', SIMT, '--shapes', '1024x1024x1024,2048x2048x2048', '--parts', 'timing')
        cubin = os.path.join(self.folder.name, 'build', 'simt_64x64x16_8x8_s2_nn_v4.cubin')
        with open(cubin, 'a', encoding='ascii') as file:
            file.write('changed')
        self.record('measure', 'write', '--only', SIMT, '--shapes', '1024x1024x1024', '--parts', 'timing', '--raw',
                    self.folder.name + '/again')
        self.assertEqual(len(self.read('simt_64x64x16_8x8_s2_nn_v4')['runs']), 1)
        self.assertEqual(len(self.read('simt_64x64x16_8x8_s1_nn_v4')['runs']), 2)

    def test_kept_cubins_of_a_family_are_measured(self):
        out = os.path.join(self.folder.name, 'out.csv')
        environment = dict(os.environ, PATH=self.folder.name + os.pathsep + os.environ['PATH'], FAKES=self.folder.name,
                           NVCC=os.path.join(self.folder.name, 'nvcc'))
        for family, name in (('simt', 'simt_64x64x16_8x4_s2_nn_v4'), ('mma', 'mma_bf16_64x64x32_32x32_a3_nt_v8_pa8_pb8_ragged')):
            subprocess.run([os.path.join(ROOT, 'kernels', family, 'measure'), out, '1024', '1024', '512'], env=environment,
                           check=True, capture_output=True)
            with open(out, encoding='ascii') as file, open(os.path.join(CALIBRATION, 'ptxas', {
                    'simt': 'measured.csv', 'mma': 'measured_mma.csv'}[family]), encoding='ascii') as shipped:
                rows, before = list(csv.DictReader(file)), list(csv.DictReader(shipped))
            self.assertEqual([row['name'] for row in rows], [row['name'] for row in before])
            row = next(row for row in rows if row['name'] == name)
            self.assertEqual((row['k'], float(row['sm__cycles_elapsed.max']), row['warm us']), ('512', 1024001, '1024.5'))

    def test_counters_of_another_launch_are_refused(self):
        self.record('compile', 'measure', '--only', SIMT, '--shapes', '1024x1024x1024', '--parts', 'light')
        raw = os.path.join(self.folder.name, 'build', 'raw', '01_light')
        with open(raw + '.csv', encoding='ascii') as file:
            text = file.read()
        with open(raw + '.csv', 'w', encoding='ascii') as file:
            file.write(text.replace('(16, 16, 1)', '(16, 8, 1)'))
        self.assertIn('another grid', self.record('write', '--only', SIMT, code=1))
        with open(raw + '.csv', 'w', encoding='ascii') as file:
            file.write(text + text.splitlines()[-1] + '\n')
        self.assertIn('11 launches, the runner made 10', self.record('write', '--only', SIMT, code=1))


class Shipped(unittest.TestCase):
    """traces/recorded/h200 holds all that the set asks for."""

    FOLDER = os.path.join(ROOT, 'traces', 'recorded', 'h200')

    def test_every_launch_was_measured_and_right(self):
        chosen = recorded_set.read_set()
        few, others = measuring.metric_names('light'), measuring.metric_names('counters')
        for launch in chosen.launches() + chosen.scan_launches():
            record = records.read(self.FOLDER, launch.kernel.name)
            run = records.run_of(record, launch)
            where = (launch.kernel.name, launch.shape)
            self.assertEqual((run['code'], run['launch']['arguments']), (launch.code, launch.kernel.arguments_for(launch.shape)))
            self.assertEqual({run['metrics'][name]['repeats'] for name in few}, {5}, where)
            self.assertEqual(run['metrics']['launch__registers_per_thread']['value'], record['codes'][launch.code]['registers'])
            self.assertLessEqual(run['check']['max_error'], run['check']['bound'], where)
            self.assertGreater(run['timing']['flushed_us']['median'], 0)
            if launch.shape in chosen.counter_shapes:
                self.assertEqual([name for name in others if name not in run['metrics']], [], where)

    def test_nothing_else_lies_there(self):
        names = {kernel.name for kernel in recorded_set.read_set().kernels}
        files = {name for name in os.listdir(self.FOLDER) if name != 'README.md'}
        self.assertEqual({name.split('.')[0] for name in files}, names)
        codes = [code['code'] for name in names for code in records.read(self.FOLDER, name)['codes'].values()]
        self.assertEqual({name for name in files if not name.endswith('.json')}, set(codes))
        self.assertLess(sum(os.path.getsize(os.path.join(self.FOLDER, name)) for name in files), 12e6)

    @needs_zstd
    def test_codes_are_those_that_ran(self):
        for kernel in recorded_set.read_set().kernels:
            for code in records.read(self.FOLDER, kernel.name)['codes'].values():
                unpacked = subprocess.run(['zstd', '-dc', os.path.join(self.FOLDER, code['code'])], capture_output=True,
                                          check=True).stdout
                self.assertEqual(hashlib.sha256(unpacked).hexdigest(), code['sha256'], code['code'])


class Plan(unittest.TestCase):

    def test_most_valuable_first(self):
        chosen = recorded_set.read_set()
        plan = measuring.plan(chosen, None, measuring.PARTS)
        self.assertEqual([batch.part for batch in plan], ['timing', 'light'] * 3 + ['counters'])
        self.assertEqual({launch.shape for launch in plan[1].launches}, set(chosen.shapes[:3]))
        self.assertEqual(len(plan[4].launches), sum(len(tiles) for *_, tiles in chosen.scans))
        self.assertEqual({launch.shape for launch in plan[6].launches}, set(chosen.counter_shapes))

    def test_no_counter_is_asked_for_twice(self):
        few, others = measuring.metric_names('light'), measuring.metric_names('counters')
        self.assertIn('sm__cycles_elapsed.max', few)
        self.assertEqual(len(set(few + others)), len(few) + len(others))


if __name__ == '__main__':
    unittest.main()
