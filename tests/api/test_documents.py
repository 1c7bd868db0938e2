"""The examples of the documents run, and give what the documents say."""

import ast
import contextlib
import io
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.forges import demo_shop

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"(?<=^```python\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_FROM_PYTHON = re.compile(r"^## From Python\n.*?(?=^## )", re.MULTILINE | re.DOTALL)


def run_example(code: str, names: dict[str, object]) -> None:
    """Run the statements of an example; one with a comment after it has that value."""
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        source = ast.get_source_segment(code, statement) or ""
        line = lines[(statement.end_lineno or 0) - 1]
        _, sign, value = line.partition("  # ")
        if isinstance(statement, ast.Expr) and sign:
            found = repr(eval(compile(source, "example", "eval"), names))
            assert found == value, f"{source}\n{found}"
        else:
            exec(compile(source, "example", "exec"), names)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's database."""
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    demo_shop(path)
    return path


@pytest.fixture
def shop_folder(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with the demo's database."""
    (tmp_path / "demo-shop").mkdir()
    shutil.copy(shop, tmp_path / "demo-shop")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_example_of_the_api_is_true(shop_folder: Path) -> None:
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    blocks = _BLOCK.findall(text)
    assert len(blocks) > 8
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        for block in blocks:
            run_example(block, names)
    assert printed.getvalue() == ""


def test_the_example_of_the_readme_is_true(shop_folder: Path) -> None:
    section = _FROM_PYTHON.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert section is not None
    (block,) = _BLOCK.findall(section.group())
    run_example(block, {})


def notebook(name: str) -> Any:
    import nbformat

    return nbformat.read(ROOT / "docs/notebooks" / name, as_version=4)


def test_the_notebook_keeps_no_output() -> None:
    """An output that nobody made again may be wrong."""
    cells = notebook("shop.ipynb").cells
    assert cells
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in cells)


def test_the_notebook_runs(shop_folder: Path) -> None:
    """In a kernel, with its running event loop; results and progress show themselves there."""
    from nbclient import NotebookClient

    executed = notebook("shop.ipynb")
    NotebookClient(executed, timeout=120, resources={"metadata": {"path": shop_folder}}).execute()
    outputs = [output for cell in executed.cells for output in cell.get("outputs", [])]
    html = [o.data["text/html"] for o in outputs if "text/html" in o.get("data", {})]
    assert any("orders.customer_id" in each for each in html)
    assert any("Proven." in each for each in html)
    assert all(output.output_type != "stream" for output in outputs)
    assert (shop_folder / "shop-model/contract.fluid.yaml").is_file()
