# SPDX-License-Identifier: MIT
"""The files of the tree, as the checks beside this file walk and read them."""
import os

SKIPPED_FOLDERS = {".git", "build", "third_party", "__pycache__"}


def tree_files(top, endings=("",)):
    """Paths below `top`, with slashes and in one order, of the files whose names end so."""
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS and not f.endswith(".scratch"))
        for name in sorted(names):
            if name.endswith(endings):
                yield os.path.relpath(os.path.join(folder, name), top).replace(os.sep, "/")


def read(top, path):
    with open(os.path.join(top, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def write_all(top, files):
    """Makes the files, {path: text}, for a check's own test."""
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
        with open(os.path.join(top, path), "w", encoding="utf-8") as f:
            f.write(text)
