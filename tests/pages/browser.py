# SPDX-License-Identifier: MIT
"""Controls a headless Chromium for the tests of report pages."""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SKIPPED = 77
PATIENCE = 240  # seconds to wait for a response of the browser


class Browser:
    """A Chromium process, controlled by the DevTools protocol over two pipes. Messages are JSON, each terminated by a
    NUL."""

    def __init__(self, work):
        found = [b for b in map(shutil.which, BROWSERS) if b]
        if not found:
            print("Chromium is not installed")
            sys.exit(SKIPPED)
        home = os.path.join(work, "home")
        os.makedirs(home)
        its_in, self.out = os.pipe()
        self.inward, its_out = os.pipe()

        def set_pipe_descriptors():
            copies = os.dup(its_in), os.dup(its_out)  # one of the originals may be 3 or 4
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)

        self.process = subprocess.Popen(  # pylint: disable=subprocess-popen-preexec-fn
            [found[0], "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={home}/data", "about:blank"], preexec_fn=set_pipe_descriptors, pass_fds=(3, 4),
            env=dict(os.environ, HOME=home), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(its_in)
        os.close(its_out)
        self.number, self.rest, self.session, self.events, self.begun = 0, b"", None, [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Log", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        self.begun = True

    def give_up(self, why):
        """Ends the test. A browser that does not even start, as in some containers, proves nothing about pages, so the
        test is then skipped instead of failed."""
        self.end()
        print(why)
        sys.exit(1 if self.begun else SKIPPED)

    def end(self):
        self.process.kill()
        self.process.wait()

    def hear(self, until):
        """Returns the first message for which until() is true. Events before it are appended to self.events."""
        end = time.monotonic() + PATIENCE
        while True:
            while b"\0" in self.rest:
                text, self.rest = self.rest.split(b"\0", 1)
                message = json.loads(text)
                if "method" in message:
                    self.events.append(message)
                if until(message):
                    return message
            if not select.select([self.inward], [], [], max(0, end - time.monotonic()))[0]:
                self.give_up("Chromium does not answer")
            more = os.read(self.inward, 1 << 16)
            if not more:
                self.give_up("Chromium has ended")
            self.rest += more

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        text = json.dumps(message).encode() + b"\0"
        try:
            while text:
                text = text[os.write(self.out, text):]
        except BrokenPipeError:
            self.give_up("Chromium has ended")
        answer = self.hear(lambda m: m.get("id") == message["id"])
        if "error" in answer:
            self.end()
            sys.exit(f"{method}: {answer['error']}")
        return answer["result"]

    def ask(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            self.end()
            sys.exit(f"{expression[:60]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def show(self, page, width, medium="", **features):
        """Opens the page and returns its complaints: console messages, exceptions, and requests for other resources."""
        self.events = []
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=medium,
                  features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])
        self.call("Page.navigate", url=f"file://{page}")
        self.hear(lambda m: m.get("method") == "Page.loadEventFired")
        complaints = []
        for event in self.events:
            what = event["params"]
            if event["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
                complaints.append(json.dumps(what)[:300])
            elif event["method"] == "Network.requestWillBeSent" and what["request"]["url"] != f"file://{page}":
                complaints.append(f"loads {what['request']['url'][:200]}")
        return complaints

    def picture(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1})
        with open(path, "wb") as f:
            f.write(base64.b64decode(shot["data"]))

    def pdf(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"]))
