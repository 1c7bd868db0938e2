"""The shop that decisions are weighed on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.decisions.shop import Shop, build_shop, open_shop


@pytest.fixture(scope="package")
def shop_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_shop(tmp_path_factory.mktemp("shop") / "shop.sqlite")


@pytest.fixture(scope="package")
def shop(shop_file: Path) -> Iterator[Shop]:
    with open_shop(shop_file) as opened:
        yield opened
