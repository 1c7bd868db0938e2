"""The sources of assistants: opened and measured once, and closed."""

from pathlib import Path

import pytest

from fluid_build.assistants.desk import Desk
from fluid_build.assistants.jobs import Job
from fluid_build.assistants.open_sources import OpenSources
from fluid_build.assistants.settings import workspace_settings
from fluid_build.assistants.text_samples import UnnamedColumnsError
from fluid_build.assistants.workspace import Workspace


def _desk(root: Path, *, share_values: bool = False, most_open: int = 3) -> Desk:
    settings = workspace_settings(root, {}, allow_write=False, share_values=share_values)
    sources = OpenSources(share_values=share_values, most_open=most_open)
    return Desk(settings, Workspace(settings), sources)


def test_a_text_whose_first_line_may_be_a_row_is_told_only_where_values_are_shared(
    tmp_path: Path,
) -> None:
    (tmp_path / "people.txt").write_text("ann miller\nbob stone\ncarl wood\n")
    desk = _desk(tmp_path)
    with (
        pytest.raises(UnnamedColumnsError),
        desk.sources.opened(desk.workspace.source("people.txt"), Job()),
    ):
        pass
    desk = _desk(tmp_path, share_values=True)
    with desk.sources.opened(desk.workspace.source("people.txt"), Job()) as source:
        assert len(source.tables) == 1
    desk.sources.close()


@pytest.mark.parametrize(("most_open", "is_same"), [(1, True), (0, False)])
def test_as_many_sources_stay_open_as_may(tmp_path: Path, most_open: int, is_same: bool) -> None:
    (tmp_path / "items.csv").write_text("sku,price\na,1\nb,2\n")
    desk = _desk(tmp_path, most_open=most_open)
    opened, profiles = [], []
    for _ in range(2):
        with desk.sources.measured(desk.workspace.source("items.csv"), Job()) as measured:
            opened.append(measured.source)
            profiles.append(measured.profile)
    desk.sources.close()
    assert (opened[0] is opened[1]) is is_same
    assert profiles[0] is profiles[1]
