"""How large the house is: lines, modules, the fullest folders and the longest functions.

    python bench/house.py

Lines are all lines of the ``.py`` files of ``fluid_build``, comments and blanks included; what
``scripts/budget.py`` counts is code alone.
"""

import ast
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "fluid_build"
MOST_MODULES = 30
MOST_LINES = 80
SMALL = 60


def main() -> None:
    """Print the figures, and what is over the targets."""
    files = sorted(PACKAGE.rglob("*.py"))
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    sizes = {file: text.count("\n") for file, text in texts.items()}
    small = sum(size < SMALL and file.name != "__init__.py" for file, size in sizes.items())
    print(f"{sum(sizes.values()):,} lines, {len(files):,} modules, {small} under {SMALL} lines")
    for folder, count in Counter(file.parent for file in files).most_common():
        if count > MOST_MODULES:
            print(f"{folder.relative_to(PACKAGE.parent)} has {count} modules")
    for file, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_LINES:
                    print(f"{file.relative_to(PACKAGE.parent)}: {node.name} has {lines} lines")


if __name__ == "__main__":
    main()
