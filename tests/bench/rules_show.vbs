' SPDX-License-Identifier: MIT
' The set of rules_show.py: cscript rules_show.vbs start|stop NAME ROOT COUNTERS, where COUNTERS is a file with a path
' per line. The last line is "Done."
Option Explicit
On Error Resume Next
Dim dataSet, collector
Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject"
If WScript.Arguments(0) = "start" Then
    dataSet.RootPath = WScript.Arguments(2)
    dataSet.Subdirectory = "run"
    Set collector = dataSet.DataCollectors.CreateDataCollector(0)
    collector.Name = "counters"
    collector.SampleInterval = 1
    collector.PerformanceCounters = Split(CreateObject("Scripting.FileSystemObject").OpenTextFile( _
        WScript.Arguments(3)).ReadAll, vbLf)
    dataSet.DataCollectors.Add collector
    Check "the counters"
    dataSet.DataManager.Enabled = True
    dataSet.DataManager.ReportSchema = "<Report name=""show"" version=""1"">" & _
        "<Import file=""%systemroot%\pla\reports\Report.System.Diagnostics.xml""/></Report>"
    Check "ReportSchema"
    dataSet.DataManager.Rules = "<Rules><Import file=""%systemroot%\pla\rules\Rules.General.xml""/></Rules>"
    Check "Rules"
    dataSet.Commit WScript.Arguments(1), "", 3
    Check "Commit"
    dataSet.Start True
    Check "Start"
Else
    dataSet.Query WScript.Arguments(1), ""
    Check "Query"
    dataSet.Stop True
    Check "Stop"
    WScript.Echo "Result: " & dataSet.GetValue("OpenPLA.LastRunResult") & " " & _
        dataSet.GetValue("OpenPLA.LastRunMessage")
    dataSet.Delete
    Check "Delete"
End If
WScript.Echo "Done."

Sub Check(what)
    If Err.Number <> 0 Then
        WScript.Echo what & ": 0x" & Hex(Err.Number) & " " & Err.Description
        WScript.Quit 1
    End If
End Sub
