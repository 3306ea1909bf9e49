#!/usr/bin/env python3
"""Writes a raw file of uint16 tokens from a formula: runs of ascending ids that restart, on average, every fourth token.

usage: tokens.py FILE COUNT VOCAB
"""
import sys
from array import array

MASK64 = (1 << 64) - 1


def tokens(count, vocab):
    state, token = 1, 0
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) & MASK64
        if state >> 62 == 0:
            token = min((state >> 20 & 0xFFFF) % vocab, (state >> 40 & 0xFFFF) % vocab)
        else:
            token = (token + 1) % vocab
        yield token


if __name__ == "__main__":
    path, count, vocab = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(path, "wb") as file:
        array("H", tokens(count, vocab)).tofile(file)
