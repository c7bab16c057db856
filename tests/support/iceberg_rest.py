"""A REST catalog of Iceberg tables on the loopback address, over a catalog in a directory.

It speaks the part of the protocol that tables need, so that the library's own client is used.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableRequest, Table

from iceberg_catalogs import catalog_of

_STATUS: dict[type[Exception], int] = {
    NoSuchTableError: 404,
    NoSuchNamespaceError: 404,
    CommitFailedException: 409,
    TableAlreadyExistsError: 409,
    NamespaceAlreadyExistsError: 409,
}


class RestCatalogServer:
    """The server.

    Attributes:
        token: that requests need. lost: statuses of the answers to the next commits, instead of
            their own: the commits are made. commits: the number of those that were asked for.
    """

    token = "s3cret"

    def __init__(self, place: Path) -> None:
        self._place = place
        self.lost: list[int] = []
        self.commits = 0
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(None)

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers["Content-Length"])))

            def _answer(self, body: bytes | None) -> None:
                path = self.path.partition("?")[0].strip("/").split("/")
                try:
                    if self.headers["Authorization"] != f"Bearer {server.token}":
                        status, answer = 401, _error(401, "NotAuthorizedException", "no token")
                    else:
                        with server._lock:
                            status, answer = server._served(path[1:], body)
                except tuple(_STATUS) as e:
                    status = _STATUS[type(e)]
                    answer = _error(status, type(e).__name__, str(e))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self._handler: type[BaseHTTPRequestHandler] = Handler
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.uri = f"http://127.0.0.1:{self._server.server_port}"
        self.start()

    def start(self) -> None:
        """Serve, again after a stop."""
        port = self._server.server_port
        if self._server.socket.fileno() < 0:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _served(self, path: list[str], body: bytes | None) -> tuple[int, dict[str, Any]]:
        catalog = catalog_of(self._place)
        match path, body:
            case ["config"], None:
                return 200, {"defaults": {}, "overrides": {}}
            case ["namespaces"], bytes():
                catalog.create_namespace(tuple(json.loads(body)["namespace"]))
                return 200, json.loads(body)
            case ["namespaces", name], None:
                return 200, {
                    "namespace": [name],
                    "properties": catalog.load_namespace_properties(name),
                }
            case ["namespaces", name, "tables"], bytes():
                asked = json.loads(body)
                schema = Schema.model_validate(asked["schema"])
                properties = asked["properties"]
                table = catalog.create_table((name, asked["name"]), schema, properties=properties)
                return 200, _loaded(table)
            case ["namespaces", name, "tables", table_name], None:
                return 200, _loaded(catalog.load_table((name, table_name)))
            case ["namespaces", name, "tables", table_name], bytes():
                self.commits += 1
                asked_for = CommitTableRequest.model_validate_json(body)
                table = catalog.load_table((name, table_name))
                catalog.commit_table(table, asked_for.requirements, asked_for.updates)
                if self.lost:
                    status = self.lost.pop(0)
                    return status, _error(status, "Lost", "the answer is lost")
                return 200, _loaded(catalog.load_table((name, table_name)))
        return 404, _error(404, "NotFound", "/".join(path))


def _loaded(table: Table) -> dict[str, Any]:
    metadata = json.loads(table.metadata.model_dump_json())
    return {"metadata-location": table.metadata_location, "metadata": metadata, "config": {}}


def _error(status: int, type_: str, message: str) -> dict[str, Any]:
    return {"error": {"code": status, "type": type_, "message": message}}
