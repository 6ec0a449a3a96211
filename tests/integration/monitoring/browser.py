# SPDX-License-Identifier: BSD-2-Clause
"""Chromium without a window, by its DevTools protocol on two pipes: JSON with a zero byte behind each message.

A page is loaded once, and one can look at it again and again. Chromium's option --dump-dom looks only once.
"""

import base64
import fcntl
import json
import os
import select
import subprocess
import tempfile
import time

PATIENCE_S = 60


class Browser:
    def __init__(self, program):
        # the browser's children may still write there after the browser has ended
        self.profile = tempfile.TemporaryDirectory(
            prefix="cenote-browser-", dir="/tmp", ignore_cleanup_errors=True
        )
        self.last_id = 0
        self.bytes = b""
        self.events = []
        theirs_in, self.to = os.pipe()
        self.back, theirs_out = os.pipe()
        # not below 10, so that one can become 3 and the other one 4
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (theirs_in, theirs_out)]
        os.close(theirs_in)
        os.close(theirs_out)

        def give_pipes():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [
                program,
                "--headless",
                "--remote-debugging-pipe",
                f"--user-data-dir={self.profile.name}",
                # the sandbox does not work as root, and this browser sees only our page
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--no-first-run",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=give_pipes,
            pass_fds=(3, 4),
        )
        for fd in ends:
            os.close(fd)
        self.session = None

    def await_start(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call(
            "Target.attachToTarget", targetId=target, flatten=True
        )["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def read_message(self, until):
        while b"\0" not in self.bytes:
            ready = select.select([self.back], [], [], max(0, until - time.monotonic()))
            more = os.read(self.back, 1 << 20) if ready[0] else b""
            assert more, "Chromium does not answer"
            self.bytes += more
        message, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE_S
        while (got := self.read_message(until)).get("id") != self.last_id:
            self.events.append(got)
        assert "error" not in got, f"{method}: {got['error']}"
        return got["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, (expression, result)
        return result["result"].get("value")

    def prefer(self, scheme):
        """What the user prefers: light or dark."""
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def resize(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def happened(self, method):
        """The parameters of all events of this kind."""
        self.evaluate("0")  # take what has come
        return [e["params"] for e in self.events if e.get("method") == method]

    def close(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        os.close(self.to)
        os.close(self.back)
        self.profile.cleanup()
