"""What `ncu --csv --page raw --print-units base` prints: one row a launch, the units in a row of their own above the first."""
import csv

LAUNCH_COLUMNS = ('ID', 'Kernel Name', 'Block Size', 'Grid Size')


class Launch:
    """One profiled launch: `values` and `units` by metric name."""

    def __init__(self, row, units):
        self.kernel = row['Kernel Name']
        self.grid = extents(row['Grid Size'])
        self.block = extents(row['Block Size'])
        self.values = {name: number for name in units if (number := number_of(row.get(name, ''))) is not None}
        self.units = units


def extents(text):
    """'(32, 16, 1)' as a list."""
    return [int(part) for part in text.strip('()').split(',')]


def number_of(text):
    """A number with or without thousands separators; None where there is none ('n/a', a name)."""
    try:
        return float(text.replace(',', ''))
    except ValueError:
        return None


def read_launches(path):
    """The launches of a log file in their order; lines of ncu's own (==PROF== ...) are passed over. Raises ValueError."""
    with open(path, encoding='utf-8', errors='replace') as file:
        rows = list(csv.reader(line for line in file if line.startswith('"')))
    if not rows:
        return []
    header = rows[0]
    missing = [column for column in LAUNCH_COLUMNS if column not in header]
    if missing:
        raise ValueError(f'{path}: not the raw page of ncu as CSV: no column {missing[0]}')
    if len(rows) < 2 or rows[1][header.index('ID')] != '':
        raise ValueError(f'{path}: the row of units is missing')
    units = {name: unit for name, unit in zip(header, rows[1]) if '__' in name}
    return [Launch(dict(zip(header, row)), units) for row in rows[2:]]
