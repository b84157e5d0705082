#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_slots.py pla.idl OUTPUT: writes the table of com/remote/slots.h, with one row for each method of the vtables
after IDispatch, in opnum order. A type for which the table has no kind makes the build fail."""
import re
import sys

KINDS = {"VARIANT_BOOL": "SHORT", "ULONG": "LONG", "LONG": "LONG", "ULONG64": "HYPER", "GUID": "GUID", "BSTR": "BSTR",
         "VARIANT": "VARIANT"}
ELEMENTS = {"BSTR": "NDR_BSTR", "BYTE": "NDR_UI1"}
MOST_PARAMETERS = 6


def interfaces_of(text):
    """Name, IID, base and body of each interface that has a definition."""
    return re.findall(r"\[\s*object,\s*uuid\(([^)]+)\)[^\]]*\]\s*interface (\w+) : (\w+)\s*\{(.*?)\n\}", text, re.S)


def parameter_of(text, enumerations, names):
    """The row of a parameter: kind, whether it is [out], element, index of the interface."""
    attributes, rest = re.match(r"\[([^\]]*)\]\s*(.*)$", text, re.S).groups()
    type_name, stars = re.match(r"((?:const )?\w+(?:\(\w+\))?)\s*(\**)\s*\w+$", rest).groups()
    is_out = bool(re.search(r"\bout\b", attributes))
    depth = len(stars) - is_out
    array = re.match(r"OPENPLA_SAFEARRAY\((\w+)\)$", type_name)
    kind, element, interface = None, "NDR_EMPTY", "REMOTE_NO_INTERFACE"
    if array and depth == 0:
        kind, element = "ARRAY", ELEMENTS[array.group(1)]
    elif depth == 0:
        kind = "ENUMERATION" if type_name in enumerations else KINDS.get(type_name)
    elif depth == 1 and (type_name in names or type_name in ("IDispatch", "IUnknown")):
        kind = "OBJECT"
        interface = {"IDispatch": "REMOTE_DISPATCH", "IUnknown": "REMOTE_UNKNOWN"}.get(type_name)
        interface = interface or str(names.index(type_name))
    if not kind:
        sys.exit(f"make_slots.py: no kind for '{text}'")
    return f"{{REMOTE_{kind}, {'true' if is_out else 'false'}, {interface}, {element}}}"


def main():
    text = re.sub(r"/\*.*?\*/", "", open(sys.argv[1], encoding="utf-8").read(), flags=re.S)
    enumerations = set(re.findall(r"\}\s*(\w+);", text))
    found = interfaces_of(text)
    names = [name for _, name, _, _ in found]
    if len(found) != len(re.findall(r"\binterface \w+ :", text)):
        sys.exit("make_slots.py: an interface has another form than the others")
    own, rows = {}, []
    for iid, name, base, body in found:
        methods = [] if base == "IDispatch" else list(own[base])
        for attributes, method, parameters in re.findall(r"((?:\[[^\]]*\]\s*)?)HRESULT (\w+)\((.*?)\);", body, re.S):
            prefix = "get_" if "propget" in attributes else "put_" if "propput" in attributes else ""
            parts = [p for p in re.split(r",\s*(?=\[)", parameters.strip()) if p and p != "void"]
            if len(parts) > MOST_PARAMETERS:
                sys.exit(f"make_slots.py: {name}::{method} has {len(parts)} parameters")
            row = [parameter_of(re.sub(r"\s+", " ", p).strip(), enumerations, names) for p in parts]
            methods.append(f'    {{"{prefix}{method}", {len(row)}, {{{", ".join(row)}}}}},' if row else
                           f'    {{"{prefix}{method}", 0, {{{{0}}}}}},')
        own[name] = methods
        a, b, c, d, e = iid.split("-")
        tail = ", ".join(f"0x{x}" for x in re.findall("..", d + e))
        rows.append((name, f"{{0x{a}, 0x{b}, 0x{c}, {{{tail}}}}}"))
    out = ["/* Made by com/remote/make_slots.py of pla.idl. */", "static const struct remote_method methods[] = {"]
    starts = {}
    count = 0
    for name in names:
        starts[name] = count
        out += [f"    /* {name} */", *own[name]]
        count += len(own[name])
    out += ["};", "static const struct remote_type interfaces[] = {"]
    out += [f'    {{{guid}, "{name}", {starts[name]}, {len(own[name])}}},' for name, guid in rows]
    out += ["};", ""]
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(out))


main()
