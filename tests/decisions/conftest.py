"""The shop that decisions are weighed on."""

from collections.abc import Iterator

import pytest

from tests.decisions.shop import Shop, build_shop, open_shop


@pytest.fixture(scope="package")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with open_shop(build_shop(tmp_path_factory.mktemp("shop") / "shop.sqlite")) as opened:
        yield opened
