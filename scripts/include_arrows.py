#!/usr/bin/env python3
"""Checks every `#include "folder/…"` under tethys/ against the table of folders in CMakeLists.txt.

usage: scripts/include_arrows.py ROOT      prints the violations; exit status 1 if there are any
"""
import pathlib
import re
import sys

# Slow to compile and nobody else's business: kept out of headers, which everyone includes.
HEAVY = re.compile(r"nlohmann/json\.hpp|toml\+\+/|CLI/|google/protobuf/|gtest/|gmock/|.*\.pb\.h")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def read_table(text):
    """The rows `tethys_folder(NAME DEPENDS a b USES … )` and that of Parquet, and what is wrong with the table."""
    table, errors = {}, []
    for name, rest in re.findall(r"^tethys_(?:folder|parquet_component)\((\w+)([^)]*)\)", text, re.M):
        words = re.split(r"\b(DEPENDS|USES|PROTO|SYSTEM_INCLUDES|DEFINES|PROGRAMS)\b", rest)
        depends = dict(zip(words[1::2], words[2::2])).get("DEPENDS", "").split()
        for dependency in depends:
            if dependency not in table:  # so the table can have no cycle
                errors.append(f"CMakeLists.txt: {name} depends on {dependency}, which no row above it declares")
        table[name] = {name, *depends} | ({"xla"} if "SYSTEM_INCLUDES" in rest else set())
    return table, errors


def check(root):
    table, errors = read_table((root / "CMakeLists.txt").read_text())
    for file in sorted((root / "tethys").rglob("*")):
        if file.suffix not in (".h", ".cpp"):
            continue
        where, folder = file.relative_to(root), file.relative_to(root / "tethys").parts[0]
        if folder not in table:
            errors.append(f"{where}: CMakeLists.txt has no row for folder {folder}")
            continue
        for included in INCLUDE.findall(file.read_text()):
            target = included.split("/")[0]
            if "/" in included and target in (table.keys() | {"xla"}) - table[folder]:
                errors.append(f"{where}: includes {included}, but {folder} does not depend on {target}")
            if file.suffix == ".h" and HEAVY.match(included):
                errors.append(f"{where}: includes {included}; only a .cpp may")
    return errors


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1]))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))
