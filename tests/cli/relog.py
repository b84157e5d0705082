#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""relog.py PROGRAM [EMULATOR]: relog and logstat of PROGRAM (openpla.exe) do what their help says. Bugs would lose
samples, change values, or overwrite files."""
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM, EMULATOR = sys.argv[1], sys.argv[2:]
HEADER = '"(PDH-CSV 4.0) (Zone)(-60)","\\\\BOX\\Memory\\Available MBytes","\\\\BOX\\Process(a)\\% Processor Time"'
ROWS = ['"02/28/2021 03:13:%02d.000","%d","%s"' % (20 + i, 1000 - i, "12.5" if i % 3 else " ") for i in range(10)]
NO_FILE, EXISTS, NO_DATA = "(0x80070002)", "(0x800700B7)", "(0x800700E8)"


def program(name, *arguments):
    command = [*EMULATOR, os.path.join(os.path.dirname(PROGRAM), name + os.path.splitext(PROGRAM)[1]), *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode("utf-8")


def openpla(expected, *arguments):
    code, output = program("openpla", *arguments)
    check(code == expected, f"openpla {' '.join(arguments)}: exit code {code}, not {expected}", output)
    return output


def check(right, what, output=""):
    if not right:
        sys.exit(f"FAILED: {what}\n{output}")


def write(name, lines):
    with open(name, "w", encoding="cp1252", newline="") as f:
        f.write("".join(line + "\r\n" for line in lines))


def read(name):
    with open(name, "rb") as f:
        return f.read()


def rows_of(name, delimiter=","):
    with open(name, encoding="cp1252", newline="") as f:
        return list(csv.reader(f, delimiter=delimiter))


def same(a, b):
    check(read(a) == read(b), f"{a} and {b} differ", f"{read(a)!r}\n{read(b)!r}")


def copies_equal_log():
    write("a.csv", [HEADER] + ROWS)
    output = openpla(0, "relog", "a.csv", "-f", "csv", "-o", "b.csv")
    check("Begin:    2/28/2021 3:13:20\n" in output and output.count("Samples:  10\n") == 2, "no summary", output)
    same("a.csv", "b.csv")
    for format_name in ("tsv", "BIN"):
        openpla(0, "relog", "a.csv", "-f", format_name, "-o", "b.log", "-y")
        openpla(0, "relog", "b.log", "-f", "CSV", "-o", "b.csv", "-y")
        same("a.csv", "b.csv")
    parsed = rows_of("a.csv")
    check(parsed[1][1:] == ["1000", " "] and all(len(row) == 3 for row in parsed), "Python's csv module reads the same values")


def computes_values_from_raw_data():
    """The log has rates, instances that appear and disappear, and two instances with the same name. The first sample of
    a rate has no value."""
    check(program("write_wildcard_log", "wild.blg")[0] == 0, "write_wildcard_log failed")
    openpla(0, "relog", "wild.blg", "-f", "csv", "-o", "wild.csv")
    rows = rows_of("wild.csv")
    names = [name.replace("\\\\BOX", "") for name in rows[0][1:]]
    process = [f"\\Process({i})\\% Processor Time" for i in ("a", "b", "b#1", "c")]
    check(names == ["\\Memory\\Available MBytes", *process, "\\System\\Context Switches/sec"], f"columns: {names}")
    values = [[round(float(v), 9) if v != " " else None for v in row[1:]] for row in rows[1:]]
    check(values == [[1000, None, None, None, None, None],
                     [999, 10, 20, None, None, 100],
                     [998, None, 20, None, None, 300],
                     [997, None, 20, None, 30, 500]], f"values: {values}")
    # A rate covers the whole time between two written samples.
    openpla(0, "relog", "wild.blg", "-t", "3", "-f", "csv", "-o", "third.csv", "-c", "\\System\\*", "\\process(B)\\*")
    rows = rows_of("third.csv")
    check([r[1:] for r in rows[1:]] == [[" ", " "], ["20", "300"]], f"every third: {rows}")
    # A copy in the log's own format keeps the raw values and the wildcard.
    openpla(0, "relog", "wild.blg", "-o", "copy.blg")
    openpla(0, "relog", "copy.blg", "-f", "csv", "-o", "copy.csv")
    same("wild.csv", "copy.csv")
    openpla(0, "relog", "wild.blg", "-o", "one.blg", "-c", "\\Process(c)\\% Processor Time")
    stat = json.loads(openpla(0, "logstat", "one.blg", "--json"))[0]
    check(stat["counters"][0]["wildcard"] and stat["counters"][0]["mostInstances"] == 1, "filtered instances", str(stat))


def reads_and_writes_databases():
    """A log copied to a database and back keeps values, instances and times."""
    database = f"Driver={{SQLite3}};Database={os.getcwd()}/logs.db;PWD=cret"
    output = openpla(0, "relog", "wild.blg", "-f", "sql", "-o", database + "!one")
    check("cret" not in output and "logs.db" in output, "the password is hidden", output)
    openpla(0, "relog", f"SQL:{database}!one", "-f", "csv", "-o", "sql.csv")
    a, b = rows_of("wild.csv"), rows_of("sql.csv")
    check(sorted(zip(*a)) == sorted(zip(*b)), "the database has the log's values", f"{a}\n{b}")
    openpla(0, "relog", f"SQL:{database}!one", "-o", "sql.blg")
    openpla(0, "relog", "sql.blg", "-f", "csv", "-o", "sqlblg.csv")
    same("sql.csv", "sqlblg.csv")
    output = openpla(1, "relog", f"SQL:{database};LoadExt=/tmp/x.so!one", "-f", "csv", "-o", "none.csv")
    check("LoadExt" in output and "cret" not in output, "a library named in the connection string is refused", output)
    output = openpla(0, "logstat", f"SQL:{database}!one")
    check("Samples:    4\n" in output and "cret" not in output, "logstat of a database", output)


def selects_parts():
    openpla(0, "relog", "a.csv", "-f", "csv", "-o", "part.csv", "-c", "\\memory\\*", "-b", "2/28/2021", "3:13:22",
            "-e", "2021-02-28 03:13:26", "-t", "2")
    rows = rows_of("part.csv")
    check([r[0][-6:] for r in rows[1:]] == ["22.000", "24.000", "26.000"] and len(rows[0]) == 2, f"part: {rows}")
    write("list.txt", ["; a comment", "", "\"\\\\BOX\\Process(*)\\*\""])
    write("settings.txt", ["[cf]", "list.txt", "-f TSV -y", "[o]", "part.tsv"])
    openpla(0, "relog", "a.csv", "-config", "settings.txt")
    check([len(row) for row in rows_of("part.tsv", "\t")] == [2] * 11, "settings file")
    openpla(0, "relog", "-q", "a.csv", "-o", "counters.txt")
    check(read("counters.txt") == b"\\\\BOX\\Memory\\Available MBytes\r\n\\\\BOX\\Process(a)\\% Processor Time\r\n",
          "list of counters", str(read("counters.txt")))
    output = openpla(0, "relog", "-q", "a.csv")
    check("\\\\BOX\\Process(a)\\% Processor Time\n" in output and "The command completed successfully." in output,
          "counters on the screen", output)
    output = openpla(0, "relog", "a.csv", "\u2013f", "csv")
    check(output.startswith("\nInput\n----------------\nFile(s):\n     a.csv (CSV)\n\nBegin:") and "\\\\BOX" not in output,
          "without -q and -o only the summary is printed, also with a typographic dash", output)
    check("No data to return" in openpla(1, "relog", "a.csv", "-o", "none.blg", "-b", "1/1/2030"), "a time range without samples")
    output = openpla(3, "relog", "a.csv", "-o", "part.blg", "-y", "-c", "\\Memory\\*", "\\nothing\\*")
    check("'\\nothing\\*' matches no counter of the input" in output, "a pattern that matches nothing", output)
    check("\\nothing\\*" in openpla(1, "relog", "a.csv", "-o", "none.blg", "-c", "\\nothing\\*"), "nothing matches")
    check(not os.path.exists("none.blg"), "no empty log is left behind")
    for wrong, right in (("\\memroy\\*", "\\Memory\\*"), ("\\Process(*)\\Processor Time", "\\Process(*)\\% Processor Time")):
        output = openpla(3, "relog", "a.csv", "-o", "part.blg", "-y", "-c", "\\Memory\\*", wrong)
        check(f"'{wrong}' matches no counter of the input (did you mean '{right}'?)\n" in output, "a mistyped pattern", output)
        output = openpla(1, "relog", "a.csv", "-o", "none.blg", "-c", wrong)
        check(f"'{wrong}' matches no counter of the input (did you mean '{right}'?) (-c)" in output, "the only pattern", output)
        output = openpla(1, "plot", "a.csv", "-o", "none.svg", "-counter", wrong)
        check(f"'{wrong}': the logs do not contain this counter (did you mean '{right}'?) (" in output, "a mistyped counter of plot", output)


def requires_format_for_other_extensions():
    """The format without -f is BLG. A name with another format's extension is refused, because other programs would
    reject it."""
    for name, says in (("u.csv", "-o 'u.csv': the default format is BIN (use -f CSV, or the extension .blg)"),
                       ("u.TSV", "(use -f TSV, or the extension .blg)"),
                       ("u.parquet", "-o 'u.parquet': cannot write this format (use -f with one of "),
                       ("SQL:Data!set", "(use -f SQL)")):
        output = openpla(2, "relog", "a.csv", "-o", name, "-y")
        check(says in output and not os.path.exists(name), f"{name} without -f", output)
    # Scripts for Windows' relog use such names for output files.
    for words in (("-o", "u.blg"), ("-o", "u.log"), ("-o", "a folder.csv/u"), ("-f", "TSV", "-o", "u.csv"), ("-f", "BIN", "-o", "u.csv"),
                  ("-q", "-o", "u.csv"), ("-f", "CSV", "-o", "u.parquet")):
        os.makedirs("a folder.csv", exist_ok=True)
        openpla(0, "relog", "a.csv", *words, "-y")


def merges_logs():
    write("late.csv", [HEADER] + ROWS[6:])
    write("early.csv", [HEADER] + ROWS[:6])
    openpla(0, "relog", "late.csv", "early.csv", "-f", "csv", "-o", "all.csv")
    same("a.csv", "all.csv")
    openpla(0, "relog", "*ly.csv", "-f", "csv", "-o", "more.csv")
    openpla(0, "relog", "late.csv", "-f", "csv", "-o", "more.csv", "-a")
    same("a.csv", "more.csv")
    write("other.csv", [HEADER.replace("BOX", "CAR"), ROWS[0].replace("20.000", "20.500")])
    openpla(0, "relog", "a.csv", "other.csv", "-f", "csv", "-o", "two.csv")
    rows = rows_of("two.csv")
    check(len(rows) == 12 and rows[2][1:] == [" ", " ", "1000", " "], f"two computers: {rows[:3]}")
    check("the counters of the log, or their order, differ" in openpla(1, "relog", "other.csv", "-f", "csv", "-o", "a.csv", "-a"), "append")


def overwrites_only_on_request():
    before = read("a.csv")
    check(EXISTS in openpla(1, "relog", "early.csv", "-f", "csv", "-o", "a.csv"), "a file is not overwritten without -y")
    check("input file" in openpla(1, "relog", "a.csv", "-f", "csv", "-o", "a.csv", "-y"), "a file cannot be both input and output")
    check("input file" in openpla(1, "relog", "a.csv", "-f", "csv", "-o", "./a.csv", "-y"), "the input file by another path")
    os.mkdir("folder.csv")
    openpla(1, "relog", "a.csv", "-f", "csv", "-o", "folder.csv", "-y")
    write("damaged.csv", ["no log"])
    # A file that a killed relog left behind does not stop the next one.
    write("new.csv.partial", [HEADER] + ROWS[:2])
    openpla(0, "relog", "a.csv", "-f", "csv", "-o", "new.csv", "-y")
    check(not os.path.exists("new.csv.partial") and read("new.csv") == before, "the leftover part is replaced")
    # If a part file is an input file, it may be the only copy of its samples, so it is not overwritten.
    os.mkdir("part")
    shutil.copy("a.csv", "part/b.csv.partial")
    for more in (["-f", "csv"], ["-f", "csv", "-y"], ["-f", "csv", "-a"], ["-q"]):
        output = openpla(1, "relog", "early.csv", "./part/b.csv.partial", "-o", "part/b.csv", *more)
        check("cannot write 'part/b.csv': this would overwrite the input file './part/b.csv.partial'" in output, f"{more}: the reason for the refusal", output)
        check(read("part/b.csv.partial") == before and os.listdir("part") == ["b.csv.partial"], f"{more}: the input log is kept")
    # For a device relog writes no part file, so an input file with that name is accepted.
    if not EMULATOR:
        os.symlink("/dev/null", "part/null.csv")
        os.rename("part/b.csv.partial", "part/null.csv.partial")
        openpla(0, "relog", "part/null.csv.partial", "-f", "csv", "-o", "part/null.csv", "-y")
        check(read("part/null.csv.partial") == before, "the input log is kept")
    output = openpla(1, "relog", "a.csv", "-f", "csv", "-o", "no folder/new.csv")
    check("cannot write 'no folder/new.csv': the folder does not exist" in output, "the error has the file name as the user typed it", output)
    check("damaged.csv" in openpla(1, "relog", "damaged.csv", "-f", "csv", "-o", "a.csv", "-y"), "no name")
    check(read("a.csv") == before, "a.csv is unchanged")
    check(NO_FILE in openpla(1, "relog", "missing.csv", "-o", "x.blg"), "a missing log")
    check(NO_FILE in openpla(1, "relog", "missing*.csv", "-o", "x.blg"), "a pattern without logs")
    with open("cut.csv", "wb") as f:
        f.write(before[:-5])
    output = openpla(3, "relog", "cut.csv", "-f", "csv", "-o", "whole.csv")
    check("cut.csv: line 11 at byte " in output and "is truncated" in output, "corruption is reported", output)
    check(read("whole.csv") == before[:before[:-2].rindex(b"\n") + 1], "all complete samples are copied")


def wait_for_part(running, name):
    while not (os.path.exists(name) and os.path.getsize(name) > 0):
        check(running.poll() is None, "the program is interrupted before it is done")
        time.sleep(0.01)
    running.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, running.pid, os.WSTOPPED | os.WNOWAIT)


def start_program(err, *arguments):
    return subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)


def interrupted_copy_is_not_a_log():
    """An interrupted relog leaves no file under the target's name, because its user would take it for the complete log
    and delete the original. Only in native builds, where the test can stop a process at a chosen place."""
    write("long.csv", [HEADER])
    with open("long.csv", "a", encoding="ascii", newline="") as f:
        for i in range(200000):
            f.write('"02/%02d/2021 %02d:%02d:%02d.000","%d","12.5"\r\n' % (1 + i // 86400, i // 3600 % 24, i // 60 % 60, i % 60, i))
    for old in (None, [HEADER] + ROWS[:3]):
        for how, left in ((signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGKILL, True)):
            for more in (["-y"], ["-a"]):
                if old:
                    write("killed.csv", old)
                before = read("killed.csv") if old else None
                with open("err.txt", "wb") as err:
                    running = start_program(err, "relog", "long.csv", "-f", "csv", "-o", "killed.csv", *more)
                    wait_for_part(running, "killed.csv.partial")
                    check((read("killed.csv") if os.path.exists("killed.csv") else None) == before, "a part does not have the target's name")
                    running.send_signal(how)
                    running.send_signal(signal.SIGCONT)
                    code = running.wait()
                check(code == (1 if how != signal.SIGKILL else -how), f"{how}: exit code {code}", read("err.txt").decode())
                check((read("killed.csv") if os.path.exists("killed.csv") else None) == before, f"{how}: the target is unchanged")
                check(os.path.exists("killed.csv.partial") == left, f"{how}: the leftover part")
                if left:
                    os.remove("killed.csv.partial")
    openpla(0, "relog", "long.csv", "-f", "csv", "-o", "killed.csv", "-y")
    check(len(read("killed.csv").splitlines()) == 200001 and not os.path.exists("killed.csv.partial"), "the next relog is complete")


def shows_progress_only_on_terminal():
    """Percentages are shown on a terminal but not in a script's log of stderr."""
    for terminal in (False, True):
        reader, writer = os.openpty() if terminal else os.pipe()
        running = start_program(writer, "relog", "long.csv", "-f", "csv", "-o", "progress.csv", "-y")
        os.close(writer)
        wait_for_part(running, "progress.csv.partial")
        time.sleep(1.5)  # progress is shown after one second, and the clock keeps running
        running.send_signal(signal.SIGCONT)
        progress = b""
        try:
            while part := os.read(reader, 65536):
                progress += part
        except OSError:  # the program has closed its end of the terminal
            pass
        os.close(reader)
        check(running.wait() == 0 and (b" %" in progress) == terminal, f"terminal {terminal}: {progress}")


def reports_log_without_values():
    """A rate cannot be computed from one sample, so the user gets a message. A file of blank values would look like an
    idle computer."""
    write("blank.csv", [HEADER] + [row.split(",")[0] + '," "," "' for row in ROWS[:3]])
    output = openpla(3, "relog", "blank.csv", "-f", "csv", "-o", "blanks.csv")
    check("'blanks.csv': no value can be computed" in output, "relog", output)
    check("no value can be computed" in openpla(1, "plot", "blank.csv", "-o", "blank.svg"), "plot")
    check("can be computed" in openpla(3, "report", "blank.csv", "-o", "blank.xml"), "report")
    output = openpla(1, "plot", "a.csv", "-o", "some.svg", "-e", "2021-02-28 03:13:20", "-counter", "\\Process(*)\\*")
    check("'\\Process(*)\\*': no value can be computed" in output, "the chosen counter has no value", output)
    check("do not contain this counter" in openpla(1, "plot", "a.csv", "-o", "some.svg", "-counter", "\\Prozess(*)\\*"), "an unknown counter")
    # The same checks for a counter without instances.
    values = (" ", "5", "7")
    rows = [row.split(",")[0] + f',"{value}"' for row, value in zip(ROWS, values)]
    header = HEADER.split(",")[0] + ',"\\\\BOX\\Memory\\Page Faults/sec"'
    write("one.csv", [header] + rows[:1])
    write("three.csv", [header] + rows)
    for arguments, why in ((["one.csv"], "no value can be computed"),
                           (["three.csv", "-e", "2021-02-28 03:13:20"], "no value can be computed"),
                           (["one.csv", "-b", "2021-02-28 03:13:21"], "no sample in the time range"),
                           (["three.csv", "-e", "2021-02-28 03:13:19"], "no sample in the time range")):
        for chosen in ([], ["-counter", "\\Memory\\*"]):
            output = openpla(1, "plot", *arguments, "-o", "none.svg", *chosen)
            check(why in output and NO_DATA in output, f"{arguments} {chosen}: {why}", output)


def prints_usage():
    for arguments in ([], ["relog"], ["relog", "a.csv", "-x"], ["relog", "a.csv", "-t", "0"], ["nothing"],
                      ["relog", "a.csv", "-f", "xls", "-o", "x"], ["relog", "a.csv", "-o"],
                      ["relog", "a.csv", "-b", "yesterday", "-o", "x"], ["logstat"]):
        openpla(2, *arguments)
    output = openpla(0, "help")
    check("relog" in output and "logstat" in output, "the list of verbs", output)
    for verb in ("relog", "logstat"):
        check(openpla(0, "help", verb).startswith(f"openpla {verb} ") and openpla(0, verb, "/?"), "no help")


def describes_log():
    write("gap.csv", [HEADER] + ROWS[:4] + ROWS[7:] + ["garbage"])
    output = openpla(3, "logstat", "gap.csv", "-c")
    for line in ("Format:     CSV\n", "Computer:   \\\\BOX\n", "Zone:       Zone, UTC = local time -60 minutes\n",
                 "Samples:    7\n", "Begin:      2/28/2021 3:13:20 (2021-02-28T02:13:20.000Z)\n", "Span:       9.000 s\n",
                 "Interval:   1.000 s\n", "Gap:        2/28/2021 3:13:23 (2021-02-28T02:13:23.000Z)\n",
                 "            4.000 s without a sample\n", "Damage:     line 9 at byte ", "Counters:   2\n",
                 "  \\\\BOX\\Process(a)\\% Processor Time  (no value in 3 samples)\n"):
        check(line in output, f"not there: {line}", output)
    stat = json.loads(openpla(3, "logstat", "--json", "gap.csv"))[0]
    check(stat["samples"] == 7 and stat["gaps"] == [{"from": "2021-02-28T02:13:23.000Z", "to": "2021-02-28T02:13:27.000Z"}]
          and stat["intervalSeconds"] == 1 and len(stat["damage"]) == 1 and stat["counters"][1]["missing"] == 3,
          "JSON has the same facts", str(stat))
    stat = json.loads(openpla(0, "logstat", "--json", "wild.blg", "a.csv"))
    wild = stat[0]["counters"][1]
    check(wild["path"] == "\\\\BOX\\Process(*)\\% Processor Time" and wild["fewestInstances"] == 2
          and wild["mostInstances"] == 3 and stat[1]["format"] == "CSV", "JSON of two logs", str(stat))
    moved = json.loads(openpla(0, "relog", "--json", "a.csv", "-f", "csv", "-o", "j.csv"))
    check(moved["output"]["samples"] == 10 and moved["input"]["files"][0]["remarks"] == [], "relog's JSON", str(moved))


def runs_under_windows_name():
    """A copy named like Windows' tool behaves like that tool, so that scripts need no change."""
    name = "Relog" + os.path.splitext(PROGRAM)[1]
    shutil.copy(PROGRAM, name)
    done = subprocess.run([*EMULATOR, os.path.abspath(name), "a.csv"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    os.remove(name)
    check(done.returncode == 0 and b"Samples:  10" in done.stdout, "the copy", done.stdout.decode("utf-8"))


def main():
    work = tempfile.mkdtemp(prefix="openpla-relog.", dir=os.environ.get("WINEPREFIX"))
    os.chdir(work)
    for step in (copies_equal_log, computes_values_from_raw_data, reads_and_writes_databases, selects_parts, requires_format_for_other_extensions,
                 merges_logs, overwrites_only_on_request, prints_usage, describes_log, reports_log_without_values,
                 runs_under_windows_name) + (() if EMULATOR else (interrupted_copy_is_not_a_log, shows_progress_only_on_terminal)):
        print(step.__name__, flush=True)
        step()
    os.chdir("/")
    shutil.rmtree(work)


main()
