"""Connection strings taken apart: what is shown is what is connected to."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources.addresses.kinds import MYSQL, POSTGRES
from fluid_build.sources.addresses.server_address import ServerAddress, server_address
from fluid_build.sources.uri import locate

_NAMES = st.text(string.ascii_letters + string.digits + "._-/: @%?é'\\", min_size=0, max_size=12)
_HOSTS = st.sampled_from(["", "db.example.org", "10.0.0.1", "::1", "/run/postgresql", "a,b"])


@given(
    st.builds(
        ServerAddress,
        scheme=st.just("postgresql"),
        host=_HOSTS,
        port=st.sampled_from(["", "5432"]),
        user=_NAMES,
        database=_NAMES.filter(lambda name: "://" not in name),
        options=st.dictionaries(st.sampled_from(["sslmode", "hostaddr"]), _NAMES.filter(bool)),
    )
)
def test_an_address_and_its_uri_say_the_same(address: ServerAddress) -> None:
    """The URI that is pasted or connected to has just the parts that were shown."""
    assert server_address(address.uri, POSTGRES) == address
    assert locate(address.uri).kind is POSTGRES


@pytest.mark.parametrize(
    ("dsn", "host", "user", "database"),
    [
        ("postgresql://reader@db/shop", "db", "reader", "shop"),
        ("postgres://db:1,db2:2/shop", "db,db2", "", "shop"),
        ("postgresql://good@x/shop?host=evil&user=me&dbname=y", "evil", "me", "y"),
        ("postgresql://[::1]:5432/shop", "::1", "", "shop"),
        ("postgresql://%2Frun%2Fpg/shop", "/run/pg", "", "shop"),
        ("host = 'my host' user=a\\ b", None, None, None),
        ("host='db' user='it\\'s' dbname=shop", "db", "it's", "shop"),
    ],
)
def test_the_parts_are_those_that_libpq_takes(
    dsn: str, host: str | None, user: str | None, database: str | None
) -> None:
    """A parameter counts for more than the place before it; what can't be a host is refused."""
    if host is None:
        with pytest.raises(ValueError, match="host"):
            server_address(dsn, POSTGRES)
        return
    found = server_address(dsn, POSTGRES)
    assert (found.host, found.user, found.database) == (host, user, database)


@pytest.mark.parametrize(
    "dsn",
    [
        "service=prod",
        "postgresql://db/shop?passfile=/etc/passwd",
        "postgresql://u:secret@db/shop",
        "host=db dbname='host=evil'",
        "postgresql://db/postgresql%3A%2F%2Fevil",
        "host=db port=x",
        "/etc/passwd",
        "host=db user",
    ],
)
def test_what_cannot_be_shown_whole_is_refused(dsn: str) -> None:
    """Services, files, passwords and strings inside strings could lead elsewhere than it seems."""
    with pytest.raises(ValueError, match="it"):
        server_address(dsn, POSTGRES)


def test_a_mysql_uri_is_written_as_its_client_reads_it() -> None:
    """The usual scheme, and paths in parameters percent-encoded; what is encoded stays so."""
    address = locate("mariadb://me@db:3307/shop?socket=/run/my.sock&ssl-mode=required")
    assert address.kind is MYSQL
    assert address.place == "mysql://me@db:3307/shop?socket=%2Frun%2Fmy.sock&ssl-mode=required"
    assert locate(address.place).place == address.place
    parts = server_address(address.place, MYSQL)
    assert (parts.host, parts.port, parts.user, parts.database) == ("db", "3307", "me", "shop")
    with pytest.raises(ValueError, match="it sets ssl-key"):
        server_address("mysql://me@db/shop?ssl-key=/etc/passwd", MYSQL)
