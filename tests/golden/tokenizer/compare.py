#!/usr/bin/env python3
"""Encodes the same texts with tethys and with PyPI `tokenizers`, for the real vocabularies of Llama 3 and Qwen3.

usage: tests/golden/tokenizer/compare.py PROGRAM [--strings N] [--files N] [--all-characters] [--speed ROUNDS]

The texts: a list of hard cases, N random strings of all scripts and planes, characters in several contexts (a share of
them, or all), and N of the Python sources that Debian installs (0: all). --speed times both on one thread, taking turns,
on an eighth of the sources. `make setup` brings the vocabularies and the peer to .deps; `make test` runs a short form of
this, and `make bench` the long one. Exits with status 1 if an id differs or tethys is not 1.5 times as fast.
"""

import argparse
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[3]
os.environ["RAYON_NUM_THREADS"] = "1"
sys.path.insert(0, str(ROOT / ".deps/python"))
try:
    import tokenizers
except ImportError as error:
    sys.exit(f"compare: {error}; run `make setup`")

from generate import CASES  # noqa: E402

VOCABULARIES = {
    "Llama 3": ROOT / ".deps/tokenizers/llama3/tokenizer.json",
    "Qwen3": ROOT / ".deps/tokenizers/qwen3/tokenizer.json",
}
# As other models split: the first tokens of Llama 3 under their patterns.
FEWER = 20000
LETTER_CASES = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
CAPITALS, SMALL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
GPT4O = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{CAPITALS}*{SMALL}+{LETTER_CASES}|[^\r\n\p{{L}}\p{{N}}]?{CAPITALS}+{SMALL}*{LETTER_CASES}|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def split(regex, behavior="Isolated", invert=False):
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": behavior, "invert": invert}


def byte_level(use_regex, add_prefix_space=False):
    return {"type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": True, "use_regex": use_regex}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps)}


PRE_TOKENIZERS = {
    "GPT-2": byte_level(True),
    "GPT-2, prefix space": byte_level(True, True),
    "no split": byte_level(False),
    "GPT-4o": sequence(split(GPT4O), byte_level(False)),
    "GPT-4o, removed": sequence(split(GPT4O, "Removed", True), byte_level(False)),
    "digits": sequence({"type": "Digits", "individual_digits": True}, byte_level(True)),
    "runs of digits": sequence({"type": "Digits", "individual_digits": False}, byte_level(True)),
    "digits by three": sequence(split(r"\p{N}{1,3}"), byte_level(True)),
}

HARD = CASES + [
    "'s 's 'S 'ſ 'T 't 'Re 'rE 'VE 've 'M 'lL 'LL 'D 'd 'x 're're 'l 'r 'v '",
    "I'M HE'LL SHE'D WE'VE THEY'RE it'S x'ſ y'ſz",
    "''s '''re ''''ll 's's's 't't",
    "a\u2019s a\u02bcs a\uff07s",
    "١٢٣٤ ٥٦٧ १२३४५ 𝟏𝟐𝟑𝟒 ⅷⅸⅹ ²³¹ ½¾ 一二三 ㊿ 1２3４",
    "\u00a0\u00a0a\u2003\u2003b\u3000\u3000c\u2028\u2028d\u1680e\x85\x85f\u202f\u205fg\u200bh\ufeffi",
    "\r\r\n\n\r x\r \n\t\r\n  y \u2028\n\u2029\r z",
    "!!!\n\n\n??\r\n//\n/\n --\n\n -- \n",
    " \n! \n\n!\t\n a\n\n b \t\r\n\t c",
    "e\u0301\u0323 e\u0323\u0301 \u1e69 s\u0323\u0307 s\u0307\u0323 \u0344 \u0958 \u2126 \u212b \uf900 \U0002f800",
    "\u1100\u1161\u11a8 \u1100\u1161 \uac00\u11a8 \uac01\u11a8 \u1112\u1175\u11c2\u11c2 \u1100\u1100\u1161",
    "\u0301a \u0301\u0301\u0301 \u05b0\u05b1\u05b2\u05bc \u0f71\u0f72\u0f73 \u09c7\u09be \u0b47\u0b56",
    "a\u0301\u0302\u0303\u0304\u0305\u0306" + "\u0316\u0301" * 40 + "x",
    "\u07fd\u0323\u0301 \u1df6\u0323\u0301 \U00011938 \U00011935\U00011930 \U00016d68\U00016d67",
    "\u1c89\u1c8a \ua7cb \ua7dc \U000105c0 \U00010d4a \U00010d40\U00010d41",
    "ﬆ ß ŉ ǅ ǈ ǋ ᾳ İi ıI K Å ſs",
    "HTTPServer XMLHttpRequest iPhone McDonald's ABCdef'S ABC'LL ǅabc Ǆabc ªb aª ʰA Aʰ 日本ABC日本",
    "\u0301ABC \u0301abc A\u0301BC A\u0301b\u0301C \u0301",
    "<|begin_of_text|>x<|eot_id|> <|im_start|>user\nhi<|im_end|>\n<think>a</think><|endoftext|><|end_of_text|",
    "<|im_start|><|im_start|><|im_end|><|reserved_special_token_1|><|reserved_special_token_247|><|reserved_special_",
    "<tool_call></tool_call><tool_response></tool_response> <|fim_prefix|><|vision_pad|> e\u0301<think>\u0301x",
    "\U0001f469\u200d\U0001f680\ufe0f\U0001f3fd\U0001f1ee\U0001f1f8 \U000e0001\U000f0000\U0010fffd",
    "\x00" * 9 + "\x01\x1f\x7f\x80\x9f\xad",
    "a" * 5000, " " * 5000, "\n" * 3000, "ab" * 3000, "-=" * 2000, "1" * 2000, "\u4e00" * 2000, "e\u0301" * 1500,
    "\u3000" * 500 + "x", "\t" * 500 + "x", " \n" * 500, "\r\n" * 500 + " x", "'s" * 500, "\U0001f600" * 500,
]

BLOCKS = [
    (0x20, 0x7F), (0xA0, 0x180), (0x180, 0x250), (0x250, 0x300), (0x370, 0x400), (0x400, 0x530), (0x530, 0x600),
    (0x600, 0x700), (0x700, 0x8E0), (0x900, 0x980), (0x980, 0xE00), (0xE00, 0x1000), (0x1000, 0x1100), (0x1100, 0x1200),
    (0x1200, 0x1400), (0x1400, 0x1800), (0x1800, 0x1E00), (0x1E00, 0x2000), (0x2000, 0x2070), (0x2070, 0x2C00),
    (0x2C00, 0x3000), (0x3000, 0x3100), (0x3100, 0x3400), (0x3400, 0xA000), (0xA000, 0xAC00), (0xAC00, 0xD7B0),
    (0xD7B0, 0xD800), (0xF900, 0xFB00), (0xFB00, 0x10000), (0x10000, 0x11000), (0x11000, 0x12000), (0x12000, 0x1D000),
    (0x1D000, 0x1D800), (0x1D800, 0x20000), (0x1F300, 0x1F700), (0x20000, 0x32000), (0xE0000, 0xE01F0),
]  # fmt: skip
SPACES = [*map(chr, range(9, 14)), *" \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000", *map(chr, range(0x2000, 0x200B))]
CHARACTERS = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
DIGITS = [c for c in CHARACTERS if unicodedata.category(c)[0] == "N"]
MARKS = [c for c in CHARACTERS if unicodedata.category(c)[0] == "M"]
DECOMPOSED = [unicodedata.normalize("NFD", c) for c in CHARACTERS if unicodedata.decomposition(c)[:1] not in ("", "<")]
WORDS = "the of and to in def self return import class None x y foo_bar CamelCase HTTP2 naïve Straße été".split()
TOKENS = "<|begin_of_text|> <|end_of_text|> <|eot_id|> <|im_start|> <|im_end|> <think> <|endoftext|>".split()


def random_string(rng):
    def several(choices, most):
        return "".join(rng.choice(choices) for _ in range(rng.randint(1, most)))

    def of_block():
        low, high = rng.choice(BLOCKS)
        return "".join(chr(rng.randrange(low, high)) for _ in range(rng.randint(1, 8)))

    def contraction():
        letters = rng.choice(["s", "t", "re", "ve", "m", "ll", "d", "x", "r", "l", ""])
        text = rng.choice(["ſ", *[letters] * 9])
        return rng.choice(["'", "'", "'", "’", "''"]) + "".join(rng.choice(c if c == "ſ" else c + c.upper()) for c in text)

    kinds = [
        (2, lambda: several(CHARACTERS, 6)),
        (6, of_block),
        (4, lambda: several(SPACES, 4)),
        (4, lambda: several(" \n\t\r ", 5)),
        (3, lambda: several(DIGITS, 5)),
        (3, lambda: several("0123456789", 8)),
        (3, lambda: several("aeioué", 2) + several(MARKS, 4)),
        (3, lambda: several(DECOMPOSED, 3)),
        (3, contraction),
        (6, lambda: rng.choice(WORDS)),
        (4, lambda: several("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", 4)),
        (1, lambda: rng.choice(rng.choice([SPACES, MARKS, DIGITS, CHARACTERS, "aA1 .\n"])) * rng.randint(2, 120)),
        (0.5, lambda: rng.choice(TOKENS)),
        (0.5, lambda: rng.choice(TOKENS)[: rng.randint(1, 12)]),
    ]  # fmt: skip
    weights, makers = zip(*kinds)
    return "".join(maker() for maker in rng.choices(makers, weights, k=rng.randint(1, 10)))


def random_strings(count):
    rng = random.Random(20240917)
    return [random_string(rng) for _ in range(count)]


def contexts(some):
    """Each character after a letter, a digit, a mark and white space, between marks of NFC, and twice."""
    around = "a{0}1{0}{0}.{0} {0}a\u0323{0}\u0301 '{0}\n"
    return ["".join(around.format(c) for c in some[i : i + 128]) for i in range(0, len(some), 128)]


def corpus(count):
    files = sorted(pathlib.Path("/usr/lib/python3.11").glob("**/*.py"))
    if not files:
        sys.exit("compare: /usr/lib/python3.11 holds no Python sources: `make setup` installs them")
    chosen = files if count == 0 else files[:: max(1, len(files) // count)][:count]
    # The peer takes text only; the few files in other encodings are read as their bytes, each a character.
    return [path.read_bytes().decode("utf-8" if is_utf8(path) else "latin-1") for path in chosen]


def is_utf8(path):
    try:
        path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class Ours:
    def __init__(self, program, vocabulary, folder):
        self.command = [program, "tokenizer", "encode", "--tokenizer", str(vocabulary), "--threads", "1"]
        self.documents = pathlib.Path(folder) / "documents.jsonl"

    def _run(self, texts, *flags):
        self.documents.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        command = [*self.command, "--documents", str(self.documents), "--as_texts", *flags]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def encode(self, texts):
        return [[int(token) for token in line.split()] for line in self._run(texts).splitlines()]

    def seconds(self, texts):
        return float(re.search(r"seconds ([0-9.]+)", self._run(texts, "--summary")).group(1))


def differences(name, texts, peer, ours):
    texts = [text for text in texts if text]  # one of nothing is no document
    theirs = [encoding.ids for encoding in peer.encode_batch(texts)]
    mine = ours.encode(texts)
    assert len(mine) == len(theirs), (len(mine), len(theirs))
    bad = [i for i in range(len(texts)) if mine[i] != theirs[i]]
    print(f"  {name}: {len(texts):,} texts, {sum(map(len, theirs)):,} ids, {len(bad)} differ", flush=True)
    for i in bad[:3]:
        print(f"    text {texts[i][:300]!r}\n    peer {theirs[i][:60]}\n    ours {mine[i][:60]}")
    return len(bad)


def class_differences(characters):
    """What the generated table of classes says of every character against what the peer's regexes do."""
    bits = bytearray(0x110000)
    source = (ROOT / "tethys/data/tokenizer/unicode_classes.cpp").read_text()
    for row in re.findall(r"\{(\w+), (\w+), (\w+), (\w+)\},", source):
        first, last, step, value = (int(number, 0) for number in row)
        for c in range(first, last + 1, step):
            bits[c] = value
    wrong = 0
    for bit, regex in enumerate([r"\p{L}", r"[\p{Lu}\p{Lt}]", r"\p{Ll}", r"\p{M}", r"\p{N}", r"\s", None]):
        theirs = set()
        if regex is None:  # \w of the peer's other regex library, which cuts words for single_word
            cut = tokenizers.pre_tokenizers.Whitespace()
            for i in range(0, len(characters), 4096):
                words = cut.pre_tokenize_str("".join(f"a{c}a " for c in characters[i : i + 4096]))
                theirs.update(ord(word[1]) for word, _ in words if len(word) == 3)
        else:
            cut = tokenizers.pre_tokenizers.Split(tokenizers.Regex(regex), "removed", invert=True)
            for i in range(0, len(characters), 4096):
                for piece, _ in cut.pre_tokenize_str("".join(characters[i : i + 4096])):
                    theirs.update(map(ord, piece))
        wrong += len(theirs ^ {c for c in map(ord, characters) if bits[c] >> bit & 1})
    print(f"  classes: {len(characters):,} characters, {wrong} differ", flush=True)
    return wrong


def compare_patterns(program, folder, strings):
    """The patterns of other models, and added tokens with flags."""
    base = json.loads(VOCABULARIES["Llama 3"].read_text())
    vocab = {token: rank for token, rank in base["model"]["vocab"].items() if rank < FEWER}
    merges = base["model"]["merges"]
    base["model"]["merges"] = [pair for pair in merges if all(token in vocab for token in (*pair, "".join(pair)))]
    base["model"]["vocab"] = vocab
    base["added_tokens"], base["post_processor"] = [], None
    bad = 0
    texts = HARD + random_strings(strings)
    for name, pre_tokenizer in PRE_TOKENIZERS.items():
        bad += differences(name, texts, *both(program, folder, {**base, "pre_tokenizer": pre_tokenizer}))
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    added = [
        ("zqz", "single_word"), ("<mask>", "lstrip"), ("<mask>s", "rstrip"), ("<sep>", "lstrip rstrip"), ("  ", ""),
        ("zé", "normalized"), ("<e\u0301>", "normalized"), ("zqé", "single_word rstrip normalized"),
    ]  # fmt: skip
    added = [
        {**flags, "id": FEWER + i, "content": text, **dict.fromkeys(names.split(), True)}
        for i, (text, names) in enumerate(added)
    ]
    rng = random.Random(7)
    pieces = "zqz <mask> <sep> zé ze\u0301 e\u0301 zqe\u0301 <é> <e\u0301> <mask>s zqé x _ 1 \u0301 Ⓐ ² \u200d .".split()
    pieces += [" ", "  ", "\u3000", "\n"]
    texts = ["".join(rng.choices(pieces, k=rng.randint(1, 12))) for _ in range(strings)]
    for normalizer in (None, {"type": "NFC"}):
        definition = {**base, "normalizer": normalizer, "added_tokens": added}
        bad += differences(f"added tokens, {normalizer and 'NFC'}", texts, *both(program, folder, definition))
    return bad


def both(program, folder, definition):
    text = json.dumps(definition)
    path = pathlib.Path(folder) / "tokenizer.json"
    path.write_text(text)
    return tokenizers.Tokenizer.from_str(text), Ours(program, path, folder)


def speed(peer, ours, texts, rounds):
    size = sum(len(text.encode()) for text in texts) / 1e6

    def one_by_one():
        for text in texts:
            peer.encode(text)

    theirs = {"tokenizers, batch": lambda: peer.encode_batch(texts), "tokenizers, one by one": one_by_one}
    times = {name: [] for name in ("tethys", *theirs)}
    for _ in range(rounds):
        times["tethys"].append(ours.seconds(texts))
        for name, call in theirs.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    rates = {name: size / statistics.median(seconds) for name, seconds in times.items()}
    ratio = rates["tethys"] / max(rate for name, rate in rates.items() if name != "tethys")
    shown = ", ".join(f"{name} {rate:.1f} MB/s" for name, rate in rates.items())
    print(f"  one thread, {size:.1f} MB, median of {rounds}: {shown}; ratio {ratio:.1f}", flush=True)
    return ratio


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("program")
    parser.add_argument("--strings", type=int, default=5000)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--all-characters", action="store_true")
    parser.add_argument("--speed", type=int, default=0)
    arguments = parser.parse_args()
    strings, files = random_strings(arguments.strings), corpus(arguments.files)
    print(f"PyPI tokenizers {tokenizers.__version__}")
    characters = CHARACTERS if arguments.all_characters else CHARACTERS[:0x3400:6] + CHARACTERS[0x3400::199]
    bad = class_differences(characters)
    with tempfile.TemporaryDirectory() as folder:
        for name, path in VOCABULARIES.items():
            print(f"{name}:")
            peer, ours = tokenizers.Tokenizer.from_file(str(path)), Ours(arguments.program, path, folder)
            bad += differences("hard cases", HARD, peer, ours)
            bad += differences("random strings", strings, peer, ours)
            bad += differences("characters", contexts(characters), peer, ours)
            bad += differences("corpus", files, peer, ours)
            if arguments.speed and speed(peer, ours, files[::8], arguments.speed) < 1.5:
                sys.exit("compare: tethys must be at least 1.5 times as fast")
        print("Other patterns and tokens:")
        bad += compare_patterns(arguments.program, folder, min(arguments.strings, 20000) // 5)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
