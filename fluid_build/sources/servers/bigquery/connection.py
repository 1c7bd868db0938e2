"""A client of BigQuery, with the credentials that Google's own tools use.

They are the application default ones (``gcloud auth application-default login``, or the file that
``GOOGLE_APPLICATION_CREDENTIALS`` names), or the key file that the URI names.
https://cloud.google.com/docs/authentication/application-default-credentials
"""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fluid_build.errors import SourceError, SourceUnreachableError
from fluid_build.extras import needs_extra
from fluid_build.sources.servers.bigquery.client import BigQueryClient
from fluid_build.sources.servers.server_errors import client_message
from fluid_build.sources.servers.warehouse_address import warehouse_address

if TYPE_CHECKING:
    from google.auth.credentials import Credentials

SHAPE = "bigquery://PROJECT/DATASET?location=EU"

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_EMULATOR = "BIGQUERY_EMULATOR_HOST"
"""Google's own variable for a stand-in of BigQuery, which takes no credentials."""
# As sqlalchemy-bigquery and dbt call them.
_PARAMETERS = {
    "location": "location",
    "credentials_path": "key_file",
    "keyfile": "key_file",
    "billing_project": "billing_project",
    "billing_project_id": "billing_project",
    "execution_project": "billing_project",
}


@dataclass(frozen=True, slots=True)
class BigQueryPlace:
    """The datasets of a project, or one of them; ``billing_project`` pays for the queries."""

    project: str = ""
    dataset: str = ""
    location: str = ""
    key_file: str = ""
    billing_project: str = ""


def bigquery_place(uri: str) -> BigQueryPlace:
    """Return what a URI names. Raises SourceError where it can't be read."""
    address = warehouse_address(uri, "BigQuery", SHAPE, sorted(_PARAMETERS), most_parts=1)
    parameters = {_PARAMETERS[name]: value for name, value in address.parameters.items()}
    return BigQueryPlace(
        project=address.host or os.environ.get("GOOGLE_CLOUD_PROJECT", ""),
        dataset=next(iter(address.path), ""),
        location=parameters.get("location") or os.environ.get("BIGQUERY_LOCATION", ""),
        key_file=parameters.get("key_file", ""),
        billing_project=parameters.get("billing_project", ""),
    )


def connect(place: BigQueryPlace) -> BigQueryClient:
    """Return a client, which hasn't contacted the server yet.

    Raises SourceUnreachableError where there are no credentials, and SourceError where no project
    is named.
    """
    with needs_extra("bigquery", "Reading BigQuery"):
        import google.auth.exceptions
        from google.cloud import bigquery, bigquery_storage
    try:
        credentials = _credentials(place)
        client = bigquery.Client(
            project=place.billing_project or place.project or None,
            credentials=credentials,
            location=place.location or None,
        )
        storage = None
        if not os.environ.get(_EMULATOR):
            storage = bigquery_storage.BigQueryReadClient(credentials=credentials)  # type: ignore[no-untyped-call]
    except (google.auth.exceptions.GoogleAuthError, OSError, ValueError) as error:
        raise SourceUnreachableError(
            f"BigQuery can't be reached: {client_message(error)}",
            hint="Log in with `gcloud auth application-default login`, or let"
            " GOOGLE_APPLICATION_CREDENTIALS name a key file.",
        ) from None
    if not client.project:
        raise SourceError("The URI names no project.", hint=f"Write it as {SHAPE}.")
    return BigQueryClient(client, storage)


def _credentials(place: BigQueryPlace) -> "Credentials | None":
    """Return credentials where they aren't the application default ones, which the client finds."""
    from google.auth.credentials import AnonymousCredentials
    from google.oauth2 import service_account

    if os.environ.get(_EMULATOR):
        return AnonymousCredentials()  # type: ignore[no-untyped-call]
    if place.key_file:
        credentials: Credentials = service_account.Credentials.from_service_account_file(  # type: ignore[no-untyped-call]
            place.key_file, scopes=[_SCOPE]
        )
        return credentials
    return None
