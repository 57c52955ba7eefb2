"""Compiles the code files of the recorded set and the runner."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

from recorded_set import ptxas_corpus  # which finds it

HERE = os.path.dirname(os.path.abspath(__file__))
INDEX = 'codes.json'  # by code file: the keys it was compiled with, and what ptxas said
TOOLKIT = 'toolkit.txt'
NICE = ['nice', '-n', '10']


def cubin_of(kernel, label):
    return kernel.name + ('.ragged' if label == 'ragged' else '') + '.cubin'


def codes_of(chosen):
    """(kernel, label) of every code file that the launches need."""
    return list(dict.fromkeys((launch.kernel, launch.code) for launch in chosen.launches() + chosen.scan_launches()))


def read_index(folder):
    try:
        with open(os.path.join(folder, INDEX), encoding='ascii') as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def read_toolkit(folder):
    """The version of nvcc that compiled, as 13.0.88."""
    with open(os.path.join(folder, TOOLKIT), encoding='ascii') as file:
        return file.read().strip()


def compile_one(kernel, label, folder):
    """Name and entry of one code file."""
    keys = dict(kernel.keys, RAGGED=int(label == 'ragged'))
    kernel.family.complete(keys)
    name = cubin_of(kernel, label)
    said = ptxas_corpus.compile_one(kernel.family, keys, os.path.join(folder, name), NICE)
    entry = {'keys': keys, 'registers': ptxas_corpus.said(r'Used (\d+) registers', said),
             'static_shared_bytes': ptxas_corpus.said(r'(\d+) bytes smem', said)}
    for way in ('store', 'load'):
        entry[f'spill_{way}_bytes'] = ptxas_corpus.said(rf'(\d+) bytes spill {way}s', said)
    return name, entry


def nvcc_program():
    """$NVCC, else $CUDA_HOME/bin/nvcc, else from PATH, as kernels/common/compile.bash looks for it."""
    named, toolkit = os.environ.get('NVCC'), os.environ.get('CUDA_HOME')
    names = [named] if named else [os.path.join(toolkit, 'bin', 'nvcc'), 'nvcc'] if toolkit else ['nvcc']
    for found in filter(None, map(shutil.which, names)):
        return found
    print('record: no nvcc; install the CUDA toolkit 13.0, or name the program in NVCC or its folder in CUDA_HOME',
          file=sys.stderr)
    sys.exit(4)


def compile_runner(folder):
    source, program = os.path.join(HERE, 'runner.cu'), os.path.join(folder, 'runner')
    newest = max(os.path.getmtime(os.path.join(HERE, name)) for name in os.listdir(HERE) if name.endswith(('.cu', '.cuh', '.h')))
    if not os.path.exists(program) or os.path.getmtime(program) < newest:
        subprocess.run(NICE + [nvcc_program(), '-O2', '-std=c++17', '-arch=sm_90', '-Werror', 'all-warnings', '-Xcompiler',
                               '-Wall,-Wextra', '-o',
                               program, source, '-lcuda', '-lcublas'], check=True)


def compile_all(chosen, folder, jobs):
    os.makedirs(folder, exist_ok=True)
    version = subprocess.run([nvcc_program(), '--version'], capture_output=True, text=True, check=True).stdout
    with open(os.path.join(folder, TOOLKIT), 'w', encoding='ascii') as file:
        file.write(re.search(r'\bV(\d\S*)', version).group(1) + '\n')
    index = read_index(folder)
    wanted = [(kernel, label) for kernel, label in codes_of(chosen) if cubin_of(kernel, label) not in index]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(compile_one, kernel, label, folder) for kernel, label in wanted]
        try:
            for future in concurrent.futures.as_completed(futures):
                name, entry = future.result()
                index[name] = entry
                print(name, entry['registers'], 'registers', file=sys.stderr, flush=True)
        finally:
            pool.shutdown(cancel_futures=True)
            with open(os.path.join(folder, INDEX), 'w', encoding='ascii') as file:
                json.dump(index, file, indent=1, sort_keys=True)
    compile_runner(folder)
