"""The page of a forged folder, made again of its files and of the run that wrote them."""

from pathlib import Path

from fluid_build.copilot.store.configured import open_store
from fluid_build.pipeline.folder_facts import recorded_facts, reviewed_facts
from fluid_build.report.page.page_file import check_page_place, write_page
from fluid_build.report.page.run_facts import RunFacts
from fluid_build.verification.page_sources import read_page_sources


def make_page(folder: Path, path: Path) -> RunFacts | None:
    """Write the page of a folder, and return the run that is recorded for it, if there is one."""
    sources = read_page_sources(folder)
    check_page_place(path)
    run = recorded_facts(open_store(), folder, sources.plan)
    facts = run or reviewed_facts(folder, sources.model, sources.plan)
    write_page(path, sources.page(facts))
    return run
