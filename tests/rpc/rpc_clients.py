#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""rpc_clients.py SERVER [PORT CALLS]: real clients call engine/rpc. Unmodified impacket activates a class and calls its
methods; Samba's client checks the signatures. Exit status 77: neither is installed."""
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time
import uuid

try:
    from impacket.dcerpc.v5.dcomrt import INTERFACE, DCOMConnection, IObjectExporter
    from impacket.dcerpc.v5.dcom.oaut import DISPATCH_METHOD, DISPPARAMS, IDispatch, IID_IDispatch, VARIANT
    from impacket.dcerpc.v5.dtypes import NULL
    from impacket.dcerpc.v5.rpcrt import RPC_C_AUTHN_LEVEL_PKT_INTEGRITY, RPC_C_AUTHN_LEVEL_PKT_PRIVACY
    from impacket.uuid import string_to_bin, uuidtup_to_bin
except ImportError:
    print("skipped: Debian's python3-impacket is not installed")
    sys.exit(77)
try:
    from samba.credentials import DONT_USE_KERBEROS, Credentials
    from samba.dcerpc import base, mgmt
    from samba.param import LoadParm
except ImportError:
    print("skipped: Debian's python3-samba is not installed")
    sys.exit(77)

CLASS, IID, OTHER = (f"C0FFEE0{n}-0000-0000-0000-000000000001" for n in range(3))
EXPORTER, ACTIVATION = "99fcfec4-5260-101b-bbcb-00aa0021347a", "4d9f4ab8-7d1c-11cf-861e-0020af6e7c57"
REM_UNKNOWN = "00000131-0000-0000-C000-000000000046"
E_NOINTERFACE = 0x80004002
# The names that impacket gives to faults.
DISCONNECTED, INVALID_OBJECT, INVALID_OBJREF = "RPC_E_DISCONNECTED", "RPC_E_INVALID_OBJECT", "RPC_E_INVALID_OBJREF"
UNKNOWN_METHOD, BAD_STUB = "nca_s_op_rng_error", "rpc_x_bad_stub_data"
failed = 0


def check(what, got, expected):
    global failed
    if got != expected:
        failed += 1
        print(f"FAILED {what}: {got!r}, expected {expected!r}")
    else:
        print(f"ok {what}")


def connect(port, user="tester", password="secret of tests", level=RPC_C_AUTHN_LEVEL_PKT_PRIVACY):
    INTERFACE.CONNECTIONS.clear()
    connection = DCOMConnection(f"127.0.0.1[{port}]", user, password, "", authLevel=level, oxidResolver=False)
    DCOMConnection.PORTMAPS["127.0.0.1"] = connection.get_dce_rpc()
    return connection


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([sys.argv[1], *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def counts(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return tuple(map(int, self.process.stdout.readline().split()))

    def connect(self, *arguments, **named):
        return connect(self.port, *arguments, **named)

    def wait_until_empty(self, what):
        for _ in range(200):
            if self.counts() == (0, 0):
                break
            time.sleep(0.1)
        check(what, self.counts(), (0, 0))

    def close(self):
        self.process.stdin.close()
        check("the server ends without a sanitizer's report", self.process.wait(30), 0)


def orpc_this():
    return struct.pack("<HHII", 5, 7, 0, 0) + uuid.uuid4().bytes + struct.pack("<I", 0)


def call(interface, opnum, body=b"", iid=IID, ipid=None):
    """Returns the stub data that follows ORPCTHAT in the response, or the name of the fault."""
    interface.connect(uuidtup_to_bin((iid, "0.0")))
    dce = interface.get_dce_rpc()
    try:
        dce.call(opnum, orpc_this() + body, ipid or interface.get_iPid())
        return dce.recv()[8:]
    except Exception as e:  # DCERPCException or DCERPCSessionError of impacket
        return str(e).split(" - ")[0]


def bstr(text):
    units = text.encode("utf-16le")
    return struct.pack("<IIII", 1, len(units) // 2, len(units), len(units) // 2) + units


def impacket_tests(server):
    connection = server.connect()
    thing = connection.CoCreateInstanceEx(string_to_bin(CLASS), uuidtup_to_bin((IID, "0.0")))
    check("impacket activates", server.counts(), (1, 1))
    check("a method of numbers", call(thing, 3, struct.pack("<II", 40, 2)), struct.pack("<II", 42, 0))
    for length in (0, 1, 2900, 200000):
        answer = call(thing, 4, bstr("\u20ac" * length))
        check(f"a string of {length} units", answer[16:16 + 2 * length], ("\u20ac" * length).encode("utf-16le"))
    child = call(thing, 5)
    at = child.index(b"MEOW")
    ipid = child[at + 48:at + 64]
    check("a child is another object", server.counts(), (2, 2))
    check("a method of the child", call(thing, 3, struct.pack("<II", 1, 2), ipid=ipid), struct.pack("<II", 3, 0))
    reference = lambda ref: struct.pack("<III", 1, len(ref), len(ref)) + ref + b"\0" * (-len(ref) % 4)
    objref = child[at:at + 68 + 2 * struct.unpack_from("<H", child, at + 64)[0]]
    check("an object as an argument", call(thing, 8, reference(objref))[:4], struct.pack("<I", 0))
    check("its references are taken back", call(thing, 3, struct.pack("<II", 1, 2), ipid=ipid), DISCONNECTED)
    check("an object of another exporter", call(thing, 8, reference(objref[:32] + bytes(8) + objref[40:])), INVALID_OBJREF)
    check("a failure has its result", call(thing, 9)[-4:], struct.pack("<I", 0x80004005))
    check("an unknown method", call(thing, 99), UNKNOWN_METHOD)
    check("a method of IUnknown", call(thing, 1), UNKNOWN_METHOD)
    check("a stub that is too short", call(thing, 3, b"1234"), BAD_STUB)
    check("an unknown IPID", call(thing, 3, bytes(8), ipid=uuid.uuid4().bytes), DISCONNECTED)
    check("an IPID of another interface", call(thing, 3, bytes(8), iid=OTHER), INVALID_OBJECT)
    other = thing.RemQueryInterface(1, (uuid.UUID(OTHER).bytes_le,))
    check("RemQueryInterface", call(other, 3, b"", iid=OTHER), UNKNOWN_METHOD)
    try:
        thing.RemQueryInterface(1, (uuid.uuid4().bytes_le,))
        check("RemQueryInterface of an unknown interface", "answered", "an error")
    except Exception as e:
        check("RemQueryInterface of an unknown interface", e.get_error_code() & 0xFFFFFFFF, E_NOINTERFACE)
    thing.RemAddRef()
    exporter = IObjectExporter(connection.get_dce_rpc())
    check("ServerAlive2", [b["aNetworkAddr"] for b in exporter.ServerAlive2()], [f"127.0.0.1[{server.port}]\0"])
    check("ResolveOxid2", exporter.ResolveOxid2(thing.get_oxid(), (7,))[0]["aNetworkAddr"], f"127.0.0.1[{server.port}]\0")
    for user, password in (("tester", "wrong"), ("nobody", "x"), ("", "")):
        try:
            server.connect(user, password).CoCreateInstanceEx(string_to_bin(CLASS), uuidtup_to_bin((IID, "0.0")))
            check(f"the logon of '{user}'", "taken", "refused")
        except Exception as e:
            check(f"the logon of '{user}' is refused", "denied" in str(e).lower() or "closed" in str(e).lower()
                  or "reset" in str(e).lower() or "checksum" in str(e).lower(), True)
    second = server.connect("other", "other secret")
    foreign = second.CoCreateInstanceEx(string_to_bin(CLASS), uuidtup_to_bin((IID, "0.0")))
    check("another account's object", call(foreign, 3, bytes(8), ipid=thing.get_iPid()), DISCONNECTED)
    try:
        second.CoCreateInstanceEx(uuid.uuid4().bytes_le, uuidtup_to_bin((IID, "0.0")))
        check("an unknown class", "activated", "an error")
    except Exception as e:
        check("an unknown class", "REGDB_E_CLASSNOTREG" in str(e), True)
    before = server.counts()[0]
    foreign.RemRelease()  # releases one reference of five
    body = struct.pack("<HxxI", 1, 1) + foreign.get_iPid() + struct.pack("<II", 5, 0)
    call(foreign, 5, body, iid=REM_UNKNOWN, ipid=foreign.get_ipidRemUnknown())
    check("a released object goes", server.counts()[0], before - 1)


def late_binding_test(server):
    connection = server.connect()
    late = IDispatch(connection.CoCreateInstanceEx(string_to_bin(CLASS), IID_IDispatch))
    check("GetIDsOfNames", late.GetIDsOfNames(("Add",)), [1])
    check("GetTypeInfoCount", late.GetTypeInfoCount()["pctinfo"], 0)
    parameters = DISPPARAMS()
    parameters["rgdispidNamedArgs"] = NULL
    parameters["cArgs"], parameters["cNamedArgs"] = 2, 0
    for number in (40, 2):
        argument = VARIANT()
        argument["clSize"] = 5
        argument["vt"] = 3
        argument["_varUnion"]["tag"] = 3
        argument["_varUnion"]["lVal"] = number
        parameters["rgvarg"].append(argument)
    answer = late.Invoke(1, 0x409, DISPATCH_METHOD, parameters, 0, [], [])
    check("Invoke", answer["pVarResult"]["_varUnion"]["lVal"], 42)


def one_client(port, calls):
    """Runs as a separate process, which exits without releasing anything."""
    thing = connect(port).CoCreateInstanceEx(string_to_bin(CLASS), uuidtup_to_bin((IID, "0.0")))
    for i in range(calls):
        if call(thing, 3, struct.pack("<II", i, 2)) != struct.pack("<II", i + 2, 0):
            os._exit(1)
    os._exit(0)


def level_test(server):
    connection = server.connect(level=RPC_C_AUTHN_LEVEL_PKT_INTEGRITY)
    thing = connection.CoCreateInstanceEx(string_to_bin(CLASS), uuidtup_to_bin((IID, "0.0")))
    check("activation with packet integrity", thing.get_iPid() != bytes(16), True)
    check("a method with the level of the server's hint", call(thing, 3, bytes(8)), bytes(8))


def run_down_test():
    server = Server("1500")
    connection = server.connect()
    thing = connection.CoCreateInstanceEx(string_to_bin(CLASS), uuidtup_to_bin((IID, "0.0")))
    exporter = IObjectExporter(connection.get_dce_rpc())
    answer = exporter.ComplexPing(0, 0, [thing.get_oid()], [])
    check("ComplexPing makes a set", answer["ErrorCode"], 0)
    for _ in range(6):
        time.sleep(0.5)
        exporter.SimplePing(answer["pSetId"])
    check("a pinged object stays", server.counts(), (1, 1))
    server.wait_until_empty("an object that nobody pings goes")
    # By now the connection has been idle for longer than a server thread waits for it.
    again = connection.CoCreateInstanceEx(string_to_bin(CLASS), uuidtup_to_bin((IID, "0.0")))
    check("a silent connection is served again", call(again, 3, struct.pack("<II", 1, 2)), struct.pack("<II", 3, 0))
    clients = [subprocess.Popen([sys.executable, __file__, sys.argv[1], str(server.port), "200"]) for _ in range(3)]
    check("three clients at once", [client.wait(300) for client in clients], [0, 0, 0])
    server.wait_until_empty("what clients that ended held goes")
    server.close()


def is_closed(connection):
    """Whether the server closes the connection within a time limit that allows for a busy machine."""
    connection.settimeout(60)
    try:
        while connection.recv(4096):
            pass
        return True
    except socket.timeout:
        return False
    except OSError:
        return True


class Recorder(threading.Thread):
    """Forwards one connection and records what the client sends."""
    def __init__(self, port):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.target, self.sent = self.listener.getsockname()[1], port, []
        self.start()

    def run(self):
        client, server = self.listener.accept()[0], socket.create_connection(("127.0.0.1", self.target))
        while True:
            for ready in select.select([client, server], [], [])[0]:
                data = ready.recv(65536)
                if not data:
                    client.close()
                    server.close()
                    return
                if ready is client:
                    self.sent.append(data)
                (server if ready is client else client).sendall(data)


def attack_tests():
    server = Server("0", "1500")
    slow = socket.create_connection(("127.0.0.1", server.port))
    try:
        for byte in b"\x05\x00\x0b\x03\x10\x00\x00\x00" * 40:
            slow.sendall(bytes([byte]))
            time.sleep(0.1)
        check("a client that sends single bytes is closed", is_closed(slow), True)
    except OSError:
        check("a client that sends single bytes is closed", True, True)
    recorder = Recorder(server.port)
    connection = connect(recorder.port)
    recorded = list(recorder.sent)
    replay = socket.create_connection(("127.0.0.1", server.port))
    for data in recorded:
        replay.sendall(data)
        time.sleep(0.2)
    check("a replayed logon is refused", is_closed(replay), True)
    held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
    check("connections beyond the limit of an address are closed", is_closed(held[-1]), True)
    for one in held:
        is_closed(one)
    for _ in range(6):
        try:
            server.connect("tester", "wrong").CoCreateInstanceEx(string_to_bin(CLASS), uuidtup_to_bin((IID, "0.0")))
        except Exception:
            pass
    blocked = socket.create_connection(("127.0.0.1", server.port))
    blocked.settimeout(60)
    try:
        blocked.sendall(b"\x05")
        check("an address that failed too often is blocked", blocked.recv(1), b"")
    except OSError:
        check("an address that failed too often is blocked", True, True)
    time.sleep(1.5)  # for longer than this server blocks an address
    check("the block ends", server.connect().get_dce_rpc() is not None, True)
    connection.disconnect()
    server.close()
    closed = Server("0", "0", "10.9.9.9 192.168.*")
    check("an address that is not permitted", is_closed(socket.create_connection(("127.0.0.1", closed.port))), True)
    closed.close()


def samba_tests(server):
    parameters = LoadParm()
    parameters.load_default()

    def connect(options, iid, user="tester", password="secret of tests"):
        credentials = Credentials()
        credentials.guess(parameters)
        credentials.set_username(user)
        credentials.set_password(password)
        credentials.set_domain("WORKGROUP")
        credentials.set_workstation("W")
        credentials.set_kerberos_state(DONT_USE_KERBEROS)
        binding = f"ncacn_ip_tcp:127.0.0.1[{server.port},{options}]"
        # Samba's client can authenticate on an interface that it knows.
        first = mgmt.mgmt(binding, parameters, credentials)
        return base.ClientConnection(binding, (iid, 0), lp_ctx=parameters, basis_connection=first)

    def result_or_exception(what):
        try:
            return what()
        except Exception as e:
            return type(e).__name__

    activation = lambda: orpc_this() + uuid.UUID(CLASS).bytes_le + struct.pack("<IIIIIII", 0, 0, 2, 0, 1, 0x20000, 1) + \
        uuid.UUID(IID).bytes_le + struct.pack("<HHIH", 1, 0, 1, 7)
    for options in ("ntlm,seal", "ntlm,sign", "spnego,seal", "spnego,sign"):
        check(f"Samba checks signatures of {options}", result_or_exception(lambda: connect(options, EXPORTER).request(5, b"")[:4]),
              struct.pack("<HH", 5, 7))
        answer = result_or_exception(lambda: connect(options, ACTIVATION).request(0, activation()))
        check(f"Samba activates with {options}", isinstance(answer, bytes) and b"MEOW" in answer and answer[-4:], bytes(4))
    check("the level connect is refused", result_or_exception(lambda: connect("ntlm,connect", EXPORTER).request(5, b"")), "NTSTATUSError")
    for options in ("ntlm,seal", "spnego,seal"):
        check(f"a wrong password with {options}", result_or_exception(lambda: connect(options, EXPORTER, password="x").request(5, b"")),
              "NTSTATUSError")


def main():
    if len(sys.argv) > 2:
        one_client(int(sys.argv[2]), int(sys.argv[3]))
    server = Server()
    impacket_tests(server)
    late_binding_test(server)
    level_test(server)
    samba_tests(server)
    server.close()
    run_down_test()
    attack_tests()
    print(f"{failed} failed")
    sys.exit(1 if failed else 0)


main()
