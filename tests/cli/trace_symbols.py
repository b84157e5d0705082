#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_symbols.py PROGRAM [EMULATOR]: `openpla trace show -stack -symbols` gives each address of a DLL the same
function as LLVM's symbolizer does, from PDB files of every block size and from the DLL itself. Files of another build
are refused, because they would give wrong functions.

Needs clang and lld (Debian: clang, lld), and uses llvm-symbolizer and the MinGW compiler that builds OpenPLA."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import uuid

from built_trace import START, trace
from stacked_trace import PROCESS, THREAD, identified, image, sample, stack, process_event, thread

PROGRAM, EMULATOR = sys.argv[1], sys.argv[2:]
BASE = 0x7FF812340000
SOURCE = """
__declspec(noinline) int inner(int x){ return x*3+1; }
static __declspec(noinline) int hidden(int x){ return inner(x)+inner(x+1); }
__declspec(dllexport) int outer(int x){ return hidden(x)*2; }
__declspec(dllexport) int second(int x){ return x-1; }
int DllMain(void*a,int b,void*c){return 1;}
"""
MAGIC = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0"


def check(right, what, output=""):
    if not right:
        sys.exit(f"FAILED: {what}\n{output}")


def tool(*arguments):
    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = done.stdout.decode("utf-8", "replace")
    check(done.returncode == 0, f"{arguments}: exit code {done.returncode}", output)
    return output


class Image:
    """The fields that a trace has about a DLL, read from its headers."""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        pe, = struct.unpack_from("<I", data, 60)
        count, self.time = struct.unpack_from("<HI", data, pe + 6)
        optional, = struct.unpack_from("<H", data, pe + 20)
        self.size, = struct.unpack_from("<I", data, pe + 24 + 56)
        sections = [struct.unpack_from("<8sIIII", data, pe + 24 + optional + 40 * i) for i in range(count)]
        self.text = next((va, size) for name, size, va, raw, at in sections if name.startswith(b".text"))
        at = data.index(b"RSDS")
        self.guid, (self.age,) = uuid.UUID(bytes_le=data[at + 4:at + 20]), struct.unpack_from("<I", data, at + 20)
        self.key = self.guid.hex.upper() + f"{self.age:x}"


def reblocked(path, to, size):
    """Writes the same PDB with another block size, as the format describes it."""
    with open(path, "rb") as f:
        data = f.read()
    old, _, _, directory_bytes, _, block_map = struct.unpack_from("<6I", data, 32)

    def read_blocks(blocks, length):
        return b"".join(data[b * old:(b + 1) * old] for b in blocks)[:length]

    count = -(-directory_bytes // old)
    directory = read_blocks(struct.unpack_from(f"<{count}I", data, block_map * old), directory_bytes)
    streams, = struct.unpack_from("<I", directory)
    sizes, at, contents = struct.unpack_from(f"<{streams}I", directory, 4), 4 + 4 * streams, []
    for length in sizes:
        blocks = 0 if length == 0xFFFFFFFF else -(-length // old)
        contents.append(read_blocks(struct.unpack_from(f"<{blocks}I", directory, at), length))
        at += 4 * blocks
    out = [bytes(size)] * 3  # superblock and two free block maps

    def put(content):
        first = len(out)
        out.extend(content[i:i + size].ljust(size, b"\0") for i in range(0, len(content), size))
        return list(range(first, len(out)))

    lists = [put(c) for c in contents]
    words = [streams, *sizes, *(b for blocks in lists for b in blocks)]
    directory = struct.pack(f"<{len(words)}I", *words)
    where = put(directory)
    block_map = put(struct.pack(f"<{len(where)}I", *where))[0]
    out[0] = (MAGIC + struct.pack("<6I", size, 1, len(out), len(directory), 0, block_map)).ljust(size, b"\0")
    with open(to, "wb") as f:
        f.write(b"".join(out))


def make_trace(dll, name, identity=True):
    """Writes a trace with a sample at each address of the code."""
    events = [process_event(PROCESS, 4, "app.exe"), thread(PROCESS, THREAD, "main")]
    if identity:
        events += identified(BASE, dll.size, PROCESS, dll.time, name, dll.guid, dll.age, START)
    events.append(image(0x1403, BASE, dll.size, PROCESS, dll.time, "\\Device\\HarddiskVolume1\\" + name, START))
    for i in range(dll.text[1]):
        address = BASE + dll.text[0] + i
        events += [sample(address, THREAD, START + 10 * i), stack(START + 10 * i, PROCESS, THREAD, [address], START + 10 * i + 1)]
    trace("symbols.etl", events, size=65536)


def functions(expected, *folders):
    """Returns (function, offset) for each address of the code."""
    done = subprocess.run([*EMULATOR, PROGRAM, "trace", "show", "symbols.etl", "-stack", "--json", "-symbols", *folders],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    messages = (done.stdout + done.stderr).decode("utf-8")  # the emulator merges both streams
    check(done.returncode == 0 and expected in messages, f"exit code {done.returncode}, expected: {expected}", messages)
    stacks = [json.loads(line).get("stack") for line in done.stdout.decode("utf-8").splitlines() if line[:1] == "{"]
    return [(s[0].get("function"), s[0].get("functionOffset")) for s in stacks if s]


def symbolized(path, dll):
    """Returns (function, offset) for each address, as LLVM's symbolizer finds the functions. It does not return
    offsets; they are counted here from the function's first address."""
    addresses = "\n".join(hex(dll.text[0] + i) for i in range(dll.text[1]))
    done = subprocess.run(["llvm-symbolizer", f"--obj={path}", "--relative-address", "--output-style=JSON", "--no-inlines"],
                          input=addresses.encode(), stdout=subprocess.PIPE, check=True)
    names = [(json.loads(line)["Symbol"] or [{}])[0].get("FunctionName", "") for line in done.stdout.decode().splitlines()]
    out, begin = [], {}
    for i, name in enumerate(names):
        begin.setdefault(name, i)
        out.append((name, hex(i - begin[name])) if name else (None, None))
    return [(name, offset and "0x" + offset[2:].upper()) for name, offset in out]


def compare(got, wanted, what):
    check(len(got) == len(wanted), f"{what}: {len(got)} stacks of {len(wanted)}")
    # For an address between two functions, LLVM returns the function before it, and our result has no name.
    wrong = [(i, g, w) for i, (g, w) in enumerate(zip(got, wanted)) if g != w and g != (None, None)]
    check(not wrong, f"{what}: wrong functions (address, ours, LLVM's)", wrong[:10])
    named = {name for name, _ in got if name}
    check({"inner", "hidden", "outer", "second"} <= named, f"{what}: all functions are found", named)


def pdb_files():
    tool("clang", "--target=x86_64-pc-windows-msvc", "-g", "-gcodeview", "-O1", "-c", "a.c", "-o", "a.obj")
    tool("lld-link", "/dll", "/noentry", "/debug", "/nodefaultlib", "/out:app.dll", "/pdb:app.pdb", "a.obj")
    dll = Image("app.dll")
    wanted = symbolized("app.dll", dll)
    make_trace(dll, "app.dll")
    os.mkdir("flat")
    for size in (512, 1024, 2048, 4096, 8192):
        reblocked("app.pdb", "flat/app.pdb", size)
        compare(functions("", "flat"), wanted, f"blocks of {size} bytes")
    store = os.path.join("store", "app.pdb", dll.key)
    os.makedirs(store)
    shutil.copy("app.pdb", store)
    compare(functions("", "srv*store*https://example.org/symbols"), wanted, "a symbol store")
    os.makedirs("two/ap/app.pdb")
    shutil.copytree(store, f"two/ap/app.pdb/{dll.key}")
    compare(functions("", "two"), wanted, "a store of two levels")
    # An unmerged trace has no symbol identity; the image file has it.
    make_trace(dll, "app.dll", identity=False)
    shutil.copy("app.dll", "flat")
    compare(functions("", "flat"), wanted, "an image that names its symbols")
    return dll, wanted


def refusals(dll, wanted):
    make_trace(dll, "app.dll")
    os.remove("flat/app.dll")
    with open("flat/app.pdb", "rb") as f:
        data = f.read()
    with open("flat/app.pdb", "wb") as f:
        f.write(data.replace(dll.guid.bytes_le, bytes(16)))
    check(set(functions("the file belongs to a different build", "flat")) == {(None, None)}, "a PDB of another build is refused")
    for cut in (100, 9000, len(data) - 5000):
        with open("flat/app.pdb", "wb") as f:
            f.write(data[:cut])
        functions("cannot read symbols: 'flat", "flat")
    os.remove("flat/app.pdb")
    check(set(functions(f"cannot read symbols: 'app.pdb': not found, identity {dll.key}", "flat")) == {(None, None)}, "a missing PDB")
    done = subprocess.run([*EMULATOR, PROGRAM, "trace", "show", "symbols.etl", "-stack", "-symbols", "absent"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(done.returncode == 1 and b"'absent': no such folder" in done.stdout + done.stderr, "a folder that does not exist", done.stderr)
    # With exports only, an address outside the exported functions has no name. In a leaf function only the first
    # address has one.
    shutil.copy("app.dll", "flat")
    got = functions("", "flat")
    named = {name for name, _ in got if name}
    check(named == {"outer", "second"}, "exports", named)
    wrong = [(g, w) for g, w in zip(got, wanted) if g[0] and g != w]
    check(not wrong, "only exported functions have names", wrong)


def mingw():
    """MinGW's linker writes only public symbols to the PDB, and its DLLs have a symbol table."""
    tool("x86_64-w64-mingw32-gcc", "-shared", "-O1", "-nostdlib", "-Wl,--entry,DllMain", "a.c", "-o", "ld.dll", "-Wl,--pdb=ld.pdb")
    dll = Image("ld.dll")
    wanted = {}
    for line in tool("x86_64-w64-mingw32-nm", "ld.dll").splitlines():
        *address, kind, name = line.split()  # an undefined symbol has no address
        if kind in "tT" and name in ("inner", "hidden", "outer", "second", "DllMain"):
            wanted[name] = int(address[0], 16)
    make_trace(dll, "ld.dll")
    for folder, file in (("ld", "ld.pdb"), ("coff", "ld.dll")):
        os.mkdir(folder)
        shutil.copy(file, folder)
        got = functions("", folder)
        starts = {name: i for i, (name, offset) in enumerate(got) if offset == "0x0"}
        first = min(wanted.values())
        expected = {name: address - first for name, address in wanted.items()}
        if file == "ld.pdb":  # public symbols lack static functions of other files
            expected = {name: at for name, at in expected.items() if name in starts}
            check({"inner", "outer", "second"} <= set(expected), "all functions are found", starts)
        base = starts[min(expected, key=expected.get)] - min(expected.values())
        check({n: starts.get(n) for n in expected} == {n: at + base for n, at in expected.items()}, f"{file}: start addresses of functions",
              (starts, expected))


def elf():
    """A Linux program, as kernel sessions on Linux record it: without identity and time."""
    tool("clang", "-g", "-Wl,--build-id", "-shared", "-fPIC", "-O1", "-fdeclspec", "-Wno-everything", "-nostdlib", "b.c", "-o", "libshop.so")
    rows = [line.split() for line in tool("llvm-nm", "-S", "libshop.so").splitlines() if line.split()[-2] in "tT"]
    wanted = {name: (int(at, 16), int(size, 16)) for at, size, kind, name in rows}
    first = min(at for at, _ in wanted.values())
    dll = type("Elf", (), {"time": 0, "size": 0x10000, "text": (first, max(at + size for at, size in wanted.values()) - first)})
    make_trace(dll, "libshop.so", identity=False)
    os.mkdir("elf")
    shutil.copy("libshop.so", "elf")
    expected = [(None, None)] * dll.text[1]
    for name, (at, size) in wanted.items():
        expected[at - first:at - first + size] = [(name, f"0x{i:X}") for i in range(size)]
    check(functions("", "elf") == expected and {"inner", "outer"} <= set(wanted), "symbols of an ELF file", expected)
    # Distributions ship programs stripped, with the debug information in a file named by the build id.
    build_id = next(line.split()[-1] for line in tool("readelf", "-n", "libshop.so").splitlines() if "Build ID" in line)
    debug = f"elf/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
    os.makedirs(os.path.dirname(debug))
    tool("llvm-objcopy", "--strip-all", "libshop.so", "elf/libshop.so")
    check("hidden" not in dict(functions("", "elf")), "a stripped file has only its exports")
    tool("llvm-objcopy", "--only-keep-debug", "libshop.so", debug)
    check(functions("", "elf") == expected, "a debug file by its build id")
    if EMULATOR:
        return
    tool("llvm-objcopy", "-R", ".symtab", "-R", ".strtab", "libshop.so", debug)
    got = functions("", "elf")
    check([name for name, _ in got] == [name for name, _ in expected], "DWARF without a symbol table", got)
    with open("libshop.so", "rb") as f:
        other = f.read().replace(bytes.fromhex(build_id), bytes(len(build_id) // 2))
    with open(debug, "wb") as f:
        f.write(other)
    check("hidden" not in dict(functions("the file belongs to a different build", "elf")), "another build's debug file")


missing = [name for name in ("clang", "lld-link", "llvm-symbolizer", "x86_64-w64-mingw32-gcc") if not shutil.which(name)]
if missing:
    print(f"skipped: needs {', '.join(missing)}")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("a.c", "w") as f:
        f.write(SOURCE)
    refusals(*pdb_files())
    mingw()
    with open("b.c", "w") as f:
        f.write(SOURCE.replace("__declspec(dllexport) ", "").replace("__declspec(noinline)", "__attribute__((noinline))"))
    elf()
    os.chdir("/")
print("trace_symbols: passed")
