' SPDX-License-Identifier: MIT
' Extracts the cabinet of a run to a folder. No file is overwritten.
' cscript extract.vbs CABINET FOLDER
' Under Wine an unhandled error ends a script silently with exit code 0, so every step is checked, and the
' last line of a good run is "Done."
Option Explicit
On Error Resume Next

Dim dataSet

If WScript.Arguments.Count <> 2 Then
    WScript.Echo "usage: cscript extract.vbs CABINET FOLDER"
    WScript.Quit 2
End If

Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject(""PLA.DataCollectorSet"")"
' The set is new and empty: the path identifies the cabinet.
dataSet.DataManager.Extract WScript.Arguments(0), WScript.Arguments(1)
Check "Extract"
WScript.Echo "Done."

Sub Check(what)
    If Err.Number = 0 Then Exit Sub
    WScript.Echo what & " failed: 0x" & Hex(Err.Number) & " " & Err.Description
    WScript.Quit 1
End Sub
