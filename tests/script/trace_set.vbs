' SPDX-License-Identifier: MIT
' cscript trace_set.vbs start|change|stop NAME FOLDER: controls a set with a trace collector in the namespace Service.
' The last line is "Done."
Option Explicit
On Error Resume Next
Dim action, dataSet, collector, provider
action = WScript.Arguments(0)
Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject"
If action = "start" Then
    dataSet.RootPath = WScript.Arguments(2)
    Set collector = dataSet.DataCollectors.CreateDataCollector(1)
    collector.Name = "trace"
    collector.FileName = WScript.Arguments(1)
    Set provider = collector.TraceDataProviders.CreateTraceDataProvider
    provider.Guid = "{5C1D2A8E-3B6F-4E0A-9D57-1F0B6A2C8E43}"
    provider.Level.Value = 4
    collector.TraceDataProviders.Add provider
    dataSet.DataCollectors.Add collector
    Check "the collector"
    dataSet.Commit WScript.Arguments(1), "", 3
    Check "Commit"
    dataSet.Start True
    Check "Start"
Else
    dataSet.Query WScript.Arguments(1), ""
    Check "Query"
End If
If action = "change" Then
    dataSet.DataCollectors(0).TraceDataProviders(0).Level.Value = 5
    dataSet.Commit WScript.Arguments(1), "", &H12
    Check "Commit of the change"
End If
If action = "stop" Then
    dataSet.Stop True
    Check "Stop"
    dataSet.Delete
    Check "Delete"
End If
WScript.Echo "Done."

Sub Check(what)
    If Err.Number Then
        WScript.Echo "error 0x" & Hex(Err.Number) & " " & what & ": " & Err.Description
        WScript.Quit 1
    End If
End Sub
