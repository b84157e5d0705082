#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""remote_counters.py PROGRAM CONSUMER EMULATOR: PROGRAM (openpla.exe) collects counters that another computer offers by
TCP. The other computer is this one under another name. If it becomes unavailable, local counters must still be
collected."""
import csv
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAM, CONSUMER, EMULATOR = sys.argv[1], sys.argv[2], sys.argv[3:]
SERVER = os.path.join(os.path.dirname(PROGRAM), "openplasrv.exe")
ACCOUNT, PASSWORD = f"reader-{os.getpid()}", "a password of tests"
START_S = 240
os.environ["OPENPLA_SAMPLE_LIMIT"] = "0"  # on a busy machine a response is slow


def check(right, what, output=""):
    if not right:
        sys.exit(f"FAILED: {what}\n{output}")


def start(program, *arguments, **more):
    out = tempfile.TemporaryFile()
    process = subprocess.Popen([*EMULATOR, program, *arguments], env=dict(os.environ, **more), stdin=subprocess.DEVNULL,
                               stdout=out, stderr=subprocess.STDOUT)
    return process, out


def wait_for_exit(process, out):
    try:
        code = process.wait(2 * START_S)
    except subprocess.TimeoutExpired:
        process.terminate()
        code = "none (timeout)"
    out.seek(0)
    return code, out.read().decode("utf-8").replace("\r", "")


def typeperf(expected, *arguments, **more):
    code, output = wait_for_exit(*start(PROGRAM, "typeperf", *arguments, **more))
    check(code == expected, f"typeperf {' '.join(arguments)}: exit code {code}, not {expected}", output)
    return output


def run_with_password(password, *arguments):
    """Runs the program with a line of standard input, which the emulator's script passes through on request."""
    environment = dict(os.environ, OPENPLA_WINE_RUN="through")
    done = subprocess.run([*EMULATOR, PROGRAM, *arguments], env=environment, input=password + "\n", encoding="utf-8",
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=2 * START_S)
    return done.returncode, done.stdout


def run_or_fail(*arguments, password=""):
    code, output = run_with_password(password, *arguments)
    check(code == 0, f"{' '.join(arguments)}: exit code {code}", output)


def is_listening(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    except OSError:
        return False


def start_server(port):
    server, _ = start(SERVER, "/counters", OPENPLA_COUNTER_QUERY_PORT=str(port))
    for _ in range(START_S * 10):
        if is_listening(port):
            return server
        time.sleep(0.1)
    sys.exit("the server does not offer counters")


def stop(server, port):
    """Kills the program that the emulator's script started."""
    with open(f"/proc/{server.pid}/task/{server.pid}/children", encoding="ascii") as file:
        for child in file.read().split():
            os.kill(int(child), signal.SIGKILL)
    server.wait()
    for _ in range(START_S * 10):
        if not is_listening(port):
            return
        time.sleep(0.1)
    sys.exit("the server does not exit")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def connect_from_other_address(port):
    """Opens more connections than the port accepts, from an address without permission. Permitted clients must still
    connect."""
    return [socket.create_connection(("127.0.0.1", port), source_address=("127.0.0.2", 0)) for _ in range(300)]


def rows_of(output):
    return list(csv.reader(line for line in output.splitlines() if line.startswith('"')))


def rows_in(log):
    if not os.path.exists(log):
        return []
    with open(log, encoding="utf-8") as file:
        return rows_of(file.read())


SET_XML = """<DataCollectorSet><RootPath>{root}</RootPath>
<Value name="OpenPLA.OtherComputersFile">1</Value>
<PerformanceCounterDataCollector><FileName>counts</FileName><FileNameFormat>1</FileNameFormat>
<FileNameFormatPattern>N</FileNameFormatPattern><SampleInterval>1</SampleInterval><LogFileFormat>0</LogFileFormat>
<Counter>\\System\\Processes</Counter><Counter>{away}</Counter></PerformanceCounterDataCollector>
</DataCollectorSet>"""


def logman(*words):
    code, output = wait_for_exit(*start(PROGRAM, "logman", *words))
    check(code == 0, f"logman {words}: {code}", output)


def first_rows(folder):
    """Returns the first row of each log of the set, in the order of their start."""
    logs = sorted(os.path.join(path, name) for path, _, names in os.walk(folder) for name in names
                  if name.endswith(".csv"))
    return [rows_in(log) for log in logs]


def has_value(logs, counter):
    """Whether the last log has a value of this counter in any row. The first values may be late, and the last row may
    be incomplete."""
    return (len(logs) > 1 and logs[-1][:1] != [] and logs[-1][0][2:] == [counter] and
            any(len(row) == 3 and row[2].strip() and float(row[2]) > 0 for row in logs[-1][1:]))


def set_waits_for_remote_host():
    """Counters of another computer are collected as soon as it is reachable; local counters do not wait for it."""
    port, name = free_port(), f"remote-{os.getpid()}"
    away = rf"\\127.0.0.1:{port}\System\Processes"
    root = os.path.join(os.getcwd(), "runs")
    os.mkdir(root)
    with open("set.xml", "w", encoding="utf-8") as file:
        file.write(SET_XML.format(root="Z:" + root.replace("/", "\\"), away=away))
    logman("import", "-name", name, "-xml", "set.xml")
    logman("start", name)
    server = None
    try:
        for _ in range(START_S * 10):
            logs = first_rows(root)
            if logs and len(logs[0]) >= 3:
                break
            time.sleep(0.1)
        check(logs and len(logs[0]) >= 3 and len(logs[0][0]) == 2, "local counters do not wait for another computer", str(logs))
        server = start_server(port)
        for _ in range(START_S * 30):  # the set retries within a minute
            logs = first_rows(root)
            if has_value(logs, away):
                break
            time.sleep(0.1)
        check(has_value(logs, away), "counters of a computer that appears later are collected", str(logs[1:]))
    finally:
        try:
            logman("stop", name)
            logman("delete", name)
        finally:
            if server:
                stop(server, port)


def requires_account(there):
    """Neither a permitted address without an account nor a wrong password is sufficient."""
    counting = ("typeperf", "-sc", "1", there + r"\Memory\Commit Limit")
    code, output = run_with_password("", *counting)
    check(code == 1 and "denied" in output,
          "a caller without an account is refused", output)
    code, output = run_with_password("another password", *counting, "-u", ACCOUNT, "*")
    check(code == 1 and "denied" in output, "a wrong password is refused", output)
    code, output = run_with_password(PASSWORD, *counting, "-u", ACCOUNT, "*")
    check(code == 0 and len(rows_of(output)) == 2, "an account of -u can read", output)
    for host in "127.0.0.1", "other":  # stored accounts need no option
        run_or_fail("remote", "add", host, ACCOUNT, password=PASSWORD)


def main():
    port = free_port()
    there, named = rf"\\127.0.0.1:{port}", {"OPENPLA_COUNTER_HOSTS": f"other=127.0.0.1:{port}"}
    output = typeperf(1, "-sc", "1", there + r"\Memory\Available MBytes")
    check("0x800007D0" in output, "an unreachable computer is reported", output)
    server = start_server(port)
    outsiders = connect_from_other_address(port)
    try:
        requires_account(there)
        output = typeperf(0, "-sc", "2", "-si", "0.2", there + r"\Memory\Commit Limit", r"\Memory\Commit Limit",
                          there + r"\Processor(_Total)\% Processor Time")
        rows = rows_of(output)
        check(len(rows) == 3 and rows[0][1] == there + r"\Memory\Commit Limit", "the counters of the path", output)
        check(rows[1][1] == rows[1][2] and float(rows[2][1]) > 0, "the remote value equals the local one", output)
        check(0 <= float(rows[2][3]) <= 100, "a valid processor percentage", output)
        for outsider in outsiders:
            outsider.close()
        output = typeperf(0, "-q", "-s", "other", **named)
        check(r"\\other\Process(*)\% Processor Time" in output, "the remote objects are listed", output)
        output = typeperf(0, "-s", "other", "-sc", "1", r"\Process(*)\ID Process", **named)
        check(r"\\other\Process(_Total)\ID Process" in output, "the remote instances are found", output)
        code, output = wait_for_exit(*start(CONSUMER, f"127.0.0.1:{port}"))
        check(code == 0, "a program reads the remote counter sets", output)
        # The other computer's server is stopped while its counters are collected.
        log = os.path.abspath("away.csv")
        counting = start(PROGRAM, "typeperf", "-sc", "40", "-si", "0.25", "-y", "-o", log, r"\\other\System\Processes",
                         r"\System\Processes", **named)
        while len(rows_in(log)) < 4 and counting[0].poll() is None:
            time.sleep(0.1)
        stop(server, port)
        server = None
        code, output = wait_for_exit(*counting)
        rows = rows_in(log)
        check(code == 0 and len(rows) == 41, f"counting ended with {code}, {len(rows)} rows", output)
        check(not rows[-1][1].strip() and float(rows[-1][2]) > 0, "local counters survive the loss of a host", str(rows[-1]))
        check(float(rows[2][1]) > 0, "a reachable host has a value", str(rows[2]))
    finally:
        if server:
            stop(server, port)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    run_or_fail("dcom", "account", "add", ACCOUNT, password=PASSWORD)
    try:
        main()
        set_waits_for_remote_host()
    finally:
        run_or_fail("dcom", "account", "remove", ACCOUNT)
        run_or_fail("remote", "remove", "-all")
