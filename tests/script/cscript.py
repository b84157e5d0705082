# SPDX-License-Identifier: MIT
"""Explains a script's exit under Wine: beside other programs, Wine's cscript sometimes exits before it runs
anything."""
ATTEMPTS = 3


def never_ran(code, output):
    """Whether it ended silently, or its process was lost at birth; `output` is bytes or text."""
    text = output.decode("cp437") if isinstance(output, bytes) else output
    return (not code and not text) or (code == 1 and "ShellExecuteEx failed: Internal error" in text)
