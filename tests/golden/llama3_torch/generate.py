#!/usr/bin/env python3
"""Trains small models in PyTorch and writes what a correct trainer must reproduce to golden.json: of Llama 3 here, of
another architecture beside it in ARCHITECTURE_torch.

Weights, tokens and ignored labels come from the formula in README.md, so that no tensor is committed. Each case is
trained twice: in float32, which is the golden, and in float64, which shows how far float32 itself may be off.

    pip install -r requirements.txt && python3 generate.py [llama3 | qwen3 | qwen3_moe]
"""
import contextlib
import json
import math
import platform
import re
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM
from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM
from transformers import modeling_rope_utils
from transformers.models.llama import modeling_llama
from transformers.models.qwen3 import modeling_qwen3
from transformers.models.qwen3_moe import modeling_qwen3_moe

MASK64 = (1 << 64) - 1
IGNORED = -100

TRAINING = {
    "steps": 20, "batch": 4, "seq_len": 128,
    "lr": 8e-4, "warmup_steps": 2, "decay_ratio": 0.8, "min_lr_factor": 0.0, "decay": "linear",
    "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "max_norm": 1.0,
}
SMALL = {
    "dim": 128, "layers": 2, "heads": 8, "kv_heads": 2, "ffn": 256, "vocab": 512, "norm_eps": 1e-5, "tied": True,
    "rope": {"theta": 500000.0, "factor": 32.0, "low": 1.0, "high": 4.0, "original": 64},
}
CASES = {
    "debugmodel": {
        "model": {
            "dim": 256, "layers": 6, "heads": 16, "kv_heads": 16, "ffn": 768, "vocab": 2048, "norm_eps": 1e-5,
            "tied": False,
            "rope": {"theta": 500000.0, "factor": 8.0, "low": 1.0, "high": 4.0, "original": 8192},
        },
        "ignore_labels": False,
    },
    "gqa_tied": {"model": SMALL, "ignore_labels": False},
    "gqa_tied_ignored_labels": {"model": SMALL, "ignore_labels": True},
}
# Heads wider than their share of the width, as in all of its flavours.
SMALL_QWEN3 = {
    "architecture": "qwen3", "dim": 128, "layers": 2, "heads": 8, "kv_heads": 2, "head_dim": 32, "ffn": 256,
    "vocab": 512, "norm_eps": 1e-6, "rope": {"theta": 1000000.0, "factor": 1.0, "low": 1.0, "high": 4.0,
                                             "original": 8192},
}
QWEN3_CASES = {
    "tied": {"model": {**SMALL_QWEN3, "tied": True}, "ignore_labels": False},
    "untied_ignored_labels": {"model": {**SMALL_QWEN3, "tied": False}, "ignore_labels": True},
}
# Every layer has experts; nothing is "ffn" wide.
SMALL_QWEN3_MOE = {
    **SMALL_QWEN3, "architecture": "qwen3_moe", "dim": 64, "heads": 4, "vocab": 128, "experts": 8,
    "experts_per_token": 2, "expert_ffn": 48,
}
QWEN3_MOE_CASES = {
    "untied": {"model": {**SMALL_QWEN3_MOE, "tied": False}, "ignore_labels": False},
    "tied_ignored_labels": {"model": {**SMALL_QWEN3_MOE, "tied": True}, "ignore_labels": True},
}
# A layer's parameters that not all architectures have.
DENSE = {"feed_forward.w1.weight": "mlp.gate_proj.weight", "feed_forward.w2.weight": "mlp.down_proj.weight",
         "feed_forward.w3.weight": "mlp.up_proj.weight"}
EXPERTS = {"moe.router.gate.weight": "mlp.gate.weight", "moe.experts.w1": "mlp.experts.gate_up_proj",
           "moe.experts.w2": "mlp.experts.down_proj", "moe.experts.w3": "mlp.experts.gate_up_proj"}
HEAD_NORMS = {"attention.q_norm.weight": "self_attn.q_norm.weight",
              "attention.k_norm.weight": "self_attn.k_norm.weight"}
# Two of ours are one tensor of transformers', which lie one behind the other along its second dimension.
HALVES = {"w1": 0, "w3": 1}
# Per architecture: its cases, transformers' classes and module, and the names of that kind.
ARCHITECTURES = {
    "llama3": (CASES, LlamaConfig, LlamaForCausalLM, modeling_llama, DENSE),
    "qwen3": (QWEN3_CASES, Qwen3Config, Qwen3ForCausalLM, modeling_qwen3, {**DENSE, **HEAD_NORMS}),
    "qwen3_moe": (QWEN3_MOE_CASES, Qwen3MoeConfig, Qwen3MoeForCausalLM, modeling_qwen3_moe, {**EXPERTS, **HEAD_NORMS}),
}
PROBED_POSITIONS = [0, 1, 17, 63, 64, 127]  # of row 0 of the first step
PROBED_IDS = 4  # logits of the ids 0..3


# --- The formula (README.md) ---

def splitmix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK64
    return x ^ (x >> 31)


def fnv1a64(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK64
    return h


def uniform(name, count):
    """u(name, 0..count-1): doubles in [-1, 1), multiples of 2^-52."""
    with np.errstate(over="ignore"):
        x = np.uint64(fnv1a64(name)) + np.arange(count, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return (x >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0


def weight(name, shape, tied):
    u = uniform(name, math.prod(shape)).reshape(shape)
    if name.endswith("norm.weight"):
        value = 1.0 + 0.1 * u
    elif name == "tok_embeddings.weight" and not tied:
        value = u
    else:
        value = u / math.sqrt(shape[-1])
    return torch.from_numpy(value.astype(np.float32))


def batch(step, vocab, ignore_labels):
    """Ids and labels of one step, both [batch, seq_len]."""
    rows, length = TRAINING["batch"], TRAINING["seq_len"] + 1
    tokens = np.zeros((rows, length), np.int64)
    ignored = np.zeros((rows, length), bool)
    key = fnv1a64("tokens")
    for row in range(rows):
        for pos in range(length):
            h = splitmix64((key + (step * rows + row) * length + pos) & MASK64)
            if pos == 0 or h % 4 == 0:
                tokens[row, pos] = min((h >> shift & 0xFFFF) % vocab for shift in (8, 24, 40))
            else:
                tokens[row, pos] = (tokens[row, pos - 1] + 1) % vocab
            ignored[row, pos] = (h >> 4) % 8 == 0
    labels = tokens[:, 1:].copy()
    if ignore_labels:
        labels[ignored[:, 1:]] = IGNORED
    return torch.from_numpy(tokens[:, :-1].copy()), torch.from_numpy(labels)


def lr_factor(step):
    """Warm-up, constant, linear decay; step counts from 0."""
    total = TRAINING["steps"]
    warmup = min(TRAINING["warmup_steps"], total)
    decay = min(round(total * TRAINING["decay_ratio"]), total - warmup)
    stable = total + 1 - warmup - decay
    if step < warmup:
        return (step + 1) / warmup
    if step < warmup + stable:
        return 1.0
    remaining = 1.0 - (step + 1 - (warmup + stable)) / decay
    return TRAINING["min_lr_factor"] + (1.0 - TRAINING["min_lr_factor"]) * remaining


# --- PyTorch's side ---

class Widened:
    """Stands for the module `torch` inside transformers, with float64 wherever it says float32."""

    float = float32 = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


@contextlib.contextmanager
def precision(dtype):
    """transformers keeps norms, RoPE and softmax in float32 by name: in a float64 run those must widen as well."""
    modules = [modeling_rope_utils] + [architecture[3] for architecture in ARCHITECTURES.values()]
    for module in modules:
        module.torch = Widened() if dtype == torch.float64 else torch
    try:
        yield
    finally:
        for module in modules:
            module.torch = torch


def hugging_face_names(layers, more):
    names = {"tok_embeddings.weight": "model.embed_tokens.weight", "norm.weight": "model.norm.weight",
             "output.weight": "lm_head.weight"}
    per_layer = {
        "attention.wq.weight": "self_attn.q_proj.weight", "attention.wk.weight": "self_attn.k_proj.weight",
        "attention.wv.weight": "self_attn.v_proj.weight", "attention.wo.weight": "self_attn.o_proj.weight",
        "attention_norm.weight": "input_layernorm.weight", "ffn_norm.weight": "post_attention_layernorm.weight",
        **more,
    }
    for layer in range(layers):
        for ours, theirs in per_layer.items():
            names[f"layers.{layer}.{ours}"] = f"model.layers.{layer}.{theirs}"
    return names


def ours_of(name, tensor):
    """What of transformers' tensor is the parameter of this name."""
    half = HALVES.get(name.rpartition(".")[2])
    return tensor if half is None else tensor.chunk(2, dim=1)[half]


def build(model, dtype):
    """The model with the formula's weights; and under Tethys' names the parameters that ours are, or are parts of."""
    rope = model["rope"]
    _, config_class, network_class, _, more_names = ARCHITECTURES[model.get("architecture", "llama3")]
    scaled = {"rope_type": "llama3", "factor": rope["factor"], "low_freq_factor": rope["low"],
              "high_freq_factor": rope["high"], "original_max_position_embeddings": rope["original"]}
    experts = {} if "experts" not in model else {
        "num_experts": model["experts"], "num_experts_per_tok": model["experts_per_token"],
        "moe_intermediate_size": model["expert_ffn"], "norm_topk_prob": True, "experts_implementation": "eager"}
    network = network_class(config_class(
        hidden_size=model["dim"], num_hidden_layers=model["layers"], num_attention_heads=model["heads"],
        num_key_value_heads=model["kv_heads"], head_dim=model.get("head_dim", model["dim"] // model["heads"]),
        intermediate_size=model["ffn"], vocab_size=model["vocab"], rms_norm_eps=model["norm_eps"],
        tie_word_embeddings=model["tied"], max_position_embeddings=131072, attn_implementation="eager",
        use_cache=False, **experts,
        rope_parameters={
            "rope_theta": rope["theta"], **(scaled if rope["factor"] != 1 else {"rope_type": "default"}),
        })).to(dtype)
    theirs = dict(network.named_parameters())
    parameters = {ours: theirs[name] for ours, name in hugging_face_names(model["layers"], more_names).items()
                  if name in theirs}
    assert set(map(id, parameters.values())) == set(map(id, theirs.values()))
    with torch.no_grad():
        for name, parameter in parameters.items():
            ours = ours_of(name, parameter)
            ours.copy_(weight(name, tuple(ours.shape), model["tied"]))
    return network, parameters


def probe(logits):
    at = logits.detach()[0, PROBED_POSITIONS].double()
    return {"positions": PROBED_POSITIONS, "logits": at[:, :PROBED_IDS].tolist(),
            "logsumexp": torch.logsumexp(at, -1).tolist()}


def norms_by_name(tensors):
    return {name: ours_of(name, tensor.detach()).double().norm().item() for name, tensor in sorted(tensors.items())}


def train(case, dtype):
    model = case["model"]
    with precision(dtype):
        network, parameters = build(model, dtype)
        theirs = list(network.parameters())
        optimizer = torch.optim.AdamW(
            theirs, lr=TRAINING["lr"], betas=(TRAINING["beta1"], TRAINING["beta2"]),
            eps=TRAINING["eps"], weight_decay=TRAINING["weight_decay"])
        result = {"lr": [], "loss": [], "grad_norm": [], "valid_tokens": []}
        for step in range(TRAINING["steps"]):
            ids, labels = batch(step, model["vocab"], case["ignore_labels"])
            rate = TRAINING["lr"] * lr_factor(step)
            for group in optimizer.param_groups:
                group["lr"] = rate
            logits = network(ids).logits
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
            optimizer.zero_grad()
            loss.backward()
            if step == 0:
                result["first_step"] = probe(logits)
                result["first_step"]["gradient_norms"] = norms_by_name({name: p.grad for name, p in parameters.items()})
            norm = torch.nn.utils.clip_grad_norm_(theirs, TRAINING["max_norm"])
            optimizer.step()
            result["lr"].append(rate)
            result["loss"].append(loss.item())
            result["grad_norm"].append(norm.item())
            result["valid_tokens"].append(int((labels != IGNORED).sum()))
        result["final_parameter_norms"] = norms_by_name(parameters)
        result["inverse_frequencies"] = network.model.rotary_emb.inv_freq.double().tolist()
        result["parameters"] = sum(p.numel() for p in theirs)
        return result


def golden(case):
    single, double = train(case, torch.float32), train(case, torch.float64)
    shared = {key: single[key] for key in ("parameters", "lr", "valid_tokens")}
    measured = ("loss", "grad_norm", "first_step", "final_parameter_norms", "inverse_frequencies")
    weights = {name: weight(name, shape, case["model"]["tied"]).flatten()[:2].double().tolist()
               for name, shape in (("tok_embeddings.weight", (1, case["model"]["dim"])),
                                   ("layers.1.attention.wq.weight", (1, case["model"]["dim"])),
                                   ("norm.weight", (2,)))}
    ids, labels = batch(0, case["model"]["vocab"], case["ignore_labels"])
    return {
        "model": case["model"], "ignore_labels": case["ignore_labels"], **shared,
        "formula_check": {"first_values": weights, "first_ids": ids[0, :8].tolist(), "first_labels": labels[0, :8].tolist()},
        "float32": {key: single[key] for key in measured}, "float64": {key: double[key] for key in measured},
    }


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    architecture = sys.argv[1] if len(sys.argv) > 1 else "llama3"
    cases = ARCHITECTURES[architecture][0]
    document = {
        "made_by": {"script": "generate.py", "torch": torch.__version__, "transformers": transformers.__version__,
                    "numpy": np.__version__, "python": platform.python_version(), "machine": platform.machine(),
                    "cpu_capability": torch.backends.cpu.get_cpu_capability(), "attention": "eager"},
        "formula": "README.md" if architecture == "llama3" else "../llama3_torch/README.md",
        "training": TRAINING,
        "cases": {name: golden(case) for name, case in cases.items()},
    }
    path = Path(__file__).parent.parent / f"{architecture}_torch/golden.json"
    text = json.dumps(document, indent=1)
    path.write_text(re.sub(r"\[[^\[\]{}]*\]", lambda numbers: " ".join(numbers.group().split()), text) + "\n")
    for name, case in document["cases"].items():
        single, double = case["float32"], case["float64"]
        difference = [max(abs(a - b) for a, b in zip(single[key], double[key])) for key in ("loss", "grad_norm")]
        print(f"{name}: {case['parameters']} parameters, loss {single['loss'][0]:.5f} -> {single['loss'][-1]:.5f}, "
              f"norm {single['grad_norm'][0]:.4f} -> {single['grad_norm'][-1]:.4f}, "
              f"float32 against float64: loss {difference[0]:.1e}, norm {difference[1]:.1e}")


if __name__ == "__main__":
    main()
