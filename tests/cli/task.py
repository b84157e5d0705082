#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""task.py PROGRAM [EMULATOR]: openpla task adds, lists, removes and runs the tasks that sets can name."""
import json
import os
import shutil
import tempfile

from program import EMULATOR, check, host_path, verb

XML = ('<?xml version="1.0" encoding="UTF-16"?>\n<Task version="1.2" '
       'xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task"><RegistrationInfo><URI>\\Other</URI>'
       '</RegistrationInfo><Triggers><BootTrigger/></Triggers><Settings><Enabled>false</Enabled></Settings>'
       '<Actions><Exec><Command>a.exe</Command></Exec></Actions></Task>')
openpla = verb("task")


def names():
    return [task["name"] for task in json.loads(openpla(0, "list", "-json"))]


def main():
    data = tempfile.mkdtemp()
    os.environ["OPENPLA_DATA"] = host_path(data)
    out = os.path.join(data, "out.txt")
    if EMULATOR:
        writer = ["cmd.exe", "/c", "echo", "[$(Arg0)]>" + host_path(out)]
        failing = ["cmd.exe", "/c", "exit", "5"]
        hanging = ["cmd.exe", "/c", "ping -n 60 127.0.0.1"]
    else:
        writer = ["sh", "-c", f"printf '[%s %s]' \"$@\" > {out}", "sh", "$(Arg0)"]
        failing = ["sh", "-c", "exit 5"]
        hanging = ["sleep", "60"]
    try:
        check(openpla(0, "list") == "" and names() == [], "no tasks yet")
        openpla(0, "add", "-limit", "90", "\\My\\Writer", *writer)
        check("already" in openpla(1, "add", "my\\writer", "sh"), "the task already exists")
        openpla(0, "run", "my\\writer", "one", "two words")
        with open(out, encoding="utf-8") as f:
            text = f.read().strip()
        check(text == ('[one "two words"]' if EMULATOR else "[one two words]"), "arguments", text)
        task = json.loads(openpla(0, "list", "-json"))[0]
        check(task["name"] == "My\\Writer" and task["limit"] == 90 and task["folder"] == "$(Arg1)" and
              task["command"] == writer[0] and "$(Arg0)" in task["arguments"] and task["enabled"], "the task is listed as added", task)
        openpla(0, "add", "usual", "prog")
        check("usual: prog $(Arg0)\n" in openpla(0, "list"), "a task without arguments gets the start's arguments")
        openpla(0, "add", "-force", "usual", *failing)
        check("code 5" in openpla(1, "run", "usual"), "a task that fails")
        openpla(0, "add", "-limit", "1", "hang", *hanging)
        check("ExecutionTimeLimit of 1 s" in openpla(1, "run", "hang"), "a hanging task is ended")
        with open(os.path.join(data, "task.xml"), "wb") as f:
            f.write(XML.encode("utf-16"))
        output = openpla(0, "add", "From Xml", "-xml", host_path(os.path.join(data, "task.xml")))
        check("Triggers" in output, "unsupported parts of the file are reported", output)
        check("disabled" in openpla(1, "run", "From Xml"), "a disabled task")
        check(sorted(names()) == ["From Xml", "My\\Writer", "hang", "usual"], "all tasks", names())
        with open(os.path.join(data, "tasks", "hang.xml"), "w", encoding="utf-8") as f:
            f.write("<Task>")
        check("hang.xml" in openpla(3, "list"), "a corrupt task hides no other task")
        check("hang.xml" in openpla(1, "run", "hang"), "the corrupt file is named")
        for name in ("hang", "usual", "From Xml", "MY\\WRITER"):
            openpla(0, "remove", name)
        check("'usual'" in openpla(1, "remove", "usual"), "a removed task is unknown")
        check("'a*b'" in openpla(1, "add", "a*b", "prog"), "an invalid task name")
        check("no_such_file" in openpla(1, "add", "a", "-xml", host_path("/no_such_file")), "the missing file is named")
        for wrong in ([], ["make"], ["add"], ["add", "a"], ["add", "-xml", "f", "a", "b"], ["add", "-x", "a", "b"],
                      ["remove"], ["remove", "a", "b"], ["run"], ["list", "a"]):
            check("openpla help task" in openpla(2, *wrong), f"{wrong}: where to find help")
        check(names() == [], "invalid commands add no task", names())
    finally:
        shutil.rmtree(data)


main()
