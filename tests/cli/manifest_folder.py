#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""manifest_folder.py PROGRAM [EMULATOR]: a folder of manifests decodes a trace. Other files in it do no harm, and
manifests are read again only after they changed. Under Wine `manifest collect` writes the folder. Users decode a
customer's traces with the manifests of the customer's computer; without an index each decode would read all of them."""
import os
import struct
import tempfile

from built_trace import START, event, trace
from program import EMULATOR, check, host_path, openpla, openpla_streams

FIRST, SECOND, THIRD = (f"{n}0000000-1111-2222-3333-444455556666" for n in "abc")


def manifest(name, guid, field):
    return f"""<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'
 xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'><instrumentation><events>
<provider name='{name}' guid='{{{guid}}}' symbol='S' resourceFileName='r' messageFileName='r'>
<events><event value='1' template='T' message='$(string.m)'/></events>
<templates><template tid='T'><data name='{field}' inType='win:UInt32'/></template></templates>
</provider></events></instrumentation><localization><resources culture='en-US'><stringTable>
<string id='m' value='It was %1'/></stringTable></resources></localization></instrumentationManifest>"""


def write(path, text, like=None):
    """`like`: a stat result; the file gets its modification time."""
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    if like:
        os.utime(path, ns=(like.st_atime_ns, like.st_mtime_ns))


def show(expected=0):
    """Returns stdout and all messages, which the emulator merges."""
    output, messages = openpla_streams(expected, "trace", "show", "made.etl", "-import", host_path("folder"))
    return output, messages or output


def folder_decodes_trace():
    os.mkdir("folder")
    write("folder/one.man", manifest("First", FIRST, "Number"))
    write("folder/two.manifest.xml", manifest("Second", SECOND, "Count"))
    write("folder/bad.man", manifest("Bad", THIRD, "Field").replace("win:UInt32", "win:UInt31"))
    write("folder/notes.txt", "not a manifest")
    data = struct.pack("<I", 7)
    trace("made.etl", [event(guid, data, START + i, ident=1) for i, guid in enumerate((FIRST, SECOND, THIRD))])
    output, messages = show()
    check("First" in output and "Number=7" in output and "Count=7" in output, "events of two manifests", output)
    check("bad.man: line 5" in messages and 'inType="win:UInt31"' in messages and "notes" not in messages, "the reason for an invalid manifest", messages)


def repeats_reason_without_reading_again():
    _, messages = show()
    check("bad.man: line 5" in messages, "the reason from the index", messages)


def skips_unchanged_files():
    before = os.stat("folder/two.manifest.xml")
    write("folder/two.manifest.xml", "x" * before.st_size, before)
    trace("made.etl", [event(FIRST, struct.pack("<I", 8), START, ident=1)])
    output, messages = show()
    check("Number=8" in output and "two.manifest.xml" not in messages, "a changed file that no event needs is not read", output + messages)
    write("folder/two.manifest.xml", "y" * (before.st_size + 1))
    _, messages = show()
    check("two.manifest.xml" in messages, "a changed file is read again", messages)


def reads_changed_files():
    write("folder/one.man", manifest("First", FIRST, "Renamed"))
    os.remove("folder/two.manifest.xml")
    write("folder/three.man", manifest("Third", THIRD, "New"))
    trace("made.etl", [event(guid, struct.pack("<I", 9), START + 1, ident=1) for guid in (FIRST, THIRD)])
    output, messages = show()
    check("Renamed=9" in output and "New=9" in output and "two.manifest" not in messages, "a changed folder", output + messages)


def ignores_corrupt_index():
    index = [os.path.join("data", "manifest-index", name) for name in os.listdir("data/manifest-index")]
    check(len(index) == 1, "one index", index)
    with open(index[0], "rb") as f:
        whole = f.read()
    for wrong in (b"", b"\xff" * 99, whole[:len(whole) // 2], whole.replace(b"one.man", b"..\\one.man"),
                  whole.replace(b"\t{A", b"\t{B"), whole.replace(b"one.man", b"bad.man")):
        with open(index[0], "wb") as f:
            f.write(wrong)
        openpla_streams(0, "trace", "show", "made.etl", "-import", host_path("folder"))
    os.remove(index[0])
    output, _ = show()
    check("Renamed=9" in output, "a decode without an index", output)


def rejects_wrong_arguments():
    os.mkdir("empty")
    reported = openpla(1, "trace", "show", "made.etl", "-import", host_path("empty"))
    check("the folder contains no manifest" in reported, "an empty folder", reported)
    check("expected a folder" in openpla(2, "manifest", "collect"), "collect without a folder")


def collects_registered_manifests():
    if not EMULATOR:  # in a native build, each process has a separate registry
        reported = openpla(1, "manifest", "collect", "collected")
        check("no event provider is registered" in reported and not os.path.exists("collected"), "nothing to collect", reported)
        return
    openpla(0, "manifest", "add", host_path("folder/one.man"))
    openpla(0, "manifest", "add", host_path("folder/three.man"))
    openpla(0, "manifest", "collect", host_path("collected"))
    check({"First.man", "Third.man"} <= set(os.listdir("collected")), "the files", os.listdir("collected"))
    reported = openpla(1, "manifest", "collect", host_path("collected"))
    check("already exists (use -y to overwrite)" in reported, "existing files", reported)
    openpla(0, "manifest", "collect", "-y", host_path("collected"))
    for name in ("First", "Third"):
        openpla(0, "manifest", "remove", name)
    output = openpla(0, "trace", "show", "made.etl", "-import", host_path("collected"))
    check("Renamed=9" in output and "New=9" in output, "events decoded by the collected manifests", output)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["OPENPLA_DATA"] = host_path(os.path.join(folder, "data"))
        folder_decodes_trace()
        repeats_reason_without_reading_again()
        skips_unchanged_files()
        reads_changed_files()
        ignores_corrupt_index()
        rejects_wrong_arguments()
        collects_registered_manifests()
        os.chdir("/")
    print("a folder of manifests decodes a trace")


main()
