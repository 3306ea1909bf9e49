#!/usr/bin/env python3
"""Turns the runs of one benchmark (a JSON line each) into a Markdown table with ratios to the fastest peer.

usage: report.py RUNS.jsonl RECIPE
"""
import json
import math
import os
import platform
import sys
import tomllib
from collections import defaultdict
from statistics import median


def cpu_model():
    with open("/proc/cpuinfo") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    widest = next((f for f in ("amx_tile", "avx512f", "avx2") if f in fields.get("flags", "").split()), "no avx2")
    return f"{fields.get('model name', platform.machine())} (family {fields.get('cpu family')}, " \
           f"model {fields.get('model')}, {widest})"


def main():
    with open(sys.argv[1]) as file:
        runs = [json.loads(line) for line in file]
    with open(sys.argv[2], "rb") as file:
        recipe = tomllib.load(file)
    by_name = defaultdict(list)
    for run in runs:
        if not all(map(math.isfinite, run["loss"])):
            sys.exit(f"report: {run['name']} has losses that are not finite: {run['loss']}")
        by_name[run["name"]].append(run)

    step = {name: median(s for run in group for s in run["step_seconds"]) for name, group in by_name.items()}
    peers = {name: value for name, value in step.items() if name != "tethys"}
    fastest = min(peers, key=peers.get)
    m, training = recipe["model"], recipe["training"]

    print(f"# One training step, side by side\n\n"
          f"Llama 3 architecture: dim {m['dim']}, {m['n_layers']} layers, {m['n_heads']} heads, {m['n_kv_heads']} kv "
          f"heads, ffn {m['ffn_dim']}, vocabulary {m['vocab_size']:,}; {training['local_batch_size']} × "
          f"{training['seq_len']} tokens a step, {training['dtype']}, AdamW, clipping.\n")
    print("| system | ms per step, median | fastest | slowest | steps | tokens/s | ratio to fastest peer "
          "| start to end of first step, s | peak memory, GiB | loss, first → last |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, group in sorted(by_name.items(), key=lambda item: step[item[0]]):
        seconds = [s for run in group for s in run["step_seconds"]]
        last = group[-1]
        print(f"| {name} | {step[name] * 1e3:,.0f} | {min(seconds) * 1e3:,.0f} | {max(seconds) * 1e3:,.0f} "
              f"| {len(seconds)} | {last['tokens_per_step'] / step[name]:,.0f} | {step[name] / peers[fastest]:.3f} "
              f"| {median(run['seconds_to_first_step'] for run in group):.1f} "
              f"| {max(run['peak_memory_gib'] for run in group):.2f} "
              f"| {last['loss'][0]:.3f} → {last['loss'][-1]:.3f} |")
    if "tethys" in step:
        print(f"\n**tethys / {fastest}: {step['tethys'] / peers[fastest]:.3f}** (bound: 1.05)")

    versions = {key: value for run in runs for key, value in run["versions"].items()}
    print(f"\nRuns in this order: {', '.join(run['name'] for run in runs)}. The first step of each run, which compiles "
          f"or warms up, is not counted.\n")
    print(f"- CPU: {cpu_model()}; {len(os.sched_getaffinity(0))} threads")
    print(f"- Versions: {', '.join(f'{key} {value}' for key, value in sorted(versions.items()))}")
    loads = [run["load_before"] for run in runs]
    print(f"- Load average before each run: {', '.join(f'{load:.1f}' for load in loads)}")
    usual = len(os.sched_getaffinity(0)) + 0.5
    if max(loads) > usual:
        print("- **Other programs were running: the times say little.**")


if __name__ == "__main__":
    main()
