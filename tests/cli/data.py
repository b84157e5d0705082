#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""data.py PROGRAM [EMULATOR]: openpla data shows the folders of a set's runs, their owner, and what the next pass of
the data manager would do, without doing it. Users need this preview before they enable the data manager."""
import datetime
import json
import os
import shutil
import tempfile

from program import EMULATOR, check, host_path, openpla_streams
from store_place import place

MANAGER = ("<DataManager><Enabled>-1</Enabled><MaxFolderCount>2</MaxFolderCount><FolderAction><Size>0</Size><Age>1</Age>"
           "<Actions>3</Actions><SendCabTo></SendCabTo></FolderAction></DataManager>")


def data(expected, *arguments):
    return openpla_streams(expected, "data", *arguments)


def write_file(path, text):
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


class Runs:
    """Creates the folders of a set's runs, and the list of these folders in the store. `days` is how long ago a run
    started."""

    def __init__(self, base, space, name, root):
        self.root = root
        self.file = os.path.join(base, "store", "sets", space, place(name), name)
        self.lines = []
        os.makedirs(self.root, exist_ok=True)

    def run(self, name, days, marked=True, data_bytes=1 << 20):
        word = f"{len(self.lines) + 1:032x}"
        started = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=days)
        ticks = int((started - datetime.datetime(1601, 1, 1, tzinfo=datetime.timezone.utc)).total_seconds()) * 10000000
        self.lines.append(f"{len(self.lines) + 1} {ticks} {word} 0 0 {name}\n")
        write_file(os.path.join(self.root, name, "log.csv"), "x" * data_bytes)
        if marked:
            write_file(os.path.join(self.root, name, "openpla.run"), f"openpla-folder 1\n{word}\nserial number 1\nfile log.csv\n")
        write_file(self.file + ".folders", "openpla-folders 1\n" + "".join(self.lines))


class Set(Runs):
    def __init__(self, base, name, manager):
        super().__init__(base, "Service", name, os.path.join(base, "logs"))
        write_file(self.file + ".xml", f"<DataCollectorSet><RootPath>{host_path(self.root)}</RootPath><Subdirectory>run</Subdirectory>"
            f"<SubdirectoryFormat>1</SubdirectoryFormat>{manager}</DataCollectorSet>\n<?openpla-set name=\"{name}\"?>\n")


def names(folder):
    return sorted(os.path.relpath(os.path.join(path, file), folder) for path, _, files in os.walk(folder)
                  for file in files if not file.endswith(".lock"))


def check_system_set(base):
    """A built-in set has no definition in the store, but its runs' folders are shown."""
    below = "\\PerfLogs\\Admin\\System\\Performance"
    if EMULATOR:
        named, root = "C:" + below, os.path.join(os.environ["WINEPREFIX"], "drive_c" + below.replace("\\", "/"))
    else:
        os.environ["systemdrive"] = os.path.join(base, "drive")
        named = root = os.environ["systemdrive"] + below
    runs, name = Runs(base, "System", "system performance", root), f"data test {os.getpid()}"
    try:
        runs.run(name, 3)
        text, _ = data(0, named)
        check("System Performance: 1 folders of its runs, 1.0 MB" in text and name in text, "a built-in set", text)
    finally:
        shutil.rmtree(os.path.join(root, name))


def main():
    base = tempfile.mkdtemp()
    os.environ["OPENPLA_DATA"] = host_path(os.path.join(base, "store"))
    kept_set = Set(base, "kept", MANAGER)
    for path, _, _ in os.walk(os.path.join(base, "store")):
        os.chmod(path, 0o700)
    root = host_path(kept_set.root)
    for name, days, marked in (("run1", 40.5, True), ("run2", 3.5, True), ("run3", 2.5, False), ("run4", 0, True)):
        kept_set.run(name, days, marked)
    write_file(os.path.join(kept_set.root, "photos", "a.jpg"), "a")
    write_file(os.path.join(kept_set.root, "run1", "notes.txt"), "a" * (1 << 20))
    before = names(base)

    text, _ = data(0, root)
    check("3 folders of its runs, 3.0 MB" in text, "the set's folders", text)
    check(" 40 d " in text and " 3 d " in text, "the ages", text)
    check("run3\n" in text and "photos\n" in text and "Folders that no run of the set created (kept unchanged): 2" in text, "the folders of other origin", text)
    check("newest" in text, "the newest", text)
    check("1 foreign file, kept" in text, "a foreign file in a run's folder", text)
    check("create cabinet" in text and "action 1 (age 1 d, size 0 MB)" in text and "MaxFolderCount" in text, "the planned steps", text)

    text, _ = data(0, root, "--dry-run")
    check("delete folder" in text and "photos" not in text and "newest" not in text, "--dry-run shows only the steps", text)

    (shown,) = json.loads(data(0, root, "--json")[0])
    check(shown["set"] == "kept" and shown["managed"] and shown["others"] == ["photos", "run3"], "JSON", shown)
    check([(f["folder"], f["ageDays"], f["newest"]) for f in shown["folders"]] ==
          [("run1", 40, False), ("run2", 3, False), ("run4", 0, True)], "JSON's folders", shown)
    check([f["others"] for f in shown["folders"]] == [1, 0, 0], "JSON's foreign files", shown)
    check([(s["folder"], s["step"]) for s in shown["nextPass"]] ==
          [("run1", "create cabinet"), ("run1", "delete data"), ("run2", "create cabinet"), ("run2", "delete data"),
           ("run1", "delete folder")], "JSON's steps", shown)
    check(names(base) == before, "no file is changed", before, names(base))

    kept_set.run("run5", 1)
    shutil.rmtree(os.path.join(kept_set.root, "run5"))
    os.symlink("photos", os.path.join(kept_set.root, "run5"))
    output = "".join(data(3, root, "--dry-run"))
    check("cannot read 'run5' (it is kept): " in output and "is a link" in output, "a folder that cannot be read", output)
    (shown,) = json.loads(data(3, root, "--json")[0])
    check(shown["others"] == ["photos", "run3"] and [f["folder"] for f in shown["failures"]] == ["run5"],
          "JSON's failures", shown)
    os.unlink(os.path.join(kept_set.root, "run5"))

    Set(base, "off", "<DataManager><Enabled>0</Enabled></DataManager>")
    text, _ = data(0, root)
    check("off: 0 folders of its runs" in text and "nothing would be done" in text, "a second set with the same RootPath", text)
    for other in root + "/", host_path(os.path.join(base, "store", "..", "logs")):
        check("kept: 3 folders" in data(0, other)[0], "the folder by another path", other)
    output = "".join(data(1, host_path(base)))
    check("no set has the RootPath" in output and "does not exist" not in output, "a folder that is no set's RootPath", output)
    output = "".join(data(1, host_path(base + "/logz")))
    check("and no folder has this path" in output, "a missing folder", output)
    check_system_set(base)
    data(2)
    data(2, root, root)


main()
