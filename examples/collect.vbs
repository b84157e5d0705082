' SPDX-License-Identifier: MIT
' Creates a data collector set, lets it collect performance counters for some seconds, stops it and prints its log's
' path.
' cscript collect.vbs [set name] [seconds] [csv|tsv|blg]
' Under Wine an unhandled error ends a script silently with exit code 0, so every step is checked, and the
' last line of a good run is "Done."
Option Explicit
On Error Resume Next

Const plaPerformanceCounter = 0
Const plaCreateOrModify = 3
Const plaPattern = 1

Dim setName, seconds, formatName, fileFormat, dataSet, collector, map, item, issues, waited

setName = "Demo"
seconds = 6
formatName = "csv"
If WScript.Arguments.Count > 0 Then setName = WScript.Arguments(0)
If WScript.Arguments.Count > 1 Then seconds = CLng(WScript.Arguments(1))
If Err.Number <> 0 Then
    WScript.Echo "FAILED: the seconds are a number, not " & WScript.Arguments(1)
    WScript.Quit 2
End If
If WScript.Arguments.Count > 2 Then formatName = LCase(WScript.Arguments(2))
Select Case formatName
Case "csv"
    fileFormat = 0
Case "tsv"
    fileFormat = 1
Case "blg"
    fileFormat = 3
Case Else
    WScript.Echo "FAILED: the format is csv, tsv or blg, not " & formatName
    WScript.Quit 2
End Select

Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject(""PLA.DataCollectorSet"")"
dataSet.Description = "Processor, memory, system and processes, once a second"
Check "Description"
dataSet.RootPath = "C:\PerfLogs\Admin\" & setName
Check "RootPath"
' A separate folder for each run: yyyyMMdd-000001, yyyyMMdd-000002, ...
dataSet.SubdirectoryFormat = plaPattern
Check "SubdirectoryFormat"
dataSet.SubdirectoryFormatPattern = "yyyyMMdd\-NNNNNN"
Check "SubdirectoryFormatPattern"

Set collector = dataSet.DataCollectors.CreateDataCollector(plaPerformanceCounter)
Check "CreateDataCollector"
collector.Name = "Counters"
Check "Name"
collector.FileName = "Counters"
Check "FileName"
collector.LogFileFormat = fileFormat
Check "LogFileFormat"
collector.SampleInterval = 1
Check "SampleInterval"
collector.PerformanceCounters = Array( _
    "\Processor(*)\% Processor Time", _
    "\Memory\Available MBytes", _
    "\Memory\% Committed Bytes In Use", _
    "\System\System Up Time", _
    "\System\Processes", _
    "\System\Threads", _
    "\System\Context Switches/sec", _
    "\System\Processor Queue Length", _
    "\Process(*)\% Processor Time", _
    "\Process(*)\Working Set")
Check "PerformanceCounters"
dataSet.DataCollectors.Add collector
Check "DataCollectors.Add"

Set map = dataSet.Commit(setName, vbNullString, plaCreateOrModify)
Check "Commit"
issues = map.Count
Check "Count of the validation map"
WScript.Echo "Committed: " & setName & " (" & issues & " issues)"
For Each item In map
    WScript.Echo "  " & item.Key & ": " & item.Description & " (0x" & Hex(item.Value) & ")"
    Check "Read the validation map"
Next

dataSet.Start True
Check "Start"
WScript.Echo "Started: status " & dataSet.Status
Check "Status"
For waited = 1 To seconds
    PauseOneSecond
    WScript.Echo "After " & waited & " s: status " & dataSet.Status
    Check "Status"
Next
dataSet.Stop True
Check "Stop"
WScript.Echo "Stopped: status " & dataSet.Status
Check "Status"

' The files of the run are read from the stored set.
dataSet.Query setName, vbNullString
Check "Query"
WScript.Echo "Next serial number: " & dataSet.SerialNumber
Check "SerialNumber"
WScript.Echo "Next folder: " & dataSet.OutputLocation
Check "OutputLocation"
WScript.Echo "Folder: " & dataSet.LatestOutputLocation
Check "LatestOutputLocation"
WScript.Echo "Log: " & dataSet.DataCollectors.Item(0).LatestOutputLocation
Check "LatestOutputLocation of the collector"
WScript.Echo "Done."
WScript.Quit 0

' Ends the script if the previous statement failed.
Sub Check(what)
    If Err.Number <> 0 Then
        WScript.Echo "FAILED: " & what & ": 0x" & Hex(Err.Number) & " " & Err.Description
        WScript.Quit 1
    End If
End Sub

Sub PauseOneSecond()
    On Error Resume Next
    WScript.Sleep 1000
    If Err.Number <> 0 Then
        ' Wine 8 has no WScript.Sleep; its ping waits a second between two echoes.
        Err.Clear
        CreateObject("WScript.Shell").Run "ping -n 2 127.0.0.1", 0, True
        Check "Wait a second"
    End If
End Sub
