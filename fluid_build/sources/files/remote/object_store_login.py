"""Logs in to an object store: with DuckDB's stored secrets, or as the cloud's own tools do.

A secret is created in the memory of one connection, and stored nowhere. This file is also part of
the dbt projects that read an object store, so it imports nothing of ours.
https://duckdb.org/docs/stable/configuration/secrets_manager
"""

import os
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import duckdb


def log_in(connection: duckdb.DuckDBPyConnection, url: str, secret_type: str) -> None:
    """Have the connection use a login for a URL: the user's own stored one, or the environment's.

    ``secret_type`` is DuckDB's: s3, gcs, azure or http. Without a login, public files can be read
    all the same.
    """
    certificates = os.environ.get("SSL_CERT_FILE") or os.environ.get("CURL_CA_BUNDLE")
    if certificates:
        connection.execute(f"SET GLOBAL ca_cert_file = {_literal(certificates)}")
    if secret_type == "http" or _has_secret(connection, url, secret_type):
        return
    for settings in _attempts(secret_type, os.environ):
        parameters = ", ".join(f"{name} {value}" for name, value in settings.items())
        try:
            connection.execute(f"CREATE SECRET fluid_{secret_type} ({parameters})")
        except duckdb.InterruptException:
            raise
        except duckdb.Error:
            # The chain has no login; the next attempt is what is left without one.
            continue
        return


def _has_secret(connection: duckdb.DuckDBPyConnection, url: str, secret_type: str) -> bool:
    row = connection.execute("SELECT 1 FROM which_secret(?, ?)", [url, secret_type]).fetchone()
    return row is not None


def _attempts(secret_type: str, environment: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """Yield the settings of secrets to try, in order; values are SQL."""
    type_ = {"TYPE": secret_type}
    if secret_type == "s3":
        places = dict(_s3_server(environment))
        yield {**type_, "PROVIDER": "credential_chain", **places}
        yield {**type_, **places}
    elif secret_type == "gcs":
        key, secret = environment.get("GCS_HMAC_KEY_ID"), environment.get("GCS_HMAC_SECRET")
        if key and secret:
            yield {**type_, "KEY_ID": _literal(key), "SECRET": _literal(secret)}
    elif secret_type == "azure":
        account = environment.get("AZURE_STORAGE_ACCOUNT")
        connection_string = environment.get("AZURE_STORAGE_CONNECTION_STRING")
        if connection_string:
            yield {**type_, "CONNECTION_STRING": _literal(connection_string)}
        elif account:
            named = {**type_, "ACCOUNT_NAME": _literal(account)}
            yield {**named, "PROVIDER": "credential_chain"}
            yield named


def _s3_server(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the settings of region and server, as Amazon's own tools read them."""
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if region:
        yield "REGION", _literal(region)
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    if endpoint:
        parts = urlsplit(endpoint if "://" in endpoint else f"https://{endpoint}")
        yield "ENDPOINT", _literal(f"{parts.netloc}{parts.path.rstrip('/')}")
        yield "USE_SSL", "false" if parts.scheme == "http" else "true"
        # A server of one's own rarely has a name for each bucket.
        yield "URL_STYLE", _literal("path")


def _literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
