# SPDX-License-Identifier: MIT
"""Detects that Wine's cscript exited before it ran the script, which happens sometimes while other programs run. The
tests then start the script again."""
ATTEMPTS = 3


def never_ran(code, output):
    """Returns whether cscript exited without output, or could not start its process. `output` is bytes or text."""
    text = output.decode("cp437") if isinstance(output, bytes) else output
    return (not code and not text) or (code == 1 and "ShellExecuteEx failed: Internal error" in text)
