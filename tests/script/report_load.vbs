' SPDX-License-Identifier: MIT
' cscript report_load.vbs start|stop NAME ROOT: starts or stops a set with counters, a trace, a configuration and a data
' manager, for report.py.
' The last line is "Done."
Option Explicit
On Error Resume Next
Dim action, dataSet, collector, provider, shop
action = WScript.Arguments(0)
shop = "payloadGuid=""{7D4C9E11-52A0-4E5B-8C1F-6A2B0D9E3F77}"" payloadId=""*"""
Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject"
If action = "start" Then
    dataSet.RootPath = WScript.Arguments(2)
    dataSet.Subdirectory = "run"
    Set collector = dataSet.DataCollectors.CreateDataCollector(0)
    collector.Name = "counters"
    collector.SampleInterval = 1
    collector.PerformanceCounters = Array("\Processor(*)\% Processor Time", "\System\Context Switches/sec", _
        "\Memory\Available MBytes", "\Process(*)\% Processor Time")
    dataSet.DataCollectors.Add collector
    Check "the counters"
    Set collector = dataSet.DataCollectors.CreateDataCollector(1)
    collector.Name = "shop"
    Set provider = collector.TraceDataProviders.CreateTraceDataProvider
    provider.Guid = "{7D4C9E11-52A0-4E5B-8C1F-6A2B0D9E3F77}"
    collector.TraceDataProviders.Add provider
    dataSet.DataCollectors.Add collector
    Check "the trace"
    Set collector = dataSet.DataCollectors.CreateDataCollector(2)
    collector.Name = "machine"
    collector.RegistryKeys = Array("HKEY_LOCAL_MACHINE\Software\Microsoft\Windows NT\CurrentVersion\")
    dataSet.DataCollectors.Add collector
    Check "the configuration"
    dataSet.DataManager.Enabled = True
    dataSet.DataManager.EventsFileName = "events.xml"
    dataSet.DataManager.ReportSchema = "<Report name=""load"" version=""1"">" & _
        "<Import file=""%systemroot%\pla\reports\Report.General.xml""/>" & _
        "<Sections><Section name=""shop"" key=""5""><EventTable name=""sales"">" & _
        "<Column name=""article"" groupby=""true""><EventField field=""Article"" " & shop & "/></Column>" & _
        "<Column name=""sold""><EventField field=""sys:AggregateCount"" " & shop & "/></Column>" & _
        "<Column name=""total""><EventField field=""Number"" aggregate=""total"" " & shop & "/></Column>" & _
        "<Column name=""average""><EventField field=""Number"" aggregate=""average"" " & shop & "/></Column>" & _
        "</EventTable></Section></Sections></Report>"
    Check "ReportSchema"
    dataSet.Commit WScript.Arguments(1), "", 3
    Check "Commit"
    dataSet.Start True
    Check "Start"
Else
    dataSet.Query WScript.Arguments(1), ""
    Check "Query"
    dataSet.Stop True
    Check "Stop"
    WScript.Echo "Message: " & dataSet.GetValue("OpenPLA.LastRunMessage")
    WScript.Echo "Result: " & dataSet.GetValue("OpenPLA.LastRunResult")
    Check "GetValue"
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
