"""What ptxas makes of a kernel family: compiles a grid of configurations and counts the instructions of each. The
`corpus` of a family describes it in a Family and calls main().

Columns of the result: traces/calibration/ptxas/README.md.
"""
import collections
import csv
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SHARED_LIMIT = 227 * 1024  # of a CTA of compute capability 9.0
INSTRUCTION_BYTES = 16
KERNEL = 'tile_gemm'
RZ = 255


class Family:
    """A kernel family. `defaults` are the keys of its `compile`; threads_of(config), shared_bytes_of(config),
    name_of(config) and illegal(config) (why not, or None) say what the keys mean; the multiply instructions are the
    class `product`, products_of(config) of them a slice; tile_flags(config) are the tile for `tilesim check`; `classes` are further classes of instructions, in front."""

    def __init__(self, folder, name, defaults, product, classes=()):
        self.folder = folder
        self.name = name
        self.defaults = defaults
        self.product = product
        self.classes = tuple(classes) + CLASSES
        self.entries = []  # (configuration, keep its cubin, plain)

    def add(self, tile, numbers, words, keep, plain):
        """`numbers` name what the tile says; the first of the words is sS or aS: S buffers through registers or by
        cp.async, or d: none, operands straight from global memory, word by word; the others are KEY=VALUE."""
        config = dict(self.defaults, **dict(zip(numbers, map(int, re.split('[x/]', tile)))))
        config['COPY'] = {'s': 'reg', 'a': 'cpasync', 'd': 'direct'}[words[0][0]]
        if config['COPY'] == 'direct':
            config.update(STAGES=1, VEC=1)
        else:
            config['STAGES'] = int(words[0][1:])
        for word in words[1:]:
            key, value = word.split('=')
            config[key] = type(self.defaults[key])(value)
        self.entries.append((config, keep, plain))

    def read_grid(self, numbers, plain, special):
        """Lines of a tile and what is made of it: plain ones separated by spaces, special ones by semicolons; + keeps
        the cubin."""
        for text, is_plain in ((plain, True), (special, False)):
            for line in text.strip().splitlines():
                tile, rest = line.split(None, 1)
                for variant in rest.split() if is_plain else rest.split(';'):
                    words = variant.strip().rstrip('+').split()
                    self.add(tile, numbers, words, variant.strip().endswith('+'), is_plain)
        self.check()

    def complete(self, config):
        """Before a configuration is compiled: for how many CTAs per SM it is planned. `tilesim` ($TILESIM, else from PATH)
        says it."""
        flags = self.tile_flags(config)
        for flag, key in (('stages', 'STAGES'), ('vec', 'VEC'), ('pad-a', 'PAD_A'), ('pad-b', 'PAD_B'),
                          ('swizzle', 'SWIZZLE'), ('copy', 'COPY'), ('layout', 'LAYOUT'), ('raster', 'RASTER')):
            flags += [f'--{flag}', str(config[key])]
        flags += ['--regs', str(config['REGS'])] if config['REGS'] else []
        run = subprocess.run([os.environ.get('TILESIM', 'tilesim'), 'check', *flags, '--json', '-'],
                             capture_output=True, text=True, check=True)
        config['MIN_CTAS'] = json.loads(run.stdout)['kernel']['min_ctas']

    def check(self):
        names = [self.name_of(config) for config, _, _ in self.entries]
        doubled = [name for name, count in collections.Counter(names).items() if count > 1]
        wrong = [f'{name}: {problem}' for (config, _, _), name in zip(self.entries, names)
                 if (problem := self.illegal(config)) is not None]
        if doubled or wrong:
            sys.exit('corpus: ' + '; '.join(wrong + [f'{name} is there twice' for name in doubled]))


def buffers_of(config):
    return {'reg': f"s{config['STAGES']}", 'cpasync': f"a{config['STAGES']}", 'direct': 'd'}[config['COPY']]


def variant_of(config):
    """The end of a name: what differs from the defaults of both families."""
    name = ''.join(f'_{short}{config[key]}' if config[key] else ''
                   for key, short in (('PAD_A', 'pa'), ('PAD_B', 'pb'), ('SWIZZLE', 'sw')))
    if config['RASTER'] != 'n':
        name += '_' + config['RASTER'].replace('roup:', '')
    return name + ('_ragged' if config['RAGGED'] else '') + ('_ab' if config['EPILOGUE'] else '') + (
        f"_r{config['REGS']}" if config['REGS'] else '')


class Cubin:
    """Sections of a 64-bit little-endian ELF file, and what .nv.info says about the kernel."""

    def __init__(self, path):
        with open(path, 'rb') as file:
            data = file.read()
        if data[:6] != b'\x7fELF\x02\x01':
            sys.exit(f'corpus: {path} is not a 64-bit ELF file')
        table, = struct.unpack_from('<Q', data, 40)
        size, count, names = struct.unpack_from('<HHH', data, 58)
        headers = [struct.unpack_from('<IIQQQQIIQQ', data, table + i * size) for i in range(count)]
        strings = headers[names]
        self.sections = {}
        for header in headers:
            start = strings[4] + header[0]
            name = data[start:data.index(b'\0', start)].decode()
            no_bits = header[1] == 8
            self.sections[name] = (b'' if no_bits else data[header[4]:header[4] + header[5]], header[5])
        self.text = self.sections['.text.' + KERNEL][0]
        self.registers = self.register_count()

    def register_count(self):
        info = self.sections['.nv.info'][0]
        position = 0
        while position < len(info):
            form, attribute, value = struct.unpack_from('<BBH', info, position)
            position += 4
            if form == 4:  # `value` bytes follow
                if attribute == 0x2f:  # EIATTR_REGCOUNT: symbol, registers
                    return struct.unpack_from('<II', info, position)[1]
                position += value
        sys.exit('corpus: no EIATTR_REGCOUNT in the cubin')

    def instructions(self):
        words = struct.iter_unpack('<QQ', self.text)
        return [Instruction(i * INSTRUCTION_BYTES, low, high) for i, (low, high) in enumerate(words)]


# Bits 0-8 of an instruction; traces/sass/instruction_table.cpp and, for what it does not have, observation.
MNEMONICS = {
    0x002: 'MOV', 0x003: 'P2R', 0x004: 'R2P', 0x005: 'CS2R', 0x006: 'VOTE', 0x007: 'SEL', 0x008: 'FSEL',
    0x009: 'FMNMX', 0x00b: 'FSETP', 0x00c: 'ISETP', 0x010: 'IADD3', 0x011: 'LEA', 0x012: 'LOP3', 0x013: 'IABS',
    0x016: 'PRMT', 0x017: 'IMNMX', 0x019: 'SHF', 0x01c: 'PLOP3', 0x020: 'FMUL', 0x021: 'FADD', 0x023: 'FFMA',
    0x024: 'IMAD', 0x025: 'IMAD.WIDE', 0x027: 'IMAD.HI', 0x031: 'HFMA2', 0x035: 'HFMA2.MMA', 0x036: 'VIADD',
    0x03b: 'LDSM', 0x03c: 'HMMA',
    0x045: 'I2FP', 0x046: 'VIADDMNMX', 0x048: 'VIMNMX', 0x082: 'UMOV', 0x083: 'UP2UR', 0x084: 'UR2UP',
    0x086: 'VOTEU', 0x087: 'USEL', 0x08c: 'UISETP', 0x090: 'UIADD3', 0x091: 'ULEA', 0x092: 'ULOP3', 0x096: 'UPRMT',
    0x097: 'UIMNMX', 0x099: 'USHF', 0x09c: 'UPLOP3', 0x0a4: 'UIMAD', 0x0a5: 'UIMAD.WIDE', 0x0b9: 'ULDC',
    0x0bd: 'UFLO', 0x0bf: 'UPOPC', 0x105: 'F2I', 0x106: 'I2F', 0x108: 'MUFU', 0x109: 'POPC', 0x118: 'NOP',
    0x119: 'S2R', 0x11a: 'DEPBAR', 0x11d: 'BAR', 0x141: 'BSYNC', 0x142: 'BREAK', 0x143: 'CALL', 0x144: 'CALL',
    0x145: 'BSSY', 0x147: 'BRA', 0x148: 'WARPSYNC', 0x14d: 'EXIT', 0x150: 'RET', 0x180: 'LD', 0x181: 'LDG',
    0x182: 'LDC', 0x183: 'LDL', 0x184: 'LDS', 0x185: 'ST', 0x186: 'STG', 0x187: 'STL', 0x188: 'STS',
    0x1ae: 'LDGSTS', 0x1af: 'LDGDEPBAR', 0x1c2: 'R2UR', 0x1c3: 'S2UR',
}
WIDTHS = {0: 8, 1: 8, 2: 16, 3: 16, 4: 32, 5: 64, 6: 128}
MEMORY = ('LDS', 'STS', 'LDG', 'LDGSTS', 'STG', 'LDL', 'STL')


class Instruction:

    def __init__(self, address, low, high):
        self.address = address
        self.word = low | high << 64
        self.mnemonic = MNEMONICS.get(self.bits(0, 9), f'?{self.bits(0, 9):03x}')
        self.width = WIDTHS.get(self.bits(73, 3), 0) if self.mnemonic in MEMORY else 0
        self.target = None
        if self.mnemonic == 'BRA':
            distance = self.bits(16, 8) | self.bits(34, 48) << 8
            distance -= (distance >> 55) << 56
            self.target = address + INSTRUCTION_BYTES + 4 * distance
        self.predicate = self.bits(12, 4)  # 7 = always, 15 = never

    def bits(self, first, count):
        return self.word >> first & ((1 << count) - 1)

    def is_move(self):
        """IMAD that only moves c: RZ * RZ + c."""
        b = self.bits(64, 8) if self.bits(9, 3) in (2, 3, 7) else self.bits(32, 8)
        return self.bits(24, 8) == RZ and b == RZ and self.bits(9, 3) not in (4, 5, 6)

    def class_name(self):
        """The column that counts the instruction."""
        name = self.mnemonic
        if self.predicate == 15:
            return 'never'
        if name in ('LDL', 'STL'):
            return name.lower()
        if name in MEMORY:
            return f'{name.lower()}{self.width}'
        if name == 'LDSM':
            return f"ldsm{1 << self.bits(72, 2)}{'t' if self.bits(78, 1) else ''}"
        if name == 'IMAD':
            return 'imad_mov' if self.is_move() else 'imad'
        return CLASS_OF.get(name, 'other')


# Classes in the order of the columns; what has no class of its own goes to a group.
CLASS_OF = {
    'FFMA': 'ffma', 'HMMA': 'hmma', 'FMUL': 'fp_other', 'FADD': 'fp_other', 'FSEL': 'fp_other',
    'BAR': 'bar', 'DEPBAR': 'depbar', 'LDGDEPBAR': 'ldgdepbar',
    'IADD3': 'iadd3', 'LOP3': 'lop3', 'SHF': 'shf', 'LEA': 'lea', 'ISETP': 'isetp', 'SEL': 'sel', 'PRMT': 'prmt',
    'VIADD': 'viadd', 'IABS': 'alu_other', 'IMNMX': 'alu_other', 'VIMNMX': 'alu_other', 'VIADDMNMX': 'alu_other',
    'PLOP3': 'alu_other', 'P2R': 'alu_other', 'R2P': 'alu_other',
    'IMAD.WIDE': 'imad_wide', 'IMAD.HI': 'imad_hi', 'MOV': 'mov', 'CS2R': 'cs2r', 'HFMA2.MMA': 'hfma2_mma',
    'R2UR': 'r2ur', 'S2UR': 's2ur', 'ULDC': 'uldc', 'LDC': 'ldc', 'S2R': 's2r',
    'BRA': 'bra', 'BSSY': 'bssy_bsync', 'BSYNC': 'bssy_bsync', 'EXIT': 'exit', 'NOP': 'nop',
}
CLASS_OF.update({name: 'uniform' for name in MNEMONICS.values() if name[0] == 'U' and name != 'ULDC'})
CLASSES = ('ffma', 'fp_other', 'lds32', 'lds64', 'lds128', 'sts32', 'sts64', 'sts128', 'ldg32', 'ldg64', 'ldg128',
           'ldgsts32', 'ldgsts64', 'ldgsts128', 'stg32', 'stg64', 'stg128', 'ldl', 'stl', 'bar', 'depbar', 'ldgdepbar',
           'iadd3', 'lop3', 'shf', 'lea', 'isetp', 'sel', 'prmt', 'viadd', 'alu_other', 'imad', 'imad_wide', 'imad_hi',
           'imad_mov', 'mov', 'cs2r', 'hfma2_mma', 'uniform', 'r2ur', 's2ur', 'uldc', 'ldc', 's2r', 'bra',
           'bssy_bsync', 'exit', 'nop', 'never', 'other')


def without_padding(code):
    """Drops the branch to itself at the end and the NOPs that fill up the section."""
    for i in range(len(code) - 1, -1, -1):
        if code[i].target == code[i].address:
            return code[:i]
        if code[i].mnemonic != 'NOP':
            break
    return code


def main_loop(code, product):
    """(first, last) of the innermost loop with most multiply instructions, as indices; None without one."""
    latches = {}
    for i, instruction in enumerate(code):
        if instruction.target is not None and instruction.target < instruction.address:
            header = instruction.target // INSTRUCTION_BYTES
            latches[header] = max(latches.get(header, 0), i)
    loops = list(latches.items())
    inner = [(first, last) for first, last in loops
             if not any(first <= other[0] and other[1] <= last and other != (first, last) for other in loops)]

    def products(loop):
        return sum(code[i].class_name() == product for i in range(loop[0], loop[1] + 1))

    best = max(inner, key=products, default=None)
    return best if best is not None and products(best) > 0 else None


def counts(code, classes):
    result = collections.Counter(instruction.class_name() for instruction in code)
    unknown = set(result) - set(classes)
    if unknown:
        sys.exit(f'corpus: no column for {sorted(unknown)}')
    return result


def measure(family, cubin, config):
    """The columns that come from the machine code."""
    code = without_padding(cubin.instructions())
    loop = main_loop(code, family.product)
    first, last = loop if loop is not None else (len(code), len(code) - 1)
    parts = {'loop': code[first:last + 1], 'before': code[:first], 'after': code[last + 1:]}
    row = {'code_bytes': len(cubin.text), 'instructions': len(code)}
    per_slice = family.products_of(config)
    tallies = {part: counts(instructions, family.classes) for part, instructions in parts.items()}
    tiles = tallies['loop'][family.product] / per_slice
    row['k_tiles_per_iteration'] = f'{tiles:g}'
    row['last_tile_peeled'] = int(tallies['after'][family.product] >= per_slice)
    inside = [i for i in parts['loop'][:-1] if i.target is not None]
    low, high = first * INSTRUCTION_BYTES, last * INSTRUCTION_BYTES
    row['loop_branches_inside'] = sum(low <= i.target <= high for i in inside)
    row['loop_branches_out'] = sum(not low <= i.target <= high for i in inside)
    row['loop_predicated'] = sum(i.predicate != 7 for i in parts['loop'][:-1])
    for part in ('loop', 'before', 'after'):
        row[f'{part}_instructions'] = len(parts[part])
        for name in family.classes:
            row[f'{part}_{name}'] = tallies[part][name]
    return row, [i.mnemonic for i in code if i.class_name() == 'other']


def compile_one(family, config, path, prefix=()):
    """Compiles, by a command that begins with `prefix`; returns what ptxas says."""
    arguments = [f'{key}={value}' for key, value in config.items()]
    run = subprocess.run([*prefix, os.path.join(family.folder, 'compile'), path] + arguments, capture_output=True, text=True)
    if run.returncode != 0:
        sys.stderr.write(run.stderr)
        sys.exit(run.returncode)
    return run.stderr


def said(pattern, text):
    found = re.search(pattern, text)
    return int(found.group(1)) if found else 0


def build(family, folder):
    rows = []
    odd = collections.Counter()
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, 'kernel.cubin')
        for config, keep, plain in family.entries:
            name = family.name_of(config)
            family.complete(config)
            text = compile_one(family, config, path)
            cubin = Cubin(path)
            row = {'name': name, 'plain': int(plain)}
            row.update(config)
            row['threads'] = family.threads_of(config)
            row['registers'] = cubin.registers
            row['stack_bytes'] = said(r'(\d+) bytes stack frame', text)
            row['spill_store_bytes'] = said(r'(\d+) bytes spill stores', text)
            row['spill_load_bytes'] = said(r'(\d+) bytes spill loads', text)
            row['static_shared_bytes'] = said(r'(\d+) bytes smem', text)
            row['dynamic_shared_bytes'] = 0 if row['static_shared_bytes'] else family.shared_bytes_of(config)
            if cubin.registers != said(r'Used (\d+) registers', text):
                sys.exit(f'corpus: {name}: ptxas and .nv.info disagree about the registers')
            measured, other = measure(family, cubin, config)
            row.update(measured)
            odd.update(other)
            rows.append(row)
            print(name, cubin.registers, 'registers', file=sys.stderr, flush=True)
            if keep:
                shutil.copyfile(path, os.path.join(folder, name + '.cubin'))
    with open(os.path.join(folder, family.name + '.csv'), 'w', newline='', encoding='ascii') as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows)
    print(f'{len(rows)} configurations, {sum(row["plain"] for row in rows)} of them plain; class "other": {dict(odd)}')


def show(family, path):
    code = Cubin(path).instructions()
    loop = main_loop(without_padding(code), family.product) or (len(code), len(code))
    for i, instruction in enumerate(code):
        predicate = instruction.predicate
        number = 'T' if predicate & 7 == 7 else predicate & 7
        guard = '' if predicate == 7 else f"@{'!' if predicate & 8 else ''}P{number} "
        width = f'.{instruction.width}' if instruction.width else ''
        target = f' {instruction.target:#x}' if instruction.target is not None else ''
        mark = '|' if loop[0] <= i <= loop[1] else ' '
        print(f'{mark} {instruction.address:05x} {guard}{instruction.mnemonic}{width}{target}')


def main(family, usage, arguments):
    if arguments[:1] == ['--list'] and len(arguments) == 2:
        show(family, arguments[1])
    elif arguments == ['--names']:
        for config, keep, _ in family.entries:
            print(family.name_of(config), '+' if keep else '')
    elif len(arguments) <= 1 and not any(a.startswith('-') for a in arguments):
        build(family, arguments[0] if arguments else os.path.join(family.folder, '../../traces/calibration/ptxas'))
    else:
        sys.exit(usage)
