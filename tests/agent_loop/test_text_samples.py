"""What a model may see of text files: names of columns, never a first row, and no bomb."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from fluid_build.assistants.text_samples import MAX_SAMPLE_BYTES
from fluid_build.cli.forge_copilot_agent_loop import dispatch_tool_call

TOOLS = {"read_sample_schema": "path", "profile_source": "source"}
SECRETS = "hunter-canary\ncorrect horse canary\nletmein-canary\nqwerty-canary\n"
PAIRS = "alice;canary-one\nbob;canary-two\ncarol;canary-three\n"

_MEASURED = """
import json, resource, sys
from pathlib import Path
from fluid_build.cli.forge_copilot_agent_loop import dispatch_tool_call
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = dispatch_tool_call("read_sample_schema", {"path": sys.argv[2]}, Path(sys.argv[1]))
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([result, (after - before) / 1024]))
"""


@pytest.mark.parametrize(("tool", "field"), TOOLS.items())
@pytest.mark.parametrize("name", ["passwords.txt", "passwords.csv", "passwords.txt.gz"])
@pytest.mark.parametrize("text", [SECRETS, "canary\n", "Canary Lovegood\nAda Lovelace\n"])
def test_a_list_without_a_header_is_refused(
    workspace: Path, tool: str, field: str, name: str, text: str
) -> None:
    raw = text.encode()
    (workspace / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    result = dispatch_tool_call(tool, {field: name}, workspace)
    assert result["error"] == "UnnamedColumnsError"
    assert "anary" not in json.dumps(result)


@pytest.mark.parametrize(("tool", "field"), TOOLS.items())
def test_a_text_whose_first_line_may_be_a_row_is_refused(
    workspace: Path, tool: str, field: str
) -> None:
    (workspace / "logins.txt").write_text(PAIRS)
    result = dispatch_tool_call(tool, {field: "logins.txt"}, workspace)
    assert result["error"] == "UnnamedColumnsError"


def test_a_list_in_a_folder_is_not_told_either(workspace: Path) -> None:
    (workspace / "files").mkdir()
    (workspace / "files" / "items.csv").write_text("sku,price\na,1.5\nb,2.5\n")
    (workspace / "files" / "secrets.csv").write_text(SECRETS)
    result = dispatch_tool_call("profile_source", {"source": "files"}, workspace)
    assert "canary" not in json.dumps(result)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("items.txt", "sku\tprice\na\t1.5\nb\t2.5\n"),
        ("people.txt", "name;city\nAda;London\nAlan;Wilmslow\n"),
        ("land.csv", "Land,Hauptstadt\nPeru,Lima\nMali,Bamako\n"),
        ("currency.csv", "currency\nEUR\nUSD\nGBP\n"),
        ("sizes.csv", "grootte\n1\n2\n3\n"),
        ("report.txt", "Sales report\n\nregion;amount\nNorth;1\nSouth;2\n"),
    ],
)
def test_a_table_with_a_header_is_described(workspace: Path, name: str, text: str) -> None:
    (workspace / name).write_text(text)
    result = dispatch_tool_call("read_sample_schema", {"path": name}, workspace)
    header = text.splitlines()[2 if "report" in text else 0]
    separator = next((s for s in "\t;," if s in header), ",")
    names = [column["name"] for column in result["tables"][0]["columns"]]
    assert names == header.split(separator)


@pytest.mark.parametrize(
    ("text", "asked", "rows"),
    [
        ('[{"a":"]"},{"a":"\\\\\\""},{"a":"}"}]', 2, 2),
        ('[{"a":"]"},{"a":"\\\\\\""},{"a":"}"}]', 9, 3),
        ('[{"a":{"b":[1]}},{"a":{"b":[2]}},{"a":{"b":[3]}}]', 1, 1),
        ('{"a":1}\n{"a":2}\n{"a":3}', 2, 2),
    ],
)
def test_no_more_records_are_read_than_asked_for(
    workspace: Path, text: str, asked: int, rows: int
) -> None:
    (workspace / "records.json").write_text(text)
    arguments = {"path": "records.json", "max_rows": asked}
    result = dispatch_tool_call("read_sample_schema", arguments, workspace)
    assert result["tables"][0]["rows"] == rows


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".csv.zst", ".jsonl", ".jsonl.gz"])
@pytest.mark.parametrize(("asked", "rows"), [(9, 9), (10, 10), (11, 10)])
def test_no_more_rows_are_read_than_asked_for(
    workspace: Path, ending: str, asked: int, rows: int
) -> None:
    csv = "id,note\n" + "".join(f'{i},"a\nb"\n' for i in range(10))
    lines = "".join(json.dumps({"id": i, "note": "a\nb"}) + "\n" for i in range(10))
    text = lines if ending.startswith(".jsonl") else csv
    place = workspace / f"items{ending}"
    if ending.endswith(".zst"):
        rewritten = text.replace("a\nb", "ab")
        (workspace / "plain.csv").write_text(rewritten)
        duckdb.execute(
            f"COPY (FROM read_csv('{workspace}/plain.csv')) TO '{place}' (COMPRESSION zstd)"
        )
    else:
        raw = text.encode()
        place.write_bytes(gzip.compress(raw) if ending.endswith(".gz") else raw)
    arguments = {"path": place.name, "max_rows": asked}
    result = dispatch_tool_call("read_sample_schema", arguments, workspace)
    (table,) = result["tables"]
    assert table["rows"] == rows
    assert [column["name"] for column in table["columns"]] == ["id", "note"]


def test_a_late_row_is_never_read(workspace: Path) -> None:
    """A value far below would turn the column to text."""
    rows = "".join(f"{i},{i}\n" for i in range(5000))
    (workspace / "late.csv").write_text(f"id,amount\n{rows}5000,none\n")
    arguments = {"path": "late.csv", "max_rows": 100}
    result = dispatch_tool_call("read_sample_schema", arguments, workspace)
    assert [column["type"] for column in result["tables"][0]["columns"]] == ["BIGINT", "BIGINT"]


@pytest.mark.parametrize(
    ("name", "block", "is_refused"),
    [
        ("rows.csv.gz", b"1,aaaaaaaaaaaaaa\n", True),
        ("line.csv.gz", b"a" * 17, True),
        ("quoted.csv.gz", b'"a\n', True),
        ("lines.jsonl.gz", b'{"id": 1, "a": 2}\n', True),
        ("array.json.gz", b'{"id":1},', True),
        ("dump.sql.gz", b"INSERT INTO t VALUES (1);\n", True),
        ("object.json.gz", b'"', True),
        ("small.csv.gz", b"1,a\n", False),
        ("small.json.gz", b'{"id":1},', False),
    ],
    ids=("rows", "line", "quoted", "lines", "array", "dump", "object", "small", "records"),
)
def test_a_bomb_costs_little_memory(
    workspace: Path, name: str, block: bytes, is_refused: bool
) -> None:
    """80 MB in less than 200 kB; measured in a process of its own."""
    times = (80 if is_refused else 20) * 1024 * 1024 // len(block)
    header = b"" if "json" in name or "sql" in name else b"id,note\n"
    header = b"[" if name == "small.json.gz" else header
    (workspace / name).write_bytes(gzip.compress(header + block * times))
    run = subprocess.run(
        [sys.executable, "-c", _MEASURED, str(workspace), name],
        capture_output=True, text=True, timeout=120, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    result, megabytes = json.loads(run.stdout)
    assert (result.get("error") == "file_too_large") is is_refused
    assert megabytes < 200


def test_a_folder_is_no_sample(workspace: Path) -> None:
    (workspace / "files").mkdir()
    (workspace / "files" / "items.csv").write_text("sku,price\na,1.5\n")
    result = dispatch_tool_call("read_sample_schema", {"path": "files"}, workspace)
    assert result["error"] == "unsupported_file_type"


@pytest.mark.parametrize("name", ["broken.csv.gz", "broken.csv.zst", "broken.xlsx"])
def test_a_broken_archive_is_a_typed_error(workspace: Path, name: str) -> None:
    (workspace / name).write_bytes(b"\x1f\x8b\x08\x00" + b"\x00" * 40)
    result = dispatch_tool_call("read_sample_schema", {"path": name}, workspace)
    assert result["message"] == "The source can't be read."


def test_the_largest_sample_is_read_once_unpacked(workspace: Path) -> None:
    block = b"1,aaaaaaaaaaaaaa\n"
    header = b"id,note\n"
    times = (MAX_SAMPLE_BYTES - len(header)) // len(block)
    (workspace / "full.csv.gz").write_bytes(gzip.compress(header + block * times, 1))
    (workspace / "over.csv.gz").write_bytes(gzip.compress(header + block * (times + 1), 1))
    full, over = (
        dispatch_tool_call("read_sample_schema", {"path": name}, workspace)
        for name in ("full.csv.gz", "over.csv.gz")
    )
    assert (full["tables"][0]["rows"], over["error"]) == (1000, "file_too_large")
