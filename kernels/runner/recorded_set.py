"""The recorded set (set.txt): its kernels, the code files each needs, and the launches to measure."""
import collections
import dataclasses
import fnmatch
import os
import re
import sys
from importlib import machinery, util

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, '..', 'common'))
import ptxas_corpus  # noqa: E402  (found through the path above)

ALPHA_BETA = (2.0, 0.5)  # of EPILOGUE=1
NUMBERS = {'simt': ('BM', 'BN', 'BK', 'TM', 'TN'), 'mma': ('BM', 'BN', 'BK', 'WM', 'WN')}
STATIC_SHARED_BYTES = 48 * 1024


def family_of(name, grid=False):
    """The Family of kernels/NAME/corpus, without the grid of that script unless it is asked for."""
    folder = os.path.join(HERE, '..', name)
    loader = machinery.SourceFileLoader(name + '_corpus', os.path.join(folder, 'corpus'))
    module = util.module_from_spec(util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    family = getattr(module, name.capitalize())()
    if not grid:
        family.entries = []
    family.defaults = dict(family.defaults, SPLIT_K=1)
    return family


@dataclasses.dataclass(frozen=True, eq=False)
class Kernel:
    """A configuration: `keys` are those of `compile`, without MIN_CTAS and RAGGED."""
    name: str
    family: ptxas_corpus.Family
    keys: dict

    @property
    def dtype(self):
        return self.keys.get('DTYPE', 'f32')

    @property
    def element_bytes(self):
        return 2 if self.dtype in ('bf16', 'f16') else 4

    @property
    def threads(self):
        return self.family.threads_of(self.keys)

    @property
    def parts(self):
        return self.keys['SPLIT_K']

    def dynamic_shared_bytes(self):
        total = self.family.shared_bytes_of(self.keys)
        return total if total > STATIC_SHARED_BYTES else 0

    def code_for(self, shape):
        """'plain', 'ragged' (with bounds checks), or None: the kernel cannot run this shape."""
        m, n, k = shape
        row_a = m if self.keys['LAYOUT'][0] == 't' else k
        row_b = k if self.keys['LAYOUT'][1] == 't' else n
        if row_a % self.keys['VEC'] or row_b % self.keys['VEC']:
            return None
        if m % self.keys['BM'] == 0 and n % self.keys['BN'] == 0 and k % (self.keys['BK'] * self.parts) == 0:
            return 'plain'
        return None if self.parts > 1 else 'ragged'

    def grid_for(self, shape):
        return [-(-shape[1] // self.keys['BN']), -(-shape[0] // self.keys['BM']), self.parts]

    def alpha_beta(self):
        return ALPHA_BETA if self.keys['EPILOGUE'] else (1.0, 0.0)

    def arguments_for(self, shape):
        """As `tilesim replay --args` takes them."""
        m, n, k = shape
        sizes = (self.element_bytes * m * k, self.element_bytes * k * n, 4 * m * n * self.parts)
        scale = [f'f32:{x:g}' for x in self.alpha_beta()] if self.keys['EPILOGUE'] else []
        return ','.join([f'i32:{x}' for x in shape] + [f'ptr:{x}' for x in sizes] + scale)


@dataclasses.dataclass(frozen=True)
class Launch:
    kernel: Kernel
    shape: tuple
    code: str  # 'plain' or 'ragged'


@dataclasses.dataclass
class RecordedSet:
    kernels: list
    shapes: list
    counter_shapes: list
    scans: list  # (name, N, K, numbers of tiles along M)

    def only(self, patterns):
        """The set with the kernels whose names fit one of the patterns (separated by commas); None: all."""
        wanted = ['*'] if patterns is None else patterns.split(',')
        kernels = [kernel for kernel in self.kernels if any(fnmatch.fnmatchcase(kernel.name, pattern) for pattern in wanted)]
        names = {kernel.name for kernel in kernels}
        return dataclasses.replace(self, kernels=kernels, scans=[scan for scan in self.scans if scan[0] in names])

    def launches(self, shapes=None):
        """Every kernel at every shape that it can run, shape by shape; at one shape, kernels with the same operands follow each
        other."""
        order = sorted(self.kernels, key=lambda kernel: (kernel.dtype, kernel.keys['LAYOUT']))
        return [Launch(kernel, shape, code) for shape in (shapes or self.shapes) for kernel in order
                if (code := kernel.code_for(shape)) is not None]

    def scan_launches(self):
        kernels = {kernel.name: kernel for kernel in self.kernels}
        return [Launch(kernels[name], (tiles * kernels[name].keys['BM'], n, k), 'plain')
                for name, n, k, range_of_tiles in self.scans for tiles in range_of_tiles]


def shape_of(text):
    return tuple(map(int, text.split('x')))


def read_set(path=os.path.join(HERE, 'set.txt')):
    families = {name: family_of(name) for name in NUMBERS}
    kernels, lines = [], collections.defaultdict(list)
    with open(path, encoding='ascii') as file:
        for line in file:
            word, _, rest = line.split('#')[0].strip().partition(' ')
            if word in families:
                tile, _, variants = rest.strip().partition(' ')
                for variant in variants.split(';'):
                    families[word].add(tile, NUMBERS[word], variant.split(), False, False)
                    keys = families[word].entries[-1][0]
                    name = families[word].name_of(keys) + (f"_k{keys['SPLIT_K']}" if keys['SPLIT_K'] > 1 else '')
                    if (problem := families[word].illegal(keys)) is not None:
                        raise SystemExit(f'{path}: {name}: {problem}')
                    kernels.append(Kernel(name, families[word], keys))
            elif word in ('shape', 'counters', 'scan'):
                lines[word].append(rest.strip())
            elif word:
                raise SystemExit(f'{path}: {word!r} is neither a family nor shape, counters or scan')
    scans = []
    for line in lines['scan']:
        name, columns, tiles = line.split()
        first, last = map(int, re.fullmatch(r'(\d+)\.\.(\d+)', tiles).groups())
        scans.append((name, *shape_of(columns), range(first, last + 1)))
    return RecordedSet(kernels, list(map(shape_of, lines['shape'])), list(map(shape_of, lines['counters'])), scans)
