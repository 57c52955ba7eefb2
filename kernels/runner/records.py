"""Records: one JSON file a kernel, its code files beside it. traces/recorded/README.md has the format."""
import hashlib
import json
import os
import shutil
import statistics
import subprocess

import compiling

SCHEMA_VERSION = 1
KEYS = {'bm': 'BM', 'bn': 'BN', 'bk': 'BK', 'tm': 'TM', 'tn': 'TN', 'wm': 'WM', 'wn': 'WN', 'stages': 'STAGES', 'copy': 'COPY',
        'vec': 'VEC', 'pad_a': 'PAD_A', 'pad_b': 'PAD_B', 'swizzle': 'SWIZZLE', 'raster': 'RASTER', 'register_cap': 'REGS',
        'min_ctas': 'MIN_CTAS', 'split_k': 'SPLIT_K'}
INLINE_BELOW = 4  # levels that get lines of their own


def rounded(value):
    """A measured number without digits that mean nothing."""
    return int(value) if float(value).is_integer() else float(f'{value:.9g}')


def metric(values, unit):
    median = statistics.median(values)
    return {'value': rounded(median), 'unit': unit, 'spread': rounded((max(values) - min(values)) / median if median else 0),
            'repeats': len(values)}


def to_text(value, level=0):
    """JSON with a line for each thing that one looks for."""
    if not isinstance(value, (dict, list)) or not value or level >= INLINE_BELOW:
        return json.dumps(value)
    if isinstance(value, list) and not isinstance(value[0], dict):
        return json.dumps(value)
    indent, last = ' ' * (level + 1), ' ' * level
    if isinstance(value, list):
        inside = [to_text(item, level + 1) for item in value]
        return '[\n' + ',\n'.join(indent + text for text in inside) + '\n' + last + ']'
    inside = [f'{json.dumps(key)}: {to_text(item, level + 1)}' for key, item in value.items()]
    return '{\n' + ',\n'.join(indent + text for text in inside) + '\n' + last + '}'


def path_of(folder, name):
    return os.path.join(folder, name + '.json')


def read(folder, name):
    """The record of a kernel, or None."""
    try:
        with open(path_of(folder, name), encoding='ascii') as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def configuration_of(kernel, min_ctas):
    keys = dict(kernel.keys, MIN_CTAS=min_ctas)
    return {'family': kernel.family.name, 'dtype': kernel.dtype, 'layout': keys['LAYOUT'],
            **{name: keys[key] for name, key in KEYS.items() if key in keys}}


def code_entry(kernel, label, built, path, folder):
    """Compresses the cubin into the folder; what the record says about it."""
    file = compiling.cubin_of(kernel, label) + '.zst'
    if shutil.which('zstd') is None:
        raise SystemExit('record: no zstd; install it to compress the cubins')
    subprocess.run(['zstd', '-q', '-f', '-19', '--no-progress', path, '-o', os.path.join(folder, file)], check=True)
    with open(path, 'rb') as cubin:
        digest = hashlib.sha256(cubin.read()).hexdigest()
    return {'code': file, 'sha256': digest, 'registers': built['registers'],
            'static_shared_bytes': built['static_shared_bytes'], 'dynamic_shared_bytes': kernel.dynamic_shared_bytes(),
            'spill_store_bytes': built['spill_store_bytes'], 'spill_load_bytes': built['spill_load_bytes']}


def new_run(launch, code):
    m, n, k = launch.shape
    alpha, beta = launch.kernel.alpha_beta()
    return {'problem': {'m': m, 'n': n, 'k': k, 'alpha': alpha, 'beta': beta, 'split_k': launch.kernel.parts},
            'code': launch.code,
            'launch': {'grid': launch.kernel.grid_for(launch.shape), 'block': [launch.kernel.threads, 1, 1],
                       'shared_bytes': code['static_shared_bytes'] + code['dynamic_shared_bytes'],
                       'arguments': launch.kernel.arguments_for(launch.shape)},
            'metrics': {}}


def run_of(record, launch):
    """The run of a record at a shape, or None."""
    for run in record['runs']:
        if tuple(run['problem'][key] for key in 'mnk') == launch.shape:
            return run
    return None


def write(folder, name, record, shapes):
    """`shapes`: the order of the runs; others follow by size."""
    def order(run):
        shape = tuple(run['problem'][key] for key in 'mnk')
        return (shapes.index(shape) if shape in shapes else len(shapes), shape)
    record['runs'].sort(key=order)
    new = path_of(folder, name) + '.new'
    with open(new, 'w', encoding='ascii') as file:
        file.write(to_text(record) + '\n')
    os.replace(new, path_of(folder, name))
