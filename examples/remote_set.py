#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""remote_set.py HOST ACCOUNT [PORT]: creates, runs and deletes a data collector set on another computer by DCOM, with
Debian's python3-impacket. The password is the first line of standard input, or is prompted for."""
import getpass
import sys

from impacket.dcerpc.v5.dcom.oaut import (DISPATCH_METHOD, DISPATCH_PROPERTYGET, DISPATCH_PROPERTYPUT, DISPPARAMS,
                                          IDispatch, IID_IDispatch, VARIANT)
from impacket.dcerpc.v5.dcomrt import DCOMConnection
from impacket.dcerpc.v5.dtypes import NULL
from impacket.uuid import string_to_bin

DATA_COLLECTOR_SET = "03837521-098B-11D8-9414-505054503030"
PROPERTY_VALUE = 0xFFFFFFFD  # DISPID_PROPERTYPUT
XML = r"""<DataCollectorSet><PerformanceCounterDataCollector><Name>memory</Name><SampleInterval>1</SampleInterval>
<LogOverwrite>-1</LogOverwrite><Counter>\Memory\Available MBytes</Counter></PerformanceCounterDataCollector></DataCollectorSet>"""


def variant(value):
    """Returns the VARIANT of a str, bool, int or None."""
    kinds = {str: (8, "bstrVal"), bool: (11, "boolVal"), int: (3, "lVal"), type(None): (0, None)}
    vt, member = kinds[type(value)]
    v = VARIANT()
    v["clSize"], v["vt"], v["_varUnion"]["tag"] = 5, vt, vt
    if vt == 8:
        v["_varUnion"]["bstrVal"]["asData"] = value
    elif member:
        v["_varUnion"][member] = 0xFFFF if value is True else int(value)
    return v


class Remote:
    """Calls an object through IDispatch: get, put and call take a member's name."""
    def __init__(self, interface):
        self.dispatch = IDispatch(interface)

    def invoke(self, name, flags, arguments):
        parameters = DISPPARAMS()
        parameters["cArgs"], parameters["cNamedArgs"] = len(arguments), 0
        for value in reversed(arguments):
            parameters["rgvarg"].append(variant(value))
        if flags == DISPATCH_PROPERTYPUT:
            parameters["cNamedArgs"] = 1
            parameters["rgdispidNamedArgs"].append(PROPERTY_VALUE)
        else:
            parameters["rgdispidNamedArgs"] = NULL
        member = self.dispatch.GetIDsOfNames((name,))[0]
        return self.dispatch.Invoke(member, 0x409, flags, parameters, 0, [], [])["pVarResult"]["_varUnion"]

    def get(self, name, member="bstrVal"):
        value = self.invoke(name, DISPATCH_PROPERTYGET, [])[member]
        return value["asData"] if member == "bstrVal" else value

    def put(self, name, value):
        self.invoke(name, DISPATCH_PROPERTYPUT, [value])

    def call(self, name, *arguments):
        return self.invoke(name, DISPATCH_METHOD, arguments)


def main():
    host, account = sys.argv[1:3]
    port = int(sys.argv[3]) if len(sys.argv) > 3 else 135
    password = getpass.getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    connection = DCOMConnection(host if port == 135 else f"{host}[{port}]", account, password, "", oxidResolver=False)
    DCOMConnection.PORTMAPS[host] = connection.get_dce_rpc()  # only needed for another port than 135
    create = lambda: Remote(connection.CoCreateInstanceEx(string_to_bin(DATA_COLLECTOR_SET), IID_IDispatch))
    new = create()
    new.call("SetXml", XML)
    new.put("DisplayName", "made from afar")
    new.call("Commit", "remote example", None, 1)  # plaCreateNew
    print("committed:", new.get("Name"))
    stored = create()
    stored.call("Query", "remote example", None)
    print("its title:", stored.get("DisplayName"))
    stored.call("Start", True)
    print("status:   ", stored.get("Status", "lVal"))
    stored.call("Stop", True)
    print("status:   ", stored.get("Status", "lVal"))
    print("log in:   ", stored.get("LatestOutputLocation"))
    try:
        stored.call("Query", "no such set", None)
    except Exception as e:
        print("an error: ", e.get_packet()["pExcepInfo"]["bstrDescription"]["asData"])
    stored.call("Delete")
    connection.disconnect()


if __name__ == "__main__":
    main()
