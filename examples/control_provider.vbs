' SPDX-License-Identifier: MIT
' Controls an event provider as in MS-PLA 4.1: a set enables the network provider of send_packets.exe, which must be
' running, for packets sent to one address. After some seconds it changes the level to errors only, and after the same
' time again it stops.
' cscript control_provider.vbs [set name] [seconds]
' Under Wine an unhandled error ends a script silently with exit code 0, so every step is checked, and the
' last line of a good run is "Done."
Option Explicit
On Error Resume Next

Const plaTrace = 1
Const plaModify = 2
Const plaCreateOrModify = 3
Const plaUpdateRunningInstance = 16
Const plaPattern = 1
Const network = "{A68CA8B7-004F-D7B6-A698-07E2DE0F1F5D}"
Const address = "12.84.150.40"

Dim setName, seconds, dataSet, collector, provider, map, waited

setName = "ProviderSample"
seconds = 3
If WScript.Arguments.Count > 0 Then setName = WScript.Arguments(0)
If WScript.Arguments.Count > 1 Then seconds = CLng(WScript.Arguments(1))
If Err.Number <> 0 Then
    WScript.Echo "FAILED: the seconds are a number, not " & WScript.Arguments(1)
    WScript.Quit 2
End If

Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject(""PLA.DataCollectorSet"")"
dataSet.RootPath = "C:\PerfLogs\Admin\" & setName
Check "RootPath"
dataSet.SubdirectoryFormat = plaPattern
Check "SubdirectoryFormat"
dataSet.SubdirectoryFormatPattern = "yyyyMMdd\-NNNNNN"
Check "SubdirectoryFormatPattern"
Set collector = dataSet.DataCollectors.CreateDataCollector(plaTrace)
Check "CreateDataCollector"
' FilterData is an array of bytes, which scripts cannot create but XML can contain.
Set map = collector.SetXml("<TraceDataCollector><Name>Packets</Name><FileName>Packets</FileName><TraceDataProvider>" & _
    "<Guid>" & network & "</Guid><FilterEnabled>-1</FilterEnabled><FilterType>1</FilterType><FilterData>" & _
    HexOf(address) & "</FilterData></TraceDataProvider></TraceDataCollector>")
Check "SetXml"
' Checks whether the provider exists now. A provider without a name is shown by its GUID.
Set provider = collector.TraceDataProviders.CreateTraceDataProvider()
Check "CreateTraceDataProvider"
provider.Query network, vbNullString
Check "Query"
WScript.Echo "Provider: " & provider.DisplayName
Set provider = collector.TraceDataProviders(0)
Check "TraceDataProviders"
provider.Level.Value = 5
Check "Level"
provider.KeywordsAny.Value = 1
Check "KeywordsAny"
provider.KeywordsAll.Value = 1
Check "KeywordsAll"
dataSet.DataCollectors.Add collector
Check "DataCollectors.Add"

Set map = dataSet.Commit(setName, vbNullString, plaCreateOrModify)
Check "Commit"
WScript.Echo "Committed: " & setName & " (" & map.Count & " issues)"
dataSet.Start True
Check "Start"
WScript.Echo "Started: level " & provider.Level.Value
For waited = 1 To seconds
    PauseOneSecond
Next
provider.Level.Value = 2
Check "Level"
Set map = dataSet.Commit(setName, vbNullString, plaModify + plaUpdateRunningInstance)
Check "Commit of the running set"
WScript.Echo "Changed: level " & provider.Level.Value
For waited = 1 To seconds
    PauseOneSecond
Next
dataSet.Stop True
Check "Stop"
dataSet.Query setName, vbNullString
Check "Query"
WScript.Echo "Trace: " & dataSet.DataCollectors.Item(0).LatestOutputLocation
Check "LatestOutputLocation of the collector"
WScript.Echo "Done."
WScript.Quit 0

' Ends the script if the previous statement failed.
Sub Check(what)
    If Err.Number <> 0 Then
        WScript.Echo "FAILED: " & what & ": 0x" & Hex(Err.Number) & " " & Err.Description
        WScript.Quit 1
    End If
End Sub

Function HexOf(text)
    Dim i
    HexOf = ""
    For i = 1 To Len(text)
        HexOf = HexOf & Hex(Asc(Mid(text, i, 1)))
    Next
End Function

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
