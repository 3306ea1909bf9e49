#!/usr/bin/env python3
"""Writes golden.json: what Hugging Face `transformers` saves for tiny models, and the logits that it computes.

    pip install -r ../llama3_torch/requirements.txt
    python3 generate.py                      rewrites golden.json
    python3 generate.py --check CASE FOLDER  loads a folder that Tethys exported, and compares logits with golden.json

The weights are the formula's, see ../llama3_torch/README.md, so that no tensor is committed.
"""
import importlib.util
import json
import platform
import re
import sys
import tempfile
from pathlib import Path

import safetensors
import torch
import transformers

HERE = Path(__file__).parent
TOKENS = [1, 5, 9, 5, 60, 33, 2, 2, 47, 12, 0, 63, 31, 8, 19, 40, 41, 42, 43, 7, 7, 30, 22, 11]
PROBED_IDS = 6

MODEL = {"dim": 32, "layers": 2, "heads": 4, "kv_heads": 2, "ffn": 48, "vocab": 64, "norm_eps": 1e-5}
QWEN3 = {**MODEL, "architecture": "qwen3", "head_dim": 16, "norm_eps": 1e-6,
         "rope": {"theta": 1000000.0, "factor": 1.0, "low": 1.0, "high": 4.0, "original": 8192}}
QWEN3_MOE = {**QWEN3, "architecture": "qwen3_moe", "experts": 6, "experts_per_token": 2, "expert_ffn": 24}
CASES = {
    # The original length is so short that all three branches of the scaling are in use.
    "tied": {**MODEL, "tied": True,
             "rope": {"theta": 500000.0, "factor": 32.0, "low": 1.0, "high": 4.0, "original": 16}},
    "untied": {**MODEL, "tied": False,
               "rope": {"theta": 10000.0, "factor": 8.0, "low": 1.0, "high": 4.0, "original": 8192}},
    "qwen3_tied": {**QWEN3, "tied": True},
    "qwen3_untied": {**QWEN3, "tied": False},
    "qwen3_moe_tied": {**QWEN3_MOE, "tied": True},
    "qwen3_moe_untied": {**QWEN3_MOE, "tied": False},
}


def formula():
    spec = importlib.util.spec_from_file_location("llama3_torch", HERE.parent / "llama3_torch/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def logits_of(network):
    with torch.no_grad():
        return network(torch.tensor([TOKENS])).logits[0, :, :PROBED_IDS].double().tolist()


def golden(case):
    network, _ = formula().build(case, torch.float32)
    network.eval()
    with tempfile.TemporaryDirectory() as folder:
        network.save_pretrained(folder)
        config = json.loads((Path(folder) / "config.json").read_text())
        with safetensors.safe_open(Path(folder) / "model.safetensors", "pt") as file:
            shapes = {name: list(file.get_tensor(name).shape) for name in sorted(file.keys())}
    return {"model": case, "config": config, "shapes": shapes, "logits": logits_of(network)}


def check(name, folder):
    case = json.loads((HERE / "golden.json").read_text())["cases"][name]
    network = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    network.eval()
    ours = logits_of(network)
    difference = max(abs(a - b) for row, theirs in zip(ours, case["logits"]) for a, b in zip(row, theirs))
    print(f"{name}: {network.num_parameters()} parameters, largest difference of a logit {difference:.2e}")
    if not difference <= 1e-4:
        sys.exit(1)


def main():
    torch.set_num_threads(1)
    if len(sys.argv) == 4 and sys.argv[1] == "--check":
        return check(sys.argv[2], sys.argv[3])
    document = {
        "made_by": {"script": "generate.py", "torch": torch.__version__, "transformers": transformers.__version__,
                    "safetensors": safetensors.__version__, "python": platform.python_version()},
        "tokens": TOKENS,
        "cases": {name: golden(case) for name, case in CASES.items()},
    }
    text = json.dumps(document, indent=1)
    text = re.sub(r"\[[^\[\]{}]*\]", lambda numbers: " ".join(numbers.group().split()), text)
    (HERE / "golden.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
