' SPDX-License-Identifier: MIT
' cscript bench_scripts.vbs SETS: for bench_scripts.py. Creates sets, reads their statuses from a list, and deletes them.
Option Explicit
Dim sets, i, dataSet, collector, list, started, running, failures

Sub Report(what, since)
    Dim passed
    passed = Timer - since
    If passed < 0 Then passed = passed + 86400
    WScript.Echo what & " " & CLng(passed * 1000)
End Sub

sets = CLng(WScript.Arguments(0))
failures = 0
On Error Resume Next
started = Timer
For i = 1 To sets
    Set dataSet = CreateObject("PLA.DataCollectorSet")
    Set collector = dataSet.DataCollectors.CreateDataCollector(0)
    collector.Name = "Counters"
    collector.PerformanceCounters = Array("\Processor(*)\% Processor Time", "\Memory\Available MBytes")
    dataSet.DataCollectors.Add collector
    dataSet.Commit "bench script " & i, vbNullString, 3
    If Err.Number Then failures = failures + 1: Err.Clear
Next
Report "created", started

started = Timer
Set list = CreateObject("PLA.DataCollectorSetCollection")
list.GetDataCollectorSets vbNullString, "Service\bench script *"
If list.Count <> sets Then failures = failures + 1
Report "listed", started
started = Timer
For i = 0 To list.Count - 1
    If list.Item(i).Status <> 0 Then failures = failures + 1
    If Err.Number Then failures = failures + 1: Err.Clear
Next
Report "statuses", started

started = Timer
For i = 1 To sets
    Set dataSet = CreateObject("PLA.DataCollectorSet")
    dataSet.Query "bench script " & i, vbNullString
    If Err.Number Then failures = failures + 1: Err.Clear
Next
Report "queried", started
started = Timer
For i = 1 To sets
    Set dataSet = CreateObject("PLA.DataCollectorSet")
    dataSet.Query "bench script " & i, vbNullString
    dataSet.Delete
    If Err.Number Then failures = failures + 1: Err.Clear
Next
Report "deleted", started
WScript.Echo "failures " & failures
WScript.Echo "Done."
