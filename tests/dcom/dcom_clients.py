#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""dcom_clients.py PROGRAMS: real remote clients call the service OpenPLA in a new Wine prefix. Unmodified impacket
manages sets through vtables and by name, and Samba checks signatures. Exit status 77 if one of them is not
installed."""
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
import uuid

from prefix import server_processes

try:
    from impacket.dcerpc.v5.dcomrt import INTERFACE
    from impacket.dcerpc.v5.dcom import oaut
    from orpc_client import DISPATCH, ENUM_VARIANT, Library, Object, Writer, activate, connect
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

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLA = Library(os.path.join(SOURCE, "idl", "pla.idl"))
PASSWORDS = {"admin": "admins of sets 2026", "guest": "guests of sets 2026"}
SET, SETS = "03837521-098b-11d8-9414-505054503030", "03837525-098b-11d8-9414-505054503030"
NOT_FOUND, DENIED, NOT_ENOUGH_QUOTA, NEEDS_ACCOUNT = 0x80300002, 0x80070005, 0x80070718, 0x80300103
failed = 0


def check(what, got, expected):
    global failed
    if got != expected:
        failed += 1
        print(f"FAILED {what}: {got!r}, expected {expected!r}", flush=True)
    else:
        print(f"ok {what}", flush=True)


def wait_for(what, is_so):
    """Waits up to a limit that allows for a busy machine."""
    end = time.monotonic() + 120
    while not is_so() and time.monotonic() < end:
        time.sleep(0.2)
    check(what, bool(is_so()), True)


def wine(program, *arguments, given=None):
    """Runs a program with `given` as standard input; only for programs that start no service."""
    environment = dict(os.environ, OPENPLA_WINE_RUN="through") if given is not None else None
    done = subprocess.run(["sh", os.path.join(SOURCE, "cmake", "wine-run.sh"), program, *arguments], input=given or "",
                          capture_output=True, text=True, timeout=600, env=environment)
    return done.returncode, done.stdout, done.stderr


def openpla(*arguments, given=""):
    return wine(os.path.join(sys.argv[1], "openpla.exe"), *arguments, given=given)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def is_open(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    except OSError:
        return False


def fault_of(what):
    """Returns the fault's name as impacket shows it, or the returned value."""
    try:
        return what()
    except Exception as e:
        return str(e).split(" - ")[0]


def a_set(user, port):
    return activate(connect(port, user, PASSWORDS[user]), SET, PLA.iids["IDataCollectorSet"])


def settings_tests(port):
    check("off by default", json.loads(openpla("dcom", "status", "-json")[1])["on"], False)
    code, _, errors = openpla("dcom", "account", "add", "admin", given="short\n")
    check("a short password is refused", (code, "too short" in errors), (1, True))
    check("an invalid name is refused", openpla("dcom", "account", "add", "a\\b", given="long enough it is\n")[0], 1)
    for user, password in PASSWORDS.items():
        role = "administrators" if user == "admin" else "users"
        check(f"account add {user}", openpla("dcom", "account", "add", user, "-role", role, given=password + "\n")[0], 0)
    check("an account is not replaced unasked", openpla("dcom", "account", "add", "ADMIN", given="something else 1\n")[0], 1)
    accounts = json.loads(openpla("dcom", "account", "list", "-json")[1])
    check("account list", [(a["name"], a["role"]) for a in accounts], [("admin", "administrators"), ("guest", "users")])
    code, _, errors = openpla("dcom", "on", "-port", str(port), "-address", "*")
    check("all addresses need patterns of clients", (code, "-from" in errors), (1, True))
    check("nobody listens before dcom on", is_open(port), False)
    check("an invalid limit is refused", openpla("dcom", "on", "-limits", "nonsense=1")[0], 1)
    check("dcom on", openpla("dcom", "on", "-port", str(port))[0], 0)
    wait_for("the service listens without a restart", lambda: is_open(port))
    return {a["name"]: a["sid"] for a in accounts}


def life_test(port):
    """Runs a set's life cycle through vtables."""
    s = a_set("admin", port)
    check("put_DisplayName", PLA.call(s, "put_DisplayName", "Gr\u00f6\u00dfe \u2603")[0], 0)
    check("get_DisplayName", PLA.call(s, "get_DisplayName"), (0, ["Gr\u00f6\u00dfe \u2603"]))
    check("put_Keywords", PLA.call(s, "put_Keywords", ["one", "two"])[0], 0)
    check("get_Keywords", PLA.call(s, "get_Keywords"), (0, [["one", "two"]]))
    collectors = PLA.call(s, "get_DataCollectors")[1][0]
    collector = PLA.call(collectors, "CreateDataCollector", 0)[1][0].query(PLA.iids["IPerformanceCounterDataCollector"])[1]
    check("put_PerformanceCounters", PLA.call(collector, "put_PerformanceCounters", [r"\Memory\Available MBytes"])[0], 0)
    check("put_SampleInterval", PLA.call(collector, "put_SampleInterval", 1)[0], 0)
    check("Add of an object of this connection", PLA.call(collectors, "Add", collector)[0], 0)
    check("the collection has it", PLA.call(collectors, "get_Count"), (0, [1]))
    check("Commit", PLA.call(s, "Commit", "remote", None, 1)[0], 0)
    check("Start", PLA.call(s, "Start", -1)[0], 0)
    check("Status while it runs", PLA.call(s, "get_Status"), (0, [1]))
    check("Stop", PLA.call(s, "Stop", -1)[0], 0)
    check("Status of the stopped set", PLA.call(s, "get_Status"), (0, [0]))
    other = a_set("admin", port)
    check("Query by another object", PLA.call(other, "Query", "remote", None)[0], 0)
    check("its DisplayName", PLA.call(other, "get_DisplayName"), (0, ["Gr\u00f6\u00dfe \u2603"]))
    check("Query of a set that does not exist", PLA.call(other, "Query", "no such set", None)[0], NOT_FOUND)
    check("the error text arrives", "no such set" in (other.error or ""), True)
    long_text = "\u20ac" * 200000
    check("put of 400 kB", PLA.call(other, "put_Description", long_text)[0], 0)
    check("get of 400 kB", PLA.call(other, "get_Description") == (0, [long_text]), True)
    enumerator = PLA.call(PLA.call(other, "get_DataCollectors")[1][0], "get__NewEnum")[1][0].query(ENUM_VARIANT)[1]
    reader = enumerator.call(3, Writer().number("I", 5))
    check("IEnumVARIANT::Next", (reader.number("I"), reader.number("I"), reader.number("I")), (5, 0, 1))
    check("Delete", PLA.call(other, "Delete")[0], 0)
    check("release", [o.release() for o in (collector, collectors, enumerator)], [0, 0, 0])
    check("a released object", fault_of(lambda: PLA.call(collectors, "get_Count")), "RPC_E_DISCONNECTED")


def late_binding_test(port):
    s = a_set("admin", port)
    late = oaut.IDispatch(s.query(DISPATCH)[1])
    ids = late.GetIDsOfNames(("dIsPlAyNaMe",))
    check("GetIDsOfNames in any case", late.GetIDsOfNames(("DisplayName",)), ids)

    def invoke(dispid, flags, arguments=(), named=(), references=()):
        body = Writer().number("i", dispid).guid("00000000-0000-0000-0000-000000000000").number("I", 0x409)
        body.number("I", flags).number("I", 1 if arguments else 0).number("I", 1 if named else 0)
        body.number("I", len(arguments)).number("I", len(named))
        if arguments:
            body.number("I", len(arguments))
            for _ in arguments:
                body.number("I", 1)
            for vt, value in arguments:
                body.variant_pointee(vt, value)
        if named:
            body.number("I", len(named))
            for one in named:
                body.number("i", one)
        body.number("I", len(references)).number("I", len(references))
        for at, _, _ in references:
            body.number("I", at)
        body.number("I", len(references))
        for _ in references:
            body.number("I", 1)
        for _, vt, value in references:
            body.variant_pointee(vt, value)
        r = late_object.call(6, body)
        value = r.variant()
        r.number("H"), r.number("H")
        texts = [r.number("I") for _ in range(3)]
        r.number("I"), r.number("I"), r.number("I")
        scode = r.number("I")
        texts = [r.bstr_pointee() if there else None for there in texts]
        r.number("I")
        count = r.number("I")
        referents = [r.number("I") for _ in range(count)]
        back = [r.variant_pointee() for _ in referents]
        return r.result(), value, scode, texts[1], back

    late_object = s.query(DISPATCH)[1]
    check("Invoke puts", invoke(ids[0], 4, [(8, "late bound")], [-3])[0], 0)
    check("Invoke gets", invoke(ids[0], 2)[:2], (0, (8, "late bound")))
    query = late.GetIDsOfNames(("query",))[0]
    hr, _, scode, text, _ = invoke(query, 1, [(8, None), (8, "no such set")])
    check("EXCEPINFO", (hr, scode, "no such set" in text), (0x80020009, NOT_FOUND, True))
    commit = late.GetIDsOfNames(("Commit",))[0]
    hr, value, _, _, back = invoke(commit, 1, [(3, 0x1001), (8, None), (0, None)], (), [(2, 0x4008, "by reference")])
    check("an argument by reference", (hr, value[0], back), (0, 9, [(0x4008, "by reference")]))
    duration = late.GetIDsOfNames(("Duration",))[0]
    check("VT_VARIANT by reference", invoke(duration, 4, [(0, None)], [-3], [(0, 0x400C, (3, 60))])[0], 0)
    check("the value that it had", invoke(duration, 2)[1][1], 60)
    collectors = late.GetIDsOfNames(("DataCollectors",))[0]
    check("an object as a result", invoke(collectors, 2)[1][0], 9)
    type_info_test(late)


def type_info_test(late):
    """Reads the type information that PowerShell uses to list members, decoded by impacket."""
    check("GetTypeInfoCount", late.GetTypeInfoCount()["pctinfo"], 1)
    info = late.GetTypeInfo()
    attributes = info.GetTypeAttr()["ppTypeAttr"]
    methods = PLA.methods["IDataCollectorSet"]
    check("the type describes the interface and IDispatch", attributes["cFuncs"] >= len(methods), True)
    names, parameters = set(), {}
    for index in range(attributes["cFuncs"]):
        function = info.GetFuncDesc(index)["ppFuncDesc"]
        found = info.GetNames(function["memid"], 16)
        name = found["rgBstrNames"][0]["asData"]
        names.add(name.lower())
        parameters.setdefault(name.lower(), (function["cParams"], function["invkind"]))
    check("GetNames names every member", {n.split("_", 1)[-1].lower() if n[:4] in ("get_", "put_") else n.lower()
                                          for n, _ in methods} <= names, True)
    check("Commit has three parameters and is a method", parameters["commit"], (3, 1))
    raw = Object(info, late_reference(info))
    reader = raw.call(12, Writer().number("i", -1).number("I", 15))
    check("GetDocumentation", (reader.bstr(), bool(reader.bstr()), reader.number("I"), reader.bstr(), reader.result()),
          ("IDataCollectorSet", True, 0, None, 0))
    library = raw.call(18)
    lib = library.object()
    library.number("I")
    check("GetContainingTypeLib", library.result(), 0)
    count = lib.call(3)
    check("ITypeLib::GetTypeInfoCount", count.number("I") >= 46, True)


def late_reference(info):
    """Returns the OBJREF of an interface that impacket holds."""
    standard = struct.pack("<IIQQ", 0, 5, info.get_oxid(), info.get_oid()) + info.get_iPid()
    return b"MEOW" + struct.pack("<I", 1) + uuid.UUID("00020401-0000-0000-C000-000000000046").bytes_le + standard + \
        struct.pack("<HH", 0, 0)


CLASSES = {"DataCollectorSet": 0x21, "DataCollectorSetCollection": 0x25, "TraceSession": 0x1C, "TraceSessionCollection": 0x30,
           "TraceDataProvider": 0x13, "TraceDataProviderCollection": 0x11, "LegacyDataCollectorSet": 0x26,
           "LegacyDataCollectorSetCollection": 0x27, "LegacyTraceSession": 0x28, "LegacyTraceSessionCollection": 0x29,
           "ServerDataCollectorSet": 0x31, "ServerDataCollectorSetCollection": 0x32, "SystemDataCollectorSet": 0x46,
           "SystemDataCollectorSetCollection": 0x47, "BootTraceSession": 0x38, "BootTraceSessionCollection": 0x39}


def class_interface(name):
    if name.startswith("TraceDataProvider"):
        return "I" + name
    return "IDataCollectorSetCollection" if name.endswith("Collection") else "IDataCollectorSet"


def every_method_test(port):
    """Each reply must end exactly after its HRESULT, whatever the method returns."""
    connection = connect(port, "admin", PASSWORDS["admin"])
    clsid = "038375{:02x}-098b-11d8-9414-505054503030".format
    created = {name: activate(connection, clsid(number), PLA.iids[class_interface(name)]) for name, number in CLASSES.items()}
    check("all 16 classes are activated", len(created), 16)
    check("an unknown class", "80040154" in str(fault_of(lambda: activate(connection, clsid(0x99), SET))), True)
    get = lambda item, method, *arguments: PLA.call(item, method, *arguments)[1][0]
    objects = {"IDataCollectorSet": created["DataCollectorSet"], "ITraceDataProvider": created["TraceDataProvider"],
               "ITraceDataProviderCollection": created["TraceDataProviderCollection"],
               "IDataCollectorSetCollection": created["DataCollectorSetCollection"]}
    objects["IDataManager"] = get(objects["IDataCollectorSet"], "get_DataManager")
    objects["IFolderActionCollection"] = get(objects["IDataManager"], "get_FolderActions")
    objects["IFolderAction"] = get(objects["IFolderActionCollection"], "CreateFolderAction")
    objects["IDataCollectorCollection"] = get(objects["IDataCollectorSet"], "get_DataCollectors")
    objects["IDataCollector"] = get(objects["IDataCollectorCollection"], "CreateDataCollector", 0)
    for kind, name in enumerate(("PerformanceCounter", "Trace", "Configuration", "Alert", "ApiTracing")):
        name = f"I{name}DataCollector"
        objects[name] = get(objects["IDataCollectorCollection"], "CreateDataCollector", kind).query(PLA.iids[name])[1]
    objects["IScheduleCollection"] = get(objects["IDataCollectorSet"], "get_Schedules")
    objects["ISchedule"] = get(objects["IScheduleCollection"], "CreateSchedule")
    objects["IValueMap"] = get(objects["ITraceDataProvider"], "get_Level")
    objects["IValueMapItem"] = get(objects["IValueMap"], "CreateValueMapItem")
    check("every interface has an object", sorted(objects), sorted(PLA.iids))
    defaults = {"BSTR": "some text", "ULONG": 1, "LONG": 1, "VARIANT_BOOL": -1, "ULONG64": 1, "VARIANT": 0,
                "GUID": "12345678-1234-1234-1234-123456789abc", "SAFEARRAY(BSTR)": ["one", "two"],
                "SAFEARRAY(BYTE)": [1, 2, 3], "IDispatch*": objects["ITraceDataProvider"]}
    answered = 0
    for name, methods in PLA.methods.items():
        values = {}
        for method, parameters in methods:
            arguments = [values.get(method[4:]) if method.startswith("put_") and values.get(method[4:]) is not None
                         else defaults.get(kind, objects.get(kind[:-1], 0)) for is_out, kind in parameters if not is_out]
            try:
                _, results = PLA.call(objects[name], method, *arguments)
                if method.startswith("get_") and len(results) == 1:
                    values[method[4:]] = results[0]
                answered += 1
            except Exception as e:
                check(f"{name}::{method}", repr(e), "an answer")
    check("methods with the inherited ones that answered", answered, 435)
    check("methods of the 18 interfaces", sum(PLA.own.values()), 310)


def access_tests(port, sids):
    admin = a_set("admin", port)
    check("Security that denies the guest", PLA.call(admin, "put_Security", f"O:BAG:BAD:(D;;GA;;;{sids['guest']})(A;;GA;;;BA)"
                                                     "(A;;GA;;;S-1-5-32-559)")[0], 0)
    check("Commit of the administrator", PLA.call(admin, "Commit", "secret", None, 1)[0], 0)
    guest = a_set("guest", port)
    check("the guest cannot read it", PLA.call(guest, "Query", "secret", None)[0], DENIED)
    check("the guest gets the reason", bool(guest.error), True)
    check("a set of the system is for administrators", PLA.call(guest, "Commit", "the guest's", None, 1)[0], NEEDS_ACCOUNT)
    check("SetCredentials", PLA.call(guest, "SetCredentials", "someone", "a password")[0], 0)
    check("the guest can create a set with an account", PLA.call(guest, "Commit", "the guest's", None, 1)[0], 0)
    check("and delete it", PLA.call(guest, "Delete")[0], 0)
    connect(port, "admin", PASSWORDS["admin"])
    again = a_set("admin", port)
    check("the administrator can read it", PLA.call(again, "Query", "secret", None)[0], 0)
    check("and delete it", PLA.call(again, "Delete")[0], 0)
    guest = a_set("guest", port)
    check("an IPID of another account", fault_of(lambda: guest.call(7, iid=again.iid, ipid=again.get_iPid())),
          "RPC_E_DISCONNECTED")
    for user, password in (("admin", "wrong password"), ("nobody", PASSWORDS["admin"]), ("", "")):
        refused = fault_of(lambda: activate(connect(port, user, password), SET, PLA.iids["IDataCollectorSet"]))
        check(f"the logon of '{user}' is refused", isinstance(refused, str), True)
    guest = a_set("guest", port)
    check("a call before the account is removed", PLA.call(guest, "get_DisplayName")[0], 0)
    check("remove the guest", openpla("dcom", "account", "remove", "guest")[0], 0)
    wait_for("a connection of a removed account is denied",
             lambda: "denied" in str(fault_of(lambda: PLA.call(guest, "get_DisplayName"))).lower())
    check("it cannot log on again", isinstance(fault_of(lambda: a_set("guest", port)), str), True)
    check("add the guest again", openpla("dcom", "account", "add", "guest", given=PASSWORDS["guest"] + "\n")[0], 0)
    sid = {a["name"]: a["sid"] for a in json.loads(openpla("dcom", "account", "list", "-json")[1])}["guest"]
    check("as another account with that name", sid != sids["guest"], True)


def example_test(port):
    """Runs examples/remote_set.py as a user would."""
    done = subprocess.run([sys.executable, os.path.join(SOURCE, "examples", "remote_set.py"), "127.0.0.1", "admin", str(port)],
                          input=PASSWORDS["admin"] + "\n", capture_output=True, text=True, timeout=600)
    check("the example", (done.returncode, done.stdout.split("\n")[:4]),
          (0, ["committed: remote example", "its title: made from afar", "status:    1", "status:    0"]))
    check("the example shows the error text", "no such set" in done.stdout, True)


def samba_tests(port):
    parameters = LoadParm()
    parameters.load_default()

    def try_logon(options, password=PASSWORDS["admin"]):
        credentials = Credentials()
        credentials.guess(parameters)
        credentials.set_username("admin")
        credentials.set_password(password)
        credentials.set_domain("WORKGROUP")
        credentials.set_workstation("W")
        credentials.set_kerberos_state(DONT_USE_KERBEROS)
        binding = f"ncacn_ip_tcp:127.0.0.1[{port},{options}]"
        try:
            first = mgmt.mgmt(binding, parameters, credentials)
            exporter = base.ClientConnection(binding, ("99fcfec4-5260-101b-bbcb-00aa0021347a", 0), lp_ctx=parameters,
                                             basis_connection=first)
            return exporter.request(5, b"")[:4]
        except Exception as e:
            return type(e).__name__

    for options in ("ntlm,seal", "ntlm,sign", "spnego,seal", "spnego,sign"):
        check(f"Samba takes the signatures of {options}", try_logon(options), b"\x05\0\x07\0")
    check("the level connect is refused", try_logon("ntlm,connect"), "NTSTATUSError")
    check("a wrong password", try_logon("spnego,seal", "wrong"), "NTSTATUSError")


def one_client(port, calls):
    """Starts a process that exits without releasing anything."""
    s = a_set("admin", port)
    for i in range(calls):
        if PLA.call(s, "put_Duration", i)[0] or PLA.call(s, "get_Duration") != (0, [i]):
            os._exit(1)
    os._exit(0)


def clients_test(port):
    clients = [subprocess.Popen([sys.executable, __file__, sys.argv[1], str(port), "100"]) for _ in range(3)]
    check("three simultaneous clients that are killed", [client.wait(600) for client in clients], [0, 0, 0])


def front_test(port):
    """A killed front end is restarted, and objects survive it."""
    s = a_set("admin", port)
    check("put before the front is killed", PLA.call(s, "put_Duration", 77)[0], 0)
    before = server_processes("/dcom")
    check("one front runs", len(before), 1)
    os.kill(before[0], 9)
    wait_for("another front is started", lambda: server_processes("/dcom") not in ([], before) and is_open(port))
    INTERFACE.CONNECTIONS.clear()
    again = connect(port, "admin", PASSWORDS["admin"])
    like = activate(again, SET, PLA.iids["IDataCollectorSet"])
    survivor = Object(like, s.reference)
    check("an object outlives the front", PLA.call(survivor, "get_Duration"), (0, [77]))


def exhaustion_test(port):
    check("a limit", openpla("dcom", "on", "-limits", "remote_objects_of_account=20;connections_of_address=8")[0], 0)
    wait_for("the limit is in force", lambda: json.loads(openpla("dcom", "status", "-json")[1])["accepts"])
    s = None
    for _ in range(100):
        s = fault_of(lambda: a_set("admin", port))
        if not isinstance(s, str):
            break
        time.sleep(0.3)
    collectors = PLA.call(s, "get_DataCollectors")[1][0]
    results = [PLA.call(collectors, "CreateDataCollector", 0)[0] for _ in range(30)]
    check("objects of an account are limited", (results[0], results[-1]), (0, NOT_ENOUGH_QUOTA))
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(12)]
    held[-1].settimeout(60)
    try:
        closed = held[-1].recv(1) == b""
    except ConnectionError:
        closed = True
    check("connections of an address are limited", closed, True)
    for one in held:
        one.close()


def journal_test():
    code, events, _ = openpla("events", "-last", "1000")
    for number, what in ((9040, "listening"), (9042, "a logon"), (9043, "a failed logon"), (9044, "a refusal"),
                         (9045, "an activation")):
        check(f"the journal has {what}", f" {number} " in events, True)
    check("the journal has no password", any(password in events for password in PASSWORDS.values()), False)


def main():
    if len(sys.argv) > 2:
        one_client(int(sys.argv[2]), int(sys.argv[3]))
    prefix = os.path.join(SOURCE, "cmake", "wine-prefix.sh")
    subprocess.run(["sh", prefix, "setup"], check=True)
    server = os.path.join(sys.argv[1], "openplasrv.exe")
    try:
        wine("net", "stop", "OpenPLA")
        for folder in ("PerfLogs", os.path.join("ProgramData", "OpenPLA")):  # left by an earlier run
            shutil.rmtree(os.path.join(os.environ["WINEPREFIX"], "drive_c", folder), ignore_errors=True)
        wine("reg", "delete", r"HKLM\Software\OpenPLA\Dcom", "/f")
        check("the service starts", wine(server, "/regserver", "/start")[0], 0)
        port = free_port()
        sids = settings_tests(port)
        life_test(port)
        late_binding_test(port)
        every_method_test(port)
        access_tests(port, sids)
        example_test(port)
        samba_tests(port)
        clients_test(port)
        front_test(port)
        exhaustion_test(port)
        journal_test()
        check("dcom off", openpla("dcom", "off")[0], 0)
        wait_for("nobody listens after dcom off", lambda: not is_open(port))
        check("dcom on again", openpla("dcom", "on")[0], 0)
        wait_for("the port is the same", lambda: is_open(port))
        wine("reg", "delete", r"HKLM\Software\OpenPLA\Dcom", "/f")
        wait_for("nobody listens when the settings are deleted", lambda: not is_open(port))
        check("dcom on with new settings", openpla("dcom", "on", "-port", str(port))[0], 0)
        wait_for("the service follows new settings", lambda: is_open(port))
    finally:
        wine("net", "stop", "OpenPLA")
        subprocess.run(["sh", prefix, "cleanup"], check=False)
    print(f"{failed} failed")
    sys.exit(1 if failed else 0)


main()
