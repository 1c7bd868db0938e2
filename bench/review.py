"""What a person reviews of a forged folder: how long its contract is, and what changes in it.

    python bench/review.py [--corpus DIR] [--only demo northwind chinook shop]

First the lines of the contract a table, in each technique, at most 120. Then the changing shop
(``bench/changing_shop``) is forged on two nights into one folder, in a Git repository: the values
of the contract that change when rows do but for the version, and how many of them are figures
(alike but for digits). Then one column is added, and another, and Git counts the lines that change
outside of what the folder's ``.gitattributes`` marks as generated, at most 60. A line that replaces
another counts once. Exit code 1 where a figure misses its goal.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
# After the path of Python, so that it can measure an earlier checkout.
sys.path.append(str(ROOT))

from bench.changing_shop.changes import CHANGES, ROWS_CHANGE, SHOP  # noqa: E402
from bench.changing_shop.databases import DuckDBShop  # noqa: E402
from fluid_build.demo import build_shop  # noqa: E402
from fluid_build.forging import forge  # noqa: E402
from fluid_build.sources import open_source  # noqa: E402
from fluid_build.temporary import owned_folder  # noqa: E402

TECHNIQUES = ("flat", "data_vault_2", "dimensional")
SOURCES = ("demo", "northwind", "chinook", "shop")
MOST_LINES_A_TABLE = 120
MOST_CHANGED_LINES = 60
COLUMNS = ("text column added", "measure added")
CONTRACT = "contract.fluid.yaml"


def forged(source: Path, out: Path, technique: str) -> str:
    """Forge a source into a folder, and return its contract."""
    with open_source(source) as opened:
        forge(opened, technique=technique, out=out)
    return (out / CONTRACT).read_text(encoding="utf-8")


def leaves(value: object, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield the values of a document with their places; items of a list are known by their id."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{at}.{key}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            keys = ("exposeId", "id", "name", "targetField")
            known = (item[key] for key in keys if key in item) if isinstance(item, dict) else ()
            yield from leaves(item, f"{at}[{next(iter(known), number)}]")
    else:
        yield at, str(value)


def changed(old: str, new: str) -> Counter[bool]:
    """Count the values that differ between two contracts, by whether only their digits do."""
    before, after = (dict(leaves(yaml.load(text, yaml.CSafeLoader))) for text in (old, new))
    places = {at for at in before.keys() | after.keys() if not at.endswith(".version")}
    pairs = [(before.get(at), after.get(at)) for at in places]
    return Counter(
        None not in pair and len({re.sub(r"\d[\d.,]*", "0", str(each)) for each in pair}) == 1
        for pair in pairs
        if pair[0] != pair[1]
    )


def git(folder: Path, *arguments: str) -> str:
    """Run Git in a folder."""
    name = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    return subprocess.run(
        ["git", *name, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def changed_lines(folder: Path) -> dict[str, int]:
    """Return the lines that Git counts in each file that isn't generated, since the last commit."""
    git(folder, "add", "-A")
    listed = git(
        folder, "diff", "--cached", "--numstat", "--", ".", ":(exclude,attr:linguist-generated)"
    )
    rows = (line.split("\t") for line in listed.splitlines())
    return {name: max(int(added), int(gone)) for added, gone, name in rows if added != "-"}


def report_lines(name: str, technique: str, text: str) -> bool:
    """Print the lines of a contract a table; return whether they are few enough."""
    tables = len(yaml.load(text, yaml.CSafeLoader)["exposes"])
    lines = text.count("\n")
    print(f"{name:12}{technique:14}{tables:>8}{lines:>8}{lines / tables:>10.0f}", flush=True)
    return lines <= MOST_LINES_A_TABLE * tables


def report_nights(work: Path, technique: str) -> bool:
    """Print what changes in a folder between nights; return whether the goals are met."""
    shop, out = DuckDBShop(str(work / "shop.duckdb")), work / "out"
    shop.run(SHOP)
    first = forged(Path(shop.uri), out, technique)
    git(out, "init", "--quiet")
    git(out, "add", "-A")
    git(out, "commit", "--quiet", "-m", "first")
    shop.run(ROWS_CHANGE.replace("{night}", "1"))
    found = changed(first, forged(Path(shop.uri), out, technique))
    lines = changed_lines(out)
    print(
        f"{technique:14} a night of rows: {found.total()} values of the contract, {found[True]} of"
        f" them figures; {sum(lines.values())} lines, {lines.get(CONTRACT, 0)} in the contract"
    )
    good = not found[True]
    git(out, "commit", "--quiet", "-m", "rows")
    for column in COLUMNS:
        shop.run(CHANGES[column])
        forged(Path(shop.uri), out, technique)
        lines = changed_lines(out)
        listed = ", ".join(f"{name} {count}" for name, count in sorted(lines.items()))
        print(f"{technique:14} {column}: {sum(lines.values())} lines ({listed})", flush=True)
        good &= sum(lines.values()) <= MOST_CHANGED_LINES
        git(out, "commit", "--quiet", "-m", column)
    return good


def main() -> int:
    """Every source in every technique."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=ROOT.parent / "shared" / "corpus")
    parser.add_argument("--only", nargs="*", default=SOURCES, choices=SOURCES)
    options = parser.parse_args()
    good = True
    print(f"{'source':12}{'technique':14}{'tables':>8}{'lines':>8}{'a table':>10}")
    for name in options.only:
        for technique in TECHNIQUES:
            with owned_folder() as owned:
                if name == "shop":
                    good &= report_nights(owned.path, technique)
                    continue
                source = owned.path / "demo.db"
                if name == "demo":
                    build_shop(source)
                else:
                    source = Path(
                        shutil.copytree(options.corpus / name / "data", owned.path / name)
                    )
                good &= report_lines(name, technique, forged(source, owned.path / "out", technique))
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
