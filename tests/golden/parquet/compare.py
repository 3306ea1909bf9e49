#!/usr/bin/env python3
"""Reads Parquet files with tethys and with pyarrow, and compares the indexes.

usage: tests/golden/parquet/compare.py PROGRAM [--rows N]

Files of random texts or conversations of all the ways that pyarrow has to write them: types, nulls, encodings,
compressions, versions of pages, sizes of row groups and pages. pyarrow's own reading of each becomes JSON lines, and
tethys makes an index of either; their tokens, documents and masks must be the same in every byte. Runs where `make
parquet` has brought pyarrow to .deps. Exits with status 1 if one differs.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / ".deps/arrow"))
try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    sys.exit(f"compare: {error}; run `make parquet`")

QWEN3 = ROOT / ".deps/tokenizers/qwen3/tokenizer.json"
VOCABULARY = 1000  # so many of its tokens, and its special ones: it is read in no time
FOOTER = 184  # bytes of an index that name its sources
ALPHABET = "etaoin shrdlu\n\t\"\\{}é€ß漢字🚀\x00\x7f"
TURN = pa.struct([("role", pa.string()), ("content", pa.string())])
TYPES = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "list": pa.list_(TURN),
    "large_list": pa.large_list(TURN),
}
WAYS = [
    ("string", {}),
    ("string", {"compression": "none", "use_dictionary": False}),
    ("string", {"compression": "gzip", "data_page_version": "2.0", "row_group_size": 100}),
    ("string", {"compression": "brotli", "use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}),
    ("string", {"compression": "lz4", "use_dictionary": False, "column_encoding": "DELTA_LENGTH_BYTE_ARRAY"}),
    ("string", {"store_schema": False, "dictionary_pagesize_limit": 1000, "row_group_size": 333}),
    ("large_string", {"compression": "zstd", "data_page_size": 512, "write_batch_size": 7, "row_group_size": 1}),
    ("string_view", {"compression": "snappy", "write_page_checksum": True}),
    ("dictionary", {"compression": "snappy", "row_group_size": 50}),
    ("dictionary", {"dictionary_pagesize_limit": 1000, "data_page_version": "2.0"}),
    ("list", {"row_group_size": 64, "data_page_size": 1024, "write_batch_size": 10}),
    ("large_list", {"compression": "zstd", "data_page_version": "2.0"}),
]


def text(rng):
    size = rng.choice([0, 1, 3, 10, 30, 100, 1000])
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(size + 1)))


def conversation(rng):
    turns = [(("user", "assistant")[i % 2], text(rng)) for i in range(rng.randrange(8))]
    return [{"role": role, "content": content} for role, content in turns]


def written(path, kind, options, rows, rng):
    """Writes a table of which a tenth of the rows is null. Says whether it holds chats."""
    chats = kind.endswith("list")
    pool = [conversation(rng) if chats else text(rng) for _ in range(rows)]
    values = [None if rng.random() < 0.1 else rng.choice(pool) for _ in range(rows)]
    name = "messages" if chats else "text"
    column = pa.array(values, TYPES[kind])
    table = pa.table({"before": pa.array(range(rows)), name: column, "after": pa.array(["x"] * rows)})
    if "column_encoding" in options:
        options = {**options, "column_encoding": {name: options["column_encoding"]}}
    pq.write_table(table, path, **options)
    return chats


def peer_lines(path, lines):
    """What pyarrow reads, a line of JSON for each row."""
    with open(lines, "w") as out:
        for row in pq.read_table(path).to_pylist():
            out.write(json.dumps(row) + "\n")


def small_tokenizer(path):
    tokenizer = json.loads(QWEN3.read_text())
    model = tokenizer["model"]
    model["vocab"] = {token: id for token, id in model["vocab"].items() if id < VOCABULARY}
    merges = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    model["merges"] = [merge for merge in merges if "".join(merge) in model["vocab"]]
    for i, token in enumerate(tokenizer["added_tokens"]):
        token["id"] = VOCABULARY + i
    path.write_text(json.dumps(tokenizer))


def index(program, tokenizer, source, cache, chats):
    """What tethys prints of a source, and the content of its index."""
    command = [program, "data", "llama3_debugmodel", "--data.text", source, "--data.tokenizer", tokenizer]
    command += ["--data.cache_dir", cache, "--data.skip_bad_lines", "--data.holdout", "0.2"]
    command += ["--data.chats"] if chats else []
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"compare: {' '.join(map(str, command))}\n{ended.stderr}")
    (file,) = cache.glob("*.idx")
    return ended.stdout.partition("files ")[2], file.read_bytes()[:-FOOTER]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=1000)
    arguments = parser.parse_args()
    rng = random.Random(5)
    differ = 0
    for kind, options in WAYS:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            chats = written(folder / "a.parquet", kind, options, arguments.rows, rng)
            peer_lines(folder / "a.parquet", folder / "a.jsonl")
            small_tokenizer(folder / "tokenizer.json")
            program = [arguments.program, folder / "tokenizer.json"]
            ours = index(*program, folder / "a.parquet", folder / "ours", chats)
            peers = index(*program, folder / "a.jsonl", folder / "peers", chats)
        same = ours == peers
        differ += not same
        print(f"{'same' if same else 'DIFFERENT':<10} {kind:<13} {len(ours[1]):>9} bytes of index  {options}", flush=True)
    print(f"pyarrow {pa.__version__}: {len(WAYS) - differ} of {len(WAYS)} files are read alike")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
