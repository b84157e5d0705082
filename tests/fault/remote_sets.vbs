' SPDX-License-Identifier: MIT
' cscript remote_sets.vbs SET SERVER: manages a set on another computer.
Option Explicit
Dim dataSet, copy, collector, found, item, name, server
name = WScript.Arguments(0)
server = WScript.Arguments(1)

Sub Check(right, what)
    If Not right Then
        WScript.Echo "FAILED: " & what
        WScript.Quit 1
    End If
End Sub

Set dataSet = CreateObject("PLA.DataCollectorSet")
dataSet.Query name, server
Check dataSet.Server = server And dataSet.Status = 0, "its server is " & dataSet.Server
dataSet.Start True
Check dataSet.Status = 1, "its status is " & dataSet.Status
dataSet.Stop True
Check dataSet.Status = 0 And Len(dataSet.LatestOutputLocation) > 0, "it wrote to " & dataSet.LatestOutputLocation

Set copy = CreateObject("PLA.DataCollectorSet")
Set collector = copy.DataCollectors.CreateDataCollector(0)
collector.FileName = "copy"
collector.PerformanceCounters = Array("\System\Processes")
copy.DataCollectors.Add collector
copy.RootPath = dataSet.RootPath
copy.Commit name & " copy", server, 1

Set found = CreateObject("PLA.DataCollectorSetCollection")
found.GetDataCollectorSets server, "Service\" & name & "*"
Check found.Count = 2, found.Count & " sets"
For Each item In found
    Check Left(item.Name, Len(name)) = name And item.DataCollectors.Count = 1, item.Name
Next
copy.Delete

' Reuses the same object for a set on this computer.
On Error Resume Next
copy.Query name & " copy", ""
Check Err.Number <> 0, "a deleted set was found"
Err.Clear
copy.Query name, ""
Check Err.Number = 0 And copy.Server = "", "Query of this computer: " & Err.Description
WScript.Echo "Done."
