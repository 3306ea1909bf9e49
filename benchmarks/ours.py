#!/usr/bin/env python3
"""Runs `tethys train` and prints what it measured as one JSON line, in the shape that the peers print.

usage: ours.py PROGRAM RECIPE TOKENS STEPS OUTPUT [FLAG]…
"""
import json
import resource
import subprocess
import sys
import time
from pathlib import Path


def versions():
    root = Path(__file__).resolve().parent.parent
    commit = subprocess.run(["git", "-C", root, "describe", "--always", "--dirty"], capture_output=True, text=True)
    plugin = Path(root, ".deps/plugins/default.so")
    return {"tethys": commit.stdout.strip() or "unknown", "plugin": plugin.resolve().name}


def measured(program, recipe, tokens, steps, output, flags):
    """Trains `steps` steps after a first one; what was measured, in the shape that the peers print."""
    command = [program, "train", recipe, "--output", output, "--data.tokens", tokens,
               "--training.steps", str(steps + 1), *flags]
    began = time.perf_counter()
    finished = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    total = time.perf_counter() - began
    if finished.returncode != 0:
        print(finished.stdout, file=sys.stderr)
        sys.exit(f"ours: exit status {finished.returncode} from: {' '.join(map(str, command))}")
    lines = [json.loads(line) for line in Path(output, "metrics.jsonl").read_text().splitlines()]
    lines = [line for line in lines if "step_seconds" in line]
    if len(lines) != steps + 1:
        sys.exit(f"ours: {output}/metrics.jsonl has {len(lines)} steps, expected {steps + 1}")
    seconds = [line["step_seconds"] for line in lines]
    return {
        "name": "tethys",
        "step_seconds": seconds[1:],
        "seconds_to_first_step": total - sum(seconds[1:]),
        "loss": [line["loss"] for line in lines], "grad_norm": [line["grad_norm"] for line in lines],
        "tokens_per_step": lines[1]["tokens"] - lines[0]["tokens"],
        "peak_memory_gib": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20,
        "device_memory_gib": lines[-1]["memory_gib"],
        "versions": versions(),
    }


def main():
    program, recipe, tokens, steps, output, *flags = sys.argv[1:]
    print(json.dumps(measured(program, recipe, tokens, int(steps), output, flags)))


if __name__ == "__main__":
    main()
