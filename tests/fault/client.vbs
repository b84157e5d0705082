' SPDX-License-Identifier: MIT
' cscript client.vbs ACTION SET [ARGUMENTS]: controls a set for the tests. Each output line is "key value"; the last
' line is "Done."
'   start SET ROOT COUNTER;... [SOURCE]
'                                creates, commits and starts a set: CSV, one sample a second, folders by serial number;
'                                with SOURCE a second collector writes the same counters into that database
'   configure SET ROOT FILES    creates, commits and starts a set that copies files and then stops; folders as above
'   again SET                   starts the set again
'   state SET                   prints status, serial, file, result and message of the latest run
'   stop SET, delete SET
Option Explicit
On Error Resume Next
Dim action, name, dataSet, collector

action = WScript.Arguments(0)
name = WScript.Arguments(1)
Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject"
If action = "start" Then
    dataSet.RootPath = WScript.Arguments(2)
    dataSet.Subdirectory = "run"
    dataSet.SubdirectoryFormat = &H200
    Set collector = dataSet.DataCollectors.CreateDataCollector(0)
    collector.Name = "log"
    collector.LogFileFormat = 0
    collector.SampleInterval = 1
    collector.PerformanceCounters = Split(WScript.Arguments(3), ";")
    dataSet.DataCollectors.Add collector
    Check "the collector"
    If WScript.Arguments.Count > 4 Then
        Set collector = dataSet.DataCollectors.CreateDataCollector(0)
        collector.Name = "database"
        collector.LogFileFormat = 2
        collector.DataSourceName = WScript.Arguments(4)
        collector.SampleInterval = 1
        collector.PerformanceCounters = Split(WScript.Arguments(3), ";")
        dataSet.DataCollectors.Add collector
        Check "the collector into the database"
    End If
    dataSet.Commit name, "", 3
    Check "Commit"
    dataSet.Start True
    Check "Start"
ElseIf action = "configure" Then
    dataSet.RootPath = WScript.Arguments(2)
    dataSet.Subdirectory = "run"
    dataSet.SubdirectoryFormat = &H200
    dataSet.StopOnCompletion = True
    Set collector = dataSet.DataCollectors.CreateDataCollector(2)
    collector.Name = "configuration"
    collector.Files = Array(WScript.Arguments(3))
    dataSet.DataCollectors.Add collector
    dataSet.Commit name, "", 3
    Check "Commit"
    dataSet.Start True
    Check "Start"
Else
    dataSet.Query name, ""
    Check "Query"
End If
Select Case action
Case "again"
    dataSet.Start True
    Check "Start"
Case "stop"
    dataSet.Stop True
    Check "Stop"
Case "delete"
    dataSet.Delete
    Check "Delete"
End Select
If action <> "delete" Then
    WScript.Echo "status " & dataSet.Status
    WScript.Echo "serial " & dataSet.SerialNumber
    Check "Status"
    WScript.Echo "file " & dataSet.DataCollectors(0).LatestOutputLocation
    Check "LatestOutputLocation"
    WScript.Echo "result " & dataSet.GetValue("OpenPLA.LastRunResult")
    WScript.Echo "message " & Replace(dataSet.GetValue("OpenPLA.LastRunMessage"), vbLf, "; ")
    Check "GetValue"
End If
WScript.Echo "Done."

Sub Check(what)
    If Err.Number <> 0 Then
        WScript.Echo "error " & what & ": 0x" & Hex(Err.Number) & " " & Err.Description
        WScript.Quit 1
    End If
End Sub
