' SPDX-License-Identifier: MIT
' The usual life of a set in a script: create, commit, start, wait, query the status, stop, read the log. Otherwise no
' script could collect anything. The output must be the same as that of main.js.
' cscript main.vbs SET
Option Explicit
On Error Resume Next
Dim name, dataSet, collector, second, map, item, sets, found, finder, names

name = WScript.Arguments(0)
Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject"
dataSet.RootPath = "C:\PerfLogs\Admin\" & name
dataSet.Description = "The main job"
dataSet.SubdirectoryFormat = 1
dataSet.SubdirectoryFormatPattern = "NNNN"
Check "properties of the set"
Set collector = dataSet.DataCollectors.CreateDataCollector(0)
collector.Name = "Counters"
collector.FileName = "log"
collector.LogFileFormat = 0
collector.SampleInterval = 1
collector.PerformanceCounters = Array("\Memory\Available MBytes", "\System\Threads", "\System\System Up Time")
Check "properties of the collector"
dataSet.DataCollectors.Add collector
Check "Add"
Set second = dataSet.DataCollectors.CreateDataCollectorFromXml( _
    "<PerformanceCounterDataCollector><Name>Second</Name><Speed>1</Speed><LogFileFormat>0</LogFileFormat>" & _
    "<SampleInterval>1</SampleInterval><Counter>\System\Processes</Counter></PerformanceCounterDataCollector>", map)
Check "CreateDataCollectorFromXml"
WScript.Echo "from XML: " & second.Name & ", notes " & map.Count & ", " & map.Item(0).Key
Check "its map"
dataSet.DataCollectors.Add second
Check "Add the second"
names = ""
For Each item In dataSet.DataCollectors
    names = names & " " & item.Name & "(" & item.Index & ")"
Next
Check "For Each"
WScript.Echo "collectors:" & names & ", the first " & dataSet.DataCollectors(0).Name

Set map = dataSet.Commit(name, vbNullString, 3)
Check "Commit"
For Each item In map
    WScript.Echo "note: " & item.Key & " 0x" & Hex(item.Value)
Next
Check "For Each over the map"
WScript.Echo "status " & dataSet.Status & ", serial " & dataSet.SerialNumber
Check "Status"
dataSet.Start True
Check "Start"
WScript.Echo "status " & dataSet.Status
Check "Status while running"

Set sets = CreateObject("PLA.DataCollectorSetCollection")
Check "CreateObject of the collection"
sets.GetDataCollectorSets Null, "Service\" & name
Check "GetDataCollectorSets"
For Each found In sets
    WScript.Echo "found " & found.Name & ", status " & found.Status
Next
Check "For Each over sets"
Pause 3
dataSet.Stop True
Check "Stop"
WScript.Echo "status " & dataSet.Status & ", serial " & dataSet.SerialNumber
Check "Status after Stop"
Set finder = CreateObject("PLA.DataCollectorSet")
finder.Query name, ""
Check "Query"
WScript.Echo "folder " & finder.LatestOutputLocation
WScript.Echo "log " & finder.DataCollectors(0).LatestOutputLocation
WScript.Echo "log " & finder.DataCollectors(1).LatestOutputLocation
Check "LatestOutputLocation"
WScript.Echo "last run: " & finder.GetValue("OpenPLA.LastRunResult") & " '" & _
    finder.GetValue("OpenPLA.LastRunMessage") & "'"
Check "GetValue"
finder.Delete
Check "Delete"
WScript.Echo "Done."

Sub Check(what)
    If Err.Number <> 0 Then
        WScript.Echo "FAILED: " & what & ": 0x" & Hex(Err.Number) & " " & Err.Description
        WScript.Quit 1
    End If
End Sub

' Wine 8 has no WScript.Sleep.
Sub Pause(seconds)
    CreateObject("WScript.Shell").Run "ping -n " & (seconds + 1) & " 127.0.0.1", 0, True
    Check "Pause"
End Sub
