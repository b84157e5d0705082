' SPDX-License-Identifier: MIT
' Controls trace sessions from a script: cscript trace.vbs ACTION NAME [FOLDER PROVIDER]. Prints "key value" lines, then
' "Done." trace.js prints the same.
'   start NAME FOLDER PROVIDER   starts a session with a log in the folder
'   state NAME                   prints what Query returns for the session
'   change NAME                  changes FlushTimer and flushes while the session runs
'   stop NAME                    stops the session
'   boot NAME FOLDER PROVIDER    creates an Autosession
'   booted NAME                  prints what Query returns for the Autosession
'   forget NAME                  deletes the Autosession
Option Explicit
On Error Resume Next
Dim action, name, dataSet, collector, provider, sets, item, found

action = ""
If WScript.Arguments.Count > 1 Then action = WScript.Arguments(0)
If action = "" Or ((action = "start" Or action = "boot") And WScript.Arguments.Count < 4) Then
    WScript.Echo "usage: cscript trace.vbs ACTION NAME [FOLDER PROVIDER]; see the top of the script for the actions"
    WScript.Quit 2
End If
name = WScript.Arguments(1)
If action = "boot" Or action = "booted" Or action = "forget" Then
    name = "Autosession\" & name
Else
    name = "Session\" & name
End If
Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject"
Select Case action
Case "start", "boot"
    dataSet.RootPath = WScript.Arguments(2)
    Set collector = dataSet.DataCollectors.CreateDataCollector(1)
    collector.Name = "trace"
    collector.FileName = WScript.Arguments(1)
    collector.BufferSize = 64
    collector.FlushTimer = 1
    Set provider = collector.TraceDataProviders.CreateTraceDataProvider
    provider.Guid = WScript.Arguments(3)
    provider.Level.Value = 5
    Check "the provider"
    collector.TraceDataProviders.Add provider
    dataSet.DataCollectors.Add collector
    Check "the collector"
    dataSet.Commit name, "", 1
    Check "Commit"
    If action = "start" Then
        dataSet.Start True
        Check "Start"
    Else
        dataSet.Start True
        WScript.Echo "refused 0x" & Hex(Err.Number)
        Err.Clear
    End If
Case Else
    dataSet.Query name, ""
    Check "Query"
End Select
WScript.Echo "status " & dataSet.Status
Check "Status"
Select Case action
Case "state", "booted"
    Set collector = dataSet.DataCollectors(0)
    Set provider = collector.TraceDataProviders(0)
    WScript.Echo "provider " & provider.Guid
    WScript.Echo "level " & Element(Mid(collector.Xml, InStr(collector.Xml, "<Level>")), "Value")
    WScript.Echo "timer " & collector.FlushTimer
    WScript.Echo "session " & Element(collector.Xml, "SessionId")
    WScript.Echo "written " & collector.BuffersWritten
    WScript.Echo "free " & collector.FreeBuffers
    WScript.Echo "lost " & collector.EventsLost & " " & collector.BuffersLost & " " & collector.RealTimeBuffersLost
    WScript.Echo "file " & collector.OutputLocation
    Check "the figures"
    Set sets = CreateObject("PLA.DataCollectorSetCollection")
    sets.GetDataCollectorSets "", Left(name, InStr(name, "\")) & "*"
    Check "GetDataCollectorSets"
    found = 0
    For Each item In sets
        If item.Name = WScript.Arguments(1) Then found = found + 1
    Next
    Check "For Each"
    WScript.Echo "listed " & found
Case "change"
    dataSet.DataCollectors(0).FlushTimer = 2
    dataSet.Commit name, "", &H32
    Check "Commit of the change"
Case "stop"
    dataSet.Stop True
    Check "Stop"
    WScript.Echo "after " & dataSet.Status
Case "forget"
    dataSet.Delete
    Check "Delete"
End Select
WScript.Echo "Done."

' 64-bit numbers, which VBScript cannot represent, are read from the XML.
Function Element(xml, name)
    Dim from
    Element = "0"
    from = InStr(xml, "<" & name & ">")
    If from Then
        from = from + Len(name) + 2
        Element = Mid(xml, from, InStr(from, xml, "<") - from)
    End If
End Function

Sub Check(what)
    If Err.Number Then
        WScript.Echo "error 0x" & Hex(Err.Number) & " " & what & ": " & Err.Description
        WScript.Quit 1
    End If
End Sub
