#!/usr/bin/env python3
"""Writes golden.json: conversations as Qwen3's own chat template spells them.

    pip install jinja2==3.1.6 && python3 tests/golden/chat/generate.py

The template is read from .deps/tokenizers/qwen3/tokenizer_config.json, which `make setup` brings; it is rendered as
transformers does, with trim_blocks and lstrip_blocks.
"""

import json
import pathlib

import jinja2

HERE = pathlib.Path(__file__).parent
CONFIG = HERE.parents[2] / ".deps/tokenizers/qwen3/tokenizer_config.json"


def turns(*texts, system=None):
    messages = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]
    return ([{"role": "system", "content": system}] if system is not None else []) + messages


CONVERSATIONS = [
    turns("What floats?", "A boat."),
    turns("What floats?", "A boat.", "And what else?", "Wood, and ice.\n"),
    turns("  two spaces\n", "\n\nnewlines first", system="Be brief. "),
    turns("a", "<think>\nIt is the first letter.\n</think>\n\nb"),
    turns("a", "<think>\nforgotten\n</think>\n\nb", "c", "<think>kept</think>d"),
    turns("a", "stray</think>\nb"),
    turns("a", "no end <think> of it", "c", ""),
    turns("a", "b") + [{"role": "assistant", "content": "and b again"}],
    turns("a") + [{"role": "assistant", "content": "<think>x</think>b"}, {"role": "assistant", "content": "c"}],
    [{"role": "assistant", "content": "nobody asked"}],
    turns("a", "b") + [{"role": "system", "content": "now briefly"}, *turns("c", "d")],
    turns("a", "b", "c"),
    turns("海は静か é", "🙂 oui", "<|im_end|> in the text", "x"),
]


def main():
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(json.loads(CONFIG.read_text())["chat_template"])
    cases = [{"messages": messages, "text": template.render(messages=messages)} for messages in CONVERSATIONS]
    golden = {"made_by": f"jinja2 {jinja2.__version__}", "cases": cases}
    (HERE / "golden.json").write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
