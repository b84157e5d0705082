' SPDX-License-Identifier: MIT
' Creates a data collector set that records this machine's configuration: files, registry keys, WMI queries and network
' adapters, all in one XML. The run stops when it is complete.
' cscript configuration.vbs [set name] [file or pattern]
' Under Wine an unhandled error ends a script silently with exit code 0, so every step is checked, and the
' last line of a good run is "Done."
Option Explicit
On Error Resume Next

Const plaConfiguration = 2
Const plaCreateOrModify = 3
Const plaPattern = 1
Const plaRunning = 1

Dim setName, pattern, dataSet, collector, map, waited

setName = "Configuration"
pattern = "%windir%\system32\drivers\etc\*"
If WScript.Arguments.Count > 0 Then setName = WScript.Arguments(0)
If WScript.Arguments.Count > 1 Then pattern = WScript.Arguments(1)

Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject(""PLA.DataCollectorSet"")"
dataSet.RootPath = "C:\PerfLogs\Admin\" & setName
Check "RootPath"
' A separate folder for each run, so that the XML of two days can be compared.
dataSet.SubdirectoryFormat = plaPattern
Check "SubdirectoryFormat"
dataSet.SubdirectoryFormatPattern = "yyyyMMdd\-NNNNNN"
Check "SubdirectoryFormatPattern"
dataSet.StopOnCompletion = True
Check "StopOnCompletion"

Set collector = dataSet.DataCollectors.CreateDataCollector(plaConfiguration)
Check "CreateDataCollector"
collector.Name = "Machine"
Check "Name"
collector.FileName = "Machine"
Check "FileName"
' A doubled "\" before the last name includes subfolders.
collector.Files = Array(pattern)
Check "Files"
collector.FileMaxCount = 1000
Check "FileMaxCount"
collector.RegistryKeys = Array("HKEY_LOCAL_MACHINE\Software\Microsoft\Windows NT\CurrentVersion\")
Check "RegistryKeys"
collector.ManagementQueries = Array("root\cimv2:SELECT * FROM Win32_OperatingSystem")
Check "ManagementQueries"
collector.QueryNetworkAdapters = True
Check "QueryNetworkAdapters"
dataSet.DataCollectors.Add collector
Check "DataCollectors.Add"

Set map = dataSet.Commit(setName, vbNullString, plaCreateOrModify)
Check "Commit"
dataSet.Start True
Check "Start"
WScript.Echo "Started."
For waited = 1 To 60
    If dataSet.Status <> plaRunning Then Exit For
    PauseOneSecond
Next
Check "Status"

' The files of the run are read from the stored set.
dataSet.Query setName, vbNullString
Check "Query"
WScript.Echo "Status: " & dataSet.Status
Check "Status"
WScript.Echo "Folder: " & dataSet.LatestOutputLocation
Check "LatestOutputLocation"
WScript.Echo "XML: " & dataSet.DataCollectors.Item(0).LatestOutputLocation
Check "LatestOutputLocation of the collector"
WScript.Echo "Message: " & dataSet.GetValue("OpenPLA.LastRunMessage")
Check "GetValue"
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
