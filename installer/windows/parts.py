#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""parts.py ROOT VERSION SCRIPTS: prints the installer's source for wixl.
parts.py --settle MSI: sets the package's times to SOURCE_DATE_EPOCH and derives its identifier from its contents.
parts.py --zip ROOT ZIP: packs the folder, sorted by name, with the time SOURCE_DATE_EPOCH."""
import hashlib
import os
import pathlib
import re
import struct
import sys
import time
import uuid
import zipfile
from xml.sax.saxutils import quoteattr

# The identifiers of packages and components are UUIDs of names in this namespace, so a file keeps its component.
SPACE = uuid.UUID("841083b8-043d-4858-94d0-c51e8d27a9a4")
UPGRADE = uuid.uuid5(SPACE, "upgrade")


def guid(name):
    return "{" + str(uuid.uuid5(SPACE, name)).upper() + "}"


def identifier(name):
    return "f_" + uuid.uuid5(SPACE, name).hex


class Folder:
    """A folder below INSTALLDIR: its files, one component each, and its subfolders."""

    def __init__(self, root, path):
        self.path = path
        self.name = path.name
        entries = sorted((root / path).iterdir())
        self.files = [path / entry.name for entry in entries if entry.is_file()]
        self.folders = [Folder(root, path / entry.name) for entry in entries if entry.is_dir()]

    def components(self):
        for file in self.files:
            yield file
        for folder in self.folders:
            yield from folder.components()

    def write(self, inner):
        out = []
        for file in self.files:
            name = file.as_posix()
            out.append(f'<Component Id="{identifier("c" + name)}" Guid="{guid(name)}" Win64="yes">'
                       f'<File Id="{file_id(file)}" Name={quoteattr(file.name)} Source={quoteattr(name)} KeyPath="yes"/>'
                       f'{inner.get(name, "")}</Component>')
        for folder in self.folders:
            out.append(f'<Directory Id="{identifier("d" + folder.path.as_posix())}" Name={quoteattr(folder.name)}>')
            out += folder.write(inner)
            out.append("</Directory>")
        return out


def file_id(file):
    return "server" if file.as_posix() == "openplasrv.exe" else identifier(file.as_posix())


# The service belongs to the server's component. The action Register quotes the command line, which Wine does not.
SERVICE = ('<ServiceInstall Id="service" Name="OpenPLA" DisplayName="OpenPLA Performance Logs and Alerts" '
           'Type="ownProcess" Start="auto" ErrorControl="normal" Account="LocalSystem" Arguments="/service"/>'
           '<ServiceControl Id="control" Name="OpenPLA" Stop="both" Remove="uninstall" Wait="yes"/>'
           '<RegistryValue Root="HKLM" Key="Software\\OpenPLA" Name="Mode" Type="string" Value="[MODE]"/>'
           '<RegistryValue Root="HKLM" Key="Software\\OpenPLA" Name="Folder" Type="string" Value="[INSTALLDIR]"/>')

# Name, arguments of openplasrv.exe, when it runs, sequence, condition. If a later step fails, rollback undoes a
# registration (except in a repair) and restores a removed one. Unregister also waits for the service's process to exit,
# because its program file cannot be deleted before.
# Register, which also starts the service, is the last step: openplasrv registers everything or nothing, and Wine's
# rollback removes the files before it calls RegisterBack. The steps that refuse or undo a registration are first, and
# run before all other changes (InstallExecute), because Wine rolls back nothing else of a removal, not even its own
# product lists.
# All steps are deferred, so they run with the installer service's rights. An immediate step would lack administrator
# rights when a user removes the program through Windows' list of programs, and would see no running sets.
ACTIONS = (
    ("RefuseRunning", "/sets", "deferred", 1501, '(REMOVE="ALL" OR WIX_UPGRADE_DETECTED) AND NOT UPGRADINGPRODUCTCODE AND STOPSETS&lt;&gt;1'),
    ("StopRunning", "/sets /stop", "deferred", 1502, '(REMOVE="ALL" OR WIX_UPGRADE_DETECTED) AND NOT UPGRADINGPRODUCTCODE AND STOPSETS=1'),
    ("UnregisterBack", "/regserver /[MODE] /rows /start", "rollback", 1503, 'REMOVE="ALL"'),
    ("Unregister", "/unregserver /[MODE] /rows", "deferred", 1504, 'REMOVE="ALL"'),
    ("RegisterBack", "/unregserver /[MODE] /rows", "rollback", 6490, 'NOT Installed'),
    ("Register", "/regserver /[MODE] /start", "deferred", 6500, 'NOT REMOVE="ALL"'),
)


def action(name, arguments, when):
    elevated = '' if when == "immediate" else ' Impersonate="no"'
    return (f'<CustomAction Id="{name}" FileKey="server" ExeCommand="{arguments}" Execute="{when}" '
            f'Return="{"ignore" if when == "rollback" else "check"}"{elevated}/>')


def rows(scripts, name):
    text = (pathlib.Path(scripts) / name).read_text(encoding="utf-8")
    found = re.findall(r"<RegistryValue .*/>", text)
    # The first value is the component's key path; a repair checks whether it exists.
    return found[0].replace("/>", ' KeyPath="yes"/>') + "".join(found[1:])


def source(root, version, scripts):
    root = pathlib.Path(root)
    top = Folder(root, pathlib.Path("."))
    wide = [f for f in top.components() if len(f.parts) == 1]
    narrow = [f for f in top.components() if f.parts[0] == "x86"]
    pages = [f for f in top.components() if f not in wide and f not in narrow]

    def references(files):
        return "".join(f'<ComponentRef Id="{identifier("c" + f.as_posix())}"/>' for f in files)

    narrow_rows = narrow_feature = ""
    if narrow:
        narrow_rows = (f'<Component Id="registration32" Guid="{guid("registration32")}" Win64="yes">'
                       f'{rows(scripts, "beside-32.wxi")}</Component>')
        narrow_feature = ('<Feature Id="Programs32" Title="32-bit programs" Level="1" Description="DLLs for 32-bit '
                          f'programs">{references(narrow)}<ComponentRef Id="registration32"/></Feature>')
    print(f"""<?xml version="1.0" encoding="utf-8"?>
<Wix xmlns="http://schemas.microsoft.com/wix/2006/wi">
<Product Id="{guid("product " + version)}" Name="OpenPLA" Version="{version}" Manufacturer="The OpenPLA authors" Language="1033" UpgradeCode="{{{str(UPGRADE).upper()}}}">
<Package Id="{guid("package " + version)}" Description="OpenPLA {version}: Performance Logs and Alerts" Manufacturer="The OpenPLA authors" InstallerVersion="300" InstallScope="perMachine" Compressed="yes"/>
<MajorUpgrade DowngradeErrorMessage="A newer OpenPLA is installed. Remove it first."/>
<Media Id="1" Cabinet="openpla.cab" EmbedCab="yes"/>
<Property Id="PREVFOLDER"><RegistrySearch Id="folder" Root="HKLM" Key="Software\\OpenPLA" Name="Folder" Type="raw" Win64="yes"/></Property>
<Property Id="PREVMODE"><RegistrySearch Id="mode" Root="HKLM" Key="Software\\OpenPLA" Name="Mode" Type="raw" Win64="yes"/></Property>
<Condition Message="MODE is beside (own names, next to Windows' own PLA) or dropin (in its place).">MODE="beside" OR MODE="dropin"</Condition>
<Directory Id="TARGETDIR" Name="SourceDir"><Directory Id="ProgramFiles64Folder"><Directory Id="INSTALLDIR" Name="OpenPLA">
<Component Id="registration" Guid="{guid("registration")}" Win64="yes">{rows(scripts, "beside.wxi")}</Component>
{narrow_rows}""")
    print("\n".join(top.write({"openplasrv.exe": SERVICE})))
    print("</Directory></Directory></Directory>")
    print('<CustomAction Id="SetKeptFolder" Property="INSTALLDIR" Value="[PREVFOLDER]"/>'
          '<CustomAction Id="SetKeptMode" Property="MODE" Value="[PREVMODE]"/>'
          '<CustomAction Id="SetWineMode" Property="MODE" Value="dropin"/>'
          '<CustomAction Id="SetMode" Property="MODE" Value="beside"/>')
    print("\n".join(action(name, arguments, when) for name, arguments, when, _, _ in ACTIONS))
    print(f"""<Feature Id="Main" Title="OpenPLA" Level="1" Description="Server, service, commands and libraries">{references(wide)}<ComponentRef Id="registration"/></Feature>
{narrow_feature}
<Feature Id="Documents" Title="Documents" Level="1" Description="Pages, examples and registration scripts">{references(pages)}</Feature>
<InstallExecuteSequence>
<AppSearch Sequence="50"/>
<Custom Action="SetKeptFolder" Sequence="59">NOT INSTALLDIR AND PREVFOLDER</Custom>
<Custom Action="SetKeptMode" Sequence="60">NOT MODE AND PREVMODE</Custom>
<Custom Action="SetWineMode" Sequence="61">NOT MODE AND WINE</Custom>
<Custom Action="SetMode" Sequence="62">NOT MODE</Custom>""")
    for name, _, _, sequence, condition in ACTIONS:
        print(f'<Custom Action="{name}" Sequence="{sequence}">{condition}</Custom>')
    print("</InstallExecuteSequence></Product></Wix>")


def epoch():
    return int(os.environ["SOURCE_DATE_EPOCH"])


def settle(path):
    """Replaces what wixl generates anew each time in the summary information (MS-OLEPS): the times (properties 12 and
    13) and the package's identifier (property 9), which is derived from the package's contents."""
    data = bytearray(pathlib.Path(path).read_bytes())
    moment = struct.pack("<Q", (epoch() + 11644473600) * 10**7)
    form = bytes.fromhex("e0859ff2f94f6810ab9108002b27b3d9")
    codes = []
    at = data.find(form)
    while at >= 0:
        section = at - 28 + struct.unpack_from("<I", data, at + 16)[0]
        if data[at - 28:at - 26] == b"\xfe\xff":
            count = struct.unpack_from("<I", data, section + 4)[0]
            for i in range(min(count, 64)):
                number, offset = struct.unpack_from("<II", data, section + 8 + 8 * i)
                kind, value = struct.unpack_from("<I", data, section + offset)[0], section + offset + 4
                if number in (12, 13) and kind == 0x40:
                    data[value:value + 8] = moment
                elif number == 9 and kind == 0x1e:
                    codes.append(value + 4)
                    data[value + 4:value + 42] = bytes(38)
        at = data.find(form, at + 1)
    code = "{" + str(uuid.uuid5(SPACE, hashlib.sha256(data).hexdigest())).upper() + "}"
    for place in codes:
        data[place:place + 38] = code.encode("ascii")
    pathlib.Path(path).write_bytes(data)


def pack(root, path):
    root = pathlib.Path(root)
    when = time.gmtime(epoch())[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(p for p in root.rglob("*") if p.is_file()):
            entry = zipfile.ZipInfo(f"{root.name}/{file.relative_to(root).as_posix()}", when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, file.read_bytes())


if sys.argv[1] == "--settle":
    settle(sys.argv[2])
elif sys.argv[1] == "--zip":
    pack(sys.argv[2], sys.argv[3])
else:
    source(sys.argv[1], sys.argv[2], sys.argv[3])
