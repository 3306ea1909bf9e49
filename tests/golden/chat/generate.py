#!/usr/bin/env python3
"""Writes golden.json: conversations as Qwen3's own chat template and Meta's own chat format spell them.

    pip install transformers==5.24.0 tokenizers==0.23.3 jinja2==3.1.6 tiktoken==0.14.0 pydantic pillow pyyaml
    pip install --no-deps llama-models==0.3.0
    python3 tests/golden/chat/generate.py

Qwen3: transformers' apply_chat_template with .deps/tokenizers/qwen3, which `make setup` brings. The text of each
conversation, and of those that a user's message ends the ids of what the model is to answer, with and without thoughts.
Those hold no special token that is spelt out in a message: transformers makes a token of it, Tethys text.

Llama 3: llama_models.llama3.chat_format with the tokenizer that comes with it. It takes messages as they are; those that
reach it have no white space around them, which the templates of the models' published folders take away.
"""

import json
import pathlib

import transformers
from llama_models.datatypes import RawMessage
from llama_models.llama3.chat_format import ChatFormat
from llama_models.llama3.tokenizer import Tokenizer

HERE = pathlib.Path(__file__).parent
QWEN3 = HERE.parents[2] / ".deps/tokenizers/qwen3"
SPELT_OUT = "<|im_end|> in the text"


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
    turns("海は静か é", "🙂 oui", SPELT_OUT, "x"),
    turns("What floats?"),
    turns("1234567 boats,  in\ttwo  lines\n\nof text", system="You are a sailor's parrot."),
    turns("What floats?", "<think>\nWood.\n</think>\n\nA boat.", "And what else?", "Ice.", "那么 32°F?"),
]


def qwen3_cases():
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(QWEN3)
    for messages in CONVERSATIONS:
        case = {"messages": messages, "text": tokenizer.apply_chat_template(messages, tokenize=False)}
        if messages[-1]["role"] == "user":
            ids = {
                name: tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False, **how)
                for name, how in (("question", {}), ("question_without_thinking", {"enable_thinking": False}))
            }
            case |= ids
        yield case


def llama3_cases():
    chat_format = ChatFormat(Tokenizer.get_instance())
    for messages in CONVERSATIONS:
        said = [RawMessage(role=message["role"], content=message["content"].strip()) for message in messages]
        yield {"messages": messages, "question": chat_format.encode_dialog_prompt(said).tokens}


def main():
    golden = {
        "made_by": f"transformers {transformers.__version__}, llama-models 0.3.0",
        "qwen3": list(qwen3_cases()),
        "llama3": list(llama3_cases()),
    }
    text = json.dumps(golden, ensure_ascii=False)
    (HERE / "golden.json").write_text(text.replace('{"messages": [', '\n{"messages": [') + "\n")  # a line for each


if __name__ == "__main__":
    main()
