' SPDX-License-Identifier: MIT
' Collects performance counters into a database for some seconds.
' cscript sql_log.vbs SOURCE [set name] [seconds]
' SOURCE names the data source and the log set in it:
'   SQL:perf!Servers                                           an ODBC data source called perf
'   SQL:Driver={SQLite3};Database=/home/me/perf.db!Servers     a connection string instead of a data source
' Under Wine an unhandled error ends a script silently with exit code 0, so every step is checked, and the
' last line of a good run is "Done."
Option Explicit
On Error Resume Next

Const plaPerformanceCounter = 0
Const plaCreateOrModify = 3
Const plaSql = 2

Dim setName, seconds, dataSet, collector, waited

If WScript.Arguments.Count = 0 Then
    WScript.Echo "FAILED: give the data source: SQL:<data source>!<log set>"
    WScript.Quit 2
End If
setName = "SqlDemo"
seconds = 6
If WScript.Arguments.Count > 1 Then setName = WScript.Arguments(1)
If WScript.Arguments.Count > 2 Then seconds = CLng(WScript.Arguments(2))
Check "The seconds are a number"

Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject(""PLA.DataCollectorSet"")"
dataSet.RootPath = "C:\PerfLogs\Admin\" & setName
Check "RootPath"
Set collector = dataSet.DataCollectors.CreateDataCollector(plaPerformanceCounter)
Check "CreateDataCollector"
collector.Name = "Counters"
Check "Name"
collector.LogFileFormat = plaSql
Check "LogFileFormat"
collector.DataSourceName = WScript.Arguments(0)
Check "DataSourceName"
collector.SampleInterval = 1
Check "SampleInterval"
collector.PerformanceCounters = Array( _
    "\Processor(*)\% Processor Time", _
    "\Memory\Available Bytes", _
    "\System\Processes", _
    "\Process(*)\Working Set")
Check "PerformanceCounters"
dataSet.DataCollectors.Add collector
Check "DataCollectors.Add"
dataSet.Commit setName, vbNullString, plaCreateOrModify
Check "Commit"

dataSet.Start True
Check "Start"
For waited = 1 To seconds
    PauseOneSecond
Next
dataSet.Stop True
Check "Stop"
dataSet.Query setName, vbNullString
Check "Query"
WScript.Echo "Message: " & dataSet.GetValue("OpenPLA.LastRunMessage")
Check "LastRunMessage"
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
