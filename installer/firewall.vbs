' SPDX-License-Identifier: MIT
' Manages the rules of Windows' firewall that let other computers reach OpenPLA, in the group OpenPLA. The rules are
' disabled until an administrator enables them. Requires an administrator; Wine has no firewall.
'   cscript //nologo firewall.vbs add FOLDER | on | off | remove        FOLDER contains openplasrv.exe
Option Explicit
On Error Resume Next
Const group = "OpenPLA"
Const protocolTcp = 6, inbound = 1, allow = 1, domainAndPrivate = 3
Dim policy, verb, folder
If WScript.Arguments.Count < 1 Then Quit 2, "firewall.vbs add FOLDER | on | off | remove"
verb = LCase(WScript.Arguments(0))
If verb = "add" And WScript.Arguments.Count < 2 Then Quit 2, "firewall.vbs add FOLDER"
' Windows accepts a rule for a program that does not exist, but the rule would have no effect.
If verb = "add" Then folder = Whole(WScript.Arguments(1))
Set policy = CreateObject("HNetCfg.FwPolicy2")
Check "Windows' firewall"
Select Case verb
Case "add"
    RemoveRules
    Check "Removing the rules that there are"
    Add "OpenPLA (DCOM)", "Objects of OpenPLA for other computers", folder & "\openplasrv.exe", "", ""
    Check "Adding a rule"
    Add "OpenPLA (RPC endpoint mapper)", "By which other computers find OpenPLA", _
        "%SystemRoot%\system32\svchost.exe", "rpcss", "RPC-EPMap"
    Check "Adding a rule"
Case "on"
    Turn True
    Check "Turning the rules on"
Case "off"
    Turn False
    Check "Turning the rules off"
Case "remove"
    RemoveRules
    Check "Removing the rules"
Case Else
    Quit 2, "Unknown verb " & verb
End Select
WScript.Echo "Done."

' An error in a procedure ends that procedure only; the caller sees it in Err.
Sub Check(doing)
    If Err.Number <> 0 Then Quit 1, doing & ": 0x" & Hex(Err.Number) & " " & Err.Description
End Sub

Function Whole(path)
    Dim files
    Set files = CreateObject("Scripting.FileSystemObject")
    Whole = files.GetAbsolutePathName(path)
    If Right(Whole, 1) = "\" Then Whole = Left(Whole, Len(Whole) - 1)
    If Not files.FileExists(Whole & "\openplasrv.exe") Then Quit 1, "There is no " & Whole & "\openplasrv.exe"
End Function

Sub Quit(code, text)
    WScript.Echo text
    WScript.Quit code
End Sub

Sub Add(name, description, program, service, port)
    Dim rule
    Set rule = CreateObject("HNetCfg.FWRule")
    rule.Name = name
    rule.Description = description
    rule.ApplicationName = program
    If service <> "" Then rule.ServiceName = service
    rule.Protocol = protocolTcp
    If port <> "" Then rule.LocalPorts = port Else rule.LocalPorts = "RPC"
    rule.Direction = inbound
    rule.Action = allow
    rule.Profiles = domainAndPrivate
    rule.Grouping = group
    rule.Enabled = False
    policy.Rules.Add rule
End Sub

Sub Turn(enabled)
    Dim rule, count
    count = 0
    For Each rule In policy.Rules
        If rule.Grouping = group Then
            rule.Enabled = enabled
            count = count + 1
        End If
    Next
    If count = 0 Then Quit 1, "There are no rules of OpenPLA: firewall.vbs add FOLDER"
End Sub

Sub RemoveRules
    Dim rule, names, name
    names = ""
    For Each rule In policy.Rules
        If rule.Grouping = group Then names = names & vbLf & rule.Name
    Next
    For Each name In Split(Mid(names, 2), vbLf)
        policy.Rules.Remove name
    Next
End Sub
