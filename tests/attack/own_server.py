# SPDX-License-Identifier: MIT
"""Starts a server for one attack, with separate limits, store and processes."""
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
from faults import check, processes, restart_rpcss, wait_for, wait_until_gone, windows_path, wine


def start_prefix_without_server():
    """Starts the prefix so that it keeps running, and stops its service. Otherwise the attack's server could be the
    first program of the prefix; then Wine would start the service too."""
    script = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-prefix.sh")
    for verb in ("cleanup", "setup"):
        subprocess.check_call(["sh", script, verb])
    wait_for("the service comes up with the prefix", lambda: processes("openplasrv"))
    wait_for("the service runs, and is stopped", lambda: wine("net", "stop", "OpenPLA")[0] == 0)
    wait_for("the service ends", lambda: not processes("openplasrv"))


class Server:
    """A server with a separate store, which starts in the folder `current`. `settings` are environment variables."""

    def __init__(self, bin_folder, current=None, **settings):
        start_prefix_without_server()
        self.folder = tempfile.TemporaryDirectory()
        self.store = os.path.join(self.folder.name, "store")
        environment = dict(os.environ, OPENPLA_DATA=windows_path(self.store), **settings)
        runner = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(["sh", runner, os.path.join(bin_folder, "openplasrv.exe"), "-Embedding"],
                                        env=environment, stdout=self.output, stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL, cwd=current)
        # The server creates the store's folder after it has registered its classes.
        wait_for("the server is up", self.is_up)
        time.sleep(1)
        self.ids = processes("openplasrv")
        check(len(self.ids) == 1, f"one server: {self.ids}")

    def is_up(self):
        check(self.process.poll() is None, "the server starts")
        return os.path.isdir(self.store) and processes("openplasrv")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in processes("openplasrv") + processes("hostile_client") + processes("openplahost"):
            os.kill(pid, 9)
            wait_until_gone([pid])
        self.process.wait(timeout=600)
        restart_rpcss()
        self.folder.cleanup()

    def files(self):
        found = set()
        for path, _, names in os.walk(self.folder.name):
            found.update(os.path.relpath(os.path.join(path, name), self.folder.name) for name in names)
        return found
