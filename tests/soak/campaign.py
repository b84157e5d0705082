#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""campaign.py [--hours N | --seconds N] [--seed N] [--kill-every SECONDS] [--plan]

Runs eight sets with all five kinds of data collectors for hours while processes are killed. If it failed, a user who
collects for a long time would lose samples without a report, or run out of memory. The sets use segments, schedules,
alerts and retention. Two trace sessions, an event provider, an API-traced program and a script that creates, changes
and deletes sets run at the same time. At planned times `kill -9` ends a set host process, the server, a session host
process, the traced program, the script or the event provider. The campaign fails if a sample or event is missing
without a report, if memory, handles, sections or temporary files grow, if the journal is out of order, if a call fails,
or if a set does not run again. It continues after a finding and lists all findings at the end. --plan prints what is
killed at which time and exits; the same seed gives the same plan. Needs WINEPREFIX with OpenPLA registered,
OPENPLA_BIN_DIR and OPENPLA_SOURCE_DIR, as ctest sets them."""
import argparse
import datetime
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "tests", "fault"))
import faults  # noqa: E402
from faults import PREFIX, check, processes, wait_until_gone, windows_path  # noqa: E402
import campaign_sets as sets  # noqa: E402
import campaign_watch as watch  # noqa: E402

BIN = os.environ["OPENPLA_BIN_DIR"]
SOURCE = os.environ["OPENPLA_SOURCE_DIR"]
RUNNER = os.path.join(SOURCE, "cmake/wine-run.sh")
TARGET = os.path.join(BIN, "api_target.exe")
SESSION = "campaign-session"  # the second trace session; the first one belongs to a set
EVENTS = 100                  # events of one run of the event provider
KINDS = ("set host", "server", "session host", "traced program", "script", "event provider")
PATIENCE = 45                 # s; if the service has not restarted a set until then, the campaign does
SCHEDULE_LATE = 30            # s
# Exit codes if the set is already stopped, or already runs.
ALREADY = (0x80300104 & 0xFF, 0x803000AA & 0xFF, 0x8004131F & 0xFF)
begun = time.monotonic()


def log_line(text):
    print(f"[{time.monotonic() - begun:8.1f} s] {text}", flush=True)


def openpla(*arguments):
    return faults.wine(os.path.join(BIN, "openpla.exe"), *arguments)


def command_line(pid):
    """Returns the command line with the process state and the processor time in ticks, which show whether it ever
    ran."""
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        line = file.read().decode(errors="replace").replace("\0", " ")
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return f"{pid}: {line}(state {words[0]}, {int(words[11]) + int(words[12])} ticks)"


class Campaign:
    def __init__(self, options):
        self.o = options
        self.root = os.path.join(PREFIX, "drive_c", "campaign")
        self.folders = {"api": self.root + "_api", "retention": self.root + "_retention"}  # separate roots, because retention limits count all folders of a root
        self.scratch = tempfile.mkdtemp(prefix="openpla-campaign-")
        self.end_file = os.path.join(self.root, "end")
        self.sets = sets.all_sets(TARGET)
        self.journal, self.growth = watch.Journal(), watch.Growth()
        self.findings, self.kills, self.changes, self.writers = [], [], [], []
        self.due, self.down, self.sessions = [], {}, 0
        self.counts = {key: 0 for key in ("calls", "configurations", "script rounds", "targets", "started by hand")}
        self.over = False
        self.shared = []  # (files, bytes)
        self.server = []  # process_numbers() of wineserver
        self.handles_due = 0
        self.lock = threading.Lock()

    def finding(self, text):
        with self.lock:
            self.findings.append(text)
        log_line("FINDING: " + text)

    def attempt(self, function, *arguments):
        """Calls the function and returns its result. A failed check becomes a finding."""
        try:
            return function(*arguments)
        except SystemExit as failure:
            self.finding(str(failure).replace("FAILED: ", ""))
        except Exception as error:  # pylint: disable=broad-except
            self.finding(f"{function.__name__}: {error!r}")
        return None

    def call(self, *arguments, accepted=()):
        code, text = openpla(*arguments)
        self.counts["calls"] += 1
        if code and code not in accepted:
            self.finding(f"openpla {' '.join(arguments)}: exit code {code}: {' '.join(text.split())}")
        return code, text

    # ---- programs that run at the same time as the sets ----

    def start_program(self, *command, **environment):
        return subprocess.Popen(["sh", RUNNER, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, env=dict(os.environ, **environment))

    def was_killed(self, kind, since):
        return any(kill[1] == kind and kill[0] >= since for kill in self.kills)

    def write_events(self):
        while not self.over:
            begin = time.time()
            program = self.start_program(os.path.join(BIN, "write_events.exe"), str(EVENTS), "10")
            program.communicate()
            self.writers.append(sets.Writer(begin, time.time(), EVENTS, program.returncode))
            time.sleep(1)

    def run_targets(self):
        while not self.over:
            begin = time.time()
            program = self.start_program(TARGET, "until", API_TARGET_FILE=windows_path(self.end_file))
            program.communicate()
            self.counts["targets"] += 1
            if program.returncode != 40 and not self.was_killed("traced program", begin):
                self.finding(f"the traced program exited with {program.returncode}")
            time.sleep(1)

    def run_scripts(self):
        script = windows_path(os.path.join(SOURCE, "tests/soak/campaign_script.vbs"))
        while not self.over:
            begin = time.time()
            program = self.start_program("cscript", "//nologo", script, "campaign-script-", windows_path(self.root),
                                         windows_path(self.end_file))
            text, failures = program.communicate()[0].decode("cp437"), []
            for line in text.splitlines():
                if line.startswith("failed "):
                    # A call that the killed server was executing fails with RPC_S_CALL_FAILED or
                    # RPC_S_SERVER_UNAVAILABLE, and later calls of the same round can fail, too.
                    failures.append(line)
                elif line.endswith(" rounds"):
                    self.counts["script rounds"] += int(line.split()[0])
            interrupted = sum("0x800706BE" in line or "0x800706BA" in line for line in failures)
            servers = sum(kill[1] in ("server", "set host") and kill[0] >= begin for kill in self.kills)
            if interrupted > servers or (failures and not servers):
                for line in failures:
                    self.finding("script: " + line)
            elif failures:
                log_line(f"the script's calls that failed while {servers} processes were killed: {failures}")
            if "rounds" not in text and not self.was_killed("script", begin):
                log_line(f"the script exited with {program.returncode}: {text[-200:]}")
            time.sleep(1)

    # ---- the sets ----

    def commit(self, one, more="", number=""):
        """Imports the set. `number` makes its file names unique if the set is created repeatedly."""
        path = os.path.join(self.scratch, one.name + ".xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(one.definition(self.root_of(one), more).replace("NUMBER", number))
        return self.call("logman", "import", one.name, "-xml", windows_path(path))

    def root_of(self, one):
        return self.folders.get(one.name.replace("campaign-", ""), self.root)

    def by_name(self, name):
        return next(one for one in self.sets if one.name == "campaign-" + name)

    def start_session(self):
        self.sessions += 1
        path = os.path.join(self.root, f"session{self.sessions:04}.etl")
        self.changes.append(time.time())
        self.call("logman", "start", SESSION, "-p", sets.PROVIDER, "0xffffffff", "5", "-o", windows_path(path), "-ets")
        self.changes.append(time.time())

    def states(self):
        code, text = self.call("logman", "query", "-json")
        if code:
            return {}
        return {entry["Name"]: entry["Status"] for entry in json.loads(text)["sets"]}

    def restart_stopped(self):
        """Starts sets and sessions that do not run. The service first gets time to do so."""
        states, now = self.states(), time.monotonic()
        for one in self.sets:
            if not one.always or not states:
                continue
            if states.get(one.name) != "plaStopped":
                self.down.pop(one.name, None)
                if one.name not in states:
                    self.finding(f"the set {one.name} does not exist any more")
                    self.commit(one)
            # If the trace session was killed, the run has ended and does not count as interrupted, so the service does
            # not restart it.
            elif now - self.down.setdefault(one.name, now) > (2 if one.kind in ("trace", "api") else PATIENCE):
                self.counts["started by hand"] += 1
                if one.kind not in ("trace", "api"):
                    log_line(f"{one.name} was not restarted within {PATIENCE} s")
                self.call("logman", "start", one.name, accepted=ALREADY)
        code, _ = openpla("logman", "query", SESSION, "-ets")
        if code:
            self.start_session()

    def configure(self):
        self.counts["configurations"] += 1
        self.call("logman", "start", "campaign-configuration", accepted=ALREADY)

    def schedule(self):
        """Creates the scheduled set again, with its next start in 12 s."""
        one = self.by_name("schedule")
        openpla("logman", "stop", one.name)
        self.call("logman", "delete", one.name, accepted=(2,))
        when = datetime.datetime.now().replace(microsecond=0) + datetime.timedelta(seconds=12)
        code, _ = self.commit(one, sets.next_schedule(when), f"{len(self.due):05}")
        if code == 0:
            self.due.append(when.timestamp())

    # ---- kill -9 ----

    def candidates(self, kind):
        """Returns (process, name) pairs, always in the same order."""
        if kind == "set host":
            return [(pid, one.name) for one in self.sets for pid in processes("openplahost", one.name)]
        program = {"server": "openplasrv", "session host": "openetwhost", "traced program": "api_target",
                   "script": "cscript", "event provider": "write_events"}[kind]
        return [(pid, program) for pid in sorted(processes(program))]

    def kill(self, number, planned, kind, choice):
        end = time.monotonic() + 10
        while not (found := self.candidates(kind)) and time.monotonic() < end:
            time.sleep(0.02)  # the event provider exits and starts repeatedly
        if not found:
            log_line(f"kill {number} ({kind}, planned at {planned:.1f} s): no such process at this time")
            return
        pid, what = found[choice % len(found)]
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.kills.append((time.time(), kind, what))
        if kind in ("session host", "set host"):
            self.changes.append(time.time())
        log_line(f"kill {number} ({kind}, planned at {planned:.1f} s): {what}, process {pid}")
        wait_until_gone([pid])

    # ---- the campaign ----

    def remove_logs(self):
        for folder in (self.root, *self.folders.values()):
            shutil.rmtree(folder, ignore_errors=True)

    def prepare(self):
        self.remove_logs()
        for folder in (self.root, *self.folders.values()):
            os.makedirs(folder)
        for name, state in self.states().items():  # left by an interrupted campaign
            if name.startswith("campaign-"):
                if state != "plaStopped":
                    openpla("logman", "stop", name)
                openpla("logman", "delete", name)
        openpla("logman", "stop", SESSION, "-ets")
        self.temporary = set(watch.temporary_files())
        self.journal.forget()
        for one in self.sets:
            self.commit(one)
            if one.always:
                self.call("logman", "start", one.name)
        self.start_session()

    def run(self, plan):
        threads = [threading.Thread(target=function, daemon=True)
                   for function in (self.write_events, self.run_targets, self.run_scripts)]
        for thread in threads:
            thread.start()
        at = time.monotonic()
        every = {self.restart_stopped: (5, 5), self.configure: (30, 3), self.schedule: (60, 8), self.watch: (10, 0)}
        due = {function: at + first for function, (_, first) in every.items()}
        left = list(enumerate(plan, 1))
        while (now := time.monotonic()) < at + self.o.seconds:
            if left and now >= at + left[0][1][0]:
                number, (planned, kind, choice) = left.pop(0)
                self.attempt(self.kill, number, planned, kind, choice)
            for function, when in due.items():
                if now >= when:
                    due[function] = now + every[function][0]
                    self.attempt(function)
            time.sleep(0.1)
        self.over = True
        with open(self.end_file, "w", encoding="ascii"):
            pass
        for thread in threads:
            thread.join(300)

    def watch(self):
        self.attempt(self.journal.poll)
        self.growth.poll(time.monotonic())
        files = watch.shared_files()
        self.shared.append((len(files), sum(files.values())))
        if self.handles_due <= time.monotonic():
            self.handles_due = time.monotonic() + 60
            code, text = faults.wine(os.path.join(BIN, "soak_client.exe"), "handles", "open", "100")
            check(code == 0, f"the handles of all processes: {code}: {text}")
            self.growth.handles(text, time.monotonic())
        pid = watch.wineserver()
        if pid:
            self.server.append(watch.process_numbers(pid))
        for name in ("retention", "api"):
            folders = sets.numbered_folders(self.folders[name], "campaign-" + name)
            check(len(folders) <= sets.RETAINED + 2, f"{name}: {len(folders)} folders, {sets.RETAINED} are to be kept")

    def stop(self):
        self.changes.append(time.time())
        for name, state in self.states().items():
            if name.startswith("campaign-") and state != "plaStopped":
                self.call("logman", "stop", name, accepted=ALREADY)
        self.call("logman", "stop", SESSION, "-ets")
        end = time.monotonic() + 60
        while (left := processes("openplahost") + processes("openetwhost")) and time.monotonic() < end:
            time.sleep(0.5)
        about = [command_line(pid) for pid in left]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        check(not left, f"processes are left: {about}")

    # ---- checks after the end ----

    def boundaries(self, name):
        events = self.journal.of(name, watch.STARTED, watch.STOPPED, watch.STOPPED_BY_ERROR, watch.FAILED)
        return [event.time for event in events] + [when for when, _, what in self.kills if what == name]

    def reported(self, name):
        """Returns the lost samples that the journal reports. The last number of each run is its total."""
        total, run = 0, 0
        for event in self.journal.of(name, watch.STARTED, watch.LOST):
            if event.id == watch.STARTED:
                total, run = total + run, 0
            else:
                run = max(run, int(event.fields.get("Count", 0)))
        return total + run

    def sample_files(self, one):
        if one.kind == "retention":
            return [path for folder in sets.numbered_folders(self.folders["retention"], one.name)
                    for path in sorted(glob.glob(os.path.join(folder, "log*.tsv")))]
        return sorted(glob.glob(os.path.join(one.folder(self.root), "log*")))

    def check_samples(self, one):
        read = sets.alert_rows if one.kind == "alert" else lambda path: sets.samples(openpla, path, self.scratch)
        times = [when for path in self.sample_files(one) for when in read(path)]
        check(times, f"{one.name}: no samples")
        check(times == sorted(times), f"{one.name}: samples out of order")
        runs = sets.runs_of(times, self.boundaries(one.name))
        missing, reported = sum(sets.missing_in(run, one.interval) for run in runs), self.reported(one.name)
        log_line(f"{one.name}: {len(times)} samples in {len(runs)} runs, {missing} missing, {reported} reported as lost")
        check(missing <= reported, f"{one.name}: {missing} samples are missing, the journal reports {reported}")
        for when, _, what in self.kills:
            last = max((t for t in times if t <= when), default=None)
            recent = any(when - 10 <= b < when for b in self.boundaries(one.name))
            # A set host process that waits for a scheduled start has no run yet.
            idle = any(begin <= when <= end for begin, end in self.journal.pauses(one.name))
            if what == one.name and one.kind != "retention" and last and not recent and not idle:
                check(when - last <= one.interval + 2.5, f"{one.name}: the host was killed at {when:.3f}, the last sample is "
                      f"of {last:.3f}")
        return len(times)

    def check_traces(self):
        for what, files, names in (
                ("the set's session", glob.glob(os.path.join(self.by_name("trace").folder(self.root), "*.etl")),
                 ("campaign-trace",)),
                ("the other session", glob.glob(os.path.join(self.root, "session*.etl")), ())):
            events = [event for path in sorted(files) for event in sets.trace_events(openpla, path)]
            changes = self.changes + [t for name in names for t in self.boundaries(name)]
            down = [pause for name in names for pause in self.journal.pauses(name)]
            result = self.attempt(sets.check_events, what, events, self.writers, changes, down)
            if result:
                log_line(f"{what}: {len(events)} events in {len(files)} logs; {result[0]} of {len(self.writers)} writers "
                         f"undisturbed, with {result[1]} events")

    def check_schedule(self):
        starts = [event.time for event in self.journal.of("campaign-schedule", watch.STARTED)]
        missed = [event.time for event in self.journal.of("campaign-schedule", watch.MISSED)]
        late = []
        for when in self.due:
            near = [s for s in starts if when - 1 <= s <= when + SCHEDULE_LATE]
            if near:
                late.append(near[0] - when)
            else:
                check(any(when - 1 <= m <= when + 400 for m in missed), f"the set was not started at {when}, and no event "
                      "reports that")
        log_line(f"{len(self.due)} scheduled starts, the latest {max(late, default=0):.1f} s late, {len(missed)} reported as missed")

    def check_deaths(self):
        """Checks that the journal reports the end of each run whose set host process was killed."""
        for when, kind, name in self.kills:
            if kind == "set host" and not name.startswith("campaign-script"):
                ends = self.journal.of(name, watch.STOPPED_BY_ERROR, watch.STOPPED, watch.FAILED)
                check(any(when - 2 <= event.time <= when + 120 for event in ends), f"{name}: its host was killed at {when:.3f}, "
                      "the journal does not report the end of the run")

    def check_other_kinds(self):
        killed = sum(1 for _, kind, what in self.kills if what == "campaign-configuration")
        count = self.attempt(sets.check_configurations, self.by_name("configuration").folder(self.root), killed)
        calls = [self.attempt(sets.check_api_log, openpla, path)
                 for folder in sets.numbered_folders(self.folders["api"], "campaign-api")
                 for path in sorted(glob.glob(os.path.join(folder, "*.etl")))]
        check(any(calls), f"no log of the traced program has calls: {calls}")
        log_line(f"{count} configurations, {len(calls)} logs of calls with {sum(filter(None, calls))} calls")

    def check_leftovers(self):
        for name in self.states():
            if name.startswith("campaign-"):
                self.call("logman", "delete", name)
        files = watch.shared_files()
        sections = [name for name in files if not name.startswith("openetw7-") and name != "prefix"]
        check(not sections, f"sections are left: {sections}")
        files = set(watch.temporary_files()) - self.temporary
        check(not files, f"temporary files are left: {sorted(files)}")

    def check_growth(self):
        for line in (self.attempt(self.growth.check) or []) + (self.attempt(self.growth.check_handles) or []):
            log_line(line)
        if self.shared:
            half = self.shared[len(self.shared) // 4:]
            log_line(f"shared memory: {self.shared[0][0]} files and {self.shared[0][1] / 1e6:.1f} MB at first, at most "
                     f"{max(f for f, _ in self.shared)} and {max(b for _, b in self.shared) / 1e6:.1f} MB, at last "
                     f"{self.shared[-1][0]} and {self.shared[-1][1] / 1e6:.1f} MB")
            check(self.shared[-1][0] <= half[0][0] + 4, "the number of files in shared memory has grown")
        if len(self.server) > 12:
            first, last = self.server[len(self.server) // 4], self.server[-1]
            log_line(f"wineserver: {first[0]} descriptors and {first[1] / 1e6:.1f} MB after a quarter, {last[0]} and "
                     f"{last[1] / 1e6:.1f} MB at last")
            check(last[0] <= first[0] + 300 and last[1] <= first[1] + 48e6, "the wineserver has grown")

    def check_all(self):
        self.attempt(self.journal.poll)
        for text in self.journal.disordered[:5]:
            self.finding(f"{len(self.journal.disordered)} events out of order: {text}")
        for one in self.sets:
            if one.interval:
                self.counts["samples"] = self.counts.get("samples", 0) + (self.attempt(self.check_samples, one) or 0)
            self.attempt(self.journal.check_order, one.name)
        for function in (self.check_traces, self.check_schedule, self.check_deaths, self.check_other_kinds, self.check_growth,
                         self.check_leftovers):
            self.attempt(function)

    def summary(self, plan):
        print(f"\nSeed {self.o.seed}, {self.o.seconds} s, a kill every {self.o.kill_every} s; load at the end: "
              f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        by_kind = {kind: sum(k == kind for _, k, _ in self.kills) for kind in KINDS}
        print(f"{len(self.kills)} of {len(plan)} planned kills: " + ", ".join(f"{n} x {kind}" for kind, n in by_kind.items()))
        print(", ".join(f"{n} {what}" for what, n in self.counts.items()) +
              f", {len(self.journal.events)} events in the journal, {len(self.journal.torn)} incomplete lines")
        print(f"{len(self.findings)} findings")
        for text in self.findings:
            print("  " + text)


def make_plan(o):
    """Returns (second, kind, choice) of each kill. The time is random within its interval."""
    source = random.Random(o.seed)
    plan = []
    for i in range(1, int(o.seconds / o.kill_every)):
        plan.append(((i + source.random() * 0.8) * o.kill_every, source.choice(KINDS), source.randrange(1 << 16)))
    return plan


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=12 * 3600)
    parser.add_argument("--hours", type=float)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--kill-every", type=float, default=60)
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--keep-logs", action="store_true")
    o = parser.parse_args()
    if o.hours:
        o.seconds = int(o.hours * 3600)
    plan = make_plan(o)
    for number, (when, kind, choice) in enumerate(plan, 1):
        if o.plan:
            print(f"{number} {when:.1f} s {kind} {choice}")
    if o.plan:
        return
    log_line(f"seed {o.seed}, {o.seconds} s, {len(plan)} kills")
    campaign = Campaign(o)
    try:
        campaign.prepare()
        campaign.run(plan)
    finally:
        campaign.over = True
        campaign.attempt(campaign.stop)
        campaign.attempt(campaign.check_all)
        campaign.summary(plan)
        if not (o.keep_logs and campaign.findings):
            campaign.remove_logs()
        shutil.rmtree(campaign.scratch, ignore_errors=True)
    sys.exit(1 if campaign.findings else 0)


main()
