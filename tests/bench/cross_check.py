#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares counters with the host OS's own tools over the same time: cross_check.py OPENPLA [SECONDS]

OPENPLA is the openpla program of a native build. Each line shows the counter, our value, the tool's value, the tool,
and the tolerance. Rates cover the whole time; the tools begin and end some milliseconds before or after us. Tools that
are not installed are listed and skipped. Exit code 1 if a line exceeds its tolerance.
"""
import csv
import glob
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import arguments


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=True,
                          env=dict(os.environ, LC_ALL="C", COLUMNS="500")).stdout


def proc(path):
    return open("/proc/" + path).read()


def keyed(path):
    return {k.rstrip(":"): int(v) for k, v in re.findall(r"^(\S+)\s+(\d+)", proc(path), re.M)}


def snmp():
    lines = proc("net/snmp").splitlines()
    return {f"{names.split(':')[0]}.{k}": int(v) for names, values in zip(lines[::2], lines[1::2])
            for k, v in zip(names.split()[1:], values.split()[1:])}


def nstat():
    """Reads the IPv6 statistics that iproute2 prints."""
    return {k: int(v) for k, v in re.findall(r"^(\S*6\S+)\s+(\d+)", run("nstat", "-asz"), re.M)} if shutil.which("nstat") else None


def links():
    return {link["ifname"]: link.get("stats64", link.get("stats"))
            for link in json.loads(run("ip", "-s", "-j", "link"))} if shutil.which("ip") else None


def pressure():
    """Returns microseconds of waiting by resource and kind."""
    return {name: {line.split()[0]: int(line.rsplit("=", 1)[1]) for line in proc("pressure/" + name).splitlines()}
            for name in sorted(os.listdir("/proc/pressure"))} if os.path.isdir("/proc/pressure") else {}


def sleep():
    """Returns the time in an idle state and the number of entries: for C1, for C2, and for C3 and deeper together.
    Both are sums over all processors. None if unavailable."""
    found = {}
    for state in glob.glob("/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state*"):
        name, slept, entered = (open(f"{state}/{file}").read().strip() for file in ("name", "time", "usage"))
        number = re.match(r"C(\d+)", name)
        if number and int(number[1]):
            total = found.setdefault(f"C{min(int(number[1]), 3)}", [0, 0])
            total[0] += int(slept)
            total[1] += int(entered)
    return found or None


def own_group():
    """Returns the processor time of our control group in seconds. Reads it from version 1 if the cpuacct controller is
    there, otherwise from version 2."""
    groups = [line.split(":", 2) for line in proc("self/cgroup").splitlines()]
    for _, controllers, path in groups:
        if "cpuacct" in controllers.split(","):
            return int(open(f"/sys/fs/cgroup/cpuacct{path}/cpuacct.usage").read()) / 1e9
    for _, controllers, path in groups:
        if not controllers and os.path.exists(f"/sys/fs/cgroup{path}/cpu.stat"):
            return int(open(f"/sys/fs/cgroup{path}/cpu.stat").read().split()[1]) / 1e6
    return None


def zones():
    """Returns the temperature in kelvins by zone type, for types that only one zone has."""
    found = {}
    for zone in glob.glob("/sys/class/thermal/thermal_zone*"):
        try:
            found.setdefault(open(zone + "/type").read().strip(), []).append(int(open(zone + "/temp").read()) / 1000 + 273)
        except OSError:
            pass
    return {kind: kelvins[0] for kind, kelvins in found.items() if len(kelvins) == 1}


def shares():
    """Returns SMBs and bytes read by share, as the kernel's SMB client counts them; {} if it is not loaded."""
    if not os.path.exists("/proc/fs/cifs/Stats"):
        return {}
    parts = re.split(r"^\d+\) \\\\\\\\", proc("fs/cifs/Stats"), flags=re.M)[1:]
    return {re.sub(r"[\\/#]", "_", part.splitlines()[0].split("\t")[0].strip()):
            (int(re.search(r"SMBs: (\d+)", part)[1]), int(re.search(r"Bytes(?: read)?: *(\d+)", part)[1])) for part in parts}


def samba():
    """Returns sessions, open files and connections by share from smbstatus; None without a server or root's rights."""
    if not shutil.which("smbstatus") or not os.access("/run/samba/smbXsrv_session_global.tdb", os.R_OK):
        return None
    reported = json.loads(run("smbstatus", "--json"))
    shares = [t["service"] for t in reported["tcons"].values()]
    return {"sessions": len(reported["sessions"]), "shares": {name: shares.count(name) for name in set(shares)},
            "files": sum(len(f["opens"]) for f in reported["open_files"].values())}


def luid(slot):
    domain, bus, device, function = (int(part, 16) for part in re.split("[:.]", slot))
    return f"luid_0x00000000_0x{domain << 16 | bus << 8 | device << 3 | function:08X}_phys_0"


def cards():
    """Returns the bytes in use of graphics cards whose driver reports them."""
    found = {}
    for file in glob.glob("/sys/class/drm/card*/device/mem_info_vram_used"):
        slot = re.search(r"PCI_SLOT_NAME=(\S+)", open(os.path.dirname(file) + "/uevent").read())
        if slot:
            found[luid(slot[1])] = int(open(file).read())
    return found


def engines():
    """Returns the busy nanoseconds of the first graphics engine, by process. Includes only processes that have exactly
    one file of a graphics driver open."""
    found = {}
    for folder in glob.glob("/proc/[0-9]*/fdinfo") if os.path.isdir("/sys/class/drm") else ():
        texts = []
        try:
            texts = [text for text in (open(f"{folder}/{file}").read() for file in os.listdir(folder)) if "drm-driver" in text]
        except OSError:
            pass
        if len(texts) == 1:
            slot = re.search(r"drm-pdev:\s*(\S+)", texts[0])
            busy = re.search(r"drm-engine-(render|gfx):\s*(\d+) ns", texts[0])
            if slot and busy and re.search(r"drm-engine-(?!capacity)([^:]+)", texts[0])[1] == busy[1]:
                found[f"pid_{folder.split('/')[2]}_{luid(slot[1])}_eng_0_engtype_3D"] = int(busy[2])
    return found


def parse_numactl():
    if not shutil.which("numactl"):
        return None
    return {key: int(re.search(rf"^node 0 {key}: (\d+)", run("numactl", "-H"), re.M)[1]) for key in ("size", "free")}


def totals():
    """Returns the current cumulative counts. The caller reads them at the beginning and at the end."""
    stat = proc("stat")
    return {"time": time.monotonic(), "stat": {line.split()[0]: line.split()[1:] for line in stat.splitlines()},
            "vmstat": keyed("vmstat"), "snmp": snmp(), "links": links(), "nstat": nstat(), "pressure": pressure(), "sleep": sleep(),
            "own group": own_group(), "shares": shares(), "engines": engines(),
            "card_interrupts": card_interrupts()}


def interrupts(t):
    return int(t["stat"]["intr"][0])


def card_interrupts():
    """Returns interrupt counts by "processor, card", for network cards that have their own interrupts or are on the
    virtio bus."""
    found = {}
    first, *lines = [line.split() for line in proc("interrupts").splitlines()]
    for card in os.listdir("/sys/class/net"):
        folder = f"/sys/class/net/{card}/device"
        numbers = os.listdir(folder + "/msi_irqs") if os.path.isdir(folder + "/msi_irqs") else []
        device = os.path.basename(os.path.realpath(folder))
        own = [line for line in lines if line[0].rstrip(":") in numbers or
               (device.startswith("virtio") and line[-1].startswith(device + "-"))]
        for i, processor in enumerate(first if own else ()):
            found[f"{processor.removeprefix('CPU')}, {card}"] = sum(int(line[i + 1]) for line in own)
    return found


class Table:
    def __init__(self):
        self.lines = []

    def add(self, counter, theirs, tool, absolute=0.0, share=0.0):
        self.lines.append((counter, float(theirs), tool, absolute, share))


def checks(before, after, at_end, iostat, top, pidstat):
    t = Table()
    span = after["time"] - before["time"]

    def rate(get):
        return (get(after) - get(before)) / span

    cpu = [[int(x) for x in t_["stat"]["cpu"]] for t_ in (before, after)]
    spent = [b - a for a, b in zip(*cpu)]
    t.add(r"\Processor(_Total)\% Idle Time", 100 * (spent[3] + spent[4]) / sum(spent[:8]), "/proc/stat", 3)
    t.add(r"\Processor Information(_Total)\% Idle Time", 100 * (spent[3] + spent[4]) / sum(spent[:8]), "/proc/stat", 3)
    if at_end["mhz"]:
        t.add(r"\Processor Information(0,0)\Processor Frequency", at_end["mhz"], "/proc/cpuinfo", 1, 0.2)
    if pidstat:
        t.add(rf"\Process({WORKER})\% Processor Time", pidstat["%CPU"], "pidstat", 5, 0.1)
        t.add(rf"\Thread({WORKER}/0)\% Processor Time", pidstat["%CPU"], "pidstat", 5, 0.1)
        t.add(rf"\Thread({WORKER}/0)\Context Switches/sec", pidstat["cswch/s"] + pidstat["nvcswch/s"], "pidstat -w", 10, 0.2)
    swap = at_end["swap"] or (1, 0)
    t.add(r"\Paging File(_Total)\% Usage", 100 * swap[1] / swap[0], "swapon", 1, 0.05)
    if top:
        t.add(r"\Processor(_Total)\% User Time", top["us"] + top["ni"], "top", 5)
        t.add(r"\Processor(_Total)\% Privileged Time", top["sy"] + top["hi"] + top["si"], "top", 5)
    t.add(r"\Processor(_Total)\Interrupts/sec", rate(interrupts), "/proc/stat intr", 50, 0.15)
    t.add(r"\System\Context Switches/sec", rate(lambda x: int(x["stat"]["ctxt"][0])), "/proc/stat ctxt", 50, 0.15)
    t.add(r"\System\System Up Time", float(proc("uptime").split()[0]), "/proc/uptime", 3)
    t.add(r"\Memory\Page Faults/sec", rate(lambda x: x["vmstat"]["pgfault"]), "/proc/vmstat", 200, 0.25)
    t.add(r"\Memory\Page Reads/sec", rate(lambda x: x["vmstat"]["pgmajfault"]), "/proc/vmstat", 20, 0.25)
    t.add(r"\Memory\Commit Limit", keyed("meminfo")["CommitLimit"] * 1024, "/proc/meminfo")
    t.add(r"\Cache\Lazy Write Pages/sec", rate(lambda x: x["vmstat"]["nr_written"]), "/proc/vmstat", 200, 0.25)
    t.add(r"\Memory\Transition Pages RePurposed/sec",
          rate(lambda x: x["vmstat"]["pgsteal_kswapd"] + x["vmstat"]["pgsteal_direct"]), "/proc/vmstat", 200, 0.25)
    for counter, key in ((r"\Memory\Pool Paged Bytes", "SReclaimable"), (r"\Memory\Pool Paged Resident Bytes", "SReclaimable"),
                         (r"\Memory\Standby Cache Normal Priority Bytes", "Inactive(file)")):
        t.add(counter, keyed("meminfo")[key] * 1024, "/proc/meminfo", 50 << 20, 0.05)
    for resource, kinds in after["pressure"].items():
        for kind, total in kinds.items():
            t.add(rf"\Pressure({resource})\% {kind.title()} Time",
                  100 * (total - before["pressure"][resource][kind]) / 1e6 / span, "/proc/pressure", 5, 0.2)
    for card in before["card_interrupts"].keys() & after["card_interrupts"].keys():
        t.add(rf"\Per Processor Network Interface Card Activity({card})\Interrupts/sec",
              rate(lambda x: x["card_interrupts"][card]), "/proc/interrupts", 5, 0.15)
    reported = at_end.get("samba")
    if reported:
        t.add(r"\Server\Server Sessions", reported["sessions"], "smbstatus")
        t.add(r"\Server\Files Open", reported["files"], "smbstatus")
        t.add(r"\SMB Server Sessions(_Total)\Tree Connect Count", sum(reported["shares"].values()), "smbstatus")
        for name, count in reported["shares"].items():
            t.add(rf"\SMB Server Shares({name})\Tree Connect Count", count, "smbstatus")
    for share in before["shares"].keys() & after["shares"].keys():
        t.add(rf"\SMB Client Shares({share})\Read Bytes/sec", rate(lambda x: x["shares"][share][1]), "/proc/fs/cifs", 5000, 0.15)
    if before["shares"] and after["shares"]:
        t.add(r"\Redirector\Packets Transmitted/sec",
              rate(lambda x: sum(smbs for smbs, _ in x["shares"].values())), "/proc/fs/cifs", 5, 0.15)
    for card, used in cards().items():
        t.add(rf"\GPU Adapter Memory({card})\Dedicated Usage", used, "/sys/class/drm", 10 << 20, 0.1)
    for engine in before["engines"].keys() & after["engines"].keys():
        t.add(rf"\GPU Engine({engine})\Utilization Percentage",
              100 * rate(lambda x: x["engines"][engine]) / 1e9, "fdinfo", 5, 0.2)
    if after["own group"] is not None:
        t.add(r"\Control Group(own)\% Processor Time", 100 * rate(lambda x: x["own group"]), "the group's files", 20, 0.2)
    if at_end["numactl"]:
        t.add(r"\NUMA Node Memory(0)\Total MBytes", at_end["numactl"]["size"], "numactl -H", 1)
        t.add(r"\NUMA Node Memory(0)\Free & Zero Page List MBytes", at_end["numactl"]["free"], "numactl -H", 100, 0.02)
    for zone, kelvin in zones().items():
        t.add(rf"\Thermal Zone Information({zone})\Temperature", kelvin, "/sys/class/thermal", 5)
    if at_end["mhz"]:
        t.add(r"\Processor Performance(PPM_Processor_0)\Processor Frequency", at_end["mhz"], "/proc/cpuinfo", 1, 0.2)
    for depth, (slept, entered) in (after["sleep"] or {}).items():
        was = before["sleep"][depth]
        t.add(rf"\Processor(_Total)\% {depth} Time", (slept - was[0]) / 1e4 / span / os.cpu_count(), "cpuidle", 3)
        t.add(rf"\Processor(_Total)\{depth} Transitions/sec", (entered - was[1]) / span, "cpuidle", 50, 0.15)
    t.add(r"\Cache\Dirty Pages", keyed("vmstat")["nr_dirty"], "/proc/vmstat", 2000, 0.3)
    if at_end["free"]:
        t.add(r"\Memory\Available Bytes", at_end["free"]["available"], "free -b", 100 << 20, 0.02)
        t.add(r"\Memory\Cache Bytes", at_end["free"]["buff/cache"], "free -b", 50 << 20, 0.05)
        t.add(r"\Memory\Free & Zero Page List Bytes", at_end["free"]["free"], "free -b", 100 << 20, 0.02)
    if at_end["ps"]:
        t.add(r"\Objects\Processes", at_end["ps"][0], "ps -e", 12, 0.05)
        t.add(r"\Objects\Threads", at_end["ps"][1], "ps -eL", 20, 0.1)
        t.add(r"\Process(_Total)\Working Set", at_end["ps"][2] * 1024, "ps -o rss", 100 << 20, 0.1)
    if at_end["df"]:
        t.add(r"\LogicalDisk(Z:)\Free Megabytes", at_end["df"], "df /", 100, 0.01)
    if at_end["ss"]:
        t.add(r"\TCPv4\Connections Established", at_end["ss"][0], "ss -t4", 4)
        t.add(r"\TCPv6\Connections Established", at_end["ss"][1], "ss -t6", 4)
    for counter, key in ((r"\IPv4\Datagrams Received/sec", "Ip.InReceives"), (r"\TCPv4\Segments Sent/sec", "Tcp.OutSegs"),
                         (r"\UDPv4\Datagrams Sent/sec", "Udp.OutDatagrams"), (r"\ICMP\Messages Sent/sec", "Icmp.OutMsgs")):
        t.add(counter, rate(lambda x, k=key: x["snmp"][k]), "/proc/net/snmp", 5, 0.15)
    for counter, key in (((r"\IPv6\Datagrams Received/sec", "Ip6InReceives"), (r"\UDPv6\Datagrams Sent/sec", "Udp6OutDatagrams"),
                          (r"\ICMPv6\Messages Sent/sec", "Icmp6OutMsgs")) if after["nstat"] else ()):
        t.add(counter, rate(lambda x, k=key: x["nstat"][k]), "nstat", 5, 0.15)
    for name in after["links"] or {}:
        if name != "lo":
            t.add(rf"\Network Interface({name})\Bytes Received/sec",
                  rate(lambda x, n=name: x["links"][n]["rx"]["bytes"]), "ip -s link", 2000, 0.15)
            t.add(rf"\Network Interface({name})\Packets Sent/sec",
                  rate(lambda x, n=name: x["links"][n]["tx"]["packets"]), "ip -s link", 5, 0.15)
    if iostat:
        t.add(r"\PhysicalDisk(_Total)\Disk Reads/sec", iostat["r/s"], "iostat -x", 10, 0.2)
        t.add(r"\PhysicalDisk(_Total)\Disk Writes/sec", iostat["w/s"], "iostat -x", 10, 0.2)
        t.add(r"\PhysicalDisk(_Total)\Disk Write Bytes/sec", iostat["wkB/s"] * 1024, "iostat -x", 200000, 0.2)
        t.add(r"\PhysicalDisk(_Total)\% Idle Time", 100 - iostat["%util"], "iostat -x", 5)
    return t.lines


def parse_free():
    names, values = run("free", "-b", "-w").splitlines()[:2]
    v = dict(zip(names.split(), map(int, values.split()[1:])))
    v["buff/cache"] = v["buffers"] + v["cache"]
    return v


def parse_iostat(text):
    """Returns the columns of iostat's second report, summed over the physical disks; %util is their mean."""
    report = text.split("Device")[-1].splitlines()
    names = report[0].split()
    rows = [dict(zip(names, map(float, line.split()[1:]))) for line in report[1:]
            if line and os.path.exists(f"/sys/block/{line.split()[0]}/device")]
    total = {n: sum(r[n] for r in rows) for n in names}
    total["%util"] /= max(len(rows), 1)
    return total


def parse_top(text):
    line = [x for x in text.splitlines() if x.startswith("%Cpu")][-1]
    return {k: float(v) for v, k in re.findall(r"([\d.]+)\s+(\w\w)", line)}


def parse_swapon():
    """Returns size and use of all swap space; None if there is none."""
    rows = [list(map(int, line.split())) for line in
            run("swapon", "--show=SIZE,USED", "--bytes", "--noheadings").splitlines()] if shutil.which("swapon") else []
    return [sum(column) for column in zip(*rows)] if rows else None


def parse_pidstat(text):
    names = next(line for line in text.splitlines() if line.startswith("#")).split()[1:]
    values = text.strip().splitlines()[-1].split()
    return {k: float(v) for k, v in zip(names, values) if re.fullmatch(r"[\d.]+", v)}


WORKER = "crosscheck"
# A process with its own name that works a third of the time and waits some hundred times a second.
WORKER_CODE = f"""import time
open("/proc/self/comm", "w").write("{WORKER}")
while True:
    end = time.monotonic() + 0.003
    while time.monotonic() < end:
        pass
    time.sleep(0.006)
"""


class Traffic:
    """Creates loopback connections, and datagrams over them, so that the protocol counters change."""

    def __init__(self):
        self.ends, self.stop = [], threading.Event()
        for family, address, count in ((socket.AF_INET, "127.0.0.1", 3), (socket.AF_INET6, "::1", 2)):
            try:
                listener = socket.create_server((address, 0), family=family)
            except OSError:
                continue
            for _ in range(count):
                client = socket.create_connection(listener.getsockname()[:2])
                self.ends += [client, listener.accept()[0]]
            self.ends.append(listener)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        try:
            udp6 = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            udp6.bind(("::1", 0))
        except OSError:
            udp6 = None
        while not self.stop.wait(0.01):
            udp.sendto(b"x" * 100, udp.getsockname())
            udp.recv(200)
            self.ends[0].send(b"y" * 100)
            self.ends[1].recv(100)
            udp.sendto(b"x", ("127.0.0.1", 9))  # no socket listens there, so the kernel sends an ICMP message
            if udp6:
                udp6.sendto(b"x" * 100, udp6.getsockname())
                udp6.recv(200)
                udp6.sendto(b"x", ("::1", 9))

    def end(self):
        self.stop.set()
        self.thread.join()


def main():
    openpla, span = arguments.parse_arguments(__doc__, ("OPENPLA", arguments.program), ("SECONDS", arguments.number, 10))
    names = {counter for counter, *_ in checks(totals(), dict(totals(), time=time.monotonic() + 1),
                                               {"free": {"available": 0, "buff/cache": 0, "free": 0}, "ps": (1, 1, 1),
                                                "df": 1, "ss": (1, 1), "samba": samba(), "swap": parse_swapon(), "mhz": 1, "numactl": parse_numactl()},
                                               {"r/s": 0, "w/s": 0, "wkB/s": 0, "%util": 0},
                                               {k: 0 for k in ("us", "ni", "sy", "hi", "si")},
                                               {k: 0 for k in ("%CPU", "cswch/s", "nvcswch/s")})}
    traffic = Traffic()
    worker = subprocess.Popen([sys.executable, "-c", WORKER_CODE])
    while proc(f"{worker.pid}/comm").strip() != WORKER:
        time.sleep(0.05)
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/counters", "w") as f:
            f.write("\n".join(sorted(names)) + "\n")
        ours = subprocess.Popen([openpla, "typeperf", "-cf", folder + "/counters", "-si", str(span), "-sc", "2",
                                 "-f", "CSV", "-o", folder + "/log.csv", "-y"], stdout=subprocess.DEVNULL)
        tools = {name: subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, LC_ALL="C", COLUMNS="500"))
                 for name, arguments in (("iostat", ["iostat", "-dxk", str(span), "2"]),
                                         ("top", ["top", "-b", "-n", "2", "-d", str(span)]),
                                         ("pidstat", ["pidstat", "-h", "-u", "-w", "-p", str(worker.pid), str(span), "1"]))
                 if shutil.which(name)}
        before = totals()
        time.sleep(span)
        after = totals()
        mhz = re.search(r"^cpu MHz\s*: ([\d.]+)", proc("cpuinfo"), re.M)
        at_end = {"samba": samba(), "swap": parse_swapon(), "numactl": parse_numactl(), "mhz": float(mhz[1]) if mhz else None,
                  "free": parse_free() if shutil.which("free") else None,
                  "ps": (len(run("ps", "-e").splitlines()) - 1, len(run("ps", "-eL").splitlines()) - 1,
                         sum(map(int, run("ps", "-eo", "rss=").split()))) if shutil.which("ps") else None,
                  "df": int(run("df", "-B1M", "--output=avail", "/").split()[1]) if shutil.which("df") else None,
                  "ss": tuple(len(run("ss", "-Htn", family, "state", "established", "state", "close-wait").splitlines())
                              for family in ("-4", "-6")) if shutil.which("ss") else None}
        texts = {name: tool.communicate()[0] for name, tool in tools.items()}
        ours.wait()
        header, *rows = csv.reader(open(folder + "/log.csv", newline=""))
    traffic.end()
    worker.kill()
    worker.wait()
    values = {re.sub(r"^\\\\[^\\]+", "", name): value for name, value in zip(header, rows[-1])}
    bad = 0
    for tool in ("free", "ps", "df", "ss", "ip", "iostat", "top", "pidstat", "nstat", "swapon", "numactl"):
        if not shutil.which(tool):
            print(f"{tool}: not installed, skipped")
    for what, there in (("graphics card", cards() or after["engines"]), ("mount of another computer's files", after["shares"]),
                        ("server of Samba's that may be asked", at_end["samba"])):
        if not there:
            print(f"no {what} here: its objects are skipped")
    print("Wine Server exists only under Wine: skipped")
    if not at_end["swap"]:
        print("no swap space here: the use of Paging File is 0")
    print(f"{'counter':58} {'ours':>16} {'theirs':>16}  tool (tolerance)")
    for counter, theirs, tool, absolute, share in checks(before, after, at_end,
                                                         parse_iostat(texts["iostat"]) if "iostat" in texts else None,
                                                         parse_top(texts["top"]) if "top" in texts else None,
                                                         parse_pidstat(texts["pidstat"]) if "pidstat" in texts else None):
        try:
            mine = float(values.get(counter, ""))
        except ValueError:
            print(f"{counter:58} {'none':>16} {theirs:16.2f}  {tool}: no value of ours")
            bad += 1
            continue
        limit = max(absolute, share * max(abs(theirs), abs(mine)))
        out = abs(mine - theirs) > limit
        bad += out
        print(f"{counter:58} {mine:16.2f} {theirs:16.2f}  {tool} ({limit:.4g}){'  OUT' if out else ''}")
    return bad > 0


sys.exit(main())
