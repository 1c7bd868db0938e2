"""The page of a profile, and the page of every forge."""

from pathlib import Path

import pytest

from fluid_build.errors import OutputError
from fluid_build.forge import forge
from fluid_build.forge.report_file import REPORT_FILE
from fluid_build.report.page.page_file import is_page
from fluid_build.sources import open_source
from tests.cli.running import Fluid, forged

FROM_SOURCE = ("forge", "data-model", "from-source")


def test_a_profile_is_written_as_a_page(fluid: Fluid, sqlite_shop: Path, tmp_path: Path) -> None:
    page = tmp_path / "shop.html"
    outcome = fluid("profile", sqlite_shop, "--html", page)
    assert outcome.code == 0
    assert is_page(page)
    assert "orders" in page.read_text()
    assert f"Page  in {page}" in outcome.out


def test_json_stays_alone_on_stdout_next_to_a_page(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    page = tmp_path / "shop.html"
    outcome = fluid("profile", sqlite_shop, "--html", page, "--json")
    assert outcome.out == fluid("profile", sqlite_shop, "--json").out
    assert f"The page is in {page}." in outcome.err
    assert is_page(page)


def test_a_page_of_an_earlier_profile_is_replaced(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    page = tmp_path / "shop.html"
    fluid("profile", sqlite_shop, "--html", page)
    whole = page.read_bytes()
    page.write_bytes(whole[: len(whole) // 2])
    assert fluid("profile", sqlite_shop, "--html", page).code == 0
    assert page.read_bytes() == whole


def test_a_file_that_is_no_page_of_ours_is_never_replaced(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.html"
    own.write_text("<html>mine</html>")
    outcome = fluid("profile", sqlite_shop, "--html", own)
    assert outcome.code == 2
    assert "isn't a page that Fluid Forge wrote" in outcome.err
    assert own.read_text() == "<html>mine</html>"


@pytest.mark.parametrize(
    ("place", "message"),
    [("", "is a folder"), ("missing/page.html", "doesn't exist"), ("two.sqlite/x.html", "a file")],
)
def test_a_page_that_cannot_be_written_is_refused_before_anything_is_read(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path, place: str, message: str
) -> None:
    outcome = fluid("profile", sqlite_shop, "--html", tmp_path / place)
    assert outcome.code == 2
    assert message in outcome.err
    assert "Reading tables" not in outcome.err


def test_a_page_has_every_table(fluid: Fluid, sqlite_shop: Path, tmp_path: Path) -> None:
    outcome = fluid("profile", sqlite_shop, "--html", tmp_path / "x.html", "--table", "orders")
    assert outcome.code == 2
    assert "--html and --table can't be combined" in outcome.err


def test_every_forge_writes_a_page_and_names_it(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    outcome = fluid(*FROM_SOURCE, "--uri", sqlite_shop, "-o", folder)
    assert is_page(folder / REPORT_FILE)
    assert "report.html" in outcome.out


def test_two_forges_in_a_program_write_the_same_page(
    sqlite_shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a run, nothing in a page is of the moment."""
    pages = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        monkeypatch.chdir(tmp_path / place)
        forged(sqlite_shop, Path("model"))
        pages.append(Path("model", REPORT_FILE).read_bytes())
    assert pages[0] == pages[1]


def test_the_page_is_replaced_by_the_next_forge(sqlite_shop: Path, tmp_path: Path) -> None:
    page = forged(sqlite_shop, tmp_path / "model") / REPORT_FILE
    whole = page.read_bytes()
    page.write_bytes(whole[: len(whole) // 2])
    forged(sqlite_shop, tmp_path / "model")
    assert page.read_bytes() == whole


def test_a_report_of_your_own_is_kept_unless_you_say_so(sqlite_shop: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    own = folder / REPORT_FILE
    own.write_text("<html>mine</html>")
    with open_source(sqlite_shop) as source:
        result = forge(source, out=folder)
        assert [change.name for change in result.kept] == [REPORT_FILE]
        assert own not in result.files
        assert own.read_text() == "<html>mine</html>"
        result = forge(source, out=folder, overwrite=True)
    assert own in result.files
    assert is_page(own)


def test_a_page_that_cannot_be_written_leaves_the_folder_whole(
    sqlite_shop: Path, tmp_path: Path
) -> None:
    folder = forged(sqlite_shop, tmp_path / "model")
    (folder / "MODEL.md").unlink()
    (folder / REPORT_FILE).unlink()
    (folder / REPORT_FILE).mkdir()
    with (
        open_source(sqlite_shop) as source,
        pytest.raises(OutputError, match=r"All other files of .* are written") as raised,
    ):
        forge(source, out=folder, overwrite=True)
    assert raised.value.command == f"fluid report {folder}"
    assert (folder / "MODEL.md").is_file()
