# SPDX-License-Identifier: MIT
"""ORPC calls through unmodified impacket, with our own NDR encoding of the bodies, so that each byte is tested."""
import re
import struct
import uuid

from impacket.dcerpc.v5.dcomrt import INTERFACE, DCOMConnection
from impacket.uuid import string_to_bin, uuidtup_to_bin

REM_UNKNOWN = "00000131-0000-0000-C000-000000000046"
ENUM_VARIANT = "00020404-0000-0000-C000-000000000046"
DISPATCH = "00020400-0000-0000-C000-000000000046"
VARIANT_FORMATS = {2: "h", 3: "i", 4: "f", 5: "d", 6: "q", 7: "d", 10: "I", 11: "h", 16: "b", 17: "B", 18: "H", 19: "I",
                   20: "q", 21: "Q", 22: "i", 23: "I"}


class Writer:
    """Builds the body of a request."""
    def __init__(self):
        self.bytes = bytearray()

    def align(self, size):
        self.bytes += bytes(-len(self.bytes) % size)
        return self

    def number(self, code, value):
        self.align(struct.calcsize(code))
        self.bytes += struct.pack("<" + code, value)
        return self

    def guid(self, text):
        self.align(4)
        self.bytes += uuid.UUID(text).bytes_le
        return self

    def bstr_pointee(self, text):
        data = (text or "").encode("utf-16le")
        units = len(data) // 2
        self.number("I", units).number("I", 0xFFFFFFFF if text is None else len(data)).number("I", units)
        self.bytes += data
        return self

    def bstr(self, text):
        return self.number("I", 0x72657355).bstr_pointee(text)

    def array(self, items, is_bytes=False):
        self.number("I", 1)
        if items is None:
            return self.number("I", 0)
        self.number("I", 1).number("I", 1).number("H", 1).number("H", 0).number("I", 1 if is_bytes else 4)
        self.number("I", (17 if is_bytes else 8) << 16).number("I", 16 if is_bytes else 8).number("I", len(items))
        self.number("I", 2).number("I", len(items)).number("i", 0).number("I", len(items))
        if is_bytes:
            self.bytes += bytes(items)
            return self
        for _ in items:
            self.number("I", 1)
        for text in items:
            self.bstr_pointee(text)
        return self

    def object(self, item):
        if item is None:
            return self.number("I", 0)
        reference = item.reference_without_counts()
        self.number("I", 0x20000).number("I", len(reference)).number("I", len(reference))
        self.bytes += reference
        return self

    def variant_pointee(self, vt, value):
        self.align(8)
        start = len(self.bytes)
        for code in ("I", "I", "H", "H", "H", "H"):
            self.number(code, vt if code == "H" and len(self.bytes) == start + 8 else 0)
        self.number("I", vt & 0x6000 if vt & 0x2000 else vt)
        if vt & 0x4000:
            self.number("I", 0x20000)
        if vt == 0x400C:
            self.variant(*value)
        elif vt & 0x2000:
            self.array(value)
        elif vt & 0xFFF == 8:
            self.bstr(value)
        elif vt & 0xFFF in (9, 13):
            self.object(value)
        elif vt & 0xFFF in VARIANT_FORMATS:
            self.number(VARIANT_FORMATS[vt & 0xFFF], value)
        struct.pack_into("<I", self.bytes, start, (len(self.bytes) - start + 7) // 8)
        return self

    def variant(self, vt, value):
        return self.number("I", 0x72657355).variant_pointee(vt, value)


class Reader:
    """Reads the body of a response. A read beyond its end fails."""
    def __init__(self, data, like):
        self.bytes, self.at, self.like = data, 0, like

    def align(self, size):
        self.at += -self.at % size

    def number(self, code):
        self.align(struct.calcsize(code))
        value, = struct.unpack_from("<" + code, self.bytes, self.at)
        self.at += struct.calcsize(code)
        return value

    def read_bytes(self, size):
        assert self.at + size <= len(self.bytes)
        self.at += size
        return self.bytes[self.at - size:self.at]

    def guid(self):
        self.align(4)
        return str(uuid.UUID(bytes_le=bytes(self.read_bytes(16))))

    def bstr_pointee(self):
        most, size, units = self.number("I"), self.number("I"), self.number("I")
        assert most == units
        data = self.read_bytes(2 * units)
        return None if size == 0xFFFFFFFF else data.decode("utf-16le")

    def bstr(self):
        return self.bstr_pointee() if self.number("I") else None

    def object(self):
        if not self.number("I"):
            return None
        most, size = self.number("I"), self.number("I")
        assert most == size
        return Object(self.like, self.read_bytes(size))

    def array(self):
        if not self.number("I") or not self.number("I"):
            return None
        assert self.number("I") == 1
        assert self.number("H") == 1
        self.number("H"), self.number("I"), self.number("I")
        kind, count = self.number("I"), self.number("I")
        self.number("I")
        assert (self.number("I"), self.number("i"), self.number("I")) == (count, 0, count)
        if kind == 16:
            return list(self.read_bytes(count))
        referents = [self.number("I") for _ in range(count)]
        read = self.bstr_pointee if kind == 8 else self.variant_pointee
        return [read() if referent else None for referent in referents]

    def variant(self):
        return self.variant_pointee() if self.number("I") else None

    def variant_pointee(self):
        """(VARTYPE, value)"""
        self.align(8)
        start, size = self.at, self.number("I")
        self.number("I")
        vt = self.number("H")
        for _ in range(3):
            self.number("H")
        assert self.number("I") == (vt & 0x6000 if vt & 0x2000 else vt)
        if vt & 0x4000:
            assert self.number("I")
        value = None
        if vt == 0x400C:
            value = self.variant()
        elif vt & 0x2000:
            value = self.array()
        elif vt & 0xFFF == 8:
            value = self.bstr()
        elif vt & 0xFFF in (9, 13):
            value = self.object()
        elif vt & 0xFFF in VARIANT_FORMATS:
            value = self.number(VARIANT_FORMATS[vt & 0xFFF])
        assert size == (self.at - start + 7) // 8, "the size of a VARIANT"
        return vt, value

    def result(self):
        """Returns the HRESULT, which must be the end of the body."""
        value = self.number("I")
        assert self.at == len(self.bytes), f"{len(self.bytes) - self.at} bytes behind the result"
        return value


class Object(INTERFACE):
    """An interface pointer, created from an OBJREF. `like` is another interface pointer on the same connection."""
    def __init__(self, like, reference):
        self.reference = bytes(reference)
        self.iid = str(uuid.UUID(bytes_le=self.reference[8:24]))
        self.error = None  # the description of the last failed call
        INTERFACE.__init__(self, like.get_cinstance(), self.reference, like.get_ipidRemUnknown(), target=like.get_target())

    def reference_without_counts(self):
        return self.reference[:28] + struct.pack("<I", 0) + self.reference[32:]

    def call(self, opnum, body=None, iid=None, ipid=None):
        """Returns a reader that is positioned after ORPCTHAT. Faults are raised as impacket's exceptions."""
        this = struct.pack("<HHII", 5, 7, 0, 0) + uuid.uuid4().bytes + struct.pack("<I", 0)
        self.connect(uuidtup_to_bin((iid or self.iid, "0.0")))
        dce = self.get_dce_rpc()
        dce.call(opnum, this + bytes(body.bytes if body else b""), ipid or self.get_iPid())
        reader = Reader(dce.recv(), self)
        self.error = None
        reader.number("I")
        if reader.number("I"):
            self.error = error_text(reader)
        reader.bytes, reader.at = reader.bytes[reader.at:], 0
        return reader

    def query(self, iid):
        body = Writer()
        body.bytes += self.get_iPid()
        body.number("I", 5).number("H", 1).number("I", 1).guid(iid)
        reader = self.call(3, body, REM_UNKNOWN, self.get_ipidRemUnknown())
        assert reader.number("I") and reader.number("I") == 1
        reader.align(8)
        hr = reader.number("I")
        reader.align(8)
        standard = reader.read_bytes(40)
        if hr:
            return hr, None
        return 0, Object(self, b"MEOW" + struct.pack("<I", 1) + uuid.UUID(iid).bytes_le + standard + self.reference[64:])

    def release(self, references=5):
        body = Writer().number("H", 1).number("I", 1)
        body.bytes += self.get_iPid()
        body.number("i", references).number("i", 0)
        return self.call(5, body, REM_UNKNOWN, self.get_ipidRemUnknown()).result()


def error_text(reader):
    """Returns the description from ORPCTHAT's error information extension."""
    reader.number("I"), reader.number("I")
    assert reader.number("I")
    slots = reader.number("I")
    text = None
    for referent in [reader.number("I") for _ in range(slots)]:
        if not referent:
            continue
        room, extension, size = reader.number("I"), reader.guid(), reader.number("I")
        data = reader.read_bytes(room)[:size]
        if extension != "0000031c-0000-0000-c000-000000000046":
            continue
        inner = Reader(data, None)
        assert inner.read_bytes(4) == b"MEOW" and inner.number("I") == 4
        inner.guid(), inner.guid()
        inner.number("I"), inner.number("I")
        inner = Reader(data[inner.at:], None)
        inner.number("I"), inner.number("I"), inner.guid()
        texts = []
        for _ in range(3):
            if not inner.number("I"):
                texts.append(None)
                continue
            units = inner.number("I")
            assert (inner.number("I"), inner.number("I")) == (0, units)
            texts.append(inner.read_bytes(2 * units).decode("utf-16le").rstrip("\0"))
            inner.align(4)
        text = texts[1]
    return text


def connect(port, user, password, **named):
    INTERFACE.CONNECTIONS.clear()
    connection = DCOMConnection(f"127.0.0.1[{port}]", user, password, "", oxidResolver=False, **named)
    DCOMConnection.PORTMAPS["127.0.0.1"] = connection.get_dce_rpc()
    return connection


def activate(connection, clsid, iid):
    like = connection.CoCreateInstanceEx(string_to_bin(clsid), uuidtup_to_bin((iid, "0.0")))
    standard = struct.pack("<IIQQ", 0, 5, like.get_oxid(), like.get_oid()) + like.get_iPid()
    return Object(like, b"MEOW" + struct.pack("<I", 1) + uuid.UUID(iid).bytes_le + standard + struct.pack("<HH", 0, 0))


# ---- pla.idl ----

class Library:
    """The interfaces of pla.idl: methods as (name, [(is_out, type)]), in opnum order from 7."""
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        self.enumerations = set(re.findall(r"\}\s*(\w+);", text))
        self.iids, self.methods, self.own = {}, {}, {}
        for iid, name, base, body in re.findall(
                r"\[\s*object,\s*uuid\(([^)]+)\).*?\]\s*interface (\w+) : (\w+)\s*\{(.*?)\n\}", text, re.S):
            self.iids[name] = iid
            found = []
            for attributes, method, parameters in re.findall(r"((?:\[[^\]]*\]\s*)?)HRESULT (\w+)\((.*?)\);", body, re.S):
                prefix = "get_" if "propget" in attributes else "put_" if "propput" in attributes else ""
                found.append((prefix + method, [self.parameter(p) for p in re.split(r",\s*(?=\[)", parameters.strip())
                                                if p and p != "void"]))
            self.own[name] = len(found)
            self.methods[name] = list(self.methods.get(base, [])) + found

    @staticmethod
    def parameter(text):
        attributes, rest = re.match(r"\[([^\]]*)\]\s*(.*)", " ".join(text.split())).groups()
        kind, name = rest.rsplit(" ", 1)
        stars = len(name) - len(name.lstrip("*"))
        is_out = "out" in attributes
        return is_out, kind.replace(" ", "").replace("OPENPLA_", "") + "*" * (stars - is_out)

    def name_of(self, iid):
        return next(name for name, own in self.iids.items() if own.lower() == iid.lower())

    def write(self, w, kind, value):
        if kind.endswith("*"):
            w.object(value)
        elif kind == "BSTR":
            w.bstr(value)
        elif kind == "GUID":
            w.guid(value)
        elif kind == "VARIANT":
            w.variant(*(value if isinstance(value, tuple) else (3, value)))
        elif kind.startswith("SAFEARRAY"):
            w.array(value, "BYTE" in kind)
        else:
            w.number({"VARIANT_BOOL": "h", "ULONG": "I", "LONG": "I", "ULONG64": "Q"}.get(kind, "H"), value)

    def read(self, r, kind):
        if kind.endswith("*"):
            return r.object()
        if kind == "BSTR":
            return r.bstr()
        if kind == "GUID":
            return r.guid()
        if kind == "VARIANT":
            return r.variant()
        if kind.startswith("SAFEARRAY"):
            return r.array()
        return r.number({"VARIANT_BOOL": "h", "ULONG": "I", "LONG": "I", "ULONG64": "Q"}.get(kind, "H"))

    def call(self, item, method, *arguments):
        """Calls a method by its opnum, and returns (HRESULT, [out values])."""
        methods = self.methods[self.name_of(item.iid)]
        opnum = [name for name, _ in methods].index(method)
        body, values = Writer(), list(arguments)
        for is_out, kind in methods[opnum][1]:
            if not is_out:
                self.write(body, kind, values.pop(0))
        reader = item.call(7 + opnum, body)
        results = [self.read(reader, kind) for is_out, kind in methods[opnum][1] if is_out]
        return reader.result(), results
