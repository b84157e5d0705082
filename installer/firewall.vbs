' SPDX-License-Identifier: MIT
' The rules of Windows' firewall by which other computers reach OpenPLA, as the named group OpenPLA. They are off until
' somebody turns them on. Needs an administrator; Wine has no firewall.
'   cscript //nologo firewall.vbs add FOLDER | on | off | remove        FOLDER is where openplasrv.exe is
Option Explicit
Const group = "OpenPLA"
Const protocolTcp = 6, inbound = 1, allow = 1, domainAndPrivate = 3
Dim policy, verb
If WScript.Arguments.Count < 1 Then Quit 2, "firewall.vbs add FOLDER | on | off | remove"
verb = LCase(WScript.Arguments(0))
Set policy = CreateObject("HNetCfg.FwPolicy2")
Select Case verb
Case "add"
    If WScript.Arguments.Count < 2 Then Quit 2, "firewall.vbs add FOLDER"
    RemoveRules
    Add "OpenPLA (DCOM)", "Objects of OpenPLA for other computers", WScript.Arguments(1) & "\openplasrv.exe", "", ""
    Add "OpenPLA (RPC endpoint mapper)", "By which other computers find OpenPLA", _
        "%SystemRoot%\system32\svchost.exe", "rpcss", "RPC-EPMap"
Case "on"
    Turn True
Case "off"
    Turn False
Case "remove"
    RemoveRules
Case Else
    Quit 2, "Unknown verb " & verb
End Select
WScript.Echo "Done."

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
