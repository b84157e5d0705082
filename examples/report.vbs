' SPDX-License-Identifier: MIT
' Creates a data collector set with a data manager, runs it for some seconds, and prints the path of its report.
' cscript report.vbs [set name] [seconds]
' Under Wine an unhandled error ends a script silently with exit code 0, so every step is checked, and the
' last line of a good run is "Done."
Option Explicit
On Error Resume Next

Const plaPerformanceCounter = 0
Const plaPattern = 1
Const plaCreateOrModify = 3
Const plaCreateReport = 1
Const plaRunning = 1
Const plaCompiling = 2

Dim setName, seconds, dataSet, collector, map, waited, manager, failed, i

setName = "Report"
seconds = 6
If WScript.Arguments.Count > 0 Then setName = WScript.Arguments(0)
If WScript.Arguments.Count > 1 Then seconds = CInt(WScript.Arguments(1))

Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject(""PLA.DataCollectorSet"")"
dataSet.RootPath = "C:\PerfLogs\Admin\" & setName
Check "RootPath"
' A separate folder for each run, with its logs and its report.
dataSet.SubdirectoryFormat = plaPattern
Check "SubdirectoryFormat"
dataSet.SubdirectoryFormatPattern = "yyyyMMdd\-NNNNNN"
Check "SubdirectoryFormatPattern"

Set collector = dataSet.DataCollectors.CreateDataCollector(plaPerformanceCounter)
Check "CreateDataCollector"
collector.Name = "Load"
Check "Name"
collector.FileName = "Load"
Check "FileName"
collector.SampleInterval = 1
Check "SampleInterval"
collector.PerformanceCounters = Array("\Processor(*)\% Processor Time", "\Memory\Available MBytes", _
    "\Process(*)\% Processor Time", "\Process(*)\Working Set")
Check "PerformanceCounters"
dataSet.DataCollectors.Add collector
Check "DataCollectors.Add"

Set manager = dataSet.DataManager
Check "DataManager"
manager.Enabled = True
Check "Enabled"
' The schema of Windows' System Performance. Without a schema the report has a table for each counter object.
manager.ReportSchema = "<Report name=""systemPerformance"" version=""1"" threshold=""25"">" & _
    "<Import file=""%systemroot%\pla\reports\Report.System.Common.xml""/>" & _
    "<Import file=""%systemroot%\pla\reports\Report.System.Summary.xml""/>" & _
    "<Import file=""%systemroot%\pla\reports\Report.System.CPU.xml""/></Report>"
Check "ReportSchema"

Set map = dataSet.Commit(setName, vbNullString, plaCreateOrModify)
Check "Commit"
dataSet.Start True
Check "Start"
WScript.Echo "Started."
For waited = 1 To seconds
    PauseOneSecond
Next
' Also waits for the report.
dataSet.Stop True
Check "Stop"

dataSet.Query setName, vbNullString
Check "Query"
WScript.Echo "Report: " & dataSet.LatestOutputLocation & "\" & dataSet.DataManager.RuleTargetFileName
Check "LatestOutputLocation"
WScript.Echo "Message: " & dataSet.GetValue("OpenPLA.LastRunMessage")
Check "GetValue"

' Creates the reports of all the set's folders explicitly, and returns the failures.
Set failed = dataSet.DataManager.Run(plaCreateReport, vbNullString)
Check "Run"
WScript.Echo "Failed: " & failed.Count
For i = 0 To failed.Count - 1
    WScript.Echo failed.Item(i).Key & ": 0x" & Hex(failed.Item(i).Value) & " " & failed.Item(i).Description
    Check "Item"
Next
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
