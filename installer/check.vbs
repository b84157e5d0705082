' SPDX-License-Identifier: MIT
' Checks that scripts can create a set and that the server answers. On success the last line is "OpenPLA is ready".
Option Explicit
On Error Resume Next
Dim dataSet
Set dataSet = CreateObject("PLA.DataCollectorSet")
If Err.Number = 0 Then dataSet.Query "System\System Performance", vbNullString
If Err.Number <> 0 Then
    WScript.Echo "CreateObject(""PLA.DataCollectorSet""): 0x" & Hex(Err.Number) & " " & Err.Description
    WScript.Quit 1
End If
WScript.Echo "OpenPLA is ready"
