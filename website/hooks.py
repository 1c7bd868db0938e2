"""What mkdocs calls while it builds the site."""

from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from website.pages import FILES, MADE, ROOT, adapted


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and files that aren't in docs/."""
    for page, make in MADE.items():
        files.append(File.generated(config, page, content=make()))
    for source, place in FILES.items():
        files.append(File.generated(config, place, content=(ROOT / source).read_bytes()))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Let pages in docs/ link to those that only the site has."""
    return adapted(page.file.src_uri, markdown)
