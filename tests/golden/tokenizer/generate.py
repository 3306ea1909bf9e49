"""Writes peer.json: what PyPI `tokenizers` learns from corpus.txt under our split pattern, and how it encodes hard cases.

    python -m venv V && V/bin/pip install tokenizers==0.23.3 && V/bin/python tests/golden/tokenizer/generate.py

The test beside tethys/data/tokenizer trains and encodes the same and expects the same merges and ids. The pattern is
read from the source of the splitter, so that it stands in one place.
"""

import json
import pathlib
import re

import tokenizers
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).parent
SPLITTER = HERE.parents[2] / "tethys/data/tokenizer/ascii_splitter.h"
VOCAB_SIZE = 600
END = "<|end_of_text|>"

CASES = [
    "",
    " ",
    "  ",
    "a",
    "Hello, world!",
    "The boats had gone; the book doesn't say why.",
    "    def __init__(self, depth=12.5):\n        return self.depth\n\n\n",
    "1 12 123 1234 12345 123456 1234567 3.14159 1e-6 0x1F 2024-03-14",
    "a1b22c333d4444",
    "\t\ttabs\tand  spaces \n \n  \r\n\r\rends \x0b\x0c here   ",
    "   leading", "trailing   ", "in   the   middle", "\n", "\n\n", " \n ", "\n a", "a\n", "  1", "  !", " \t!", "\t a",
    "Möwen über Ísafjörður, Ωκεανός, Čapek, Море было спокойно",
    "海は静かで、船は港にいた。 바다는 البحر",
    "🙂🙂 👩‍🚀🚢⚓ 👨‍👩‍👧‍👦 🇮🇸",
    "e\u0301 vs \u00e9, \u00a0nbsp\u2003em\u3000cjk space\u2028line\u0085next",
    "\x00\x01\x02\x1f\x7f\x00 \x1b[0m",
    "\ufeffbom \ufffd \U0010ffff \ue000",
    "!@#$%^&*()_+-=[]{}|;':\",./<>?`~\\",
    "----------==========##########__________",
    "it's I'm we've they'd don't 'quoted' O'Brien's",
    "CamelCaseWords and snake_case_words and SCREAMING",
    "a" * 200,
    "ab" * 100,
    " " * 200,
    "-" * 200,
    "7" * 200,
    "\n" * 200,
    "🙂" * 50,
    "the " * 50,
    END,
    f"first{END}second {END}\n{END}{END}",
    "<|end_of_text|", "<|end_of_text |>", "<<|end_of_text|>>",
]


def split_pattern() -> str:
    source = SPLITTER.read_text()
    definition = source[source.index("kAsciiPattern =") :]
    return "".join(re.findall(r'R"\((.*?)\)"', definition[: definition.index(";\n")]))


def build() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(split_pattern()), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE - 1,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    # As one text: train() on a file would take it line by line.
    tokenizer.train_from_iterator([(HERE / "corpus.txt").read_text()], trainer)
    tokenizer.add_special_tokens([END])
    return tokenizer


def main() -> None:
    tokenizer = build()
    model = json.loads(tokenizer.to_str())["model"]
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    cases = [{"text": text, "ids": tokenizer.encode(text).ids} for text in CASES]
    lines = [
        f'"tokenizers": {json.dumps(tokenizers.__version__)}',
        f'"vocab_size": {tokenizer.get_vocab_size()}',
        '"merges": ' + json.dumps(merges),
        '"cases": [\n  ' + ",\n  ".join(json.dumps(case) for case in cases) + "\n]",
    ]
    (HERE / "peer.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
