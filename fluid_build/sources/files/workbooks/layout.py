"""The tables of the workbooks among data files, each in the place of its file."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fluid_build.errors import MissingExtraError
from fluid_build.sources.files.layout import Layout, TableFiles
from fluid_build.sources.files.storage import FileStorage
from fluid_build.sources.files.workbooks.sheets import Workbook, read_workbook


def with_sheets(layout: Layout, storage: FileStorage, folder: Path) -> Layout:
    """Return a layout with the tables of each workbook, whose rows are put into ``folder``.

    A workbook that can't be read, and a sheet without a table, are left out with the reason. Raises
    MissingExtraError where there are only workbooks, and what reads them isn't installed.
    """
    workbooks = [table for table in layout.tables if table.format == "excel"]
    if not workbooks:
        return layout
    left_out, notes = list(layout.left_out), list(layout.notes)
    by_file: dict[Path, Workbook] = {}
    for file in workbooks:
        (path,) = file.paths
        try:
            storage.fetch([path])
            by_file[path] = read_workbook(path, folder)
        except MissingExtraError as error:
            if len(workbooks) == len(layout.tables):
                raise
            left_out.append((file.name, f"{error.message} {error.hint}"))
        except (OSError, ValueError) as error:
            left_out.append((file.name, str(error)))
        else:
            workbook = by_file[path]
            if not workbook.tables:
                left_out.append((file.name, "Its sheets are empty."))
            notes += [
                f"The sheet {sheet} of {path.name} was left out: {why}"
                for sheet, why in workbook.skipped
            ]
    return replace(
        layout,
        tables=tuple(_tables(layout.tables, by_file)),
        left_out=tuple(left_out),
        notes=tuple(notes),
    )


def _tables(tables: Sequence[TableFiles], workbooks: dict[Path, Workbook]) -> Iterator[TableFiles]:
    """Yield the tables, those of a workbook by their sheets' names where no other has the name."""
    used = Counter(table.name.lower() for table in tables if table.format != "excel")
    used.update(sheet.name.lower() for workbook in workbooks.values() for sheet in workbook.tables)
    for table in tables:
        if table.format != "excel":
            yield table
            continue
        workbook = workbooks.get(table.paths[0])
        sheets = workbook.tables if workbook else ()
        for sheet in sheets:
            own = table.name if len(sheets) == 1 else sheet.name
            is_free = len(sheets) == 1 or used[own.lower()] == 1
            name = own if is_free else f"{table.name}.{sheet.name}"
            yield replace(table, name=name, sheet=sheet)
