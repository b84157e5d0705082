' SPDX-License-Identifier: MIT
' cscript template.vbs SET FILE ROOT: imports the exported set FILE as SET, runs it for five seconds, and prints the
' result.
Option Explicit
On Error Resume Next
Dim name, files, dataSet, map, item, collector, waited

name = WScript.Arguments(0)
Set files = CreateObject("Scripting.FileSystemObject")
Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject"
Set map = dataSet.SetXml(files.OpenTextFile(WScript.Arguments(1)).ReadAll)
Check "SetXml"
dataSet.RootPath = WScript.Arguments(2)
dataSet.Duration = 5
Check "Duration"
Set map = dataSet.Commit(name, "", 3)
Check "Commit"
dataSet.Start True
Check "Start"
For waited = 1 To 60
    If dataSet.Status = 0 Then Exit For
    CreateObject("WScript.Shell").Run "ping -n 2 127.0.0.1", 0, True
Next
dataSet.Query name, ""
Check "Query"
WScript.Echo "status " & dataSet.Status
WScript.Echo "folder " & dataSet.LatestOutputLocation
WScript.Echo "result " & dataSet.GetValue("OpenPLA.LastRunResult")
WScript.Echo "message " & Replace(dataSet.GetValue("OpenPLA.LastRunMessage"), vbLf, "; ")
For Each collector In dataSet.DataCollectors
    WScript.Echo "collector " & collector.Name & " " & collector.LatestOutputLocation
    Check "LatestOutputLocation"
Next
dataSet.Delete
Check "Delete"
WScript.Echo "Done."

Sub Check(what)
    If Err.Number <> 0 Then
        WScript.Echo "error " & what & ": 0x" & Hex(Err.Number) & " " & Err.Description
        WScript.Quit 1
    End If
End Sub
