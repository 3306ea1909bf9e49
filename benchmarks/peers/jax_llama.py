#!/usr/bin/env python3
"""A Llama training step in JAX, as fast as plain JAX makes it on CPU: the system that Tethys is measured against.

One jitted program per step (forward, backward, clipping, AdamW) with donated state. Layers are scanned over stacked
parameters or unrolled. Prints one JSON line: step times, compile time, losses, peak memory, versions.

Shapes: B batch, T positions, D model, H heads, K kv heads, C head size; d, f a linear's in and out.
"""
import time

STARTED = time.perf_counter()

import argparse
import json
import resource
import sys
import tomllib
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", required=True, help="TOML file with [model], [training], [optimizer]")
    parser.add_argument("--tokens", required=True, help="raw file of uint16 tokens, read in order")
    parser.add_argument("--layers", default="scan", choices=["scan", "unrolled"])
    parser.add_argument("--steps", type=int, default=5, help="timed steps; one more runs first, which compiles")
    return parser.parse_args()


# --- Parameters ---

def layer_shapes(m):
    """Linear weights are [out, in], which is a little faster here than [in, out]."""
    kv = m["n_kv_heads"] * (m["dim"] // m["n_heads"])
    return {"wq": (m["dim"], m["dim"]), "wk": (kv, m["dim"]), "wv": (kv, m["dim"]), "wo": (m["dim"], m["dim"]),
            "w1": (m["ffn_dim"], m["dim"]), "w3": (m["ffn_dim"], m["dim"]), "w2": (m["dim"], m["ffn_dim"]),
            "attention_norm": (m["dim"],), "ffn_norm": (m["dim"],)}


def initial_parameters(m, layers):
    random = np.random.default_rng(0)

    def value(name, shape):
        if name.endswith("norm"):
            return np.ones(shape, np.float32)
        std = 0.02 if name in ("wq", "wk", "wv", "w1") else 0.02 / np.sqrt(m["n_layers"])
        return random.standard_normal(shape, np.float32) * np.float32(std)

    per_layer = [{n: value(n, s) for n, s in layer_shapes(m).items()} for _ in range(m["n_layers"])]
    if layers == "scan":
        blocks = {n: np.stack([layer[n] for layer in per_layer]) for n in per_layer[0]}
    else:
        blocks = per_layer
    return jax.tree.map(jnp.asarray, {
        "tok_embeddings": random.standard_normal((m["vocab_size"], m["dim"]), np.float32),
        "layers": blocks,
        "norm": np.ones((m["dim"],), np.float32),
        "output": random.standard_normal((m["vocab_size"], m["dim"]), np.float32) * np.float32(m["dim"] ** -0.5),
    })


# --- Forward ---

def linear(x, w):
    return jnp.einsum("...d,fd->...f", x, w)


def rms_norm(x, weight, eps):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + eps) * weight


def rope_tables(length, head, theta):
    angles = np.arange(length)[:, None] * theta ** (-np.arange(0, head, 2) / head)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def rotate(x, cos, sin):
    low, high = jnp.split(x, 2, -1)
    cos, sin = cos[:, None], sin[:, None]
    return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], -1)


def attend(q_BTHC, k_BTKC, v_BTKC):
    batch, length, heads, head = q_BTHC.shape
    kv_heads = k_BTKC.shape[2]
    causal = np.tril(np.ones((length, length), bool))
    # Repeating keys and values beats grouped dots by a few per cent here: XLA transposes less around them.
    k = jnp.repeat(k_BTKC, heads // kv_heads, 2)
    v = jnp.repeat(v_BTKC, heads // kv_heads, 2)
    scores = jnp.einsum("bthc,bshc->bhts", q_BTHC * head**-0.5, k)
    shares = jax.nn.softmax(jnp.where(causal, scores, -jnp.inf))
    return jnp.einsum("bhts,bshc->bthc", shares, v).reshape(batch, length, -1)


def block(x_BTD, p, m, cos, sin):
    batch, length, _ = x_BTD.shape
    heads = lambda y, count: y.reshape(batch, length, count, -1)
    h = rms_norm(x_BTD, p["attention_norm"], m["norm_eps"])
    q = rotate(heads(linear(h, p["wq"]), m["n_heads"]), cos, sin)
    k = rotate(heads(linear(h, p["wk"]), m["n_kv_heads"]), cos, sin)
    v = heads(linear(h, p["wv"]), m["n_kv_heads"])
    x_BTD = x_BTD + linear(attend(q, k, v), p["wo"])
    h = rms_norm(x_BTD, p["ffn_norm"], m["norm_eps"])
    return x_BTD + linear(jax.nn.silu(linear(h, p["w1"])) * linear(h, p["w3"]), p["w2"])


def loss_of(params, ids, labels, m, options):
    cos, sin = rope_tables(ids.shape[1], m["dim"] // m["n_heads"], m["rope_theta"])
    x = params["tok_embeddings"][ids]
    if options.layers == "scan":
        x, _ = jax.lax.scan(lambda x, p: (block(x, p, m, cos, sin), None), x, params["layers"])
    else:
        for p in params["layers"]:
            x = block(x, p, m, cos, sin)
    logits = linear(rms_norm(x, params["norm"], m["norm_eps"]), params["output"])
    picked = jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)


# --- Training step ---

def make_step(m, optimizer, max_norm, options):
    beta1, beta2 = optimizer["beta1"], optimizer["beta2"]

    @partial(jax.jit, donate_argnums=0)
    def step(state, lr, ids, labels):
        params, first, second, count = state
        loss, grads = jax.value_and_grad(loss_of)(params, ids, labels, m, options)
        norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
        scale = jnp.minimum(1.0, max_norm / (norm + 1e-6))
        count = count + 1
        correction1, correction2 = 1 - beta1**count, 1 - beta2**count

        def update(p, m1, m2, g):
            g = g * scale
            m1 = beta1 * m1 + (1 - beta1) * g
            m2 = beta2 * m2 + (1 - beta2) * g * g
            denominator = jnp.sqrt(m2 / correction2) + optimizer["eps"]
            return p * (1 - lr * optimizer["weight_decay"]) - lr / correction1 * m1 / denominator, m1, m2

        leaves, tree = jax.tree.flatten(params)
        updated = [update(*each) for each in zip(leaves, jax.tree.leaves(first), jax.tree.leaves(second),
                                                 jax.tree.leaves(grads))]
        params, first, second = (jax.tree.unflatten(tree, part) for part in zip(*updated))
        return (params, first, second, count), loss, norm

    return step


def batches(path, rows, length):
    """Rows of length + 1 tokens with stride length, in the file's order, round and round."""
    tokens = np.fromfile(path, np.uint16).astype(np.int32)
    starts = np.arange((len(tokens) - 1) // length) * length
    index = 0
    while True:
        window = np.stack([tokens[s:s + length + 1] for s in np.take(starts, range(index, index + rows), mode="wrap")])
        yield window[:, :-1], window[:, 1:]
        index += rows


def main():
    options = parse_arguments()
    with open(options.recipe, "rb") as file:
        recipe = tomllib.load(file)
    m, training, optimizer = recipe["model"], recipe["training"], recipe["optimizer"]
    length = training["seq_len"]
    rows = batches(options.tokens, training["local_batch_size"], length)

    params = initial_parameters(m, options.layers)
    zeros = lambda: jax.tree.map(jnp.zeros_like, params)
    state = (params, zeros(), zeros(), jnp.float32(0))
    parameter_count = sum(p.size for p in jax.tree.leaves(params))
    step = make_step(m, optimizer, training["max_norm"], options)
    lr = jnp.float32(optimizer["lr"])

    ids, labels = next(rows)
    began = time.perf_counter()
    compiled = step.lower(state, lr, ids, labels).compile()
    compile_seconds = time.perf_counter() - began
    del params
    losses, norms, seconds, cpu_seconds = [], [], [], []
    for index in range(options.steps + 1):
        began, cpu_began = time.perf_counter(), time.process_time()
        state, loss, norm = compiled(state, lr, ids, labels)
        jax.block_until_ready(state)
        seconds.append(time.perf_counter() - began)
        cpu_seconds.append(time.process_time() - cpu_began)
        if index == 0:
            seconds_to_first_step = time.perf_counter() - STARTED
        losses.append(float(loss))
        norms.append(float(norm))
        ids, labels = next(rows)
    print(json.dumps({
        "name": f"jax-{options.layers}",
        "step_seconds": seconds[1:], "cpu_seconds": cpu_seconds[1:], "compile_seconds": compile_seconds,
        "seconds_to_first_step": seconds_to_first_step,
        "loss": losses, "grad_norm": norms, "parameters": parameter_count, "tokens_per_step": int(ids.size),
        "peak_memory_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "temporaries_gib": compiled.memory_analysis().temp_size_in_bytes / 2**30,
        "versions": {"jax": jax.__version__, "jaxlib": jax.lib.__version__, "python": sys.version.split()[0]},
    }))


if __name__ == "__main__":
    main()
