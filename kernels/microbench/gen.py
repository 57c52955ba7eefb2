#!/usr/bin/env python3
"""Writes the machine-code tests for runner.cu. Usage: gen.py [--text FILE] [PART...], parts as in PARTS.

--text keeps what is assembled.
"""
import sys

import sm90
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
    words = sys.argv[1:]
    text = words[1] if words[:1] == ['--text'] else None
    chosen = words[2:] if text else words
    suite = Suite()
    for part in PARTS:
        if not chosen or part.__name__ in chosen:
            part(suite)
    suite.write()
    if text:
        sm90.write_text(suite.kernels, text)


if __name__ == '__main__':
    main()
