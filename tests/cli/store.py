#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""store.py PROGRAM [EMULATOR]: openpla store check reports the problems of the store and repairs them without losing a
definition. After a disk failure, users need not search hundreds of files."""
import json
import os
import shutil
import sys
import tempfile

from program import check, host_path, openpla_streams
from store_place import place

XML = "<DataCollectorSet><Description>{}</Description></DataCollectorSet>\n<?openpla-set name=\"{}\"?>\n"
RECORD = ("openpla-run 1\nserial-number 3\nlast-result 0x00000000\nrunning 0\nlast-scheduled 0\nlast-message \n"
          "latest-location \n")


def openpla(expected, *arguments):
    output, messages = openpla_streams(expected, "store", *arguments)
    return output + messages if expected == 2 else output


class Store:
    def __init__(self):
        self.data = tempfile.mkdtemp()
        self.space = os.path.join(self.data, "sets", "Service")
        os.environ["OPENPLA_DATA"] = host_path(self.data)
        os.makedirs(self.space)
        os.chmod(self.data, 0o700)
        self.close(os.path.join(self.data, "sets"))

    @staticmethod
    def close(folder):
        for path, _, _ in os.walk(folder):
            os.chmod(path, 0o700)

    def path(self, file, folder=None):
        name = file.rsplit(".", 1)[0]
        return os.path.join(self.space, place(name) if folder is None else folder, file)

    def put(self, file, text, folder=None):
        path = self.path(file, folder)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.chmod(os.path.dirname(path), 0o700)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def quarantined(self):
        folder = os.path.join(self.data, "aside")
        return {name: open(os.path.join(folder, name), encoding="utf-8").read() for name in os.listdir(folder)}


def findings(expected, *more):
    return sorted((f["fault"], f["path"].replace("\\", "/").rsplit("/", 1)[1], f["mended"])
                  for f in json.loads(openpla(expected, "check", "-json", *more)))


def check_all_problems(store):
    store.put("good.xml", XML.format("good", "Good"))
    store.put("good.run", RECORD)
    check(openpla(0, "check") == "No problems found.\n", "a good store")
    store.put("bad.xml", "<DataCollectorSet><Desc")
    store.put("bad.run", RECORD)
    store.put("lost.xml", XML.format("lost", "Lost"), folder="00" if place("lost") != "00" else "01")
    store.put("Again.xml", XML.format("old", "again"), folder=place("again"))
    store.put("again.xml", XML.format("new", "again"))
    store.put("gone.run", RECORD)
    store.put("gone.running", "")
    store.put("gone.held", "openpla-held 1\nx\n")
    store.put("ended.xml", XML.format("ended", "Ended"))
    store.put("ended.run", RECORD[:20])
    store.put("ended.held", "what is this")
    store.put("~12-3.tmp", "<DataColl", folder=place("good"))
    store.put("notes.txt", "mine", folder=place("good"))
    os.makedirs(os.path.join(store.space, "mine"))
    os.chmod(os.path.join(store.space, "mine"), 0o700)
    store.put("flat.xml", XML.format("flat", "Flat"), folder=".")
    outside = os.path.join(store.data, "outside.txt")
    with open(outside, "w", encoding="utf-8") as file:
        file.write("not the store's")
    for link in ("linked.xml", "~1-2.tmp"):
        os.symlink(outside, store.path(link, place("good")))
    wanted = [("damaged", "ended.held"), ("damaged", "ended.run"), ("link", "linked.xml"), ("link", "~1-2.tmp"), ("misplaced", "flat.xml"),
              ("misplaced", "lost.xml"), ("orphan", "gone.held"), ("orphan", "gone.run"), ("orphan", "gone.running"),
              ("strange", "mine"), ("strange", "notes.txt"), ("torn", "~12-3.tmp"), ("twice", "Again.xml"),
              ("unusable", "bad.xml")]
    check(findings(3) == sorted((a, b, False) for a, b in wanted), "the findings", findings(3))
    text = openpla(3, "check")
    check("bad.xml: unusable: not a usable definition" in text, "the text output", text)
    left = {"mine", "notes.txt", "linked.xml", "~1-2.tmp", "gone.run"}
    mended = findings(3, "-mend")
    check(mended == sorted([(a, b, b not in left) for a, b in wanted] + [("orphan", "bad.run", False)]), "mended",
          mended)
    check([file for _, file, _ in findings(3)] ==
          ["linked.xml", "~1-2.tmp", "bad.run", "gone.run", "mine", "notes.txt"], "the remaining findings", findings(3))
    for name in ("bad", "gone"):  # a restored set continues its serial numbers
        store.put(name + ".xml", XML.format("back", name))
        with open(store.path(name + ".run"), encoding="utf-8") as file:
            check(file.read() == RECORD, f"{name}: the record of its runs")
    check([file for _, file, _ in findings(3)] == ["linked.xml", "~1-2.tmp", "mine", "notes.txt"], "the sets are restored",
          findings(3))
    for name, text in (("good", "good"), ("lost", "lost"), ("again", "new"), ("flat", "flat"), ("ended", "ended")):
        with open(store.path(name + ".xml"), encoding="utf-8") as file:
            check(f"<Description>{text}<" in file.read(), f"the set {name} is restored")
    quarantined = store.quarantined()
    check(any("<Description>old<" in text for text in quarantined.values()), "no definition is deleted", quarantined)
    check(any(text == "<DataCollectorSet><Desc" for text in quarantined.values()), "an unreadable definition is not deleted", quarantined)
    with open(outside, encoding="utf-8") as file:
        check(file.read() == "not the store's", "the target of a link is unchanged")
    for link in ("linked.xml", "~1-2.tmp"):
        check(os.path.islink(store.path(link, place("good"))), "links are kept for the user to decide")
        os.remove(store.path(link, place("good")))
    shutil.rmtree(os.path.join(store.space, "mine"))
    os.remove(store.path("notes.txt", place("good")))
    check(openpla(0, "check", "-repair") == "No problems found.\n", "no problem remains")


def check_system_sets(store):
    """Built-in sets have no definition in the store; their run records are not orphans. If a record were moved away,
    the next run would reuse an earlier number."""
    name, unknown = "system performance", "system nothing"

    def put(file, text, folder=None):
        where = os.path.join(folder or place(file.rsplit(".", 1)[0]), file)
        path = store.put(where, text, os.path.join("..", "System"))
        store.close(os.path.join(store.data, "sets", "System"))
        return path

    files = [put(name + extension, text) for extension, text in
             ((".run", RECORD), (".running", ""), (".host", ""), (".pass", ""), (".folders", "openpla-folders 1\n"))]
    check(openpla(0, "check", "-repair") == "No problems found.\n", "a built-in set's run record is not an orphan")
    for path in files:
        check(os.path.exists(path), f"{path} is not moved")
    put(name + ".run", RECORD[:20])
    check(findings(3) == [("damaged", name + ".run", False)], "a corrupt record of a built-in set is reported", findings(3))
    put(name + ".run", RECORD)
    elsewhere = "00" if place(name) != "00" else "01"
    put(name + ".run", RECORD, elsewhere)
    put(unknown + ".run", RECORD)
    check(findings(3) == [("orphan", unknown + ".run", False), ("orphan", name + ".run", False)],
          "records without a set, or in the wrong folder", findings(3))
    shutil.rmtree(os.path.join(store.data, "sets", "System"))


def check_passwords(store):
    """An old password file without a set is deleted. An interrupted commit or a manually deleted set leaves such files.
    A file in use and a new file are kept."""
    lost, kept, new = "0" * 32, "1" * 32, "2" * 32
    folder = os.path.join(store.data, "secrets")
    os.mkdir(folder, 0o700)
    for key in (lost, kept, new):
        with open(os.path.join(folder, key), "w", encoding="utf-8") as file:
            file.write("set x\n")
        os.chmod(file.name, 0o600)
        if key != new:
            os.utime(file.name, (1000000000, 1000000000))
    path = store.put("has.xml", f"<DataCollectorSet/>\n<?openpla-account user=\"u\" key=\"{kept}\"?>\n"
                                "\n<?openpla-set name=\"has\"?>\n")
    check(findings(3) == [("orphan", lost, False)], "passwords of no set", findings(3))
    check(findings(0, "-repair") == [("orphan", lost, True)], "are deleted")
    check(sorted(os.listdir(folder)) == [kept, new], "other password files are kept")
    os.remove(path)
    shutil.rmtree(folder)


def check_folders(store):
    os.chmod(store.data, 0o755)
    check(findings(3) == [("open", os.path.basename(store.data), False)], "a folder that other users can read")
    check(findings(0, "-mend") == [("open", os.path.basename(store.data), True)], "is closed")
    check(os.stat(store.data).st_mode & 0o077 == 0, "to them")
    if os.geteuid() == 0:
        os.chown(store.space, 65534, 65534)
        text = openpla(3, "check", "-repair")
        check("Service: foreign: " in text and "repaired" not in text, "another account's folder", text)
        os.chown(store.space, 0, 0)
    else:
        print("skipped: only root can change a folder's owner")
    os.rename(store.space, store.space + "2")
    os.symlink(store.space + "2", store.space)
    check(findings(3, "-mend") == [("link", "Service", False)], "a folder that is a link")


def main():
    store = Store()
    try:
        check_all_problems(store)
        check_system_sets(store)
        check_passwords(store)
        check_folders(store)
        for wrong in ([], ["mend"], ["check", "more"], ["check", "-all"]):
            check("openpla help store" in openpla(2, *wrong), f"{wrong}: where to find help")
    finally:
        shutil.rmtree(store.data)
    if os.geteuid() != 0:
        sys.exit(77)


if __name__ == "__main__":
    main()
