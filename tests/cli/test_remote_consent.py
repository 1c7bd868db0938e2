"""A folder that somebody else forged contacts no URL unasked."""

from pathlib import Path

import pytest

from fluid_build.cli.reading.consent import allowed_place
from fluid_build.errors import NotTrustedError
from fluid_build.secrets import MASK
from fluid_build.sources.addresses.kinds import S3, WEB, RemoteFilesKind
from fluid_build.sources.uri import Address
from fluid_build.transform.proof.manifest import manifest_source


@pytest.mark.parametrize(
    ("kind", "url", "shown"),
    [
        (S3, "s3://lake/shop", "s3://lake/shop"),
        (WEB, "http://169.254.169.254/secrets.csv", "http://169.254.169.254/secrets.csv"),
        (WEB, "https://host/a.csv?X-Amz-Signature=5ecre7abc", "https://host/a.csv"),
    ],
)
def test_a_folder_may_not_choose_a_place_on_a_network(
    tmp_path: Path, kind: RemoteFilesKind, url: str, shown: str
) -> None:
    """The refusal shows the URL without its secret, and the command that allows it."""
    source = manifest_source(Address(kind, url), tmp_path)
    assert source.location == shown
    with pytest.raises(NotTrustedError, match="may never choose a place on a network") as caught:
        allowed_place(source, tmp_path, ["fluid", "verify", "out"])
    assert caught.value.command is not None
    assert f"--uri {shown}" in caught.value.command.replace("'", "")
    assert "5ecre7abc" not in f"{caught.value} {caught.value.command}"


def test_a_secret_that_is_not_shown_has_to_be_filled_in(tmp_path: Path) -> None:
    """A signed URL in a stranger's manifest: the command says what it doesn't have."""
    source = manifest_source(Address(WEB, "https://host/a.csv"), tmp_path)
    signed = source.model_copy(update={"location": "https://host/a.csv?X-Amz-Signature=5ecre7abc"})
    with pytest.raises(NotTrustedError) as caught:
        allowed_place(signed, tmp_path, ["fluid", "verify", "out"])
    assert f"X-Amz-Signature={MASK}" in (caught.value.command or "")
    assert f"put it in place of {MASK}" in (caught.value.hint or "")
