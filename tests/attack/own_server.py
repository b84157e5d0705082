# SPDX-License-Identifier: MIT
"""A server for one attack: its limits, its store and its processes are nobody else's."""
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
from faults import check, processes, restart_rpcss, wait_until_gone, windows_path, wine


def settled():
    """No server of another test: one that COM has started ends some seconds after its last client. One that the prefix
    starts as a service when it comes up stays until it is stopped, so the prefix is up before."""
    subprocess.check_call(["sh", os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-prefix.sh"), "setup"])
    wine("net", "stop", "OpenPLA")  # where it does not run that fails
    end = time.monotonic() + 120
    quiet = time.monotonic()
    while time.monotonic() < quiet + 3:
        if processes("openplasrv"):
            quiet = time.monotonic()
        check(time.monotonic() < end, "the server of other tests ends")
        time.sleep(0.5)


class Server:
    """A server in a store of its own, with these settings of its environment, which starts in the folder `current`."""

    def __init__(self, bin_folder, current=None, **settings):
        settled()
        self.folder = tempfile.TemporaryDirectory()
        self.store = os.path.join(self.folder.name, "store")
        environment = dict(os.environ, OPENPLA_DATA=windows_path(self.store), **settings)
        runner = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(["sh", runner, os.path.join(bin_folder, "openplasrv.exe"), "-Embedding"],
                                        env=environment, stdout=self.output, stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL, cwd=current)
        end = time.monotonic() + 60
        # The supervisor's folder is made after the classes.
        while not os.path.isdir(self.store) or not processes("openplasrv"):
            check(self.process.poll() is None, "the server starts")
            check(time.monotonic() < end, "the server is up within a minute")
            time.sleep(0.2)
        time.sleep(1)
        self.ids = processes("openplasrv")
        check(len(self.ids) == 1, f"one server: {self.ids}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in processes("openplasrv") + processes("hostile_client") + processes("openplahost"):
            os.kill(pid, 9)
            wait_until_gone([pid])
        self.process.wait(timeout=60)
        restart_rpcss()
        self.folder.cleanup()

    def files(self):
        found = set()
        for path, _, names in os.walk(self.folder.name):
            found.update(os.path.relpath(os.path.join(path, name), self.folder.name) for name in names)
        return found
