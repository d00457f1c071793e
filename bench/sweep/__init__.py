# SPDX-License-Identifier: MIT
#
# A benchmark whose cases are drawn from a seed, so that nobody can tune to them. The order of a
# run: cases.py draws, operations.py knows what each operation is, run.py lays arrays out and
# measures, traffic.py says what had to be moved, check.py compares results, peers.py does the
# same in PyTorch, report.py writes it all down.
"""Cases drawn from a seed, measured against a copy of as many bytes."""
