#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares CPU per value at 1 Hz and memory of counters under Wine with pcp's pmlogger, sysstat's sadc and Prometheus'
node exporter in the same run.

peers.py BENCH_PDH_EXE WINEPREFIX [SECONDS]    needs the Debian packages pcp, sysstat and prometheus-node-exporter (or a
                                               program in NODE_EXPORTER); missing ones are skipped
The CPU time is the sum of /proc/<pid>/task/*/schedstat over the seconds, after a warm-up. The programs run at the same
time, so that other load and cold caches affect all of them. The number of values in one sample is: for us, the counters
of the query; for pmlogger, the values in one archive record; for sadc, all numbers in one record of its file, which
`sadf -H` describes: for each activity its items, times its sub-items ("3x36"), times the numbers per item ("(10,0,0)":
64-bit, long, 32-bit); for the node exporter, the lines of one response. Its comparable collectors are requested once a
second.
"""
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import arguments

WARM_UP = 6


def cpu_ms(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            total += int(open(f"/proc/{pid}/task/{task}/schedstat").read().split()[0])
        except OSError:
            pass
    return total / 1e6


def rss_kb(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1])


def find(text):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = open(f"/proc/{pid}/cmdline", "rb").read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in line and "python" not in line and "sh " not in line[:12]:
            yield int(pid), line


def watch(pid, seconds):
    time.sleep(WARM_UP)
    before = cpu_ms(pid)
    time.sleep(seconds)
    return (cpu_ms(pid) - before) / seconds, rss_kb(pid)


class Wine:
    def __init__(self, exe, prefix):
        self.exe = exe
        self.environment = dict(os.environ, WINEPREFIX=prefix, WINEDEBUG="-all")
        self.environment.pop("DISPLAY", None)

    def collect_counters(self, seconds, counters, paths):
        """Returns (CPU ms per second, RSS in kB, counters) of a program that collects the counters."""
        with tempfile.NamedTemporaryFile("r") as out:
            arguments = ["wine", self.exe, "hold", str(seconds + WARM_UP + 20), str(counters), *paths]
            with open(out.name, "w") as to:
                process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=to, stderr=to,
                                           env=self.environment)
            for _ in range(300):
                time.sleep(0.2)
                text = out.read()
                if "counters" in text:
                    break
            else:
                raise SystemExit("bench_pdh did not start")
            pids = [pid for pid, line in find("bench_pdh.exe hold") if "wineserver" not in line]
            pid = max(pids, key=cpu_ms)
            result = watch(pid, seconds) if counters else (0, (time.sleep(WARM_UP), rss_kb(pid))[1])
            process.terminate()
            for other in pids:
                try:
                    os.kill(other, 9)
                except OSError:
                    pass
            process.wait()
            return *result, int(re.search(r"counters (\d+)", text)[1])


PCP_METRICS = """kernel.percpu.cpu kernel.all.cpu kernel.all.load kernel.all.intr kernel.all.pswitch kernel.all.sysfork
kernel.all.running mem.util mem.vmstat.pgfault mem.vmstat.pgmajfault mem.vmstat.pgpgin mem.vmstat.pgpgout
mem.vmstat.pgfree swap.pagesin swap.pagesout swap.used disk.dev.read disk.dev.write disk.dev.total disk.dev.read_bytes
disk.dev.write_bytes disk.dev.avactive disk.dev.aveq disk.dev.read_rawactive disk.dev.write_rawactive
network.interface.in network.interface.out network.tcp network.udp network.ip
proc.psinfo.utime proc.psinfo.stime proc.psinfo.minflt proc.psinfo.maj_flt proc.psinfo.vsize proc.psinfo.rss
proc.psinfo.start_time proc.psinfo.ppid proc.psinfo.priority proc.psinfo.processor""".split()
LIKE_PCP = [r"\Processor(*)\*", r"\System\*", r"\Memory\*", r"\PhysicalDisk(*)\*", r"\Network Interface(*)\*",
            r"\TCPv4\*", r"\UDPv4\*", r"\IPv4\*", r"\Process(*)\% *", r"\Process(*)\Page Faults/sec",
            r"\Process(*)\Virtual Bytes", r"\Process(*)\Working Set", r"\Process(*)\Elapsed Time",
            r"\Process(*)\Creating Process ID", r"\Process(*)\ID Process", r"\Process(*)\Thread Count"]
# sadc has no counters of single processes; its number of threads is that of the whole kernel.
LIKE_SADC = [r"\Processor(*)\*", r"\Processor Information(*)\*", r"\System\Context Switches/sec",
             r"\System\Processor Queue Length", r"\System\System Up Time", r"\Memory\*", r"\Cache\*",
             r"\Paging File(*)\*", r"\PhysicalDisk(*)\*", r"\LogicalDisk(*)\*", r"\Network Interface(*)\*",
             r"\TCPv4\*", r"\TCPv6\*", r"\UDPv4\*", r"\UDPv6\*", r"\IPv4\*", r"\IPv6\*", r"\ICMP\*", r"\ICMPv6\*"]
# The comparable activities. With all activities (-S XALL) sadc would record 1.5 times as many numbers. The additional
# ones (loop devices, NFS, serial lines, pressure) cost less each.
SADC_ACTIVITIES = """CPU PCSW IRQ SWAP PAGE IO MEMORY QUEUE DISK NET_DEV NET_EDEV NET_IP NET_EIP NET_ICMP NET_EICMP NET_TCP
NET_ETCP NET_UDP NET_IP6 NET_EIP6 NET_ICMP6 NET_EICMP6 NET_UDP6 PWR_CPU FS""".split()


def pmlogger(seconds):
    """Returns (CPU ms per second, values per sample)."""
    if not os.path.exists("/usr/lib/pcp/bin/pmnsmerge"):
        return None
    folder = tempfile.mkdtemp()
    names = folder + "/root"
    subprocess.run(["/usr/lib/pcp/bin/pmnsmerge", "-a",
                    *(f"/var/lib/pcp/pmns/root_{x}" for x in ("root", "linux", "proc", "pmcd")), names],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    environment = dict(os.environ, PMNS_DEFAULT=names, PCP_RUN_DIR=folder, PCP_LOG_DIR=folder, PCP_TMP_DIR=folder)
    with open(folder + "/config", "w") as f:
        f.write("log mandatory on 1 sec {\n" + "\n".join(PCP_METRICS) + "\n}\n")
    modules = ["-K", "add,60,/var/lib/pcp/pmdas/linux/pmda_linux.so,linux_init",
               "-K", "add,3,/var/lib/pcp/pmdas/proc/pmda_proc.so,proc_init"]
    process = subprocess.Popen(["pmlogger", "-o", *modules, "-c", folder + "/config", "-l", folder + "/log",
                                "-T", f"{seconds + WARM_UP + 4}s", folder + "/archive"],
                               env=environment, stdin=subprocess.DEVNULL)
    cpu, rss = watch(process.pid, seconds)
    process.wait()
    dump = subprocess.run(["pmdumplog", folder + "/archive"], env=environment, capture_output=True, text=True).stdout
    counts = [sum(1 for line in part.splitlines() if " value " in line or " inst [" in line)
              for part in re.split(r"\n(?=\d\d:\d\d:\d\d)", dump)]
    shutil.rmtree(folder)
    return cpu, rss, sorted(counts)[len(counts) // 2]


def sadc_numbers(header):
    """Returns the numbers in one record. "03: [8c] A_IRQ Y: 3x36 (0,0,1)" gives 108."""
    numbers = 0
    for items, sub_items, *types in re.findall(
            r"^\d+: \[\w+\] A_\w+\s+[YN]:\s*(\d+)(?:x(\d+))?\s+\((\d+),(\d+),(\d+)\)", header, re.M):
        numbers += int(items) * int(sub_items or 1) * sum(map(int, types))
    if not numbers:
        raise SystemExit("sadf -H has another form than this script knows")
    return numbers


def sadc(seconds):
    if not os.path.exists("/usr/lib/sysstat/sadc"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(["/usr/lib/sysstat/sadc", "-S", ",".join(["A_NULL"] + ["A_" + a for a in SADC_ACTIVITIES]), "1", str(seconds + WARM_UP + 4),
                                    folder + "/sa"])
        cpu, rss = watch(process.pid, seconds)
        process.wait()
        header = subprocess.run(["sadf", "-H", folder + "/sa"], capture_output=True, text=True, check=True).stdout
        return cpu, rss, sadc_numbers(header)


NODE_PARTS = "cpu diskstats filesystem meminfo netdev netstat pressure schedstat sockstat stat thermal_zone uname vmstat".split()
LIKE_NODE = LIKE_SADC + [r"\Pressure(*)\*", r"\Thermal Zone Information(*)\*", r"\NUMA Node Memory(*)\*"]


def node_exporter(seconds):
    program = os.environ.get("NODE_EXPORTER") or shutil.which("prometheus-node-exporter")
    if not program:
        return None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([program, f"--web.listen-address=127.0.0.1:{port}", "--web.disable-exporter-metrics",
                                "--collector.disable-defaults", *("--collector." + part for part in NODE_PARTS)],
                               stderr=subprocess.DEVNULL)
    answers, end = [], threading.Event()

    def scrape():
        while not end.wait(1):
            try:
                answers.append(urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read())
            except OSError:
                pass

    scraper = threading.Thread(target=scrape)
    scraper.start()
    try:
        cpu, rss = watch(process.pid, seconds)
    finally:
        end.set()
        scraper.join()
        process.terminate()
        process.wait()
    if not answers:
        raise SystemExit("the node exporter does not answer")
    return cpu, rss, sum(not line.startswith(b"#") for line in answers[-1].splitlines())


def main():
    bench, prefix, seconds = arguments.parse_arguments(__doc__, ("BENCH_PDH_EXE", arguments.program), ("WINEPREFIX", arguments.folder),
                                                       ("SECONDS", arguments.number, 30))
    wine = Wine(bench, prefix)
    empty = wine.collect_counters(seconds, 0, [])
    thousand = wine.collect_counters(seconds, 1000, LIKE_PCP)
    print(f"memory: 1,000 counters {thousand[1] / 1024:.1f} MB, an empty program {empty[1] / 1024:.1f} MB: "
          f"{(thousand[1] - empty[1]) / 1024:.1f} MB more")
    for name, peer, paths in (("pmlogger -o", pmlogger, LIKE_PCP), ("sadc, the same activities", sadc, LIKE_SADC),
                              ("node exporter", node_exporter, LIKE_NODE)):
        with ThreadPoolExecutor() as pool:
            running = pool.submit(peer, seconds)
            cpu, _, counters = wine.collect_counters(seconds, 10001, paths)
            result = running.result()
        if result is None:
            print(f"{name}: skipped, not installed")
            continue
        ours, theirs = cpu * 1000 / counters, result[0] * 1000 / result[2]
        print(f"{name}: {result[0]:.2f} ms/s for {result[2]} values = {theirs:.2f} us per value; "
              f"ours {cpu:.2f} ms/s for {counters} counters = {ours:.2f} us per value; ratio {ours / theirs:.2f}")


main()
