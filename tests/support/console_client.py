"""Requests to a console, as a browser or another program sends them."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit


class ConsoleClient:
    """Sends requests with the token of the console's address."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.netloc = parts.netloc
        self.token = parts.fragment.removeprefix("token=")

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers in lower case, and text; ``_`` in names of headers is ``-``."""
        connection = http.client.HTTPConnection(self.netloc, timeout=30)
        sent = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return response.status, found, response.read().decode()
        finally:
            connection.close()

    def part(self, path: str, status: int = 200) -> str:
        """A part of the page."""
        found, _, text = self.request("GET", f"/parts/{path}")
        assert found == status, text
        return text

    def post(self, path: str, sql: Any, **headers: str) -> tuple[int, Any]:
        """Status and content of the response to statements."""
        headers = {"Content_Type": "application/json"} | headers
        body = json.dumps({"sql": sql}).encode()
        status, of, text = self.request("POST", path, body, **headers)
        is_json = of["content-type"] == "application/json"
        return status, json.loads(text) if is_json else text
