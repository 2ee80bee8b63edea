"""A real browser, driven through chromedriver on loopback: opens pages, runs scripts in them, takes pictures."""

import base64
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
START_S = 60


class Browser:
    def __init__(self, folder: Path) -> None:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        driver = shutil.which("chromedriver")
        if not chromium or not driver:
            pytest.skip("chromium and chromedriver are not installed")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        self.process = subprocess.Popen(
            [driver, f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environ
        )
        options = {"binary": chromium, "args": [*FLAGS, f"--user-data-dir={folder / 'profile'}"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.base = f"http://127.0.0.1:{self.port}/session"
        try:
            self._wait()
            made = self._call("", {"capabilities": {"alwaysMatch": wanted}})
        except OSError as error:
            self.process.kill()
            self.process.wait()
            pytest.skip(f"the browser does not start here: {error}")
        self.base += "/" + made["sessionId"]

    def _wait(self) -> None:
        end = time.monotonic() + START_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.05)
            else:
                return

    def _call(self, path: str, body: dict | None = None, method: str = "POST"):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method)  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=START_S) as answer:  # noqa: S310
            return json.load(answer)["value"]

    def open(self, address: str, width: int, height: int, *, dark: bool = False) -> None:
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", {"features": [scheme]})
        self._call("/url", {"url": address})

    def devtools(self, command: str, parameters: dict) -> None:
        self._call("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def run(self, script: str, *args):
        return self._call("/execute/sync", {"script": script, "args": list(args)})

    def type(self, keys: str) -> None:
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._call("/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def log(self) -> list[str]:
        """What the page said or was refused since it was asked last."""
        return [entry["message"] for entry in self._call("/se/log", {"type": "browser"})]

    def picture(self) -> bytes:
        return base64.b64decode(self._call("/screenshot", method="GET"))

    def close(self) -> None:
        try:
            self._call("", method="DELETE")
        finally:
            self.process.terminate()
            self.process.wait()
