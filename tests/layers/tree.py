# SPDX-License-Identifier: MIT
"""Lists and reads the files of the tree, for the checks in this folder."""
import os

SKIPPED_FOLDERS = {".git", "build", "third_party", "__pycache__"}


def tree_files(top, endings=("",)):
    """Returns the sorted paths below `top`, with slashes, of files whose names have one of the endings."""
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS and not f.endswith(".scratch"))
        for name in sorted(names):
            if name.endswith(endings):
                yield os.path.relpath(os.path.join(folder, name), top).replace(os.sep, "/")


def read(top, path):
    with open(os.path.join(top, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def write_all(top, files):
    """Creates the files, {path: text}, for a check's self-test."""
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
        with open(os.path.join(top, path), "w", encoding="utf-8") as f:
            f.write(text)
