' SPDX-License-Identifier: MIT
' cscript campaign_script.vbs NAME ROOT FILE: creates, starts, changes, stops and deletes the sets NAME0 to NAME3 until
' FILE exists, for campaign.py. Prints a line for each failed call.
Option Explicit
On Error Resume Next
Dim name, root, file, files, number, rounds

name = WScript.Arguments(0)
root = WScript.Arguments(1)
file = WScript.Arguments(2)
Set files = CreateObject("Scripting.FileSystemObject")
number = 0
rounds = 0
Do Until files.FileExists(file)
    OneRound name & number
    number = (number + 1) Mod 4
    rounds = rounds + 1
Loop
WScript.Echo rounds & " rounds"

' Deletes a set that a killed script left, possibly running.
Sub Remove(setName)
    Dim dataSet
    On Error Resume Next
    Set dataSet = CreateObject("PLA.DataCollectorSet")
    Check setName, "CreateObject"
    dataSet.Query setName, ""
    If Err.Number = 0 Then
        If dataSet.Status <> 0 Then dataSet.Stop True
        Check setName, "Stop of what a killed script left"
        dataSet.Delete
        Check setName, "Delete of what a killed script left"
    ElseIf Err.Number = &H80300002 Then
        Err.Clear
    Else
        Check setName, "Query"
    End If
End Sub

Sub OneRound(setName)
    Dim dataSet, collector
    On Error Resume Next
    Remove setName
    Set dataSet = CreateObject("PLA.DataCollectorSet")
    Check setName, "CreateObject"
    dataSet.RootPath = root
    dataSet.Subdirectory = setName
    Set collector = dataSet.DataCollectors.CreateDataCollector(0)
    collector.Name = "log"
    collector.LogFileFormat = 0
    collector.LogOverwrite = True
    collector.SampleInterval = 1
    collector.PerformanceCounters = Array("\System\Processes")
    dataSet.DataCollectors.Add collector
    Check setName, "the collector"
    dataSet.Commit setName, "", 3
    Check setName, "Commit"
    dataSet.Start True
    Check setName, "Start"
    collector.SampleInterval = 2
    dataSet.Commit setName, "", &H10
    Check setName, "Commit of a change"
    Pause
    Check setName, "the pause"
    dataSet.Stop True
    Check setName, "Stop"
    dataSet.Delete
    Check setName, "Delete"
End Sub

' Wine 8 has no WScript.Sleep; ping waits a second between two echo requests.
Sub Pause()
    CreateObject("WScript.Shell").Run "ping -n 2 127.0.0.1", 0, True
End Sub

Sub Check(setName, what)
    If Err.Number <> 0 Then
        WScript.Echo "failed " & what & " of " & setName & ": 0x" & Hex(Err.Number) & " " & Err.Description
        Err.Clear
    End If
End Sub
