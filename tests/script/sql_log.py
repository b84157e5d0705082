#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sql_log.py WINE-RUN: a script collects into SQLite, through a connection string and through a data source name, and
into PostgreSQL. The databases' own clients query the rows. Otherwise a user would lose samples, or could not use
queries that were written for Windows' tables."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cscript

SOURCE = os.environ["OPENPLA_SOURCE_DIR"]
EXAMPLE = "Z:" + os.path.join(SOURCE, "examples", "sql_log.vbs").replace("/", "\\")
SECONDS = 3
# Follows the query that is published for the tables of MS-PLA 2.2.2.7, except for type names.
QUERY = """SELECT ObjectName, CounterName, InstanceName, COUNT(*), MIN(CounterValue), MAX(RecordIndex)
    FROM CounterData JOIN CounterDetails ON CounterData.CounterID = CounterDetails.CounterID
    JOIN DisplayToID ON CounterData.GUID = DisplayToID.GUID WHERE DisplayString = '{}'
    GROUP BY ObjectName, CounterName, InstanceName ORDER BY 1, 2, 3"""
COLUMNS = {
    "counterdata": "guid counterid recordindex counterdatetime countervalue firstvaluea firstvalueb secondvaluea "
                   "secondvalueb multicount",
    "counterdetails": "counterid machinename objectname countername countertype defaultscale instancename instanceindex "
                      "parentname parentobjectid timebasea timebaseb",
    "displaytoid": "guid runid displaystring logstarttime logstoptime numberofrecords minutestoutc timezonename",
}


def check(condition, what):
    if not condition:
        sys.exit("FAILED: " + what)


def collect(source, name):
    for _ in range(cscript.ATTEMPTS):
        done = subprocess.run([sys.argv[1], "cscript", "//nologo", EXAMPLE, source, name, str(SECONDS)],
                              capture_output=True)
        output = done.stdout.decode("cp437").replace("\r\n", "\n")
        if not cscript.never_ran(done.returncode, output):
            break
    return done.returncode, output


class Sqlite:
    def __init__(self, path):
        self.path = path

    def rows(self, sql):
        done = subprocess.run(["sqlite3", "-separator", "\t", self.path, sql], capture_output=True, text=True, check=True)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def columns(self, table):
        return " ".join(row[1].lower() for row in self.rows(f"PRAGMA table_info({table})"))


class Postgres:
    def __init__(self, socket):
        self.socket = socket

    def rows(self, sql):
        done = subprocess.run(["psql", "-h", self.socket, "-U", "test", "-XAtF", "\t", "-c", sql, "postgres"],
                              capture_output=True, text=True, check=True)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def columns(self, table):
        return " ".join(row[0] for row in self.rows("SELECT column_name FROM information_schema.columns WHERE "
                                                    f"table_name = '{table}' ORDER BY ordinal_position"))


def check_rows(database, log_set, runs):
    """Checks that each counter of the example has one row for every sample of all runs."""
    for table, columns in COLUMNS.items():
        check(database.columns(table) == columns, f"{table} has the columns {database.columns(table)}")
    (records, start, stop), = database.rows(
        f"SELECT NumberOfRecords, LogStartTime, LogStopTime FROM DisplayToID WHERE DisplayString = '{log_set}'")
    records = int(records)
    check(records >= runs * SECONDS, f"{records} samples in {runs} runs")
    check(all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} ?", t) for t in (start, stop)) and start < stop,
          f"from {start} to {stop}")
    rows = database.rows(QUERY.format(log_set))
    found = {}
    for name, counter, instance, count, least, last in rows:
        found.setdefault((name, counter), {})[instance] = (int(count), float(least), int(last))
    for counter in ("Memory", "Available Bytes"), ("System", "Processes"):
        check(list(found[counter]) == [""], f"{counter} has the instances {found[counter]}")
        count, least, last = found[counter][""]
        check(count == records == last and least > 1, f"{counter}: {count} of {records} rows, the last {last}, least {least}")
    processors = found["Processor", "% Processor Time"]
    check("_Total" in processors and "0" in processors, f"processors {processors}")
    check(all(count == records for count, _, _ in processors.values()), f"processors {processors} of {records} samples")
    processes = found["Process", "Working Set"]
    check("openplahost" in processes and len(processes) > 3, f"processes {list(processes)}")
    later, = database.rows("SELECT COUNT(*) FROM CounterData JOIN CounterDetails ON CounterData.CounterID = "
                           "CounterDetails.CounterID WHERE ObjectName = 'Processor' AND CounterValue > 0 AND RecordIndex > 1")
    check(int(later[0]) > 0, "no processor did anything")


# The example's output for a run that lost no sample.
STOPPED = "Message: the run ended because it was stopped\n\nDone.\n"


def main():
    folder = tempfile.mkdtemp()
    with open(os.environ["OPENPLA_TEST_POSTGRES"], encoding="ascii") as file:
        socket = file.read().strip()
    postgres = Postgres(socket)
    postgres.rows("DROP TABLE IF EXISTS CounterData, CounterDetails, DisplayToID")
    path = os.path.join(folder, "a.db")
    data_source = os.environ["OPENPLA_TEST_DSN_DATABASE"]
    if os.path.exists(data_source):
        os.remove(data_source)
    try:
        for source, database in ((f"SQL:Driver={{SQLite3}};Database={path}", Sqlite(path)),
                                 ("SQL:openpla_test", Sqlite(data_source)),
                                 (f"SQL:Driver={{PostgreSQL Unicode}};Servername={socket};Database=postgres;UID=test",
                                  postgres)):
            for run in (1, 2) if "Database=" + path in source else (1,):
                code, output = collect(source + "!Servers", "test-script-sql")
                check(code == 0 and output == STOPPED, f"{source}: exit code {code}: {output}")
                check_rows(database, "Servers", run)
            print("ok:", source)
        code, output = collect("SQL:OpenPLA has no such source!x", "test-script-sql")
        check(code == 1 and "FAILED: Start: 0x" in output and "IM002" in output, f"exit code {code}: {output}")
    finally:
        shutil.rmtree(folder)


main()
