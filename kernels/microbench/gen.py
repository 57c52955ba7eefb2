#!/usr/bin/env python3
"""Writes the machine-code tests for runner.cu. Usage: gen.py [PART...], parts as in PARTS."""
import sys

from barriers import barriers
from issue_queue import issue_queue
from kth_request import kth_request
from latencies import fixed, variable
from loops import curve, fetch, progress
from lsu import loads, stores
from operands import constants, uniform
from pipes import pipes, requests
from suite import Suite
from tensor import tensor

PARTS = (loads, stores, issue_queue, uniform, constants, fetch, progress, pipes,
         requests, fixed, variable, tensor, barriers,
         kth_request, curve)


def main():
    suite = Suite()
    for part in PARTS:
        if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
            part(suite)
    suite.write()


if __name__ == '__main__':
    main()
