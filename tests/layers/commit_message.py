#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""commit_message.py TREE: .githooks/commit-msg accepts messages in the project's form and reports what is wrong with
others."""
import os
import subprocess
import sys
import tempfile

BODY = "\n\nA rate lost its instance when a process came between two samples.\n"
GOOD = (
    "pdh: keep instance names across samples" + BODY,
    "pdh, cli: keep instance names across samples" + BODY,
    "trace top: refuse a trace without kernel events" + BODY,
    "x: " + "a" * 69 + BODY,
    "Revert \"pdh: keep instance names\"" + BODY,
    "pdh: keep instance names" + BODY + "# a comment\n# ------------------------ >8 ------------------------\ndiff\n",
)
BAD = {
    "x: " + "a" * 70 + BODY: "73 characters",
    "Keep instance names across samples" + BODY: "no area",
    "Pdh: keep instance names" + BODY: "no area",
    "pdh: Keep instance names" + BODY: "capital letter",
    "pdh: keep instance names." + BODY: "full stop",
    "pdh: keep instance names\nacross samples" + BODY: "second line",
    "pdh: keep instance names\n": "no body",
    "pdh: keep instance names\n\n# a comment\n": "no body",
    "": "no area",
}


def run(hook, message):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "COMMIT_EDITMSG")
        with open(path, "w", encoding="utf-8") as f:
            f.write(message)
        done = subprocess.run(["sh", hook, path], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def main():
    hook = os.path.join(sys.argv[1], ".githooks", "commit-msg")
    faults = 0
    for message in GOOD:
        code, messages = run(hook, message)
        if code != 0:
            print(f"refused though right: {message!r}: {messages}")
            faults += 1
    for message, expected in BAD.items():
        code, messages = run(hook, message)
        if code != 1 or expected not in messages:
            print(f"expected a refusal that says {expected!r}: {message!r}: exit code {code}: {messages}")
            faults += 1
    print(f"{len(GOOD) + len(BAD)} messages, {faults} faults")
    sys.exit(1 if faults else 0)


main()
