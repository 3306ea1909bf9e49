#!/usr/bin/env python3
"""Prints how many parameters transformers' Qwen3 has in every dense flavour; it is made without memory for them.

    pip install -r ../llama3_torch/requirements.txt && python3 parameters.py
"""
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

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


def main():
    for name, (dim, layers, heads, kv_heads, ffn, vocab, tied) in FLAVOURS.items():
        with torch.device("meta"):
            network = Qwen3ForCausalLM(Qwen3Config(
                hidden_size=dim, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=kv_heads,
                head_dim=128, intermediate_size=ffn, vocab_size=vocab, tie_word_embeddings=tied))
        print(name, sum(parameter.numel() for parameter in network.parameters()))


if __name__ == "__main__":
    main()
