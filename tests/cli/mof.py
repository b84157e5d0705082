#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mof.py PROGRAM [EMULATOR]: openpla mof adds, lists, shows and removes MOF files, which are the only way to decode the
events of some providers. A faulty file must not hide the classes of others."""
import json
import os
import shutil
import tempfile

from program import EMULATOR, check, host_path, verb

HEAD = ('#pragma namespace("\\\\\\\\.\\\\root\\\\wmi")\n'
        '[Guid("{7C214FB1-9CAC-4b8d-BAED-7BF48BF63BB3}")]\nclass MyProvider : EventTrace { };\n')
CATEGORY = '[Guid("{B49D5931-AD85-4070-B1B1-3F81F1532875}"), EventVersion(2)]\nclass MyCategory : MyProvider { };\n'
EVENT = ('[Description("One of mine"), EventType{1, 2}, EventTypeName{"Begin", "End"}]\nclass MyEvent : MyCategory {\n'
         '[WmiDataId(1)] uint32 Count;\n[WmiDataId(2), WmiSizeIs("Count"), Format("x")] uint16 Numbers[];\n'
         '[WmiDataId(3), Values{"no", "yes"}, ValueMap{"0", "1"}] uint8 Whether; };\n')
openpla = verb("mof")


def main():
    data = tempfile.mkdtemp()
    os.environ["OPENPLA_DATA"] = host_path(os.path.join(data, "data"))

    def written(name, text):
        with open(os.path.join(data, name), "w", encoding="utf-16" if name == "wide.mof" else "utf-8") as f:
            f.write(text)
        return host_path(os.path.join(data, name))

    def files():
        return {row["file"]: row for row in json.loads(openpla(0, "list", "-json"))}

    try:
        check(list(files()) == ["classic.mof"] and files()["classic.mof"]["shipped"], "only the built-in file", files())
        check("Process_V3_TypeGroup1" in openpla(0, "show", "Process"), "the kernel's classes need no file")
        # The base class comes from another file, whose name sorts after this one.
        output = openpla(1, "add", written("a.mof", CATEGORY + EVENT))
        check("a.mof(2): class MyCategory: unknown base class 'MyProvider' (0x8004100D)" in output,
              "the missing class and its line are reported", output)
        openpla(0, "add", written("wide.mof", HEAD), written("a.mof", CATEGORY + EVENT))
        check(files()["a.mof"] == {"file": "a.mof", "shipped": False, "classes": 1, "providers":
                                   [{"name": "MyProvider", "guid": "{7C214FB1-9CAC-4b8d-BAED-7BF48BF63BB3}"}]},
              "the added file", files())
        check("a.mof: MyProvider {7C214FB1-9CAC-4b8d-BAED-7BF48BF63BB3}, 1 event classes\n" in openpla(0, "list"),
              "the text output")
        shown = json.loads(openpla(0, "show", "-json", "myevent"))
        check(shown == [{
            "class": "MyEvent", "file": "a.mof", "description": "One of mine", "provider": "MyProvider",
            "name": "MyCategory", "guid": "{B49D5931-AD85-4070-B1B1-3F81F1532875}", "version": 2,
            "types": [{"type": 1, "name": "Begin"}, {"type": 2, "name": "End"}],
            "properties": [{"name": "Count", "type": "uint32"},
                           {"name": "Numbers", "type": "uint16", "extent": "[Count]", "format": "hexadecimal"},
                           {"name": "Whether", "type": "uint8", "values": [{"value": 0, "text": "no"},
                                                                          {"value": 1, "text": "yes"}]}]}],
              "a class", shown)
        output = openpla(0, "show", "{7c214fb1-9cac-4b8d-baed-7bf48bf63bb3}")
        check("MyCategory of MyProvider, {B49D5931-AD85-4070-B1B1-3F81F1532875}, version 2\n  types 1 Begin, 2 End\n"
              "    Count: uint32\n    Numbers[Count]: uint16, hexadecimal\n    Whether: uint8\n        0: no\n" in output,
              "a class by its provider's GUID", output)
        check("already" in openpla(1, "add", written("a.mof", HEAD)), "a file of that name already exists")
        output = openpla(1, "add", "-force", written("A.MOF", HEAD + CATEGORY + "class Wrong { uint33; };\n"))
        check("A.MOF(6): expected a property's name, not ; (0x8004400C)" in output, "the error's line and token", output)
        openpla(0, "show", "MyEvent")
        check("One of mine" in openpla(0, "show", "MyCategory"), "a faulty file does not replace the existing one")
        check("no event class" in openpla(1, "show", "MyProviders"), "an unknown class")
        # Descriptions are shown in the user's language if the file has it.
        german = ('#pragma namespace("\\\\\\\\.\\\\root\\\\wmi\\\\ms_407")\n[Description("Eins von mir"), '
                  'EventTypeName{"Anfang", "Ende"}]\nclass MyEvent : MyCategory { };\n')
        openpla(0, "add", written("german.mof", german))
        if not EMULATOR:
            os.environ["LC_ALL"] = "de_DE.UTF-8"
            output = openpla(0, "show", "MyEvent")
            check("Eins von mir" in output and "1 Anfang, 2 Ende" in output, "in German", output)
            del os.environ["LC_ALL"]
        check("One of mine" in openpla(0, "show", "MyEvent"), "in English")
        openpla(0, "remove", "german.mof")
        # A file without its base class is reported as unusable, and hides no other file.
        output = openpla(3, "remove", "WIDE.mof")
        check("a.mof(2): class MyCategory" in output, "the file whose base class is missing", output)
        check("Process_V3_TypeGroup1" in openpla(3, "show", "Process"), "the other classes remain")
        openpla(0, "remove", "a.mof")
        check("a.mof" in openpla(1, "remove", "a.mof"), "it is gone")
        check(list(files()) == ["classic.mof"], "as before", files())
        for wrong in ([], ["blue"], ["add"], ["remove"], ["show"], ["list", "x"]):
            openpla(2, *wrong)
    finally:
        shutil.rmtree(data, ignore_errors=True)


main()
