/* SPDX-License-Identifier: MIT */
/* Writes the forms of the registration table, with one function per form. */
#include "reg/forms/forms.h"

#include "engine/base/memory.h"
#include "idl/proxy_clsid.h"
#include "reg/registration_table.h"

#include <string.h>

#define INSTALLED "C:\\Program Files\\OpenPLA"
#define LIBRARY   "{03837500" REGISTRATION_TAIL_DROPIN

/* Calls `each` for the rows of a mode. */
static HRESULT rows_walk(enum registration_mode mode, const char *folder, struct text_buffer *to,
                         HRESULT (*each)(struct text_buffer *to, const struct registration_entry *entry))
{
    struct registration_entries entries = {0};
    HRESULT hr = registration_table(mode, folder, &entries);
    for (size_t i = 0; SUCCEEDED(hr) && i < entries.count; i++)
        hr = each(to, &entries.items[i]);
    registration_entries_free(&entries);
    return hr;
}

/* Adds `text` with `before` in front of each character of `from`: the character again, or a backslash. */
static void add_quoted(struct text_buffer *to, const char *text, const char *from, const char *before)
{
    for (; *text; text++) {
        if (strchr(from, *text))
            text_buffer_add(to, before);
        text_buffer_add_n(to, text, 1);
    }
}

/* ---- .reg ---- */

static HRESULT reg_row(struct text_buffer *to, const struct registration_entry *e)
{
    if (e->service || e->kind == REGISTRATION_NO_VALUE)
        return S_OK;
    text_buffer_format(to, "\r\n[HKEY_LOCAL_MACHINE\\%s]\r\n", e->key);
    if (e->kind == REGISTRATION_KEY_ONLY)
        return S_OK;
    if (e->name)
        text_buffer_format(to, "\"%s\"=", e->name);
    else
        text_buffer_add(to, "@=");
    if (e->kind == REGISTRATION_STRING) {
        text_buffer_add(to, "\"");
        add_quoted(to, e->data, "\\\"", "\\");
        text_buffer_add(to, "\"");
    } else if (e->kind == REGISTRATION_NUMBER) {
        uint64_t number;
        if (!text_to_u64(e->data, &number))
            return error_set(E_INVALIDARG, "registration table: '%s' is not a number", e->data);
        text_buffer_format(to, "dword:%08x", (unsigned)number);
    } else {
        text_buffer_add(to, "hex:");
        for (size_t i = 0; e->data[i]; i += 2)
            text_buffer_format(to, "%s%.2s", i ? "," : "", e->data + i);
    }
    text_buffer_add(to, "\r\n");
    return S_OK;
}

static HRESULT reg_row_64(struct text_buffer *to, const struct registration_entry *e)
{
    return e->narrow ? S_OK : reg_row(to, e);
}

static HRESULT reg_row_32(struct text_buffer *to, const struct registration_entry *e)
{
    return e->narrow ? reg_row(to, e) : S_OK;
}

static HRESULT make_reg(struct text_buffer *to, enum registration_mode mode, bool narrow)
{
    text_buffer_add(to, "Windows Registry Editor Version 5.00\r\n\r\n"
                        "; SPDX-License-Identifier: MIT\r\n"
                        "; Generated from reg/registration.def, for programs in " INSTALLED ".\r\n");
    if (mode == REGISTRATION_DROPIN)
        text_buffer_add(to, "; Overwrites the entries of another PLA (openplasrv /regserver /dropin saves them).\r\n");
    if (narrow)
        text_buffer_add(to, "; What 32-bit programs see, beside the file without -32.\r\n");
    return rows_walk(mode, INSTALLED, to, narrow ? reg_row_32 : reg_row_64);
}

static HRESULT make_beside(struct text_buffer *to)
{
    return make_reg(to, REGISTRATION_BESIDE, false);
}

static HRESULT make_beside_32(struct text_buffer *to)
{
    return make_reg(to, REGISTRATION_BESIDE, true);
}

static HRESULT make_dropin(struct text_buffer *to)
{
    return make_reg(to, REGISTRATION_DROPIN, false);
}

static HRESULT make_dropin_32(struct text_buffer *to)
{
    return make_reg(to, REGISTRATION_DROPIN, true);
}

/* ---- scripts ---- */

static const char *const kinds[] = {"REG_SZ", "REG_DWORD", "REG_BINARY", "KEY", NULL};

/* Omits rows of the service: after a registration by script, COM starts the server for a client. */
static HRESULT vbs_row(struct text_buffer *to, const struct registration_entry *e)
{
    if (e->service || !kinds[e->kind])
        return S_OK;
    text_buffer_format(to, "    Row %s, \"%s\", \"%s\", \"%s\", \"", e->narrow ? "True" : "False", e->key,
                       e->name ? e->name : "", kinds[e->kind]);
    add_quoted(to, e->data ? e->data : "", "\"", "\"");
    text_buffer_add(to, "\"\r\n");
    return S_OK;
}

static HRESULT ps1_row(struct text_buffer *to, const struct registration_entry *e)
{
    if (e->service || !kinds[e->kind])
        return S_OK;
    text_buffer_format(to, "Row %s '%s' '%s' '%s' '", e->narrow ? "$true" : "$false", e->key, e->name ? e->name : "",
                       kinds[e->kind]);
    add_quoted(to, e->data ? e->data : "", "'", "'");
    text_buffer_add(to, "'\r\n");
    return S_OK;
}

/* Adds each top key below a shared key once, between `before` and `after`. Removal deletes these keys. */
static HRESULT walk_tops(enum registration_mode mode, struct text_buffer *to, const char *before, const char *after)
{
    struct registration_entries entries = {0};
    struct texts tops = {0};
    HRESULT hr = registration_table(mode, "%FOLDER%", &entries);
    for (size_t i = 0; SUCCEEDED(hr) && i < entries.count; i++) {
        const struct registration_entry *e = &entries.items[i];
        const size_t root = strlen(e->root) + 1;
        char *top = text_copy_n(e->key, root + strcspn(e->key + root, "\\"));
        bool known = false;
        for (size_t k = 0; top && k < tops.count && !known; k++)
            known = !strcmp(tops.items[k], top);
        if (!top)
            hr = E_OUTOFMEMORY;
        else if (!known && SUCCEEDED(hr = texts_add(&tops, top)))
            text_buffer_format(to, "%s%s%s", before, top, after);
        memory_free(top);
    }
    texts_free(&tops);
    registration_entries_free(&entries);
    return hr;
}

static HRESULT make_vbs(struct text_buffer *to, enum registration_mode mode)
{
    static const char *const names[] = {"dropin", "beside"};
    text_buffer_format(
        to,
        "' SPDX-License-Identifier: MIT\r\n"
        "' Generated from reg/registration.def. Registers OpenPLA without a service, or removes the registration:\r\n"
        "'   cscript //nologo register-%s.vbs FOLDER [remove]\r\n"
        "' FOLDER is the folder of openplasrv.exe. Run this as an administrator. It does not replace another PLA.\r\n"
        "Option Explicit\r\n"
        "Dim shell, files, folder, narrow, failed\r\n"
        "Set shell = CreateObject(\"WScript.Shell\")\r\n"
        "Set files = CreateObject(\"Scripting.FileSystemObject\")\r\n"
        "If WScript.Arguments.Count < 1 Then Quit 2, \"register-%s.vbs FOLDER [remove]\"\r\n",
        names[mode], names[mode]);
    text_buffer_add(to, "folder = files.GetAbsolutePathName(WScript.Arguments(0))\r\n"
                        "failed = 0\r\n"
                        "If Right(folder, 1) = \"\\\" Then folder = Left(folder, Len(folder) - 1)\r\n"
                        "narrow = files.FileExists(folder & \"\\" OPENPLA_FOLDER_32 "\\openpla.dll\")\r\n");
    if (mode == REGISTRATION_DROPIN)
        text_buffer_add(to, "RefuseOther\r\n");
    text_buffer_add(to, "If WScript.Arguments.Count > 1 Then\r\n"
                        "    RemoveRows\r\n"
                        "Else\r\n"
                        "    If Not files.FileExists(folder & \"\\openplasrv.exe\") Then Quit 1, \"There is no \" & "
                        "folder & \"\\openplasrv.exe\"\r\n"
                        "    WriteRows\r\n"
                        "End If\r\n"
                        "If failed > 0 Then Quit 1, failed & \" keys cannot be written: access denied (run this as an "
                        "administrator)\"\r\n"
                        "WScript.Echo \"Done.\"\r\n\r\n"
                        "Sub Quit(code, text)\r\n"
                        "    WScript.Echo text\r\n"
                        "    WScript.Quit code\r\n"
                        "End Sub\r\n\r\n");
    if (mode == REGISTRATION_DROPIN)
        text_buffer_add(
            to, "Sub RefuseOther\r\n"
                "    Dim module\r\n"
                "    module = \"\"\r\n"
                "    On Error Resume Next\r\n"
                "    module = shell.RegRead(\"HKLM\\Software\\Classes\\CLSID\\{03837521" REGISTRATION_TAIL_DROPIN
                "\\InprocServer32\\\")\r\n"
                "    On Error Goto 0\r\n"
                "    If module <> \"\" And LCase(module) <> LCase(folder & \"\\openpla.dll\") Then Quit 1, "
                "\"The classes belong to \" & module & \": openplasrv /regserver /dropin saves and replaces them\"\r\n"
                "End Sub\r\n\r\n");
    text_buffer_add(to,
                    "Sub Run(command)\r\n"
                    "    If shell.Run(command, 0, True) <> 0 Then failed = failed + 1\r\n"
                    "End Sub\r\n\r\n"
                    "' RegWrite writes at most four bytes; reg has no such limit.\r\n"
                    "Sub Row(forNarrow, key, name, kind, data)\r\n"
                    "    Dim text\r\n"
                    "    If forNarrow And Not narrow Then Exit Sub\r\n"
                    "    text = Replace(data, \"%FOLDER%\", folder)\r\n"
                    "    On Error Resume Next\r\n"
                    "    If kind = \"REG_BINARY\" Then\r\n"
                    "        Run \"reg add \"\"HKLM\\\" & key & \"\"\" /v \" & name & \" /t REG_BINARY /d \" & text & "
                    "\" /f\"\r\n"
                    "    ElseIf kind = \"REG_DWORD\" Then\r\n"
                    "        shell.RegWrite \"HKLM\\\" & key & \"\\\" & name, CLng(text), kind\r\n"
                    "    ElseIf kind = \"KEY\" Then\r\n"
                    "        Run \"reg add \"\"HKLM\\\" & key & \"\"\" /f\"\r\n"
                    "    Else\r\n"
                    "        shell.RegWrite \"HKLM\\\" & key & \"\\\" & name, text, kind\r\n"
                    "    End If\r\n"
                    "    If Err.Number <> 0 Then failed = failed + 1\r\n"
                    "End Sub\r\n\r\n"
                    "Sub Gone(key)\r\n"
                    "    shell.Run \"reg delete \"\"HKLM\\\" & key & \"\"\" /f\", 0, True\r\n"
                    "End Sub\r\n\r\n"
                    "Sub WriteRows\r\n");
    HRESULT hr = rows_walk(mode, "%FOLDER%", to, vbs_row);
    text_buffer_add(to, "End Sub\r\n\r\nSub RemoveRows\r\n");
    if (SUCCEEDED(hr))
        hr = walk_tops(mode, to, "    Gone \"", "\"\r\n");
    text_buffer_add(to, "End Sub\r\n");
    return hr;
}

static HRESULT make_vbs_dropin(struct text_buffer *to)
{
    return make_vbs(to, REGISTRATION_DROPIN);
}

static HRESULT make_vbs_beside(struct text_buffer *to)
{
    return make_vbs(to, REGISTRATION_BESIDE);
}

static HRESULT make_ps1(struct text_buffer *to, enum registration_mode mode)
{
    static const char *const names[] = {"dropin", "beside"};
    text_buffer_format(
        to,
        "# SPDX-License-Identifier: MIT\r\n# Generated from reg/registration.def. Registers OpenPLA without a service, "
        "or removes the registration:\r\n#   .\\register-%s.ps1 -Folder FOLDER [-Remove]\r\n# "
        "FOLDER is the folder of openplasrv.exe. Run this as an administrator. It does not replace another PLA.\r\n",
        names[mode]);
    text_buffer_add(
        to,
        "param([Parameter(Mandatory)][string]$Folder, [switch]$Remove)\r\n"
        "$ErrorActionPreference = 'Stop'\r\n"
        "$Folder = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Folder).TrimEnd('\\')\r\n"
        "$narrow = Test-Path -LiteralPath \"$Folder\\" OPENPLA_FOLDER_32 "\\openpla.dll\"\r\n"
        "function Row([bool]$forNarrow, [string]$key, [string]$name, [string]$kind, [string]$data) {\r\n"
        "    if ($forNarrow -and -not $narrow) { return }\r\n"
        "    $opened = [Microsoft.Win32.Registry]::LocalMachine.CreateSubKey($key)\r\n"
        "    $text = $data.Replace('%FOLDER%', $Folder)\r\n"
        "    switch ($kind) {\r\n"
        "        'REG_SZ' { $opened.SetValue($name, $text, 'String') }\r\n"
        "        'REG_DWORD' { $opened.SetValue($name, [int]$text, 'DWord') }\r\n"
        "        'REG_BINARY' {\r\n"
        "            $bytes = for ($i = 0; $i -lt $text.Length; $i += 2) { [Convert]::ToByte($text.Substring($i, "
        "2), 16) }\r\n"
        "            $opened.SetValue($name, [byte[]]$bytes, 'Binary')\r\n"
        "        }\r\n"
        "    }\r\n"
        "    $opened.Dispose()\r\n"
        "}\r\n"
        "function Gone([string]$key) { [Microsoft.Win32.Registry]::LocalMachine.DeleteSubKeyTree($key, $false) }\r\n");
    if (mode == REGISTRATION_DROPIN)
        text_buffer_add(
            to,
            "$first = [Microsoft.Win32.Registry]::LocalMachine.OpenSubKey('Software\\Classes\\CLSID\\"
            "{03837521" REGISTRATION_TAIL_DROPIN "\\InprocServer32')\r\n"
            "$module = if ($first) { $first.GetValue('') } else { '' }\r\n"
            "if ($module -and $module -ne \"$Folder\\openpla.dll\") {\r\n"
            "    throw \"The classes belong to ${module}: openplasrv /regserver /dropin saves and replaces them\"\r\n"
            "}\r\n");
    text_buffer_add(to, "if ($Remove) {\r\n");
    HRESULT hr = walk_tops(mode, to, "    Gone '", "'\r\n");
    text_buffer_add(to, "    return\r\n"
                        "}\r\n"
                        "if (-not (Test-Path -LiteralPath \"$Folder\\openplasrv.exe\")) {\r\n"
                        "    throw \"There is no $Folder\\openplasrv.exe\"\r\n"
                        "}\r\n");
    return SUCCEEDED(hr) ? rows_walk(mode, "%FOLDER%", to, ps1_row) : hr;
}

static HRESULT make_ps1_dropin(struct text_buffer *to)
{
    return make_ps1(to, REGISTRATION_DROPIN);
}

static HRESULT make_ps1_beside(struct text_buffer *to)
{
    return make_ps1(to, REGISTRATION_BESIDE);
}

/* The script covers only Windows' keys that the drop-in mode writes. It gives administrators access to them, and
   restores their protection. */
static HRESULT make_allow(struct text_buffer *to)
{
    text_buffer_add(
        to, "# SPDX-License-Identifier: MIT\r\n# Generated from reg/registration.def. Windows protects the keys of its "
            "PLA: their owner is TrustedInstaller, and\r\n# administrators can only read. Run this as an administrator "
            "before openplasrv /regserver /dropin:\r\n#   .\\allow-dropin.ps1            saves owner and descriptor of "
            "each key, then lets administrators write\r\n#   .\\allow-dropin.ps1 -Restore   after openplasrv "
            "/unregserver: restores owners and descriptors\r\nparam([switch]$Restore, [string]$Saved = "
            "\"$env:ProgramData\\OpenPLA-dropin-descriptors.csv\")\r\n$ErrorActionPreference = 'Stop'\r\nAdd-Type "
            "-Namespace OpenPLA -Name Privileges -MemberDefinition '[DllImport(\"ntdll.dll\")] public static extern "
            "int RtlAdjustPrivilege(int privilege, bool enable, bool thread, out bool was);'\r\n$was = $false\r\n# "
            "SeTakeOwnership, SeBackup and SeRestore are needed to set another owner.\r\nforeach ($privilege in 9, 17, "
            "18) {\r\n    if ([OpenPLA.Privileges]::RtlAdjustPrivilege($privilege, $true, $false, [ref]$was)) {\r\n    "
            "    throw 'access denied (run this as an administrator)'\r\n    }\r\n}\r\n$machine = "
            "[Microsoft.Win32.Registry]::LocalMachine\r\n$all = "
            "[System.Security.AccessControl.AccessControlSections]'Owner, Group, Access'\r\nfunction "
            "Open([string]$key, [string]$rights) {\r\n    $machine.OpenSubKey($key, "
            "[Microsoft.Win32.RegistryKeyPermissionCheck]::ReadWriteSubTree,\r\n                        "
            "[System.Security.AccessControl.RegistryRights]$rights)\r\n}\r\nfunction Under([string]$key) {\r\n    "
            "$opened = $machine.OpenSubKey($key)\r\n    if (-not $opened) { return }\r\n    $key\r\n    foreach ($name "
            "in $opened.GetSubKeyNames()) { Under \"$key\\$name\" }\r\n}\r\nfunction Descriptor([string]$key) {\r\n    "
            "$opened = $machine.OpenSubKey($key)\r\n    if (-not $opened) { return }\r\n    "
            "$opened.GetAccessControl($all).GetSecurityDescriptorSddlForm($all)\r\n    $opened.Dispose()\r\n}\r\nif "
            "($Restore) {\r\n    # Restore subkeys before their parents: a parent that is protected again may deny "
            "access to its subkeys.\r\n    # Keys that are already restored, by an earlier attempt, are skipped.\r\n   "
            " $refused = @()\r\n   "
            " $rows = @(Import-Csv -LiteralPath $Saved)\r\n    [array]::Reverse($rows)\r\n    foreach ($row in $rows) "
            "{\r\n        $now = Descriptor $row.Key\r\n        if (-not $now -or $now -eq $row.Sddl) { continue }\r\n "
            "       try {\r\n            $security = New-Object System.Security.AccessControl.RegistrySecurity\r\n     "
            "       $security.SetSecurityDescriptorSddlForm($row.Sddl, $all)\r\n            $opened = Open $row.Key "
            "'ChangePermissions, TakeOwnership'\r\n            $opened.SetAccessControl($security)\r\n            "
            "$opened.Dispose()\r\n        } catch { $refused += \"$($row.Key): $_\" }\r\n    }\r\n    if ($refused) { "
            "throw \"$Saved is kept, because these keys could not be restored: $($refused -join '; ')\" }\r\n    "
            "Remove-Item "
            "-LiteralPath $Saved\r\n    return\r\n}\r\nif (Test-Path -LiteralPath $Saved) { throw \"$Saved already "
            "exists: it contains the original descriptors (use -Restore)\" }\r\n$administrators = New-Object "
            "System.Security.Principal.SecurityIdentifier "
            "'S-1-5-32-544'\r\n# Only keys that exist.\r\n$keys = @(\r\n");
    HRESULT hr = walk_tops(REGISTRATION_DROPIN, to, "    Under '", "'\r\n");
    text_buffer_add(
        to, ")\r\n"
            "if (-not $keys) { throw 'this computer has no PLA with protected keys' }\r\n"
            "$rows = foreach ($key in $keys) { [pscustomobject]@{ Key = $key; Sddl = Descriptor $key } }\r\n"
            "$rows | Export-Csv -LiteralPath $Saved -NoTypeInformation\r\n"
            "foreach ($key in $keys) {\r\n"
            "    $opened = Open $key 'TakeOwnership'\r\n"
            "    $security = New-Object System.Security.AccessControl.RegistrySecurity\r\n"
            "    $security.SetOwner($administrators)\r\n"
            "    $opened.SetAccessControl($security)\r\n"
            "    $opened.Dispose()\r\n"
            "    $opened = Open $key 'ChangePermissions, ReadPermissions'\r\n"
            "    $security = $opened.GetAccessControl('Access')\r\n"
            "    $security.AddAccessRule((New-Object System.Security.AccessControl.RegistryAccessRule $administrators, "
            "'FullControl', 'Allow'))\r\n"
            "    $opened.SetAccessControl($security)\r\n"
            "    $opened.Dispose()\r\n"
            "}\r\n");
    return hr;
}

/* ---- manifest and installer ---- */

static HRESULT make_manifest(struct text_buffer *to)
{
    text_buffer_add(to, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
                        "<!-- SPDX-License-Identifier: MIT -->\n"
                        "<!-- Generated from reg/*.def. Classes, type library and proxies, for a program with "
                        "openpla.dll in its folder and without registration. -->\n"
                        "<assembly xmlns=\"urn:schemas-microsoft-com:asm.v1\" manifestVersion=\"1.0\">\n"
                        "  <assemblyIdentity type=\"win32\" name=\"OpenPLA\" version=\"" OPENPLA_VERSION ".0\"/>\n"
                        "  <file name=\"openpla.dll\">\n");
    for (size_t i = 0; i < registration_class_count; i++)
        text_buffer_format(
            to, "    <comClass clsid=\"%s%s\" threadingModel=\"Both\" progid=\"PLA.%s\" tlbid=\"" LIBRARY "\"/>\n",
            registration_classes[i].digits, REGISTRATION_TAIL_DROPIN, registration_classes[i].name);
    text_buffer_add(to, "    <comClass clsid=\"" OPENPLA_PROXY_CLSID_TEXT "\" threadingModel=\"Both\"/>\n"
                        "    <typelib tlbid=\"" LIBRARY "\" version=\"1.0\" helpdir=\"\"/>\n"
                        "  </file>\n");
    for (size_t i = 0; i < registration_interface_count; i++)
        text_buffer_format(to,
                           "  <comInterfaceExternalProxyStub name=\"%s\" iid=\"%s%s\" "
                           "proxyStubClsid32=\"" OPENPLA_PROXY_CLSID_TEXT "\" tlbid=\"" LIBRARY "\"/>\n",
                           registration_interfaces[i].name, registration_interfaces[i].digits,
                           REGISTRATION_TAIL_DROPIN);
    text_buffer_add(to, "</assembly>\n");
    return S_OK;
}

static void add_xml(struct text_buffer *to, const char *text)
{
    for (; *text; text++)
        if (*text == '"')
            text_buffer_add(to, "&quot;");
        else if (*text == '[' || *text == ']')
            text_buffer_format(to, "[\\%c]", *text); /* brackets are formatted by Windows Installer */
        else
            text_buffer_add_n(to, text, 1);
}

/* Adds a row for the installer. The folder is the installer's property, which ends with a separator. */
static HRESULT wxi_row(struct text_buffer *to, const struct registration_entry *e)
{
    static const char *const types[] = {"string", "integer", "string"};
    if (e->kind > REGISTRATION_KEY_ONLY)
        return S_OK;
    if (e->kind == REGISTRATION_KEY_ONLY) {
        /* For the name *, Windows Installer creates and removes the key without a value. */
        text_buffer_format(to, "  <RegistryValue Root=\"HKLM\" Key=\"%s\" Name=\"*\" Type=\"string\" Value=\"\"/>\n",
                           e->key);
        return S_OK;
    }
    text_buffer_format(to, "  <RegistryValue Root=\"HKLM\" Key=\"%s\"", e->key);
    if (e->name)
        text_buffer_format(to, " Name=\"%s\"", e->name);
    text_buffer_format(to, " Type=\"%s\" Value=\"", types[e->kind]);
    if (e->kind == REGISTRATION_BYTES)
        text_buffer_add(to, "#x"); /* Windows Installer's notation for bytes; wixl's own type for bytes writes a text */
    for (const char *at = e->data; *at;) {
        const char *folder = strstr(at, "%FOLDER%\\");
        char *part = folder ? text_copy_n(at, (size_t)(folder - at)) : text_copy(at);
        if (!part)
            return E_OUTOFMEMORY;
        add_xml(to, part);
        memory_free(part);
        if (!folder)
            break;
        text_buffer_add(to, "[INSTALLDIR]");
        at = folder + strlen("%FOLDER%\\");
    }
    text_buffer_add(to, "\"/>\n");
    return S_OK;
}

static HRESULT wxi_row_64(struct text_buffer *to, const struct registration_entry *e)
{
    return e->narrow ? S_OK : wxi_row(to, e);
}

static HRESULT wxi_row_32(struct text_buffer *to, const struct registration_entry *e)
{
    return e->narrow ? wxi_row(to, e) : S_OK;
}

static HRESULT make_wxi(struct text_buffer *to, bool narrow)
{
    text_buffer_add(
        to,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
        "<!-- SPDX-License-Identifier: MIT -->\n"
        "<!-- Generated from reg/registration.def: the rows that the installer registers beside Windows' own PLA. -->\n"
        "<Include>\n");
    HRESULT hr = rows_walk(REGISTRATION_BESIDE, "%FOLDER%", to, narrow ? wxi_row_32 : wxi_row_64);
    text_buffer_add(to, "</Include>\n");
    return hr;
}

static HRESULT make_wxi_64(struct text_buffer *to)
{
    return make_wxi(to, false);
}

static HRESULT make_wxi_32(struct text_buffer *to)
{
    return make_wxi(to, true);
}

const struct registration_form registration_forms[] = {
    {"beside.reg", make_beside},
    {"beside-32.reg", make_beside_32},
    {"dropin.reg", make_dropin},
    {"dropin-32.reg", make_dropin_32},
    {"register-dropin.vbs", make_vbs_dropin},
    {"register-beside.vbs", make_vbs_beside},
    {"register-dropin.ps1", make_ps1_dropin},
    {"register-beside.ps1", make_ps1_beside},
    {"allow-dropin.ps1", make_allow},
    {"openpla.manifest", make_manifest},
    {"beside.wxi", make_wxi_64},
    {"beside-32.wxi", make_wxi_32},
};
const size_t registration_form_count = sizeof registration_forms / sizeof registration_forms[0];
