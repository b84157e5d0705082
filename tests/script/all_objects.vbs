' SPDX-License-Identifier: MIT
' Uses every object of the object model from VBScript. Otherwise a script would fail with an object that other clients
' can use. The output must be the same as that of all_objects.js. Wine's VBScript cannot read the arrays that it
' assigned, so they are shown as XML.
' cscript all_objects.vbs SET
Option Explicit
On Error Resume Next
Dim name, dataSet, copy, collector, provider, other, map, item, schedule, action, manager, sets, i, names, xml, message

name = WScript.Arguments(0)
Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject"
dataSet.DisplayName = "@%systemroot%\system32\no-such-openpla.dll,#1"
dataSet.Keywords = Array("all", "objects")
dataSet.SetValue "Owner", "Anna"
Check "properties of the set"

' The five kinds of data collectors.
names = Array("Counters", "Trace", "Configuration", "Alert", "Api")
For i = 0 To 4
    Set collector = dataSet.DataCollectors.CreateDataCollector(i)
    collector.Name = names(i)
    dataSet.DataCollectors.Add collector
    Check "a collector"
Next
dataSet.DataCollectors("counters").PerformanceCounters = Array("\System\Threads", "\Memory\Available MBytes")
dataSet.DataCollectors(0).SegmentMaxRecords = 5
Check "counters"
Set collector = dataSet.DataCollectors("Trace")
collector.BufferSize = 64
collector.Guid = "{A68CA8B7-004F-D7B6-A698-07E2DE0F1F5E}"
collector.StreamMode = 3
Set provider = collector.TraceDataProviders.CreateTraceDataProvider()
provider.Guid = "{A68CA8B7-004F-D7B6-A698-07E2DE0F1F5D}"
provider.DisplayName = "Network"
provider.Level.Value = 5
provider.KeywordsAny.Value = "0x10"
provider.FilterData = Array(49, 50, 46, 56)
provider.FilterEnabled = True
Check "provider"
Set item = provider.KeywordsAll.CreateValueMapItem()
item.Key = "Send"
item.Description = "What is sent"
item.Value = 1
item.Enabled = True
provider.KeywordsAll.Add item
provider.KeywordsAll.Add 4
provider.KeywordsAll.ValueMapType = 2
Check "value map"
collector.TraceDataProviders.Add provider
Check "Add of the provider"
Set other = collector.TraceDataProviders.CreateTraceDataProvider()
other.Guid = "{A68CA8B7-004F-D7B6-A698-07E2DE0F1F5D}"
collector.TraceDataProviders.Add other
Show_error "a provider twice"
collector.TraceDataProviders.GetTraceDataProvidersByProcess "", 2147483632
Show_error "by process"
With dataSet.DataCollectors("Configuration")
    .RegistryKeys = Array("HKEY_LOCAL_MACHINE\Software\")
    .Files = Array("%windir%\win.ini")
    .ManagementQueries = Array("root\cimv2:SELECT * FROM Win32_Processor")
    .QueryNetworkAdapters = True
    .FileMaxCount = 10
End With
Check "configuration"
With dataSet.DataCollectors("Alert")
    .AlertThresholds = Array("\System\Threads>5000", "\Memory\Available MBytes<10.5")
    .EventLog = True
    .TriggerDataCollectorSet = "Other"
    .Task = "Tell"
    .TaskArguments = "{name} {value}"
End With
Check "alert"
dataSet.DataCollectors("Alert").AlertThresholds = Array("nothing")
Show_error "a threshold"
With dataSet.DataCollectors("Api")
    .ExePath = "C:\windows\system32\cmd.exe"
    .LogFilePath = "api.etl"
    .IncludeApis = Array("kernel32!Sleep")
    .ExcludeApis = Array("kernel32!Beep")
    .LogApiNamesOnly = True
End With
Check "API tracing"

' The schedules and the data manager.
Set schedule = dataSet.Schedules.CreateSchedule()
schedule.StartDate = DateSerial(2024, 1, 31)
schedule.StartTime = TimeSerial(6, 30, 0)
schedule.EndDate = DateSerial(2024, 12, 31)
schedule.Days = 127
dataSet.Schedules.Add schedule
Check "schedule"
Set manager = dataSet.DataManager
manager.Enabled = True
manager.MinFreeDisk = 200
manager.ResourcePolicy = 1
manager.Rules = "<Rules><Logging level=""15"" file=""rules.log""/></Rules>"
Set action = manager.FolderActions.CreateFolderAction()
action.Age = 56
action.Actions = 8 + 16
action.SendCabTo = "\\server\share"
manager.FolderActions.Add action
Check "data manager"
Set map = manager.Run(1, "")
Show_error "Run"
manager.Extract "a.cab", "C:\"
Show_error "Extract"

' Copies a whole set as XML.
Set map = dataSet.Commit(name, "", 3)
Check "Commit"
For Each item In map
    WScript.Echo "note: " & item.Key & " 0x" & Hex(item.Value)
Next
Check "For Each over the map"
xml = dataSet.Xml
Set copy = CreateObject("PLA.DataCollectorSet")
Set map = copy.SetXml(xml)
WScript.Echo "SetXml: " & map.Count & " issues, the same: " & (copy.DataManager.Rules = manager.Rules)
copy.Query name, ""
Check "Query"
WScript.Echo "set: " & copy.DisplayName & ", " & copy.GetValue("owner") & ", the same: " & (copy.Xml = dataSet.Xml)
For Each collector In copy.DataCollectors
    WScript.Echo "collector " & collector.Index & ": " & collector.Name & ", type " & collector.DataCollectorType
    WScript.Echo collector.Xml
Next
Check "For Each over collectors"
For Each provider In copy.DataCollectors(1).TraceDataProviders
    WScript.Echo "provider: " & provider.DisplayName & " " & provider.Guid & ", level " & provider.Level.Value & _
        ", any " & provider.KeywordsAny.Value & ", all " & provider.KeywordsAll.Value
    For Each item In provider.KeywordsAll
        WScript.Echo "  keyword '" & item.Key & "' " & item.Value & ", enabled " & CInt(item.Enabled)
    Next
Next
Check "For Each over providers"
Set other = copy.DataCollectors(1).TraceDataProviders.CreateTraceDataProvider()
other.Query "Windows Kernel Trace", ""
Check "Query of a provider"
WScript.Echo "kernel: " & other.Guid & ", keywords " & other.KeywordsAny.Count
Set provider = copy.DataCollectors(1).TraceDataProviders(0)
provider.Resolve other
Check "Resolve"
WScript.Echo "resolved: " & provider.DisplayName & ", any " & provider.KeywordsAny.Value
For Each schedule In copy.Schedules
    WScript.Echo "schedule: " & Year(schedule.StartDate) & "-" & Month(schedule.StartDate) & "-" & _
        Day(schedule.StartDate) & " " & Hour(schedule.StartTime) & ":" & Minute(schedule.StartTime) & " to month " & _
        Month(schedule.EndDate) & ", days " & schedule.Days
Next
Check "For Each over schedules"
For Each action In copy.DataManager.FolderActions
    WScript.Echo "folder action: " & action.Age & " days, " & action.Actions & ", " & action.SendCabTo
Next
Check "For Each over folder actions"
WScript.Echo "data manager: " & CInt(copy.DataManager.Enabled) & " " & copy.DataManager.MinFreeDisk & " " & _
    copy.DataManager.ResourcePolicy & " " & copy.DataManager.ReportFileName
copy.Subdirectory = name
copy.Commit name, "", 2
Check "Commit of a folder of its own"
copy.Start True
Check "Start"
WScript.Echo "status " & copy.Status
copy.Stop True
Check "Stop"
copy.Query name, ""
Check "Query after the run"
message = copy.GetValue("OpenPLA.LastRunMessage")
If InStr(message, "the program was not started while the set ran") = 0 Then WScript.Echo message

' The collection of data collector sets.
Set sets = CreateObject("PLA.DataCollectorSetCollection")
sets.GetDataCollectorSets "", "service\" & name
Check "GetDataCollectorSets"
For Each item In sets
    WScript.Echo "found " & item.Name & " with " & item.DataCollectors.Count
Next
sets.Remove 0
Check "Remove"
copy.Query name, ""
Show_error "Query of what was removed"
WScript.Echo "Done."

Sub Check(what)
    If Err.Number <> 0 Then
        WScript.Echo "FAILED: " & what & ": 0x" & Hex(Err.Number) & " " & Err.Description
        WScript.Quit 1
    End If
End Sub

' Prints the error of the last call, which must have failed.
Sub Show_error(what)
    If Err.Number = 0 Then
        WScript.Echo "FAILED: " & what & " went well"
        WScript.Quit 1
    End If
    WScript.Echo what & ": 0x" & Hex(Err.Number) & " " & Err.Description
    Err.Clear
End Sub
