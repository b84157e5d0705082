' SPDX-License-Identifier: MIT
' Two runs of a set whose folders are packed behind each, a file that comes later, and passes by Run: folders.vbs ROOT
' SHARE, to which the cabinets are sent.
Option Explicit
On Error Resume Next

Const plaPerformanceCounter = 0
Const plaPattern = 1
Const plaCreateOrModify = 3
Const plaCreateCabAndDeleteData = 3
Const plaSendCab = 4
Const plaFolderActions = 8
Const plaFolderActionsAndResourceFreeing = 24

Dim dataSet, collector, action, map, failed, n

Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject"
dataSet.RootPath = WScript.Arguments(0)
dataSet.SubdirectoryFormat = plaPattern
dataSet.SubdirectoryFormatPattern = "NNNNNN"
Set collector = dataSet.DataCollectors.CreateDataCollector(plaPerformanceCounter)
collector.Name = "Load"
collector.FileName = "Load"
collector.PerformanceCounters = Array("\Memory\Available MBytes")
dataSet.DataCollectors.Add collector
Check "DataCollectors.Add"
dataSet.DataManager.Enabled = True
Set action = dataSet.DataManager.FolderActions.CreateFolderAction
action.Actions = plaCreateCabAndDeleteData + plaSendCab
action.SendCabTo = WScript.Arguments(1)
Check "SendCabTo"
dataSet.DataManager.FolderActions.Add action
Check "FolderActions.Add"
Set map = dataSet.Commit("Folders that are packed", vbNullString, plaCreateOrModify)
Check "Commit"
For n = 1 To 2
    dataSet.Start True
    Check "Start"
    dataSet.Stop True
    Check "Stop"
Next
' What no run has made stays, and is no mistake.
CreateObject("Scripting.FileSystemObject").CreateTextFile(WScript.Arguments(0) & "\000001\late.csv").Write "late"
Check "late.csv"
Set failed = dataSet.DataManager.Run(plaFolderActions, vbNullString)
Check "Run"
WScript.Echo "All: " & failed.Count
Set failed = dataSet.DataManager.Run(plaFolderActionsAndResourceFreeing, "000002")
Check "Run of one folder"
WScript.Echo "One: " & failed.Count
dataSet.Delete
Check "Delete"
WScript.Echo "Done."
WScript.Quit 0

Sub Check(what)
    If Err.Number <> 0 Then
        WScript.Echo "FAILED: " & what & ": 0x" & Hex(Err.Number) & " " & Err.Description
        WScript.Quit 1
    End If
End Sub
