"""Installed distributions: what importlib finds of one in a folder of packages."""

from pathlib import Path


def install_distribution(site_packages: Path, name: str, package: str = "fluid_build") -> None:
    """Put an empty package there, and the metadata that an installation leaves."""
    (site_packages / package).mkdir(exist_ok=True)
    (site_packages / package / "__init__.py").touch()
    folder = site_packages / f"{name.replace('-', '_')}-9.9.9.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 9.9.9\n")
    (folder / "RECORD").write_text(f"{package}/__init__.py,,\n")
