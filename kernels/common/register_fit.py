"""Fit of the register estimate of a kernel family (model/tile_config.cpp): what its `fit-registers` needs."""
import csv
import math
import os
import re
import subprocess
import sys
import tempfile
from importlib import machinery, util

HERE = os.path.dirname(os.path.abspath(__file__))
PTXAS = os.path.join(HERE, '..', '..', 'traces', 'calibration', 'ptxas')


class Grid:
    """The configurations without a register cap of a family's `corpus` that are `wanted`, and the file with what ptxas
    gives them."""

    def __init__(self, folder, name, wanted=lambda config: True):
        self.folder = folder
        self.file = os.path.join(PTXAS, f'{name}_registers.csv')
        loader = machinery.SourceFileLoader('corpus', os.path.join(folder, 'corpus'))
        module = util.module_from_spec(util.spec_from_loader('corpus', loader))
        loader.exec_module(module)
        self.family = getattr(module, name.capitalize())()
        self.configs = {self.family.name_of(c): c for c, _, _ in self.family.entries if not c['REGS'] and wanted(c)}

    def measure(self):
        """Compiles every configuration without a second launch bound and with 1, and writes the file."""
        with tempfile.TemporaryDirectory() as work, open(self.file, 'w', newline='', encoding='ascii') as file:
            writer = csv.writer(file, lineterminator='\n')
            writer.writerow(['name', 'free_registers', 'free_spill_store_bytes', 'one_cta_registers',
                             'one_cta_spill_store_bytes'])
            for name, config in self.configs.items():
                row = [name]
                for ctas in (0, 1):
                    keys = [f'{key}={value}' for key, value in dict(config, MIN_CTAS=ctas).items()]
                    run = subprocess.run([os.path.join(self.folder, 'compile'), os.path.join(work, 'kernel.cubin'), *keys],
                                         capture_output=True, text=True)
                    if run.returncode != 0:
                        sys.stderr.write(run.stderr)
                        sys.exit(run.returncode)
                    row += [re.search(p, run.stderr).group(1) for p in (r'Used (\d+)', r'(\d+) bytes spill stores')]
                writer.writerow(row)
                print(*row, file=sys.stderr, flush=True)

    def rows(self):
        """Rows of the file that the fit may use, with their configurations: no bounds checks, no epilogue, no spills."""
        with open(self.file, encoding='ascii') as file:
            rows = [(self.configs[r['name']], r) for r in csv.DictReader(file) if r['name'] in self.configs]
        return [(c, r) for c, r in rows
                if not c['RAGGED'] and not c['EPILOGUE'] and r['free_spill_store_bytes'] == '0']


def solve(rows, values):
    """Least squares by the normal equations."""
    n = len(rows[0])
    matrix = [[sum(r[i] * r[j] for r in rows) + (1e-3 if i == j else 0.0) for j in range(n)] +
              [sum(r[i] * v for r, v in zip(rows, values))] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(matrix[k][i]))
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        for k in range(n):
            if k != i:
                factor = matrix[k][i] / matrix[i][i]
                matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i])]
    return [matrix[i][n] / matrix[i][i] for i in range(n)]


def fit(names, points, below=0.5):
    """The plane with the share `below` of the values under it, least absolute errors at 0.5, by reweighted least squares.
    `points`: (features by name, value)."""
    weights = [1.0] * len(points)
    for _ in range(30):
        result = solve([[f[n] * w for n in names] for (f, _), w in zip(points, weights)],
                       [value * w for (_, value), w in zip(points, weights)])
        weights = []
        for f, value in points:
            error = value - sum(c * f[n] for c, n in zip(result, names))
            weights.append(math.sqrt(2 * (below if error > 0 else 1 - below) / max(2.0, abs(error))))
    return dict(zip(names, result))


def estimate(coefficients, f):
    return sum(c * f[n] for n, c in coefficients.items())


def resident(registers, threads, shared):
    """Occupancy of compute capability 9.0."""
    warps = threads // 32
    by_registers = 16384 // (math.ceil(registers / 8) * 256) * 4 // warps
    return max(1, min(by_registers, 64 // warps, 32, 233472 // (shared + 1024)))


def share(ctas, threads):
    """Registers that so many CTAs leave a thread."""
    return min(255, 2048 // (ctas * threads // 32) // 8 * 8)


class Fits:
    """What the two fits of a family use. `recorded`: registers of kernels that were measured on a GPU, by name; each counts
    `weight` times in the first. `below`: the share of kernels that the first may overestimate. `all_wanted`: the second
    takes all kernels, not only those whose planned CTAs leave them what they want."""

    def __init__(self, needed, wanted, recorded, weight, below=0.5, all_wanted=False):
        self.needed, self.wanted = needed, wanted
        self.recorded, self.weight = recorded, weight
        self.below, self.all_wanted = below, all_wanted


def main(grid, features, fits, usage, arguments):
    if arguments == ['--measure']:
        grid.measure()
    elif arguments:
        sys.exit(usage)
    points = [(c, features(c, grid.family), r) for c, r in grid.rows()]
    measured = [(f, fits.recorded[r['name']]) for _, f, r in points if r['name'] in fits.recorded]
    needed = fit(fits.needed, [(f, int(r['free_registers'])) for _, f, r in points] + measured * fits.weight, fits.below)
    free = []
    for c, f, r in points:
        threads = grid.family.threads_of(c)
        ctas = resident(round(estimate(needed, f)), threads, grid.family.shared_bytes_of(c))
        wanted = int(r['one_cta_registers'])
        if wanted < 255 and (fits.all_wanted or wanted <= share(ctas, threads)):
            free.append((f, wanted))
    wanted = fit(fits.wanted, free)
    for title, coefficients, count in (('needed', needed, len(points)), ('wanted', wanted, len(free))):
        print(f'{title} ({count} kernels): ' + ', '.join(f'{n} {c:.2f}' for n, c in coefficients.items()))
    for _, f, r in points:
        if r['name'] in fits.recorded:
            print(f"{r['name']}: needed {estimate(needed, f):.1f}, recorded {fits.recorded[r['name']]}, "
                  f"free {r['free_registers']}")
