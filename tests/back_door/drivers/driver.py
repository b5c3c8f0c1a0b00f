"""Answers each line of standard input by the example in the folder given."""
import sys

sys.path.insert(0, sys.argv[1])
from check import is_signed

KEYS = {"2026-11": b"a secret that gate and shop share!", "old": b"the secret that was used before it"}

for line in sys.stdin.buffer:
    method, target, session, signature, now = line.decode("latin-1").rstrip("\n").split("\t")
    print("yes" if is_signed(method, target, session, signature, KEYS, now=int(now)) else "no")
