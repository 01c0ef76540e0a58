# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""A Chromium without a window, for tests of pages: its DevTools protocol over a pipe, with nothing
but the standard library. No test by itself.

As a program: browser.py PAGE WIDTH HEIGHT PICTURE.png [light|dark] takes a picture of the page.
"""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

PATIENCE = 50 # seconds, for a machine that is busy


def find():
    """The program; None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page at a time; what it asked for and complained about is in `requests` and `errors`."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="spe-browser-")
        there, self.to = os.pipe()
        self.of, back = os.pipe()
        words = [find(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                 "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
                 "--disable-component-update", f"--user-data-dir={self.directory}",
                 "--remote-debugging-pipe", "about:blank"]
        # The protocol is on descriptors 3 and 4.
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{there} 4>&{back}', "sh", *words],
            pass_fds=(there, back), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there)
        os.close(back)
        self.number = 0
        self.buffer = b""
        self.requests, self.errors, self.loaded = [], [], False
        self.session = None
        target, = (t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(domain + ".enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.of)
        shutil.rmtree(self.directory, ignore_errors=True)

    def message(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            if not select.select([self.of], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.of, 1 << 20)
            if not piece:
                raise EOFError("the browser ended")
            self.buffer += piece
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def hear(self, event):
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def call(self, method, **params):
        self.number += 1
        words = {"id": self.number, "method": method, "params": params}
        if self.session:
            words["sessionId"] = self.session
        os.write(self.to, json.dumps(words).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError((method, answer["error"]))
                return answer["result"]
            self.hear(answer)

    def open(self, path, fragment=""):
        self.requests, self.errors, self.loaded = [], [], False
        self.call("Page.navigate", url=pathlib.Path(path).absolute().as_uri() + fragment)
        while not self.loaded:
            self.hear(self.message())

    def run(self, script):
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def key(self, key, code=0, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code, **({"text": text} if kind == "keyDown" else {}))

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1,
                  buttons=0 if kind == "mouseReleased" else 1)

    def size(self, width, height, colours="light"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": colours}])

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))


def main(page, width, height, picture, colours="light"):
    browser = Browser()
    try:
        browser.size(int(width), int(height), colours)
        path, mark, fragment = page.partition("#")
        browser.open(path, mark + fragment)
        browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        browser.picture(picture)
    finally:
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
