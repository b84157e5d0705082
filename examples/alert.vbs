' SPDX-License-Identifier: MIT
' Creates an alert on the processor's load that writes an event and starts a second set for details, and waits
' until it has happened.
' cscript alert.vbs [set name] [load in percent] [seconds to wait at most]
Option Explicit
On Error Resume Next

Const plaPerformanceCounter = 0
Const plaAlert = 3
Const plaCreateOrModify = 3

Dim setName, load, seconds, details, counters, dataSet, alert, waited, happened

setName = "Demo alert"
load = 50
seconds = 60
If WScript.Arguments.Count > 0 Then setName = WScript.Arguments(0)
If WScript.Arguments.Count > 1 Then load = CDbl(WScript.Arguments(1))
If WScript.Arguments.Count > 2 Then seconds = CLng(WScript.Arguments(2))
If Err.Number <> 0 Then
    WScript.Echo "FAILED: the load and the seconds are numbers"
    WScript.Quit 2
End If

' The counters to collect when the alert occurs.
Set details = CreateObject("PLA.DataCollectorSet")
Check "CreateObject(""PLA.DataCollectorSet"")"
details.RootPath = "C:\PerfLogs\Admin\" & setName
Check "RootPath"
Set counters = details.DataCollectors.CreateDataCollector(plaPerformanceCounter)
Check "CreateDataCollector"
counters.Name = "Details"
Check "Name"
counters.LogFileFormat = 0
counters.SampleInterval = 1
counters.LogOverwrite = True
counters.PerformanceCounters = Array("\Process(*)\% Processor Time", "\System\Processor Queue Length")
Check "PerformanceCounters"
details.DataCollectors.Add counters
Check "DataCollectors.Add"
details.Commit setName & " details", vbNullString, plaCreateOrModify
Check "Commit"

' An alert needs two consecutive samples above the load. It is reported once until the load falls below it again.
Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject(""PLA.DataCollectorSet"")"
dataSet.RootPath = "C:\PerfLogs\Admin\" & setName
Check "RootPath"
Set alert = dataSet.DataCollectors.CreateDataCollector(plaAlert)
Check "CreateDataCollector"
alert.Name = "Load"
Check "Name"
alert.AlertThresholds = Array("\Processor(_Total)\% Processor Time>" & load)
Check "AlertThresholds"
alert.SampleInterval = 1
alert.EventLog = True
alert.TriggerDataCollectorSet = setName & " details"
Check "TriggerDataCollectorSet"
dataSet.DataCollectors.Add alert
Check "DataCollectors.Add"
dataSet.SetValue "OpenPLA.AlertOn", "crossing"
dataSet.SetValue "OpenPLA.AlertSamples", "2"
dataSet.SetValue "OpenPLA.AlertAllClear", "yes"
dataSet.SetValue "OpenPLA.AlertMessage", "{name}: the processors are busy to {value} %"
Check "SetValue"
dataSet.Commit setName, vbNullString, plaCreateOrModify
Check "Commit"

dataSet.Start True
Check "Start"
WScript.Echo "Waiting for a load above " & load & " %"
happened = False
For waited = 1 To seconds
    PauseOneSecond
    happened = details.Status = 1
    Check "Status"
    If happened Then Exit For
Next
dataSet.Stop True
Check "Stop"
dataSet.Query setName, vbNullString
Check "Query"
WScript.Echo "Log of alerts: " & dataSet.DataCollectors.Item(0).LatestOutputLocation
Check "LatestOutputLocation"
If happened Then
    PauseOneSecond
    details.Stop True
    Check "Stop of the details"
    details.Query setName & " details", vbNullString
    Check "Query of the details"
    WScript.Echo "Details: " & details.DataCollectors.Item(0).LatestOutputLocation
    Check "LatestOutputLocation of the details"
Else
    WScript.Echo "There was no such load."
End If
WScript.Echo "Done."
WScript.Quit 0

' Ends the script if the previous statement failed: under Wine an unhandled error is silent.
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
