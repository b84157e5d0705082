# SPDX-License-Identifier: MIT
"""Observes the journal, the memory and handles of processes, sections and temporary files while the campaign runs."""
import collections
import datetime
import glob
import os
import re

from faults import PREFIX, check, processes

DATA = os.path.join(PREFIX, "drive_c", "ProgramData", "OpenPLA")
Event = collections.namedtuple("Event", "time id text fields")
STARTED, FAILED, STOPPED, STOPPED_BY_ERROR, SEGMENT, ALERT, LOST, MISSED = 1003, 1004, 1005, 1006, 1013, 2031, 9001, 9002


class Journal:
    """Reads the journal continuously, because the service deletes the oldest file."""
    line = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})Z\t(\d+)\t(\d)\t([^\t]*)((?:\t[^\t=]+=[^\t]*)*)$")

    def __init__(self):
        self.events, self.torn, self.disordered, self.read, self.newest = [], [], [], {}, 0.0

    def poll(self):
        for path in sorted(glob.glob(os.path.join(DATA, "events", "events-*.log"))):
            at = self.read.get(path, 0)
            try:
                with open(path, "rb") as file:
                    file.seek(at)
                    raw = file.read()
            except FileNotFoundError:
                continue
            whole = raw.rfind(b"\n") + 1
            self.read[path] = at + whole
            for line in raw[:whole].decode("utf-8", "replace").splitlines():
                self.add(line, path)

    def forget(self):
        """Forgets the events of earlier campaigns."""
        self.poll()
        self.events, self.torn, self.disordered = [], [], []

    def add(self, line, path):
        found = self.line.match(line)
        if not found:
            self.torn.append(line)
            return
        time = datetime.datetime.strptime(found[1] + "+0000", "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()
        if time < self.newest:
            self.disordered.append(f"{os.path.basename(path)}: {self.newest - time:.3f} s older than the event before: {line}")
        self.newest = time
        fields = dict(field.split("=", 1) for field in found[5].split("\t") if field)
        self.events.append(Event(time, int(found[2]), found[4], fields))

    def of(self, name, *ids):
        return [event for event in self.events if event.fields.get("Name") == name and (not ids or event.id in ids)]

    def pauses(self, name):
        """Returns the periods (begin, end) in which the set did not run."""
        found, since = [], 0.0
        for event in self.of(name, STARTED, STOPPED, STOPPED_BY_ERROR):
            if event.id != STARTED:
                since = event.time
            elif since:
                found.append((since, event.time))
                since = 0.0
        return found + ([(since, float("inf"))] if since else [])

    def check_order(self, name):
        """Checks that starts and ends of a set's runs alternate. Returns the number of runs."""
        runs = 0
        running = False
        for event in self.of(name, STARTED, STOPPED, STOPPED_BY_ERROR):
            check((event.id == STARTED) != running, f"{name}: event {event.id} at {event.time:.3f}, but the set was "
                  f"{'running' if running else 'stopped'}")
            running = event.id == STARTED
            runs += running
        return runs


def process_numbers(pid):
    """Returns the number of descriptors, the private resident bytes (session buffers are shared) and the number of
    threads."""
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        found = re.search(r"RssAnon:\s+(\d+)", file.read())
    if not found:
        raise ProcessLookupError(pid)  # a zombie
    resident = int(found[1]) * 1024
    return len(os.listdir(f"/proc/{pid}/fd")), resident, len(os.listdir(f"/proc/{pid}/task"))


def wineserver():
    """Returns the process id of this prefix's wineserver; 0: none. Its current folder has the prefix's device and inode
    in its name."""
    place = os.stat(PREFIX)
    name = f"server-{place.st_dev:x}-{place.st_ino:x}"
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if "wineserver" in os.readlink(f"/proc/{entry}/exe") and name in os.readlink(f"/proc/{entry}/cwd"):
                return int(entry)
        except OSError:
            pass
    return 0


class Growth:
    """Compares memory and handles of each process between `settle` seconds after its start and its end."""
    programs = {"openplasrv": (24, 8), "openplahost": (12, 4), "openetwhost": (8, 4)}  # maximum growth in descriptors and MB
    settle = 60  # s
    handles_more = 60  # includes those of clients that have just exited

    def __init__(self):
        self.numbers, self.ended_handles = {}, []
        self.first, self.latest, self.born = {}, {}, {}
        self.most = collections.defaultdict(lambda: [0, 0])

    def poll(self, now):
        found = [(program, pid) for program in self.programs for pid in processes(program)]
        for program, pid in found:
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                    started = file.read().rsplit(")", 1)[1].split()[19]
                numbers = process_numbers(pid)
            except OSError:
                continue
            key = program, pid, started
            self.born.setdefault(key, now)
            if now - self.born[key] >= self.settle:
                self.first.setdefault(key, numbers)
                self.latest[key] = numbers

    def handles(self, text, now):
        """Adds the output of `soak_client handles`: the Windows handles, most of which are not descriptors."""
        found = set()
        for pid, number, program in re.findall(r"handles(\d+) (\d+) (\S+?)(?:\.exe)?\r?$", text, re.M):
            key = program.lower(), pid
            found.add(key)
            numbers = self.numbers.setdefault(key, [now, None, 0])
            if now - numbers[0] >= self.settle:
                numbers[1] = int(number) if numbers[1] is None else numbers[1]
                numbers[2] = int(number)
        for key in set(self.numbers) - found:  # exited; a new process can get the same id
            self.ended_handles.append((key, self.numbers.pop(key)))

    def check_handles(self):
        """Returns lines for the summary."""
        grown = collections.defaultdict(list)
        for (program, _), (_, first, last) in self.ended_handles + list(self.numbers.items()):
            if first is not None:
                grown[program].append((last - first, first, last))
        for program, all_of_it in grown.items():
            most = max(all_of_it)
            check(most[0] <= self.handles_more, f"{program} has {most[2]} handles instead of {most[1]}")
        return [f"{program}: {len(all_of_it)} processes, at most {max(all_of_it)[0]:+} handles to {max(all_of_it)[2]}"
                for program, all_of_it in sorted(grown.items())]

    def check(self):
        """Returns lines for the summary."""
        for key, first in self.first.items():
            program, pid, _ = key
            latest = self.latest[key]
            handles, memory = latest[0] - first[0], (latest[1] - first[1]) / 1e6
            most = self.most[program]
            most[0], most[1] = max(most[0], handles), max(most[1], memory)
            check(handles <= self.programs[program][0], f"{program} {pid} has {latest[0]} descriptors instead of {first[0]}")
            check(memory <= self.programs[program][1], f"{program} {pid} has grown by {memory:.1f} MB")
        return [f"{program}: {sum(k[0] == program for k in self.first)} processes observed, at most {most[0]:+} descriptors "
                f"and {most[1]:+.1f} MB" for program, most in sorted(self.most.items())]


def shared_files():
    """Returns {name: bytes} of the files in the prefix's folder in shared memory."""
    try:
        with open(os.path.join(PREFIX, "drive_c", "windows", "openpla.shared"), encoding="ascii") as file:
            prefix, key, _ = file.read().split()
    except OSError:
        return {}
    found = {}
    for path in glob.glob(f"/dev/shm/openpla-{prefix}-{key}/*"):
        try:
            found[os.path.basename(path)] = os.path.getsize(path)
        except OSError:
            pass
    return found


def temporary_files():
    """Returns the files in the store, the data folder and the temporary folders that are not logs, sets or events."""
    known = re.compile(r"(events-\d+\.log|supervisor.*|store\.(lock|changes)|.*\.(xml|run|running|task))$")
    found = []
    for base in (DATA, *glob.glob(os.path.join(PREFIX, "drive_c/windows/temp")),
                 *glob.glob(os.path.join(PREFIX, "drive_c/users/*/Temp")),
                 *glob.glob(os.path.join(PREFIX, "drive_c/users/*/AppData/Local/Temp"))):
        for folder, _, files in os.walk(base):
            found += [os.path.join(folder, file) for file in files if base != DATA or not known.match(file)]
    return sorted(found)
