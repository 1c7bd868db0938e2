"""A real S3 server of this process, and what it takes to reach it."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from moto.server import ThreadedMotoServer


@dataclass(frozen=True)
class ObjectStore:
    """An S3 server, and a client of Amazon's to fill it with."""

    endpoint: str
    client: Any

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables by which Amazon's tools find it."""
        return {
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def upload(self, folder: Path, bucket: str, prefix: str) -> str:
        """Put the files below a folder into a bucket; the URL of their prefix."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                key = f"{prefix}/{path.relative_to(folder).as_posix()}"
                self.client.upload_file(str(path), bucket, key)
        return f"s3://{bucket}/{prefix}"


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """Provide a server with an empty bucket ``lake``."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
            region_name="us-east-1",
        )
        client.create_bucket(Bucket="lake")
        yield ObjectStore(endpoint, client)
    finally:
        server.stop()
