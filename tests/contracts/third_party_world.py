"""Plugins in the shapes of public ones (``third_party/``), and the machine in the house that they talk to."""

from __future__ import annotations

import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("third_party")


def install(name: str, plugins_folder: Path) -> Path:
    """Put the folder of a plugin where the box looks for plugins, as its owner would."""
    return Path(shutil.copytree(FOLDER / name, plugins_folder / name))


class Machine:
    """Answers on a loopback address; remembers what it was asked. Use it as a context manager."""

    def __init__(self, picture: bytes = b"") -> None:
        self.picture = picture
        self.letters = ["Hello from the harbour"]
        #: (path, Authorization, body).
        self.asked: list[tuple[str, str, Any]] = []
        machine = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_words: Any) -> None:
                return

            def do_GET(self) -> None:
                size = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(size)) if size else None
                machine.asked.append((self.path, self.headers.get("Authorization", ""), body))
                answer = machine.answer(self.path)
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_POST = do_GET

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def paths(self) -> list[str]:
        """What it was asked for, in order."""
        return [path for path, _, _ in self.asked]

    def answer(self, path: str) -> bytes:
        """What it has to say."""
        if path.startswith("/view"):
            return self.picture
        if path.startswith("/day/"):
            return json.dumps({"degrees": 20 + int(path.rpartition("/")[2])}).encode()
        answers = {"/inbox": {"letters": self.letters}, "/send": {}, "/prompt": {"id": "j1"}}
        return json.dumps(answers.get(path, {"file": "out.png"})).encode()

    def __enter__(self) -> Machine:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
