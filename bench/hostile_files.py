# Each input is one line, however long: a table of inputs is easier to read than their code.
# ruff: noqa: E501, ARG005
"""Files of at most a megabyte that are made to hurt, for ``bench/hostile.py``.

Each maker writes one source into a folder and returns its place. All are seeded: the same seed
writes the same bytes, but for what a library stamps into its files.
"""

import gzip
import itertools
import json
import random
import sqlite3
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.sources.avro_writer import number, text, write_avro  # noqa: E402

Maker = Callable[[Path, random.Random], Path]

MOST = 1_000_000
"""Bytes of an input."""
_LONG = 40_000
"""Characters of one of the long values of a column."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

BAITS = {
    "blanks": " ", "blank-x": " x", "tabs": "\t", "zeros": "0", "digits": "1234567890",
    "points": ".", "commas": ",", "signs": "-", "plus": "+", "pluses-1": "+1", "brackets": "[",
    "braces": "{", "parens": "(", "quotes": "'", "at": "@", "mail": "a.a@", "slashes": "/",
    "urls": "http://", "colons": "1:", "dates": "2024-01-01 ", "thousands": "1,", "groups": "1.",
    "spaced": "1 ", "exponents": "1e", "euros": "€", "percent": "%", "hex": "0xf", "under": "a_",
    "json": '{"a":[', "camel": "aB", "wide": "\u3000", "nbsp": "\u00a0", "words": "Ann ",
    "iban": "DE89 ", "ip": "1.1.", "semicolons": ";", "base64": "QUJD", "accents": "é",
    "combining": "e\u0301", "emoji": "😀", "zero-width": "\u200b", "backslashes": "\\",
}  # fmt: skip
"""Tokens that a pattern with two ways to match them goes through many times."""


def makers() -> dict[str, Maker]:
    """Return every input's maker by name: the format, a slash, and what hurts."""
    return {
        **{f"csv/{name}": maker for name, maker in _delimited().items()},
        **{f"csv/bait-{name}": _bait(token) for name, token in BAITS.items()},
        **{f"packed/{name}": maker for name, maker in _packed().items()},
        **{f"json/{name}": maker for name, maker in _json().items()},
        **{f"ndjson/{name}": maker for name, maker in _ndjson().items()},
        **{f"parquet/{name}": maker for name, maker in _parquet().items()},
        **{f"xlsx/{name}": maker for name, maker in _workbooks().items()},
        **{f"sqlite/{name}": maker for name, maker in _sqlite().items()},
        **{f"duckdb/{name}": maker for name, maker in _duckdb().items()},
        **{f"ddl/{name}": maker for name, maker in _ddl().items()},
        **{f"dump/{name}": maker for name, maker in _dumps().items()},
        **{f"avro/{name}": maker for name, maker in _avro().items()},
    }


def _file(name: str, write: Callable[[random.Random], str | bytes]) -> Maker:
    """Return a maker of one file of at most a megabyte."""

    def make(folder: Path, seed: random.Random) -> Path:
        content = write(seed)
        data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        (folder / name).write_bytes(data[:MOST])
        return folder / name

    return make


def _folder(files: Callable[[random.Random], Iterator[tuple[str, str]]]) -> Maker:
    """Return a maker of a folder of files that take a megabyte together at most."""

    def make(folder: Path, seed: random.Random) -> Path:
        (folder / "data").mkdir()
        for name, content in files(seed):
            (folder / "data" / name).write_text(content)
        return folder / "data"

    return make


def _lines(rows: Iterable[Iterable[object]], delimiter: str = ",") -> str:
    return "".join(f"{delimiter.join(map(str, row))}\n" for row in rows)


def _word(seed: random.Random, length: int) -> str:
    return "".join(seed.choices(_LETTERS, k=length))


def _bait(token: str) -> Maker:
    """Return a maker of CSV with twenty long runs of a token, half of them with a stray end."""
    run = (token * _LONG)[:_LONG]

    def write(_: random.Random) -> str:
        rows = (f'{i},"{(run + "!" * (i % 2)).replace(chr(34), chr(34) * 2)}"' for i in range(20))
        return "id,value\n" + "\n".join(rows) + "\n"

    return _file("t.csv", write)


def _delimited() -> dict[str, Maker]:
    def csv(write: Callable[[random.Random], str | bytes]) -> Maker:
        return _file("t.csv", write)

    return {
        "width-9000": csv(lambda s: _lines([[f"c{i}" for i in range(9_000)], *[range(9_000)] * 9])),
        "width-100000": csv(lambda s: _lines([[f"c{i}" for i in range(100_000)], [1] * 100_000])),
        "width-strings": csv(
            lambda s: _lines(
                [[f"n{i}" for i in range(3_000)],
                 *([_word(s, 8) for _ in range(3_000)] for _ in range(30))]
            )
        ),
        "tall": csv(lambda s: "a\n" + "1\n" * 499_000),
        "tall-distinct": csv(lambda s: "a,b\n" + _lines((i, s.random()) for i in range(35_000))),
        "only-newlines": csv(lambda s: "\n" * MOST),
        "only-commas": csv(lambda s: "," * MOST),
        "only-quotes": csv(lambda s: '"' * MOST),
        "only-nuls": csv(lambda s: "\0" * MOST),
        "quote-unclosed": csv(lambda s: 'a,b\n1,"' + "x,y\n" * 240_000),
        "quotes-odd": csv(lambda s: "a,b\n" + 'x"y,"z""\n' * 90_000),
        "quotes-each-line": csv(lambda s: "a,b\n" + '1,"\n2,x"y\n' * 70_000),
        "name-long": csv(lambda s: _lines([[_word(s, 9_000) for _ in range(30)], *[range(30)] * 20])),
        "name-camel": csv(lambda s: _lines([["aB" * 5_000, "id"], *[(i, i) for i in range(30)]])),
        "name-under": csv(lambda s: _lines([["a_" * 4_999, "b_" * 4_999], *[(i, i) for i in range(30)]])),
        "names-repeated": csv(lambda s: _lines([["id"] * 2_500, *[range(2_500)] * 20])),
        "names-camel-many": csv(
            lambda s: _lines(
                [["".join(_word(s, 2).title() for _ in range(400)) for _ in range(200)],
                 *([i + j for j in range(200)] for i in range(200))]
            )
        ),
        "value-long": csv(lambda s: "id,v\n1," + "x" * 990_000 + "\n2,y\n"),
        "line-single": csv(lambda s: "x" * MOST),
        "ragged": csv(lambda s: "a,b,c\n" + _lines([range(s.randrange(900))] for _ in range(560))),
        "ragged-fields": csv(lambda s: "a,b,c\n" + _lines(range(s.randrange(900)) for _ in range(560))),
        "ragged-few": csv(
            lambda s: "a,b,c\n"
            + _lines(range(899 if s.random() < 0.02 else 3) for _ in range(13_000))
        ),
        "ragged-short": csv(lambda s: _lines([range(900), *([1] * s.randrange(900) for _ in range(900))])),
        "ragged-last": csv(lambda s: "a,b,c\n" + "1,2,3\n" * 20_000 + "9," * 400_000 + "\n"),
        "ragged-long-line": csv(lambda s: "a,b\n" + ("x" * 9_000 + ",1,2,3,4,5,6,7,8,9\n" + "1,2\n" * 40) * 100),
        "exponents": csv(lambda s: "a,b\n" + _lines((f"1e{s.randrange(10**9)}", "9" * 300) for _ in range(3_000))),
        "numbers-long": csv(lambda s: "a\n" + _lines([["9" * s.randrange(1, 5_000)] for _ in range(380)])),
        "decimals-long": csv(lambda s: "a\n" + _lines([[f"0.{'0' * 4_000}1"] for _ in range(240)])),
        "encodings": csv(
            lambda s: b"a,b\n" + b"".join(
                s.choice(("é", "я", "あ", "ü", "€")).encode(s.choice(("utf-8", "utf-16", "cp1252", "shift_jis", "koi8_r")), "replace")
                + b",1\n" for _ in range(150_000)
            )
        ),
        "bytes": csv(lambda s: s.randbytes(MOST)),
        "control": csv(lambda s: "a,b\n" + _lines((chr(s.randrange(1, 32)), "\x1b[31m\x07") for _ in range(70_000))),
        "nulls": csv(lambda s: "a,b,c\n" + ",,\n" * 330_000),
        "carriage-returns": csv(lambda s: "a,b\r" + "1,2\r" * 240_000),
        "carriage-mixed": csv(lambda s: "a,b\n" + "1,2\r\n3,4\r5,6\n" * 70_000),
        "comments": csv(lambda s: "# note, with, commas\n" * 30_000 + "a,b\n1,2\n"),
        "titles": csv(lambda s: "".join(f"title {i}\n" for i in range(40_000)) + "a,b,c\n1,2,3\n" * 1_000),
        "totals": csv(lambda s: "a,b\n" + "1,2\nTotal,3\n\n" * 60_000),
        "json-deep": csv(lambda s: "id,doc\n" + _lines((i, '"' + "[" * 4_900 + "]" * 4_900 + '"') for i in range(95))),
        "json-keys": csv(lambda s: "id,doc\n" + _lines((i, '"{' + ",".join(f'""k{i}_{j}"":{j}' for j in range(20)) + '}"') for i in range(2_500))),
        "delimiters": csv(lambda s: "a;b,c|d\te\n" + "1;2,3|4\t5\n" * 90_000),
        "empty": csv(lambda s: ""),
        "header-only": csv(lambda s: "a,b,c\n"),
        "keys-composite": csv(lambda s: _lines([[f"c{i}" for i in range(60)], *([s.randrange(3) for _ in range(60)] for _ in range(8_000))])),
        "numbers-alike": csv(lambda s: _lines([[f"c{i}" for i in range(300)], *([i] * 300 for i in range(800))])),
        "files-same-columns": _folder(_same_columns),
        "files-equal": _folder(lambda s: ((f"f{_letters(i)}.csv", "id,a,b\n" + "".join(f"{j},{j},x\n" for j in range(100))) for i in range(1_000))),
        "files-monthly": _folder(lambda s: ((f"sales_{1900 + i // 12}_{i % 12 + 1:02}.csv", "id,a,b\n" + "".join(f"{i * 50 + j},{j},x\n" for j in range(50))) for i in range(1_500))),
        "files-empty": _folder(lambda s: ((f"f{i}.csv", "") for i in range(3_000))),
        "files-different": _folder(lambda s: ((f"{_word(s, 6)}.csv", _lines([["id", f"{_word(s, 5)}_id", _word(s, 7)], *[(j, s.randrange(30), _word(s, 5)) for j in range(60)]])) for _ in range(600))),
        "files-cyclic": _folder(_cyclic_files),
        "tabs": _file("t.tsv", lambda s: _lines(([_word(s, 3)] * 60 for _ in range(4_000)), "\t")),
        "utf-16-half": csv(lambda s: ("a,b\n" + "é,1\n" * 60_000).encode("utf-16")[:-1] + b"x" * 99_999),
        "utf-7": csv(lambda s: ("a,b\n" + "é+AOk-,1\n" * 60_000).encode("cp1252")),
    }  # fmt: skip


def _letters(i: int) -> str:
    return "".join(_LETTERS[i // 26**place % 26] for place in (2, 1, 0))


def _same_columns(seed: random.Random) -> Iterator[tuple[str, str]]:
    names = [f"field_{i}" for i in range(40)]
    for i in range(39):
        rows = (
            [(j, j * 13 + c, f"v{j * 17}", seed.randrange(90))[c % 4] for c in range(40)]
            for j in range(140)
        )
        yield f"part{_letters(i)}.csv", _lines([names, *rows])


def _cyclic_files(seed: random.Random) -> Iterator[tuple[str, str]]:
    names = [f"t{_letters(i)}" for i in range(40)]
    for name in names:
        columns = ["id", *(f"{other}_id" for other in names if other != name)]
        rows = ([j, *(seed.randrange(1, 121) for _ in columns[1:])] for j in range(1, 121))
        yield f"{name}.csv", _lines([columns, *rows])


def _packed() -> dict[str, Maker]:
    def gz(name: str, content: Callable[[], Iterable[bytes]]) -> Maker:
        def write(_: random.Random) -> bytes:
            packer = zlib.compressobj(9, wbits=31)
            return b"".join([*map(packer.compress, content()), packer.flush()])

        return _file(name, write)

    def zst(name: str, content: Callable[[], Iterable[bytes]], size: int = -1) -> Maker:
        def write(_: random.Random) -> bytes:
            packer = zstandard.ZstdCompressor(level=3).compressobj(size=size)
            return b"".join([*map(packer.compress, content()), packer.flush()])

        return _file(name, write)

    lines = b"1,2\n" * 250_000
    return {
        "gz-nuls": gz("t.csv.gz", lambda: itertools.repeat(bytes(10**6), 900)),
        "gz-lines": gz("t.csv.gz", lambda: itertools.repeat(lines, 900)),
        "gz-lines-100mb": gz("t.csv.gz", lambda: itertools.repeat(lines, 100)),
        "gz-one-line": gz("t.csv.gz", lambda: itertools.repeat(b"x" * 10**6, 900)),
        "gz-json": gz("t.json.gz", lambda: itertools.repeat(b"[" * 10**6, 900)),
        "gz-ndjson": gz("t.ndjson.gz", lambda: itertools.repeat(b'{"a":1}\n' * 100_000, 700)),
        "gz-ddl": gz("t.sql.gz", lambda: itertools.repeat(b"CREATE TABLE t (a int);\n" * 40_000, 800)),
        "gz-twice": _file("t.csv.gz", lambda s: gzip.compress(gzip.compress(lines * 100))),
        "gz-cut": _file("t.csv.gz", lambda s: gzip.compress(s.randbytes(900_000))[:-20]),
        "gz-members": _file("t.csv.gz", lambda s: gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n") * 40_000),
        "zst-nuls": zst("t.csv.zst", lambda: itertools.repeat(bytes(10**6), 900), 900 * 10**6),
        "zst-lines": zst("t.csv.zst", lambda: itertools.repeat(lines, 900)),
        "zst-lines-sized": zst("t.csv.zst", lambda: itertools.repeat(lines, 900), 900 * 10**6),
        "zst-json": zst("t.json.zst", lambda: itertools.repeat(b"[" * 10**6, 900)),
        "zst-frames": _file("t.csv.zst", lambda s: zstandard.compress(b"a,b\n") + zstandard.compress(b"1,2\n") * 40_000),
    }  # fmt: skip


def _deep(depth: int, inner: str = "1") -> str:
    return '{"a":' * depth + inner + "}" * depth


def _json_texts() -> dict[str, Callable[[random.Random], str | bytes]]:
    """Return documents of JSON, of which each line of NDJSON may be one as well."""
    return {
        "open-brackets": lambda s: "[" * 5_000,
        "open-braces": lambda s: '{"a":' * 5_000,
        "deep": lambda s: _deep(5_000),
        "deep-lists": lambda s: "[" * 30_000 + "]" * 30_000,
        "wide": lambda s: json.dumps({f"k{i}": i for i in range(60_000)}),
        "wide-9000": lambda s: json.dumps([{f"k{i}": i for i in range(9_000)}] * 6),
        "name-long": lambda s: json.dumps([{"k" * 400_000: 1, "b": 2}]),
        "value-long": lambda s: json.dumps([{"a": "x" * 990_000}]),
        "number-long": lambda s: '[{"a":' + "9" * 900_000 + "}]",
        "exponents": lambda s: "[" + ",".join(f'{{"a":1e{s.randrange(10**9)}}}' for _ in range(50_000)) + "]",
        "lists": lambda s: json.dumps([{"id": i, "v": [[[[[i]]]]] * 9} for i in range(4_000)]),
        "lists-long": lambda s: json.dumps([{"id": 1, "v": list(range(140_000))}]),
        "cross": lambda s: json.dumps([{f"l{k}": list(range(60)) for k in range(60)} for _ in range(60)]),
        "escapes": lambda s: '[{"a":"' + "\\u0000" * 160_000 + '"}]',
        "surrogates": lambda s: '[{"a":"' + "\\ud800" * 160_000 + '"}]',
        "string-unclosed": lambda s: '[{"a":"' + "x" * 990_000,
        "blanks": lambda s: "[" + " " * 990_000 + "]",
        "commas": lambda s: "[" + "," * 990_000 + "]",
        "keys-repeated": lambda s: "[{" + ",".join('"a":1' for _ in range(160_000)) + "}]",
        "empty-objects": lambda s: "[" + ",".join(["{}"] * 330_000) + "]",
        "nulls": lambda s: "[" + ",".join(["null"] * 190_000) + "]",
        "empty": lambda s: "",
    }  # fmt: skip


def _json() -> dict[str, Maker]:
    return {
        **{name: _file("t.json", write) for name, write in _json_texts().items()},
        "keys-distinct": _file("t.json", lambda s: json.dumps([{f"k{i}_{j}": 1 for j in range(3)} for i in range(18_000)])),
        "types-mixed": _file("t.json", lambda s: json.dumps([{"a": s.choice((1, "x", [1], {"b": [{"c": 1}]}, None, True, 1.5))} for _ in range(40_000)])),
        "branching": _file("t.json", lambda s: json.dumps([_branches(6)])),
        "nested-wide": _file("t.json", lambda s: json.dumps([{f"g{i}": [{f"h{j}": j for j in range(6)}] for i in range(150)} for _ in range(50)])),
        "files": _folder(lambda s: ((f"d{_letters(i)}.json", json.dumps([{"id": j, "v": [j]} for j in range(20)])) for i in range(900))),
    }  # fmt: skip


def _branches(depth: int) -> dict[str, Any]:
    return {f"b{i}": [_branches(depth - 1)] for i in range(5)} if depth else {"x": 1}


def _ndjson() -> dict[str, Maker]:
    texts = _json_texts()
    kept = (
        "open-brackets",
        "deep",
        "wide",
        "value-long",
        "string-unclosed",
        "number-long",
        "empty",
    )
    return {
        **{name: _file("t.ndjson", texts[name]) for name in kept},
        "keys-distinct": _file("t.ndjson", lambda s: "".join(f'{{"k{i}":1,"j{i}":2}}\n' for i in range(40_000))),
        "deep-lines": _file("t.ndjson", lambda s: (_deep(100) + "\n") * 1_500),
        "open-lines": _file("t.ndjson", lambda s: '{"a":[\n' * 100_000),
        "scalars": _file("t.ndjson", lambda s: "1\n" * 400_000),
        "lists-nested": _file("t.ndjson", lambda s: "".join(json.dumps({"id": i, "a": [{"b": [{"c": [{"d": [i, i]}]}]}] * 4}) + "\n" for i in range(4_000))),
    }  # fmt: skip


def _parquet() -> dict[str, Maker]:
    def table(write: Callable[[random.Random], dict[str, Any] | pa.Table]) -> Maker:
        def make(folder: Path, seed: random.Random) -> Path:
            content = write(seed)
            made = content if isinstance(content, pa.Table) else pa.table(content)
            pq.write_table(made, folder / "t.parquet", compression="zstd", row_group_size=10**8)
            return folder / "t.parquet"

        return make

    def bomb(query: str) -> Maker:
        def make(folder: Path, _: random.Random) -> Path:
            duckdb.sql(f"COPY ({query}) TO '{folder / 't.parquet'}' (COMPRESSION zstd)")
            return folder / "t.parquet"

        return make

    def nested(depth: int) -> pa.Table:
        kind: pa.DataType = pa.int64()
        value: Any = 1
        for _ in range(depth):
            kind, value = pa.list_(pa.struct([("a", kind)])), [{"a": value}]
        return pa.table({"id": [1, 2], "v": pa.array([value, value], type=kind)})

    return {
        "width": table(lambda s: {f"c{i}": [1, 2] for i in range(3_000)}),
        "name-long": table(lambda s: {"n" * 9_000: [1, 2], "aB" * 4_000: [3, 4]}),
        "name-too-long": table(lambda s: {"n" * 300_000: [1, 2]}),
        "nested-20": table(lambda s: nested(20)),
        "nested-40": table(lambda s: nested(40)),
        "rows-constant": bomb("SELECT 1 AS a, 'x' AS b FROM range(50_000_000)"),
        "rows-nulls": bomb("SELECT NULL::INTEGER AS a FROM range(100_000_000)"),
        "rows-series": bomb("SELECT i // 1000 AS a FROM range(20_000_000) t(i)"),
        "text-bomb": bomb("SELECT i, repeat('x', 10_000_000) AS a FROM range(200) t(i)"),
        "list-bomb": bomb("SELECT i, repeat([1], 300_000) AS a FROM range(20) t(i)"),
        "numbers-huge": table(lambda s: {"a": [1e308, -1e308, float("nan"), float("inf")] * 9}),
        "nuls": table(lambda s: {"a\0b": ["x\0y"] * 30, "c": ["\x1b[0m"] * 30}),
        "empty": table(lambda s: {}),
        "no-rows": table(lambda s: {"a": pa.array([], pa.int64())}),
        "noise": _file("t.parquet", lambda s: b"PAR1" + s.randbytes(900_000) + b"PAR1"),
        "footer-huge": _file("t.parquet", lambda s: b"PAR1" + bytes(99) + struct.pack("<I", 2**31 - 1) + b"PAR1"),
        "bait": table(lambda s: {name: [(token * _LONG)[:_LONG] + "!"] * 20 for name, token in BAITS.items()}),
        "structs-wide": table(lambda s: {"v": [{f"f{i}": [{"x": i}] for i in range(250)}] * 9}),
    }  # fmt: skip


def _workbooks() -> dict[str, Maker]:
    def book(fill: Callable[[openpyxl.Workbook, random.Random], None]) -> Maker:
        def make(folder: Path, seed: random.Random) -> Path:
            made = openpyxl.Workbook()
            fill(made, seed)
            made.save(folder / "t.xlsx")
            return folder / "t.xlsx"

        return make

    def rows(values: Callable[[random.Random], Iterable[Iterable[Any]]]) -> Maker:
        def fill(made: openpyxl.Workbook, seed: random.Random) -> None:
            for row in values(seed):
                made.active.append(list(row))

        return book(fill)

    def sheets(made: openpyxl.Workbook, _: random.Random) -> None:
        for i in range(400):
            sheet = made.create_sheet(f"s{_letters(i)}")
            for row in [("id", "a"), *[(j, j * i) for j in range(15)]]:
                sheet.append(row)

    def merged(made: openpyxl.Workbook, _: random.Random) -> None:
        for i in range(1, 4_000):
            made.active.cell(i, 1, i)
            made.active.merge_cells(start_row=i, start_column=2, end_row=i, end_column=9)

    def islands(made: openpyxl.Workbook, _: random.Random) -> None:
        for i in range(0, 400, 4):
            for j in range(1, 100, 4):
                made.active.cell(i + 1, j, "id")
                made.active.cell(i + 2, j, i)

    def far(made: openpyxl.Workbook, _: random.Random) -> None:
        made.active.append(["id", "a"])
        made.active.append([1, 2])
        made.active.cell(1_048_576, 16_384, 1)

    return {
        "width": rows(lambda s: [[f"c{i}" for i in range(9_000)], range(9_000)]),
        "width-most": rows(lambda s: [[f"c{i}" for i in range(16_384)], range(16_384)]),
        "sheets": book(sheets),
        "merged": book(merged),
        "islands": book(islands),
        "far-cell": book(far),
        "value-long": rows(lambda s: [("id", "a"), *[(i, " " * 32_000 + "x") for i in range(400)]]),
        "numbers": rows(lambda s: [("id", "a"), *[(i, 1.7e308 * s.random()) for i in range(9_000)]]),
        "bait": rows(lambda s: [list(BAITS), *[[(t * 9_999)[:30_000] for t in BAITS.values() if "\0" not in t] for _ in range(15)]]),
        "bomb": _workbook_parts("<row>" + '<c t="inlineStr"><is><t>x</t></is></c>' * 4 + "</row>", 900_000),
        "bomb-blanks": _workbook_parts(" " * 1_000, 900_000),
        "entities": _workbook_parts("<row><c><v>&x;</v></c></row>", 1_000, '<!DOCTYPE r [<!ENTITY x "&y;&y;&y;"><!ENTITY y "xxxxxxxxxx">]>'),
        "row-numbers": _workbook_parts('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', 20_000),
        "empty": book(lambda made, seed: None),
        "noise": _file("t.xlsx", lambda s: b"PK\x03\x04" + s.randbytes(900_000)),
    }  # fmt: skip


def _workbook_parts(row: str, times: int, head: str = "") -> Maker:
    """Return a maker of a workbook whose one sheet repeats some XML."""

    def make(folder: Path, _: random.Random) -> Path:
        plain = openpyxl.Workbook()
        plain.active.append(["id", "a", "b", "c"])
        plain.save(folder / "plain.xlsx")
        with (
            zipfile.ZipFile(folder / "plain.xlsx") as source,
            zipfile.ZipFile(folder / "t.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made,
        ):
            for name in source.namelist():
                if name != "xl/worksheets/sheet1.xml":
                    made.writestr(name, source.read(name))
                    continue
                before, sheet_data, after = source.read(name).decode().partition("</sheetData>")
                with made.open(name, "w", force_zip64=True) as sheet:
                    sheet.write((head + before).encode())
                    for _ in range(times // 1_000):
                        sheet.write((row * 1_000).encode())
                    sheet.write((sheet_data + after).encode())
        (folder / "plain.xlsx").unlink()
        return folder / "t.xlsx"

    return make


def _cyclic_statements(tables: int) -> Iterator[str]:
    """Yield the statements of tables that all refer to each other."""
    names = [f"t{_letters(i)}" for i in range(tables)]
    for name in names:
        others = [other for other in names if other != name]
        columns = "".join(f", {other}_id INTEGER REFERENCES {other} (id)" for other in others)
        yield f"CREATE TABLE {name} (id INTEGER PRIMARY KEY{columns})"


def _statements(write: Callable[[random.Random], Iterable[str]], file: str) -> Maker:
    """Return a maker of a database of SQLite or DuckDB, by its statements."""

    def make(folder: Path, seed: random.Random) -> Path:
        path = folder / file
        if file.endswith(".duckdb"):
            with duckdb.connect(str(path)) as engine:
                for statement in write(seed):
                    engine.execute(statement)
            return path
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            for statement in write(seed):
                connection.execute(statement)
        connection.close()
        return path

    return make


def _both_databases() -> dict[str, Callable[[random.Random], Iterable[str]]]:
    def cyclic(seed: random.Random) -> Iterator[str]:
        yield from _cyclic_statements(50)
        for i in range(50):
            for j in range(1, 31):
                values = ", ".join(str(seed.randrange(1, 31)) for _ in range(49))
                yield f"INSERT INTO t{_letters(i)} VALUES ({j}, {values})"

    return {
        "width": lambda s: [
            f"CREATE TABLE t ({', '.join(f'c{i} INTEGER' for i in range(1_900))})",
            *[f"INSERT INTO t VALUES ({', '.join(map(str, range(1_900)))})"] * 50,
        ],
        "names-long": lambda s: [
            f"CREATE TABLE {'tB' * 2_000} (id INTEGER, {'aB' * 4_000} INTEGER)",
            f"INSERT INTO {'tB' * 2_000} VALUES (1, 2)",
        ],
        "value-long": lambda s: ["CREATE TABLE t (a TEXT)", f"INSERT INTO t VALUES ('{' ' * 900_000}x')"],
        "bait": lambda s: [
            f"CREATE TABLE t ({', '.join(f'c{i} TEXT' for i in range(len(BAITS)))})",
            f"INSERT INTO t VALUES ({', '.join(_quoted((t * 20_000)[:20_000] + '!') for t in BAITS.values())})",
        ],
        "views-nested": lambda s: [
            "CREATE TABLE t (id INTEGER)", "INSERT INTO t VALUES (1), (2)", "CREATE VIEW v0 AS SELECT a.id FROM t a, t b",
            *(f"CREATE VIEW v{i} AS SELECT a.id FROM v{i - 1} a, v{i - 1} b" for i in range(1, 6)),
        ],
        "view-endless": lambda s: [
            "CREATE TABLE t (id INTEGER)", "INSERT INTO t VALUES (1)",
            "CREATE VIEW v AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r",
        ],
        "view-large": lambda s: [
            "CREATE TABLE t (id INTEGER)", "INSERT INTO t VALUES (1)",
            "CREATE VIEW v AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 300000) SELECT x, x AS y FROM r",
        ],
        "empty": lambda s: [],
        "tables-empty": lambda s: [f"CREATE TABLE t{_letters(i)} (id INTEGER PRIMARY KEY, x TEXT)" for i in range(100)],
    } | ({"cyclic": cyclic})  # fmt: skip


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _sqlite() -> dict[str, Maker]:
    both = {name: _statements(write, "t.sqlite") for name, write in _both_databases().items()}

    def many(seed: random.Random) -> Iterator[str]:
        for _ in range(110):
            yield f"CREATE TABLE {_word(seed, 7)} (id INTEGER PRIMARY KEY, {_word(seed, 5)}_id INTEGER, x)"

    return {
        **both,
        "tables": _statements(many, "t.sqlite"),
        "check-deep": _statements(lambda s: [f"CREATE TABLE t (a CHECK ({'(' * 90}a > 0{')' * 90}))"] + [f"CREATE TABLE u{i} (a, CHECK ({' AND '.join(['a > 0'] * 500)}))" for i in range(30)], "t.sqlite"),
        "types-odd": _statements(lambda s: [f"CREATE TABLE t (a {'x ' * 40_000}, b VARCHAR({'9' * 90_000}))", "INSERT INTO t VALUES (1, 2)"], "t.sqlite"),
        "mixed-values": _statements(lambda s: ["CREATE TABLE t (a, b)", *(f"INSERT INTO t VALUES ({s.choice(('1', 'NULL', repr('x'), '1e999', '-1e999', 'x' + repr('00ff'), '9223372036854775807'))}, zeroblob(9))" for _ in range(9_000))], "t.sqlite"),
        "blob-long": _statements(lambda s: ["CREATE TABLE t (a BLOB)", "INSERT INTO t VALUES (zeroblob(900000))"], "t.sqlite"),
        "noise": _file("t.sqlite", lambda s: b"SQLite format 3\0" + s.randbytes(900_000)),
    }  # fmt: skip


def _duckdb() -> dict[str, Maker]:
    both = {name: _statements(write, "t.duckdb") for name, write in _both_databases().items()}
    # DuckDB refuses a table that refers to one that isn't there yet, and stores a block per column.
    for name in ("cyclic", "width", "bait"):
        both.pop(name)
    return {
        **both,
        "rows-constant": _statements(lambda s: ["CREATE TABLE t AS SELECT 1 AS a, 'x' AS b FROM range(3_000_000)"], "t.duckdb"),
        "rows-series": _statements(lambda s: ["CREATE TABLE t AS SELECT i AS a FROM range(1_000_000) t(i)"], "t.duckdb"),
        "nested": _statements(lambda s: ["CREATE TABLE t AS SELECT 1 AS id, " + "{'a': [" * 20 + "1" + "]}" * 20 + " AS v"], "t.duckdb"),
        "noise": _file("t.duckdb", lambda s: bytes(8) + b"DUCK" + s.randbytes(900_000)),
    }  # fmt: skip


def _ddl() -> dict[str, Maker]:
    def sql(write: Callable[[random.Random], str]) -> Maker:
        return _file("t.sql", write)

    table = "CREATE TABLE t (id int primary key, a text);\n"
    return {
        "columns-60000": sql(lambda s: "CREATE TABLE t (" + ", ".join(f"c{i} int" for i in range(60_000)) + ");"),
        "columns-9000": sql(lambda s: "CREATE TABLE t (" + ", ".join(f"c{i} int" for i in range(9_000)) + ");"),
        "tables-9000": sql(lambda s: "".join(f"CREATE TABLE {_word(s, 6)} (id int primary key, {_word(s, 5)}_id int);\n" for _ in range(9_000))),
        "tables-same": sql(lambda s: "".join(f"CREATE TABLE t{i} (id int primary key, a_id int, b_id int);\n" for i in range(9_000))),
        "tables-40-columns": sql(lambda s: "".join(f"CREATE TABLE t{_letters(i)} ({', '.join(f'field_{j} int' for j in range(40))});\n" for i in range(1_300))),
        "table-repeated": sql(lambda s: table * 20_000),
        "cyclic-50": sql(lambda s: ";\n".join(_cyclic_statements(50)) + ";"),
        "cyclic-100": sql(lambda s: ";\n".join(_cyclic_statements(100)) + ";"),
        "chain": sql(lambda s: "".join(f"CREATE TABLE t{i} (id int primary key, p int references t{i - 1} (id));\n" for i in range(3_000))),
        "chain-backwards": sql(lambda s: "".join(f"ALTER TABLE t{i} ADD COLUMN x{i} int;\n" for i in range(9_000, 0, -1)) + "".join(f"CREATE TABLE t{i} (id int);\n" for i in range(9_000))),
        "renames": sql(lambda s: "CREATE TABLE t0 (id int);\n" + "".join(f"ALTER TABLE t{i} RENAME TO t{i + 1};\n" for i in reversed(range(25_000)))),
        "alters": sql(lambda s: table + "".join(f"ALTER TABLE t ADD COLUMN c{i} int;\n" for i in range(9_000))),
        "alters-long": sql(lambda s: table + "ALTER TABLE t " + ", ".join(f"ADD COLUMN c{i} int" for i in range(9_000)) + ";"),
        "comments-on": sql(lambda s: table + "COMMENT ON COLUMN t.a IS 'x';\n" * 30_000),
        "dollars": sql(lambda s: _PG_TABLE + "".join(f"$a{i}$ x " for i in range(110_000))),
        "dollars-same": sql(lambda s: _PG_TABLE + "CREATE FUNCTION f() AS " + "$$ $a$ " * 140_000),
        "dollars-letters": sql(lambda s: _PG_TABLE + "$" + "a" * 999_000),
        "dollars-words": sql(lambda s: _PG_TABLE + "".join(f"${_word(s, 4)}$\n" for _ in range(140_000))),
        "quotes-q": sql(lambda s: "PROMPT x\nCREATE TABLE t (a VARCHAR2(10));\n/\n" + "q'[ " * 240_000),
        "quotes-q-fence": sql(lambda s: "PROMPT x\nCREATE TABLE t (a VARCHAR2(10));\n/\n" + "".join(f"q'{chr(33 + i % 6)} " for i in range(240_000))),
        "quotes-single": sql(lambda s: table + "'" * 999_001),
        "quotes-open": sql(lambda s: table + "' x " * 249_999),
        "quotes-back": sql(lambda s: table + "`a" * 400_001),
        "quotes-double": sql(lambda s: table + '"a ' * 300_001),
        "quotes-triple": sql(lambda s: "CREATE TABLE `a.b.t` (a INT64) OPTIONS(x=1);\n" + "'''a\"\"\" " * 120_000),
        "quotes-backslash": sql(lambda s: "CREATE TABLE `t` (`a` int) ENGINE=InnoDB;\n" + "'" + "\\'" * 400_000),
        "quotes-escaped": sql(lambda s: table + "E'\\' " * 200_000),
        "brackets-square": sql(lambda s: "CREATE TABLE [t] ([a] int)\nGO\n" + "[a" * 480_000),
        "brackets-closed": sql(lambda s: "CREATE TABLE [t] ([a] int)\nGO\n[" + "]]" * 480_000),
        "comments-open": sql(lambda s: table + "/*" * 480_000),
        "comments-many": sql(lambda s: table + "/* x */ -- y\n" * 70_000 + table),
        "comments-version": sql(lambda s: "CREATE TABLE `t` (`a` int) ENGINE=InnoDB;\n" + "/*!40101 " * 100_000),
        "parens": sql(lambda s: "CREATE TABLE t (a int CHECK (" + "(" * 990_000),
        "parens-closed": sql(lambda s: "CREATE TABLE t (a int CHECK " + "(" * 60_000 + "a > 0" + ")" * 60_000 + ");"),
        "parens-default": sql(lambda s: "CREATE TABLE t (a int DEFAULT " + "(" * 2_000 + "1" + ")" * 2_000 + ", b int);"),
        "type-args": sql(lambda s: "CREATE TABLE t (a DECIMAL(" + ",".join(["9"] * 200_000) + "), b VARCHAR(" + "9" * 99_999 + "));"),
        "type-arrays": sql(lambda s: "CREATE TABLE t (a int" + "[]" * 400_000 + ");"),
        "type-nested": sql(lambda s: "CREATE TABLE t (a " + "STRUCT<x ARRAY<" * 20_000 + "int" + ">>" * 20_000 + ");"),
        "type-words": sql(lambda s: "CREATE TABLE t (a " + "unsigned " * 100_000 + ");"),
        "enum": sql(lambda s: "CREATE TABLE `t` (`a` enum(" + ",".join(f"'{i}'" for i in range(90_000)) + ")) ENGINE=InnoDB;"),
        "check-long": sql(lambda s: "CREATE TABLE t (a int CHECK (" + " AND ".join(["a > 0"] * 90_000) + "));"),
        "check-or": sql(lambda s: "CREATE TABLE t (a int CHECK (" + " OR ".join(f"a = {i}" for i in range(60_000)) + "));"),
        "check-not": sql(lambda s: "CREATE TABLE t (a int CHECK (" + "NOT " * 200_000 + "a));"),
        "check-case": sql(lambda s: "CREATE TABLE t (a int CHECK (" + "CASE WHEN a > 0 THEN " * 20_000 + "1));"),
        "keys": sql(lambda s: "CREATE TABLE t (" + ", ".join(f"c{i} int" for i in range(400)) + "".join(f", UNIQUE (c{i % 400}, c{(i * 7) % 400})" for i in range(30_000)) + ");"),
        "references": sql(lambda s: table + "CREATE TABLE u (a int" + ", FOREIGN KEY (a) REFERENCES t (id)" * 25_000 + ");"),
        "reference-wide": sql(lambda s: "CREATE TABLE t (" + "".join(f"c{i} int, " for i in range(4_000)) + "PRIMARY KEY (" + ", ".join(f"c{i}" for i in range(4_000)) + "));\n" + "CREATE TABLE u (" + "".join(f"c{i} int, " for i in range(4_000)) + f"FOREIGN KEY ({', '.join(f'c{i}' for i in range(4_000))}) REFERENCES t);"),
        "name-camel": sql(lambda s: f"CREATE TABLE {'tB' * 5_000} ({'aB' * 5_000} int);"),
        "name-long": sql(lambda s: f"CREATE TABLE {_word(s, 900_000)} (a int);"),
        "name-column": sql(lambda s: "CREATE TABLE t (" + ", ".join(f"{'aB' * 4_000}{i} int" for i in range(90)) + ");"),
        "name-quote": sql(lambda s: 'CREATE TABLE "a""b" ("c""d" int);'),
        "name-dots": sql(lambda s: "CREATE TABLE " + "a." * 400_000 + "t (a int);"),
        "semicolons": sql(lambda s: table + ";" * 990_000),
        "create-repeated": sql(lambda s: "CREATE TABLE " * 70_000),
        "create-lines": sql(lambda s: "CREATE\n" * 140_000),
        "create-unclosed": sql(lambda s: "CREATE TABLE t (a int\n" * 45_000),
        "begins": sql(lambda s: "BEGIN\n" * 160_000),
        "procedures": sql(lambda s: "CREATE PROCEDURE p AS\nBEGIN\n" * 30_000),
        "go": sql(lambda s: "CREATE TABLE [t] ([a] int)\n" + "GO\n" * 300_000),
        "slashes": sql(lambda s: "PROMPT x\nCREATE TABLE t (a VARCHAR2(10));\n" + "/\n" * 480_000),
        "delimiters": sql(lambda s: table + "DELIMITER $$\n" * 70_000),
        "delimiter-long": sql(lambda s: f"DELIMITER {'a' * 400_000}\n" + "a" * 500_000),
        "ats": sql(lambda s: "@" * 999_000),
        "digits": sql(lambda s: table + "9" * 999_000),
        "blanks": sql(lambda s: table + " " * 990_000 + "x"),
        "tabs-lines": sql(lambda s: table + ("\t" * 500 + "x\n") * 1_900),
        "nuls": sql(lambda s: table + "\0" * 990_000),
        "bytes": _file("t.sql", lambda s: s.randbytes(MOST)),
        "empty": sql(lambda s: ""),
        "hashes": sql(lambda s: "# " * 490_000),
        "jinja": sql(lambda s: "{{" * 490_000),
        "views": sql(lambda s: table + "".join(f"CREATE VIEW v{i} AS SELECT * FROM t;\n" for i in range(25_000))),
        "as-select": sql(lambda s: "CREATE TABLE t AS SELECT " + ", ".join(f"a{i}" for i in range(90_000)) + ";"),
        "like": sql(lambda s: "CREATE TABLE t0 (a int);\n" + "".join(f"CREATE TABLE t{i} (LIKE t{i - 1}, c{i} int);\n" for i in range(1, 1_500))),
        "inherits": sql(lambda s: "CREATE TABLE t0 (a int);\n" + "".join(f"CREATE TABLE t{i} (c{i} int) INHERITS (t{i - 1});\n" for i in range(1, 1_500))),
        "folder": _folder(lambda s: ((f"f{i}.sql", f"CREATE TABLE t{i} (id int primary key, a int);") for i in range(3_000))),
    }  # fmt: skip


_PG = "-- PostgreSQL database dump\nSET client_encoding = 'UTF8';\n"
_PG_TABLE = _PG + "CREATE TABLE public.t (\n    id integer,\n    a text\n);\n"
_MYSQL = "-- MySQL dump 10.13\n/*!40101 SET NAMES utf8mb4 */;\nCREATE TABLE `t` (\n  `id` int NOT NULL,\n  `a` text\n) ENGINE=InnoDB;\n"
_LITE = (
    "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE t (id INTEGER PRIMARY KEY, a);\n"
)


def _dumps() -> dict[str, Maker]:
    def sql(write: Callable[[random.Random], str]) -> Maker:
        return _file("dump.sql", write)

    copy = "COPY public.t (id, a) FROM stdin;\n"
    insert = "INSERT INTO `t` VALUES "
    return {
        "pg-no-end": sql(lambda s: _PG_TABLE + copy + "1\tx\n" * 200_000),
        "pg-long": sql(lambda s: _PG_TABLE + copy + "1\t" + "x" * 900_000 + "\n\\.\n"),
        "pg-tabs": sql(lambda s: _PG_TABLE + copy + "\t" * 900_000 + "\n\\.\n"),
        "pg-backslashes": sql(lambda s: _PG_TABLE + copy + "1\t" + "\\" * 900_000 + "\n\\.\n"),
        "pg-copies": sql(lambda s: _PG_TABLE + (copy + "1\tx\n\\.\n") * 18_000),
        "pg-copies-open": sql(lambda s: _PG_TABLE + copy * 28_000),
        "pg-tables": sql(lambda s: _PG + "".join(f"CREATE TABLE public.t{i} (id integer, a text);\nCOPY public.t{i} (id, a) FROM stdin;\n1\tx\n2\ty\n\\.\n" for i in range(900))),
        "pg-dollars": sql(lambda s: _PG_TABLE + "".join(f"$a{i}$ " for i in range(110_000))),
        "pg-cyclic": sql(lambda s: _PG + _cyclic_dump(s)),
        "pg-bait": sql(lambda s: _PG_TABLE + copy + "".join(f"{i}\t{' ' * 40_000}x\n" for i in range(23)) + "\\.\n"),
        "mysql-open-quote": sql(lambda s: _MYSQL + insert + "(1,'" + "x''" * 300_000),
        "mysql-open-parens": sql(lambda s: _MYSQL + insert + "(" * 900_000),
        "mysql-rows": sql(lambda s: _MYSQL + insert + ",".join(f"({i},'x')" for i in range(70_000)) + ";"),
        "mysql-inserts": sql(lambda s: _MYSQL + "INSERT INTO `t` VALUES (1,'x');\n" * 30_000),
        "mysql-escapes": sql(lambda s: _MYSQL + insert + "(1,'" + "\\'" * 440_000 + "');"),
        "mysql-hex": sql(lambda s: _MYSQL + insert + "(1,0x" + "f" * 900_000 + ");"),
        "mysql-number": sql(lambda s: _MYSQL + insert + "(" + "9" * 900_000 + "x,'x');"),
        "mysql-exponent": sql(lambda s: _MYSQL + insert + ",".join(f"({s.randrange(99)}e{s.randrange(10**9)},'x')" for _ in range(40_000)) + ";"),
        "mysql-comments": sql(lambda s: _MYSQL + "/*!40000 " * 100_000),
        "mysql-values": sql(lambda s: _MYSQL + insert + "(" + ",".join(["1"] * 440_000) + ");"),
        "mysql-minus": sql(lambda s: _MYSQL + insert + "(" + "-" * 900_000 + "1,'x');"),
        "sqlite-calls": sql(lambda s: _LITE + "INSERT INTO t VALUES(1," + "unistr(" * 120_000 + ");\nCOMMIT;"),
        "sqlite-replace": sql(lambda s: _LITE + "INSERT INTO t VALUES(1," + "replace(" * 20_000 + "'x'" + ",'a','b')" * 20_000 + ");\nCOMMIT;"),
        "sqlite-blob": sql(lambda s: _LITE + "INSERT INTO t VALUES(1,X'" + "ff" * 450_000 + "');\nCOMMIT;"),
        "sqlite-blob-open": sql(lambda s: _LITE + "INSERT INTO t VALUES(1,X'" + "ff" * 450_000),
        "sqlite-endless": sql(lambda s: _LITE + "INSERT INTO t WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x, x FROM r;\nCOMMIT;"),
        "sqlite-zeroblob": sql(lambda s: _LITE + "INSERT INTO t VALUES(1,zeroblob(900000000));\n" * 90 + "COMMIT;"),
        "sqlite-rows": sql(lambda s: _LITE + "".join(f"INSERT INTO t VALUES({i},'x');\n" for i in range(28_000)) + "COMMIT;"),
        "no-rows": sql(lambda s: _PG_TABLE + copy + "\\.\n"),
    }  # fmt: skip


def _cyclic_dump(seed: random.Random) -> str:
    statements = [*_cyclic_statements(40)]
    names = [f"t{_letters(i)}" for i in range(40)]
    for name in names:
        columns = ", ".join(["id", *(f"{other}_id" for other in names if other != name)])
        rows = _lines(
            ([j, *(seed.randrange(1, 41) for _ in names[1:])] for j in range(1, 41)), "\t"
        )
        statements.append(f"COPY {name} ({columns}) FROM stdin;\n{rows}\\.\n")
    return ";\n".join(statements[:40]) + ";\n" + "".join(statements[40:])


def _avro() -> dict[str, Maker]:
    def written(schema: Callable[[], Any], rows: Callable[[], list[bytes]]) -> Maker:
        def make(folder: Path, _: random.Random) -> Path:
            write_avro(folder / "t.avro", schema(), rows())
            return folder / "t.avro"

        return make

    def record(fields: Iterable[tuple[str, Any]], name: str = "r") -> dict[str, Any]:
        return {
            "type": "record",
            "name": name,
            "fields": [{"name": key, "type": kind} for key, kind in fields],
        }

    def nested(depth: int) -> Any:
        kind: Any = "long"
        for level in range(depth):
            kind = record([("a", kind)], f"r{level}")
        return record([("v", kind)])

    def bomb(folder: Path, _: random.Random) -> Path:
        body = zlib.compress(text("x" * 900_000_000), 9)[2:-4]
        head = b"Obj\x01" + number(2) + text("avro.codec") + text("deflate")
        head += text("avro.schema") + text(json.dumps(record([("a", "string")]))) + number(0)
        sync = b"0123456789abcdef"
        (folder / "t.avro").write_bytes(head + sync + number(1) + text(body) + sync)
        return folder / "t.avro"

    return {
        "width": written(lambda: record((f"c{i}", "long") for i in range(6_000)), lambda: [number(1) * 6_000] * 30),
        "name-long": written(lambda: record([("a" * 9_000, "long")]), lambda: [number(1)] * 30),
        "deep-50": written(lambda: nested(50), lambda: [number(1)] * 30),
        "deep-200": written(lambda: nested(200), lambda: [number(1)] * 30),
        "recursive": written(lambda: record([("id", "long"), ("next", ["null", "r"])]), lambda: [number(1) + (number(1) + number(2)) * 40_000 + number(0)]),
        "value-long": written(lambda: record([("a", "string")]), lambda: [text("x" * 900_000)]),
        "length-huge": written(lambda: record([("a", "string")]), lambda: [number(2**60) + b"x"]),
        "array-huge": written(lambda: record([("a", {"type": "array", "items": "null"})]), lambda: [number(2**40) + number(0)]),
        "rows-null": written(lambda: record([("a", "null")]), lambda: [b""] * 900_000),
        "tall": written(lambda: record([("a", "long")]), lambda: [number(i % 60) for i in range(900_000)]),
        "unions": written(lambda: record([("a", ["null", *[record([("x", "long")], f"u{i}") for i in range(3_000)]])]), lambda: [number(0)] * 30),
        "bomb": bomb,
        "noise": _file("t.avro", lambda s: b"Obj\x01" + s.randbytes(900_000)),
        "empty": written(lambda: record([("a", "long")]), list),
    }  # fmt: skip
