"""Progress inside a table, while it's read and while it's measured."""

from pathlib import Path

from fluid_build.profiling import profile_source
from fluid_build.progress import Progress
from fluid_build.sources import open_source
from tests.sources.large_files import large_csv
from tests.sources.large_files import often as often


def test_progress_moves_while_a_large_file_is_read_and_measured(tmp_path: Path) -> None:
    """In both stages there are reports from within the one table."""
    heard: list[Progress] = []
    with open_source(large_csv(tmp_path), on_progress=heard.append) as source:
        profile_source(source, on_progress=heard.append)
    for stage in ("reading", "columns"):
        parts = {report.part for report in heard if report.stage == stage}
        assert len(parts) > 3
        assert all(0 <= part < 1 for part in parts)
