' SPDX-License-Identifier: MIT
' folders.vbs ROOT SHARE: runs a set twice. After each run the data manager packs the run's folder into a cabinet and
' sends it to SHARE. Then adds a file to a folder, and calls DataManager.Run for all folders and for one folder.
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
' A file that no run has created must be kept, and is not an error.
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
