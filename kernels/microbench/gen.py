#!/usr/bin/env python3
"""Writes the machine-code tests for runner.cu. Usage: gen.py [PART...], parts as in PARTS."""
import sys

from issue_queue import issue_queue
from loops import fetch, progress
from lsu import loads, stores
from operands import constants, uniform
from suite import Suite

PARTS = (loads, stores, issue_queue, uniform, constants, fetch, progress)


def main():
    suite = Suite()
    for part in PARTS:
        if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
            part(suite)
    suite.write()


if __name__ == '__main__':
    main()
