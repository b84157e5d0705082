' SPDX-License-Identifier: MIT
' Creates a data collector set with three segments; a task archives each segment when it is complete.
' cscript task.vbs [set name] [task name] [folder of the archive]
' The task must exist first. Under Wine:
'   openpla task add Archive cscript.exe //nologo C:\the\folder\of\archive_log.vbs $(Arg0)
' On Windows it is a task of Task Scheduler whose action has the same program and arguments.
' Under Wine an unhandled error ends a script silently with exit code 0, so every step is checked, and the
' last line of a good run is "Done."
Option Explicit
On Error Resume Next

Const plaPerformanceCounter = 0
Const plaCreateOrModify = 3
Const segments = 3

Dim setName, taskName, archive, dataSet, collector, map, item, waited

setName = "Archived"
taskName = "Archive"
archive = "C:\PerfLogs\Archive"
If WScript.Arguments.Count > 0 Then setName = WScript.Arguments(0)
If WScript.Arguments.Count > 1 Then taskName = WScript.Arguments(1)
If WScript.Arguments.Count > 2 Then archive = WScript.Arguments(2)

Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject(""PLA.DataCollectorSet"")"
dataSet.RootPath = "C:\PerfLogs\Admin\" & setName
Check "RootPath"
dataSet.Segment = True
Check "Segment"
dataSet.SegmentMaxDuration = 2
Check "SegmentMaxDuration"
dataSet.Duration = 2 * segments
Check "Duration"
dataSet.Task = taskName
Check "Task"
' {archive} is replaced by the value that is set below, always as one argument; {logs} by one argument per collector.
dataSet.TaskArguments = "{archive} {state} {usertext} {logs}"
Check "TaskArguments"
dataSet.TaskUserTextArguments = "a ""user's"" text"
Check "TaskUserTextArguments"
dataSet.SetValue "archive", archive
Check "SetValue archive"
' The maximum time to wait for a task, in seconds.
dataSet.SetValue "OpenPLA.TaskTimeout", "30"
Check "SetValue OpenPLA.TaskTimeout"

Set collector = dataSet.DataCollectors.CreateDataCollector(plaPerformanceCounter)
Check "CreateDataCollector"
collector.Name = "Counters"
Check "Name"
collector.FileName = "Counters"
Check "FileName"
collector.FileNameFormat = &H200 ' the serial number
Check "FileNameFormat"
collector.LogFileFormat = 0
Check "LogFileFormat"
collector.SampleInterval = 1
Check "SampleInterval"
collector.PerformanceCounters = Array("\Memory\Available MBytes", "\System\Processes")
Check "PerformanceCounters"
dataSet.DataCollectors.Add collector
Check "DataCollectors.Add"

Set map = dataSet.Commit(setName, vbNullString, plaCreateOrModify)
Check "Commit"
For Each item In map
    WScript.Echo "  " & item.Key & ": " & item.Description & " (0x" & Hex(item.Value) & ")"
    Check "Read the validation map"
Next
dataSet.Start True
Check "Start"
' Status is 1 while the set collects, 2 while its last task runs, and 0 afterwards.
For waited = 1 To 60
    If dataSet.Status = 0 Then Exit For
    Check "Status"
    PauseOneSecond
Next
WScript.Echo "Status: " & dataSet.Status
Check "Status"
WScript.Echo "Result: " & dataSet.GetValue("OpenPLA.LastRunResult")
Check "GetValue OpenPLA.LastRunResult"
WScript.Echo "Message: " & dataSet.GetValue("OpenPLA.LastRunMessage")
Check "GetValue OpenPLA.LastRunMessage"
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
