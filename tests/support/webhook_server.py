"""A server of the tests, on the loopback address, to which batches are posted."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class WebhookServer:
    """Keeps what is posted.

    Attributes:
        answers: the status codes of the next answers. slow: cleared, it does not answer for 5 s.
        trickles: whether an answer comes in pieces that are 0.3 s apart.
    """

    def __init__(self) -> None:
        self.posts: list[tuple[str, list[dict[str, Any]]]] = []
        self.answers: list[int] = []
        self.trickles = False
        self.slow = threading.Event()
        self.slow.set()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers["Content-Length"]))
                server.slow.wait(5)
                for _ in range(8 if server.trickles else 0):
                    self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                    time.sleep(0.3)
                status = server.answers.pop(0) if server.answers else 204
                if status < 300:
                    server.posts.append((self.headers["Idempotency-Key"], json.loads(content)))
                self.send_response(status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()
                if status >= 400:
                    self.wfile.write(b"try\nelse")

            def do_GET(self) -> None:
                raise AssertionError("a redirect was followed")

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/alerts"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
