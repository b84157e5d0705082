#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""campaign.py BUILD [TARGET ...] [--runs N] [--hours H] [--slice S] [--jobs J] [--until HH:MM] [--merge] [--report]

Runs the fuzz targets in BUILD/bin for hours, all of them or those named (docs/developer/campaign.md), until each has run
N inputs (10,000,000) or for H hours of processor time (8). The targets take turns of S seconds (300), the one with the
fewest runs first, J at a time (1), at idle priority. BUILD/campaign keeps the state, so a second call continues:
counts.json has each target's runs, processor seconds and turns, and corpus/TARGET has the inputs that reached new code.
The seed of a turn is its number.

An input that fails is BUILD/campaign/failed/TARGET-..., and BUILD/bin/TARGET with its path runs only that input; the target
gets no further turn until the file is removed. Exit code 1: a target has failed.

--until HH:MM  start no turn that would end after this time
--merge        instead of fuzzing, reduce each corpus to the inputs that are needed for its coverage
--report       instead of fuzzing, print the counts as a Markdown table"""
import argparse
import concurrent.futures
import datetime
import glob
import json
import os
import re
import shutil
import subprocess
import sys


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("target", nargs="*")
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--hours", type=float, default=8)
    parser.add_argument("--slice", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--until", type=lambda text: datetime.datetime.combine(
        datetime.date.today(), datetime.time.fromisoformat(text)))
    parser.add_argument("--merge", action="store_true")
    parser.add_argument("--report", action="store_true")
    return parser.parse_args()


def commands_from_ctest(build):
    """The command of each target's short run in the test suite: it names the seeds and the dictionary."""
    output = subprocess.run(["ctest", "--test-dir", build, "-R", r"\.smoke$", "--show-only=json-v1"],
                            capture_output=True, text=True, check=True).stdout
    return {test["name"].removesuffix(".smoke"): test["command"] for test in json.loads(output)["tests"]
            if os.path.basename(test.get("command", ["-"])[0]).startswith("fuzz_")}


class Campaign:
    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = os.path.join(os.path.abspath(arguments.build), "campaign")
        self.counts_file = os.path.join(self.folder, "counts.json")
        for name in ("corpus", "failed", "log", "scratch"):
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        self.commands = commands_from_ctest(arguments.build)
        unknown = set(arguments.target) - set(self.commands)
        if unknown:
            sys.exit(f"campaign.py: no fuzz target '{sorted(unknown)[0]}' (known: {' '.join(sorted(self.commands))})")
        self.targets = sorted(arguments.target or self.commands)
        self.counts = {}
        if os.path.exists(self.counts_file):
            with open(self.counts_file, encoding="utf-8") as file:
                self.counts = json.load(file)
        for name in self.commands:
            self.counts.setdefault(name, {"runs": 0, "seconds": 0.0, "turns": 0})

    def failures(self, name):
        return glob.glob(os.path.join(self.folder, "failed", f"{name}-*"))

    def is_open(self, name):
        count = self.counts[name]
        return (count["runs"] < self.arguments.runs and count["seconds"] < self.arguments.hours * 3600
                and not self.failures(name))

    def run(self, name, options, log):
        """Runs the target once; returns its processor seconds."""
        # Keeps the seeds and the dictionary of the short run; the campaign sets the other options.
        kept = [word for word in self.commands[name][1:]
                if not re.match(r"-(runs|max_total_time|error_exitcode)=", word)]
        scratch = os.path.join(self.folder, "scratch", name)
        os.makedirs(scratch, exist_ok=True)
        with open(os.path.join(self.folder, "log", f"{name}.{log}"), "wb") as output:
            process = subprocess.Popen(
                [self.commands[name][0], *kept, "-rss_limit_mb=2048", *options], cwd=scratch, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT,
                env=os.environ | {"ASAN_OPTIONS": "quarantine_size_mb=16:malloc_context_size=4"},
                preexec_fn=lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)))
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        shutil.rmtree(scratch, ignore_errors=True)
        return usage.ru_utime + usage.ru_stime, process.returncode

    def corpus(self, name):
        folder = os.path.join(self.folder, "corpus", name)
        os.makedirs(folder, exist_ok=True)
        return folder

    def remove_fast_units(self, name):
        """libFuzzer keeps an input as a slow unit if it took 10 seconds, which at idle priority on a busy machine happens to
        any input. Keeps only those that take a second of processor time."""
        for path in glob.glob(os.path.join(self.folder, "failed", f"{name}-slow-unit-*")):
            seconds, code = self.run(name, [path], "slow")
            if not code and seconds < 1:
                os.remove(path)

    def run_turn(self, name):
        count = self.counts[name]
        seconds, code = self.run(name, [
            f"-seed={count['turns'] + 1}", f"-runs={self.arguments.runs - count['runs']}",
            f"-max_total_time={self.arguments.slice}", "-print_final_stats=1",
            "-artifact_prefix=" + os.path.join(self.folder, "failed", f"{name}-"), self.corpus(name)], "fuzz")
        with open(os.path.join(self.folder, "log", f"{name}.fuzz"), encoding="utf-8", errors="replace") as log:
            text = log.read()
        executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
        count["runs"] += int(executed[1]) if executed else 0
        count["seconds"] += seconds
        count["turns"] += 1
        self.remove_fast_units(name)
        if code and not self.failures(name):
            # The target failed but saved no input, so keep its output.
            with open(os.path.join(self.folder, "failed", f"{name}-exit-{code}"), "w", encoding="utf-8") as file:
                file.write(text[-20000:])
        print(f"{name}: {count['runs']:,} runs, {count['seconds'] / 3600:.2f} h"
              + (": failed, see " + self.failures(name)[0] if self.failures(name) else ""), flush=True)

    def write_counts(self):
        with open(self.counts_file + ".new", "w", encoding="utf-8") as file:
            json.dump(self.counts, file, indent=1, sort_keys=True)
        os.replace(self.counts_file + ".new", self.counts_file)

    def fuzz(self):
        running = {}
        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as pool:
            while True:
                late = self.arguments.until and (
                    datetime.datetime.now() + datetime.timedelta(seconds=self.arguments.slice) > self.arguments.until)
                waiting = sorted((name for name in self.targets if self.is_open(name) and name not in running.values()),
                                 key=lambda name: self.counts[name]["runs"])
                for name in waiting[:0 if late else self.arguments.jobs - len(running)]:
                    running[pool.submit(self.run_turn, name)] = name
                if not running:
                    break
                done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    del running[future]
                    future.result()
                self.write_counts()

    def merge(self):
        for name in self.targets:
            old = self.corpus(name)
            new = old + ".merged"
            shutil.rmtree(new, ignore_errors=True)
            os.makedirs(new)
            before = len(os.listdir(old))
            _, code = self.run(name, ["-merge=1", new, old], "merge")
            if code:
                print(f"{name}: the merge failed, see log/{name}.merge", flush=True)
                shutil.rmtree(new)
                continue
            shutil.rmtree(old)
            os.rename(new, old)
            print(f"{name}: {before} -> {len(os.listdir(old))} inputs", flush=True)

    def report(self):
        print("| target | runs | processor hours | turns | corpus |\n|---|---:|---:|---:|---:|")
        for name in self.targets:
            count = self.counts[name]
            inputs = [entry.stat().st_size for entry in os.scandir(self.corpus(name))]
            print(f"| {name} | {count['runs']:,} | {count['seconds'] / 3600:.2f} | {count['turns']} | "
                  f"{len(inputs)} inputs, {sum(inputs) / 1024:.0f} kB |")
        print(f"\n{sum(self.counts[name]['runs'] for name in self.targets):,} runs in "
              f"{sum(self.counts[name]['seconds'] for name in self.targets) / 3600:.1f} processor hours")


def main():
    campaign = Campaign(parse_arguments())
    if campaign.arguments.report:
        campaign.report()
    elif campaign.arguments.merge:
        campaign.merge()
    else:
        campaign.fuzz()
    failed = sorted(name for name in campaign.targets if campaign.failures(name))
    for name in failed:
        print(f"failed: {name}: {' '.join(campaign.failures(name))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
