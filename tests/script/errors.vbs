' SPDX-License-Identifier: MIT
' What a script gets in Err.Number and Err.Description for typical mistakes. Otherwise a user could not tell what is
' wrong.
' cscript errors.vbs SET
Option Explicit
On Error Resume Next
Dim name, root, dataSet, other, collector, map, item, tries

name = WScript.Arguments(0)
root = "C:\PerfLogs\Admin\" & name
Set dataSet = NewSet()
Check "the set"
Set collector = dataSet.DataCollectors(0)
Check "its collector"

collector.SampleInterval = 0
Show "SampleInterval 0"
collector.LogFileFormat = 7
Show "LogFileFormat 7"
collector.PerformanceCounters = Array("\System\Threads", "\system\threads")
Show "a counter twice"
collector.PerformanceCounters = 5
Show "no array"
collector.FileName = "a\b"
Show "a path as FileName"
dataSet.Status = 1
Show "Status put"
dataSet.Colour = "red"
Show "an unknown property"
dataSet.Security = "anybody"
Show "bad Security"
Set item = dataSet.DataCollectors(3)
Show "no such collector"
dataSet.DataCollectors.Add collector
Show "Add a second time"
dataSet.SetXml "<DataCollectorSet>" & vbCrLf & "<Duration>"
Show "malformed XML"
dataSet.SetXml "<Templates/>"
Show "another root element"
dataSet.GetValue "nothing"
Show "no such value"

dataSet.Subdirectory = "logs\..\.."
dataSet.Commit name, "", 3
Show "a Subdirectory outside RootPath"
dataSet.Subdirectory = ""
collector.FileNameFormat = 1
collector.FileNameFormatPattern = ":\s"
dataSet.Commit name, "", 3
Show "a pattern that makes a stream"
collector.FileNameFormat = 0
Check "names that are right again"

dataSet.Commit "", "", 3
Show "no name"
dataSet.Commit "a:b", "", 3
Show "an illegal name"
dataSet.Commit "Nowhere\a", "", 3
Show "an unknown namespace"
dataSet.Commit name, "no-such-machine", 3
Show "another machine"
dataSet.Commit name, "", 2
Show "Commit to modify nothing"
dataSet.Query name, ""
Show "Query of nothing"
dataSet.Start True
Show "Start before Commit"
dataSet.Stop True
Show "Stop before Commit"
dataSet.Delete
Show "Delete before Commit"
collector.PerformanceCounters = Array("Processor Time")
Check "PerformanceCounters"
Set map = dataSet.Commit(name, "", &H1000)
Show "a bad counter path"
WScript.Echo map.Item(0).Key & ": " & Hex(map.Item(0).Value) & " " & map.Item(0).Description

' If this computer lacks a counter, the others are collected and the run's message names the missing one.
collector.PerformanceCounters = Array("\System\Threads", "\No Such Object(*)\No Such Counter")
Check "PerformanceCounters"
Set map = dataSet.Commit(name, "", 1)
Check "Commit"
dataSet.Start True
Check "Start with an unknown counter"
WScript.Echo "an unknown counter: status " & dataSet.Status & ", " & dataSet.GetValue("OpenPLA.LastRunMessage")
Check "GetValue"
dataSet.Start True
Show "Start twice"
dataSet.Delete
Show "Delete while it runs"
dataSet.Commit name, "", 2
Show "Commit while it runs"
dataSet.Commit name, "", 2 + 16
Check "Commit with plaUpdateRunningInstance"
dataSet.Commit name, "", 1
Show "Commit of a new set while one runs"
dataSet.Stop True
Check "Stop"
dataSet.Stop True
Show "Stop twice"
Set other = NewSet()
other.Commit name, "", 1
Show "Commit of a new set with a name that is taken"

dataSet.RootPath = "C:\no such folder\" & name
dataSet.Commit name, "", 2
Check "Commit with another RootPath"
dataSet.Start True
Show "a RootPath that is not there"
WScript.Echo "and the set keeps it: " & dataSet.GetValue("OpenPLA.LastRunResult")

' An asynchronous start that fails: the reason is available later.
dataSet.RootPath = "C:\no such folder either\" & name
dataSet.Commit name, "", 2
Check "Commit with one more RootPath"
dataSet.Start False
Err.Clear ' the start may have failed before Start returned
For tries = 1 To 60
    If InStr(dataSet.GetValue("OpenPLA.LastRunMessage"), "either") > 0 Then Exit For
    CreateObject("WScript.Shell").Run "ping -n 2 127.0.0.1", 0, True
Next
WScript.Echo "why an asynchronous start failed: " & dataSet.GetValue("OpenPLA.LastRunResult") & " " & _
    dataSet.GetValue("OpenPLA.LastRunMessage")
Check "GetValue behind an asynchronous start"
WScript.Echo "status " & dataSet.Status
dataSet.RootPath = "Z:\proc"
dataSet.Subdirectory = "log"
For tries = 1 To 60 ' until the set host process has exited
    Err.Clear
    dataSet.Commit name, "", 2
    If Err.Number <> &H803000AA Then Exit For
    CreateObject("WScript.Shell").Run "ping -n 2 127.0.0.1", 0, True
Next
Check "Commit with /proc"
dataSet.Start True
Show "a folder that cannot be written"
WScript.Echo "status " & dataSet.Status & ", serial " & dataSet.SerialNumber
Check "Status"
dataSet.Delete
Check "Delete"
dataSet.Delete
Show "Delete twice"
WScript.Echo "Done."

Function NewSet()
    Dim made, counters
    Set made = CreateObject("PLA.DataCollectorSet")
    Check "CreateObject"
    made.RootPath = root
    Set counters = made.DataCollectors.CreateDataCollector(0)
    counters.Name = "C"
    counters.SampleInterval = 1
    counters.LogOverwrite = True
    counters.PerformanceCounters = Array("\System\Threads")
    made.DataCollectors.Add counters
    Check "Add"
    Set NewSet = made
End Function

Sub Show(what)
    If Err.Number = 0 Then
        WScript.Echo what & ": no error"
    Else
        WScript.Echo what & ": " & Hex(Err.Number) & " " & Err.Description
    End If
    Err.Clear
End Sub

Sub Check(what)
    If Err.Number <> 0 Then
        WScript.Echo "FAILED: " & what & ": 0x" & Hex(Err.Number) & " " & Err.Description
        WScript.Quit 1
    End If
End Sub
