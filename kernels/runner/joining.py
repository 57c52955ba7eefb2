"""Joins what measuring.py kept with the set, and writes the records."""
import json
import os
import sys

import compiling
import measuring
import ncu_csv
import records

COMMAND = 'kernels/runner/record'


class Raw:
    """One batch: what was asked, and for each launch what came back."""

    def __init__(self, stem):
        with open(stem + '.json', encoding='ascii') as file:
            asked = json.load(file)
        self.part = asked['part']
        self.launches = [(name, code, tuple(shape)) for name, code, shape in asked['launches']]
        self.lines = measuring.read_lines(stem + '.jsonl')
        self.profiled = [] if self.part == 'timing' else self.by_job(ncu_csv.read_launches(stem + '.csv'), stem)

    def by_job(self, profiled, stem):
        """ncu's launches are those of the runner's lines, one after the other. The last ones may be missing."""
        result, begin = [], 0
        for line in self.lines:
            if 'launches' not in line:
                break
            end = begin + line['launches']
            if end > len(profiled):
                break
            result.append((line['job'], profiled[begin:end]))
            begin = end
        if begin < len(profiled) and len(result) == len(self.lines):
            raise ValueError(f'{stem}.csv holds {len(profiled)} launches, the runner made {begin}')
        return result


def check_launch(profiled, launch):
    wanted = (launch.kernel.grid_for(launch.shape), [launch.kernel.threads, 1, 1])
    if any((one.grid, one.block) != wanted for one in profiled):
        raise ValueError(f'{launch.kernel.name} at {launch.shape}: ncu saw another grid or block than {wanted}')


class Records:
    """The records that are being added to, by name."""

    def __init__(self, options, chosen, meta):
        self.options, self.meta = options, meta
        self.shapes = chosen.shapes
        self.index = compiling.read_index(options.build)
        self.kernels = {kernel.name: kernel for kernel in chosen.kernels}
        self.launches = {(launch.kernel.name, launch.code, launch.shape): launch
                         for launch in chosen.launches() + chosen.scan_launches()}
        self.open = {}
        self.codes = {}

    def code_of(self, kernel, label):
        if (kernel, label) not in self.codes:
            name = compiling.cubin_of(kernel, label)
            self.codes[kernel, label] = records.code_entry(kernel, label, self.index[name], os.path.join(self.options.build, name),
                                                           self.options.to)
        return self.codes[kernel, label]

    def record_of(self, kernel):
        if kernel.name not in self.open:
            old = records.read(self.options.to, kernel.name) or {}
            self.open[kernel.name] = {'schema_version': records.SCHEMA_VERSION, 'kind': 'tilesim-recording', 'meta': self.meta,
                                      'kernel': {'name': kernel.name, 'symbol': 'tile_gemm'}, 'configuration': None,
                                      'codes': old.get('codes', {}), 'runs': old.get('runs', [])}
        return self.open[kernel.name]

    def run_of(self, launch):
        kernel, label = launch.kernel, launch.code
        record = self.record_of(kernel)
        built = self.index[compiling.cubin_of(kernel, label)]
        record['configuration'] = records.configuration_of(kernel, built['keys']['MIN_CTAS'])
        code = self.code_of(kernel, label)
        if record['codes'].get(label, code) != code:
            # Another compiler: what the old code did is not what this one does.
            record['runs'] = [run for run in record['runs'] if run['code'] != label]
        record['codes'][label] = code
        run = records.run_of(record, launch)
        if run is None:
            run = records.new_run(launch, code)
            record['runs'].append(run)
        return run

    def write(self):
        for name, record in sorted(self.open.items()):
            record['codes'] = dict(sorted(record['codes'].items()))
            records.write(self.options.to, name, record, self.shapes)


def add_line(run, line, cublas):
    run['timing'] = line['timing']
    if cublas:
        run['cublas'] = {key: times['median'] for key, times in cublas.items()}
    check = line['check']
    run['check'] = {'max_error': check['max_error'], 'bound': check['bound'], 'elements': check['elements'],
                    'against': 'product in double precision; relative to the sum of the magnitudes of its terms'}


def add_counters(run, profiled, part):
    names = measuring.metric_names(part)
    for name in names:
        values = [one.values[name] for one in profiled if name in one.values]
        if values:
            run['metrics'][name] = records.metric(values, profiled[0].units[name])


def add_batch(raw, kept, wrong):
    cublas, operands = None, None
    for line in raw.lines if raw.part == 'timing' else []:
        name, code, shape = raw.launches[line['job']]
        if 'failed' in line or not line['check']['right']:
            print(f'record: {name} ({code}) at {shape}: {line.get("failed", line.get("check"))}', file=sys.stderr)
            wrong.add((name, code))
            continue
        launch = kept.launches.get((name, code, shape))
        if launch is None:
            continue
        key = (shape, launch.kernel.dtype, launch.kernel.keys['LAYOUT'])
        cublas = line.get('cublas', cublas if key == operands else None)
        operands = key
        add_line(kept.run_of(launch), line, cublas)
    for job, profiled in raw.profiled:
        launch = kept.launches.get(raw.launches[job])
        if launch is not None and raw.launches[job][:2] not in wrong:
            check_launch(profiled, launch)
            add_counters(kept.run_of(launch), profiled, raw.part)


def write_records(chosen, options):
    """Exit code: 1 if a kernel was wrong."""
    stems = sorted(os.path.join(options.raw, name[:-len('.json')]) for name in os.listdir(options.raw)
                   if name.endswith('.json') and name != 'machine.json') if os.path.isdir(options.raw) else []
    if not stems:
        sys.exit(f'record: nothing measured in {options.raw}; run `record measure` first')
    with open(os.path.join(options.raw, 'machine.json'), encoding='ascii') as file:
        machine = json.load(file)
    os.makedirs(options.to, exist_ok=True)
    meta = {**machine, 'toolkit': compiling.read_toolkit(options.build), 'command': COMMAND}
    kept, wrong = Records(options, chosen, meta), set()
    for raw in sorted((Raw(stem) for stem in stems), key=lambda raw: raw.part != 'timing'):
        add_batch(raw, kept, wrong)
    kept.write()
    print(f'{len(kept.open)} records with {sum(len(record["runs"]) for record in kept.open.values())} runs in {options.to}')
    return 1 if wrong else 0
