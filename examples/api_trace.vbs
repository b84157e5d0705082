' SPDX-License-Identifier: MIT
' Traces the calls of a program for one run: cscript api_trace.vbs FOLDER PROGRAM [ARGUMENTS]. Prints the program's exit
' code, the run's message, and the log; the last line is "Done."
Option Explicit
On Error Resume Next
Dim dataSet, collector, shell, command, i, code

If WScript.Arguments.Count < 2 Then
    WScript.Echo "usage: cscript api_trace.vbs FOLDER PROGRAM [ARGUMENTS]"
    WScript.Quit 2
End If
Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject"
dataSet.RootPath = WScript.Arguments(0)
Set collector = dataSet.DataCollectors.CreateDataCollector(4)
collector.Name = "calls"
collector.ExePath = WScript.Arguments(1)
collector.IncludeModules = Array("kernel32", "advapi32")
collector.ExcludeApis = Array("kernel32!GetTickCount")
Check "the collector"
dataSet.DataCollectors.Add collector
dataSet.Commit "api_trace", "", 1
Check "Commit"
dataSet.Start True
Check "Start"

command = """" & WScript.Arguments(1) & """"
For i = 2 To WScript.Arguments.Count - 1
    command = command & " " & WScript.Arguments(i)
Next
Set shell = CreateObject("WScript.Shell")
code = shell.Run(command, 0, True)
Check "the program"
WScript.Echo "exit code " & code

dataSet.Stop True
Check "Stop"
dataSet.Query "api_trace", ""
Check "Query"
WScript.Echo "message " & dataSet.GetValue("OpenPLA.LastRunMessage")
WScript.Echo "log " & dataSet.DataCollectors(0).LatestOutputLocation
dataSet.Delete
Check "Delete"
WScript.Echo "Done."

Sub Check(what)
    If Err.Number Then
        WScript.Echo "error 0x" & Hex(Err.Number) & " " & what & ": " & Err.Description
        WScript.Quit 1
    End If
End Sub
