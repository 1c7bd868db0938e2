"""Logging in to Google's APIs: a token, a service account's key, or this machine's defaults."""

from typing import Any

from fluid_build.errors import SourceUnreachableError
from fluid_build.extras import needs_extra
from fluid_build.sources.credentials import Credential, Secret

_SCOPE = "https://www.googleapis.com/auth/cloud-platform.read-only"


def google_token(credential: Credential, title: str) -> Secret:
    """Return a token that reads Google's APIs.

    Raises SourceUnreachableError where there's no login, or Google refuses it.
    """
    token = credential.secret("token")
    if token is not None:
        return token
    with needs_extra("catalogs", f"Asking {title}"):
        import google.auth
        from google.auth.exceptions import GoogleAuthError
        from google.auth.transport.requests import Request
        from google.oauth2 import service_account
    key_file = credential.get("key_file")
    try:
        if key_file:
            factory: Any = service_account.Credentials
            login = factory.from_service_account_file(key_file, scopes=[_SCOPE])
        else:
            login, _ = google.auth.default(scopes=[_SCOPE])
        login.refresh(Request())
    except (GoogleAuthError, OSError, ValueError) as error:
        raise SourceUnreachableError(
            f"There's no login for {title}: {type(error).__name__}.",
            hint="Run `gcloud auth application-default login`, or set the field key_file of the"
            " credential to a service account's key.",
        ) from None
    return Secret(str(login.token))
