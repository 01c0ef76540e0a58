# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Readers that others wrote, and what they find in files for viewers: the Firefox Profiler as a
command, and speedscope in a browser. VIEWERS is the folder where they are (environment.sh)."""

import base64
import collections
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
import browser  # pylint: disable=wrong-import-position

PACKAGES = os.path.join(os.environ["VIEWERS"], "node_modules")
NODE = os.path.join(os.environ["VIEWERS"], "bin", "node")


# ---- the Firefox Profiler ------------------------------------------------------------------------

class Firefox:
    """A file that the Firefox Profiler has loaded; the folder is for what it keeps."""

    def __init__(self, path, folder):
        self.env = {**os.environ, "PROFILER_CLI_SESSION_DIR": os.path.join(folder, "sessions")}
        try:
            self.run("load", path)
        except AssertionError:
            self.run("stop")  # its other process is there all the same
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run("stop")

    def run(self, *words):
        program = os.path.join(PACKAGES, "@firefox-devtools/profiler-cli/dist/profiler-cli.js")
        result = subprocess.run([NODE, program, *words], capture_output=True, text=True, check=False,
                                env=self.env, timeout=browser.PATIENCE)
        if result.returncode:
            raise AssertionError((words, result.stdout, result.stderr))
        return result.stdout

    def ask(self, *words):
        return json.loads(self.run(*words, "--json"))

    def threads(self):
        """Its handles of threads, by name."""
        return {t["name"]: t["threadHandle"]
                for t in self.ask("thread", "list", "--limit", "0")["threads"]}

    def functions(self, thread):
        """Samples of a thread by the innermost function."""
        answer = self.ask("thread", "functions", "--thread", thread, "--limit", "0",
                          "--include-idle")
        return +collections.Counter({f["name"]: f["selfSamples"] for f in answer["functions"]})

    def markers(self, thread):
        """Milliseconds of a thread by the name of the slice."""
        sums = collections.Counter()
        for m in self.ask("thread", "markers", "--thread", thread, "--list",
                          "--limit", "0")["flatMarkers"]:
            sums[m["name"]] += m["duration"]
        return sums


# ---- speedscope ----------------------------------------------------------------------------------

# Its words to the user, and what it gives to save, stay in the page.
CATCH = """
window.alert = (words) => { window.said = words; };
URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return "#"; };
"""

# What "Export" in its bar writes, if it is there yet.
EXPORT = """(() => {
    for (const part of document.querySelectorAll("div"))
        if (/^\\W*Export$/.test(part.textContent)) part.click();
})()"""


def _self_weights(profile, frames):
    """Of a profile of events: how long each frame was the innermost."""
    sums, stack, at = collections.Counter(), [], 0
    for event in profile["events"]:
        if stack:
            sums[frames[stack[-1]]["name"]] += event["at"] - at
        at = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        elif stack.pop() != event["frame"]:
            raise AssertionError(("frames cross", event))
    return +sums


class Speedscope:
    """The page, for one file after the other."""

    def __init__(self, folder):
        self.folder = folder
        self.browser = browser.Browser()
        self.browser.call("Page.addScriptToEvaluateOnNewDocument", source=CATCH)

    def close(self):
        self.browser.close()

    def answer(self):
        end = time.monotonic() + browser.PATIENCE
        while time.monotonic() < end:
            said, saved = self.browser.run(EXPORT + ", [window.said, window.saved]")
            if said or saved:
                return said, saved
            time.sleep(0.1)
        raise TimeoutError("speedscope does not show the file")

    def load(self, path):
        """What it said, or weights by profile and innermost frame, as it writes them itself."""
        script = os.path.join(self.folder, "load.js")
        with open(path, "rb") as f:
            data = base64.b64encode(f.read()).decode()
        with open(script, "w", encoding="utf-8") as f:
            f.write(f"speedscope.loadFileFromBase64({json.dumps(os.path.basename(path))}, '{data}')")
        self.browser.open("/dev/null")  # a page of which only the fragment differs is not loaded anew
        self.browser.open(os.path.join(PACKAGES, "speedscope/dist/release/index.html"),
                          "#localProfilePath=" + script)
        said, saved = self.answer()
        if said:
            return said
        file = json.loads(saved)
        return {p["name"]: _self_weights(p, file["shared"]["frames"]) for p in file["profiles"]}
