#!/usr/bin/env python3
"""Prints how many parameters transformers' Qwen3 has in every flavour, and how many of them a token goes through; it is
made without memory for them.

    pip install -r ../llama3_torch/requirements.txt && python3 parameters.py
"""
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM, Qwen3MoeConfig, Qwen3MoeForCausalLM

# dim, layers, heads, kv heads, ffn, vocabulary, tied
FLAVOURS = {
    "debugmodel": (256, 8, 16, 8, 3072, 2048, True),
    "0.6b": (1024, 28, 16, 8, 3072, 151936, True),
    "1.7b": (2048, 28, 16, 8, 6144, 151936, True),
    "4b": (2560, 36, 32, 8, 9728, 151936, True),
    "8b": (4096, 36, 32, 8, 12288, 151936, False),
    "14b": (5120, 40, 40, 8, 17408, 151936, False),
    "32b": (5120, 64, 64, 8, 25600, 151936, False),
}
# With experts, 8 for a token; then their number and width.
MOE_FLAVOURS = {
    "debugmodel_moe": (256, 8, 16, 8, 3072, 2048, False, 64, 768),
    "30b_a3b": (2048, 48, 32, 4, 6144, 151936, False, 128, 768),
    "235b_a22b": (4096, 94, 64, 4, 12288, 151936, False, 128, 1536),
}
TOP_K = 8


def sizes(dim, layers, heads, kv_heads, ffn, vocab, tied):
    return dict(hidden_size=dim, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=kv_heads,
                head_dim=128, intermediate_size=ffn, vocab_size=vocab, tie_word_embeddings=tied)


def main():
    for name, flavour in FLAVOURS.items():
        with torch.device("meta"):
            network = Qwen3ForCausalLM(Qwen3Config(**sizes(*flavour)))
        print(name, sum(parameter.numel() for parameter in network.parameters()))
    for name, (*flavour, experts, width) in MOE_FLAVOURS.items():
        with torch.device("meta"):
            network = Qwen3MoeForCausalLM(Qwen3MoeConfig(
                **sizes(*flavour), num_experts=experts, num_experts_per_tok=TOP_K, moe_intermediate_size=width,
                norm_topk_prob=True))
        total = sum(parameter.numel() for parameter in network.parameters())
        of_experts = sum(p.numel() for n, p in network.named_parameters() if ".experts." in n)
        print(name, total, "of a token", total - of_experts * (experts - TOP_K) // experts)


if __name__ == "__main__":
    main()
