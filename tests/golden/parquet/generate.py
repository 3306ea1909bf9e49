#!/usr/bin/env python3
"""Writes the Parquet files that tethys/data/sources/parquet_test.cpp reads, with pyarrow 26.0.1.

usage: PYTHONPATH=.deps/arrow /usr/bin/python3 tests/golden/parquet/generate.py     (`make parquet` brings .deps/arrow)
"""

import base64
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

HERE = pathlib.Path(__file__).parent
TEXTS = ["one", "", "zwölf € \U0001f600", "two\nlines", "one"]


class NoSecrets(pe.KmsClient):
    """Wraps a key by encoding it: the files only have to be unreadable without one."""

    def wrap_key(self, key, master):
        return base64.b64encode(key)

    def unwrap_key(self, wrapped, master):
        return base64.b64decode(wrapped)


def write(name, table, **options):
    pq.write_table(table, HERE / f"{name}.parquet", **options)


def types():
    """The same texts in every type that holds text, and columns that hold something else."""
    holes = [text if i % 2 == 0 else None for i, text in enumerate(TEXTS)]
    kinds = {"text": pa.string(), "large": pa.large_string(), "view": pa.string_view()}
    columns = {name: pa.array(TEXTS, kind) for name, kind in kinds.items()}
    columns["dictionary"] = pa.array(TEXTS).dictionary_encode()
    columns["holes"] = pa.array(holes)
    columns["dictionary_holes"] = pa.array(holes).dictionary_encode()
    columns["number"] = pa.array(range(5), pa.int64())
    columns["bytes"] = pa.array([text.encode() for text in TEXTS], pa.binary())
    columns["list"] = pa.array([[text] for text in TEXTS])
    columns["nothing"] = pa.nulls(5)
    write("types", pa.table(columns))


def groups():
    """300 rows in groups of 70, in pages of a few rows with a checksum, the texts longer towards the end."""
    texts = [f"document {i}:" + "".join(f" {i * k * 7919 % 1000003}" for k in range(i // 4)) for i in range(300)]
    table = pa.table({"id": range(300), "text": texts})
    options = {"row_group_size": 70, "data_page_size": 2048, "write_batch_size": 10, "compression": "zstd"}
    write("groups", table, write_page_checksum=True, use_dictionary=False, write_statistics=False, **options)


def large():
    """128 MiB of text in one row group, in pages of 1 MiB."""
    table = pa.table({"text": [f"{i} ".ljust(1 << 16, "x") for i in range(2048)]})
    options = {"row_group_size": 2048, "write_batch_size": 8, "compression": "zstd"}
    write("large", table, use_dictionary=False, write_statistics=False, **options)


def chats():
    """Conversations, of which the third has no role, the fourth is null, and the fifth is empty."""
    turn = pa.struct([("content", pa.string()), ("role", pa.string()), ("name", pa.string())])

    def said(*turns):
        return [None if one is None else {"role": one[0], "content": one[1], "name": "x"} for one in turns]

    rows = [
        said(("user", "What floats?"), ("assistant", "A \"boat\".\n")),
        said(("system", "Be kind."), ("user", "And sinks?"), ("assistant", "A stone — é."), ("user", "No?"), ("assistant", "Yes.")),
        said((None, "Who?")),
        None,
        said(),
        said(None, ("assistant", "?")),
        said(("user", "Again."), ("assistant", "Again.")),
    ]
    write("chats", pa.table({"messages": pa.array(rows, pa.list_(turn)), "large": pa.array(rows, pa.large_list(turn))}))


def bad_text():
    """The second text of three is no UTF-8."""
    texts = [b"before", b"caf\xe9 au lait", b"after"]
    offsets = pa.array([0, 6, 18, 23], pa.int32()).buffers()[1]
    write("bad_text", pa.table({"text": pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"".join(texts))])}))


def encrypted():
    """With the footer in the clear, and with it encrypted too."""
    table = pa.table({"text": ["secret"] * 3, "id": range(3)})
    for name, plaintext in (("encrypted_column", True), ("encrypted_footer", False)):
        config = pe.EncryptionConfiguration(footer_key="f", column_keys={"t": ["text"]}, plaintext_footer=plaintext)
        factory = pe.CryptoFactory(lambda connection: NoSecrets())
        properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), config)
        write(name, table, encryption_properties=properties)


if __name__ == "__main__":
    types()
    groups()
    large()
    chats()
    bad_text()
    encrypted()
    write("no_rows", pa.table({"text": pa.array([], pa.string())}))
    write("twice", pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["text", "text"]))
