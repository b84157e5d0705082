#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kernel_load.py PROGRAM SESSION [EMULATOR]: the kernel logger records a known load completely: each context switch of
a ping-pong through pipes as its processes count them, 1,000 writes with their fdatasync, 200 processes, and each byte
of a TCP transfer over the loopback. A second reader (etl_check.py) and `openpla tracerpt` find the same in the file.
SESSION is live_session. Wrong numbers would mislead whoever analyses the trace."""
import atexit
import collections
import csv
import glob
import os
import resource
import socket
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
from etl_check import Log  # noqa: E402

PROGRAM, SESSION, EMULATOR = sys.argv[1], sys.argv[2], sys.argv[3:]
TRACEFS = "/sys/kernel/tracing/instances"
ROUNDS, WRITES, WRITE_BYTES, PROCESSES, TCP_BYTES = 5000, 1000, 4096, 200, 16 << 20
FLAGS = 0x1 | 0x2 | 0x10 | 0x100 | 0x10000  # processes, threads, switches, disks, TCP
HOST_OFFSET = 10000000
PATIENCE = 240
os.environ["OPENPLA_ETW"] = f"load{os.getpid()}"  # separates this test's sessions from others
atexit.register(lambda: [os.remove(left) for left in glob.glob(f"/dev/shm/openpla-*/openetw*-{os.environ['OPENPLA_ETW']}[-.]*")])


def check(right, what, *output):
    if not right:
        sys.exit("\n".join(["FAILED: " + what, *map(str, output)]))


def run(*command):
    done = subprocess.run([*EMULATOR, *command], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    check(done.returncode == 0, f"{command}: exit code {done.returncode}", done.stdout, done.stderr)
    return done.stdout.decode("utf-8")


# ---- the load ----

def switches():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_nvcsw + usage.ru_nivcsw


def run_in_child(function):
    """Runs the function in a child process. Returns the child's id and a function that waits for the result."""
    reader, writer = os.pipe()
    ident = os.fork()
    if ident == 0:
        code = 1
        try:
            os.write(writer, repr(function()).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writer)

    def result():
        with os.fdopen(reader) as f:
            text = f.read()
        check(os.waitpid(ident, 0)[1] == 0, "a part of the load failed")
        return eval(text)
    return ident, result


def ping_pong():
    """Runs both sides on one processor. On two, a side could find the other's byte without having to wait."""
    (a, to_a), (b, to_b) = os.pipe(), os.pipe()
    processor = min(os.sched_getaffinity(0))

    def run_side(own, other, first):
        os.sched_setaffinity(0, {processor})
        if first:
            os.write(other, b"x")
        for _ in range(ROUNDS):
            os.read(own, 1)
            os.write(other, b"x")
        return switches()
    sides = [run_in_child(lambda: run_side(a, to_b, True)), run_in_child(lambda: run_side(b, to_a, False))]
    return {ident: result() for ident, result in sides}


def prepare_file(path):
    """Writes the file once, so that later writes change only its data."""
    with open(path, "wb") as f:
        f.write(bytes(WRITES * WRITE_BYTES))
        f.flush()
        os.fsync(f.fileno())


def write_synchronously(path):
    def write_blocks():
        file = os.open(path, os.O_WRONLY)
        for i in range(WRITES):
            os.pwrite(file, bytes([i & 255]) * WRITE_BYTES, i * WRITE_BYTES)
            os.fdatasync(file)
        os.close(file)
    ident, result = run_in_child(write_blocks)
    result()
    return ident


def start_processes():
    created = []
    for _ in range(PROCESSES):
        created.append(subprocess.Popen(["/bin/true"]))
        created[-1].wait()
    return [process.pid for process in created]


def transfer():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def send():
            with socket.create_connection(("127.0.0.1", port)) as s:
                s.sendall(bytes(TCP_BYTES))

        def receive():
            got = 0
            with server.accept()[0] as s:
                while data := s.recv(1 << 16):
                    got += len(data)
            return got
        receiver, sender = run_in_child(receive), run_in_child(send)
        sender[1]()
        check(receiver[1]() == TCP_BYTES, "the load's own transfer")
    return sender[0], receiver[0], port


# ---- the recorded events ----

class Events:
    def __init__(self, path):
        with open(path, "rb") as f:
            log = Log(f.read())
        check(log.remarks == 0, "the second reader finds no corruption")
        self.lost = int(log.line.split("\t")[8])
        self.of = collections.defaultdict(list)
        for e in log.events:
            if e.kind in ("system", "performance"):
                self.of[e.id].append(e.raw[e.data:])

    def expect_count(self, found, expected, what, more=0):
        """Checks a count. Lost events may be missing; the load may cause up to `more` events that it does not count."""
        check(expected - self.lost <= found <= expected + more, f"{what}: {found}, not {expected}",
              f"{self.lost} events lost")


def is_own(ident, of):
    return ident in (of, of + HOST_OFFSET)


def name_of(data):
    at = 36 + (4 if struct.unpack_from("<I", data, 36)[0] == 0 else 16 + 8 + 4 * data[36 + 17])
    return data[at:data.index(b"\0", at)].decode()


def check_switches(events, counted):
    for ident, count in counted.items():
        out = sum(is_own(struct.unpack_from("<I", d, 4)[0], ident) for d in events.of[0x0524])
        check(count >= ROUNDS * 9 // 10, "the load causes context switches", counted)
        events.expect_count(out, count, f"switches of process {ident}", more=30)  # switches at the process's exit, after its own count


def check_writes(events, ident):
    """Each write has its own disk block. The kernel's writeback thread may write some of these blocks before the load
    does, and may also write the file's inode block each time."""
    ours, others = set(), set()
    for d in events.of[0x010B]:
        size, at = struct.unpack_from("<I", d, 8)[0], struct.unpack_from("<q", d, 16)[0]
        of = ours if is_own(struct.unpack_from("<I", d, 48)[0], ident) else others
        of.update(range(at // WRITE_BYTES, (at + size) // WRITE_BYTES))
    for block in sorted(others) + sorted(others, reverse=True):
        if block - 1 in ours or block + 1 in ours:
            ours.add(block)
    flushes = sum(is_own(struct.unpack_from("<I", d, 24)[0], ident) for d in events.of[0x010E])
    check(len(ours) >= WRITES - events.lost, f"blocks that were written: {len(ours)}")  # writeback may have written other blocks too
    # A disk without a cache gets no flushes, and Linux merges simultaneous flushes.
    check(not flushes or WRITES // 2 - events.lost <= flushes <= WRITES + 20, f"flushes: {flushes}")


def check_processes(events, created):
    """Checks each process's start, end and name. A start event that precedes exec has the name of the parent
    process."""
    begun, ended = ({struct.unpack_from("<I", d, 8)[0] % HOST_OFFSET: name_of(d) for d in events.of[hook]}
                    for hook in (0x0301, 0x0302))
    for what, of in (("began", begun), ("ended", ended)):
        found = sum(ident in of for ident in created)
        check(found >= PROCESSES - events.lost, f"processes that {what}: {found}")
    named = sum(ended.get(ident) == "true" for ident in created)
    check(named >= PROCESSES - events.lost, f"processes that ended with their name: {named}",
          [(i, begun.get(i), ended.get(i)) for i in created if ended.get(i) != "true"])


def check_transfer(events, sender, receiver, port):
    def transfers_of_port(hook):
        """Returns process id and size of each transfer event of this port; ports are in network order."""
        return [struct.unpack_from("<II", d) for d in events.of[hook] if port in struct.unpack_from(">HH", d, 16)]
    for what, hook, ident in (("sent", 0x060A, sender), ("received", 0x060B, receiver)):
        found = sum(size for _, size in transfers_of_port(hook))
        check(found == TCP_BYTES or events.lost and found < TCP_BYTES, f"bytes {what}: {found}")
        check(all(is_own(process, ident) for process, _ in transfers_of_port(hook)), f"{what} by whom: not all by {ident}", transfers_of_port(hook))
    for what, hook in (("made", 0x060C), ("accepted", 0x060F)):
        events.expect_count(len(transfers_of_port(hook)), 1, f"connections {what}")


def has_event(name):
    return os.path.isdir(f"/sys/kernel/tracing/events/{name}")


def check_other_readers(events, path):
    """tracerpt shows one row per event, with the class and type of the event's hook."""
    name = os.path.basename(path)
    run(PROGRAM, "tracerpt", name, "-of", "CSV", "-o", "all.csv", "-y")
    with open("all.csv", newline="", encoding="utf-8") as f:
        rows = collections.Counter((row[0].strip(), row[1].strip()) for row in csv.reader(f))
    for event, hooks in {("Thread", "CSwitch"): [0x0524], ("Process", "Start"): [0x0301], ("Process", "End"): [0x0302],
                         ("DiskIo", "Write"): [0x010B], ("TcpIp", "SendIPV4"): [0x060A]}.items():
        check(rows[event] == sum(len(events.of[h]) for h in hooks), f"tracerpt: {event}: {rows[event]}", rows)
    run(PROGRAM, "trace", "top", name, "--json")


def is_on_block_device(path):
    return os.path.exists("/sys/dev/block/%d:%d" % (os.major(os.stat(path).st_dev), os.minor(os.stat(path).st_dev)))


if not os.access(TRACEFS, os.W_OK):
    print("skipped: this user has no access to tracefs")
    sys.exit(77)
with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
    os.chdir(folder)
    prepare_file("data")
    run(SESSION, "kernel", "load.etl", hex(FLAGS))
    counted = ping_pong()
    writer = write_synchronously("data")
    created = start_processes()
    ends = transfer()
    run(SESSION, "stop", "NT Kernel Logger")
    events = Events("load.etl")
    check_switches(events, counted)
    if is_on_block_device("data") and has_event("block/block_io_start"):
        check_writes(events, writer)
    check_processes(events, created)
    if has_event("sock/sock_send_length"):
        check_transfer(events, *ends)
    check_other_readers(events, "load.etl")
    print(f"{sum(map(len, events.of.values()))} events, {events.lost} lost")
