' SPDX-License-Identifier: MIT
' Creates a set that manages its folders: each run is packed into a cabinet, its data is then deleted, and only the
' latest three runs are kept. Runs the set twice, runs the data manager once more explicitly, and shows the result.
' cscript folders.vbs [set name] [folder]
' Under Wine an unhandled error ends a script silently with exit code 0, so every step is checked, and the
' last line of a good run is "Done."
Option Explicit
On Error Resume Next

Const plaPerformanceCounter = 0
Const plaPattern = 1
Const plaCreateOrModify = 3
Const plaDeleteOldest = 1
Const plaCreateCab = 1
Const plaDeleteData = 2
Const plaFolderActions = 8
Const plaResourceFreeing = 16

Dim setName, root, dataSet, collector, manager, action, map, failed, runs, files, folder, file, i

setName = "Folders"
root = ""
If WScript.Arguments.Count > 0 Then setName = WScript.Arguments(0)
If WScript.Arguments.Count > 1 Then root = WScript.Arguments(1)
If root = "" Then root = "C:\PerfLogs\Admin\" & setName

Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject(""PLA.DataCollectorSet"")"
dataSet.RootPath = root
Check "RootPath"
' The data manager handles only runs with separate folders.
dataSet.SubdirectoryFormat = plaPattern
Check "SubdirectoryFormat"
dataSet.SubdirectoryFormatPattern = "yyyyMMdd\-NNNNNN"
Check "SubdirectoryFormatPattern"

Set collector = dataSet.DataCollectors.CreateDataCollector(plaPerformanceCounter)
Check "CreateDataCollector"
collector.Name = "Load"
Check "Name"
collector.FileName = "Load"
Check "FileName"
collector.SampleInterval = 1
Check "SampleInterval"
collector.PerformanceCounters = Array("\Memory\Available MBytes")
Check "PerformanceCounters"
dataSet.DataCollectors.Add collector
Check "DataCollectors.Add"

Set manager = dataSet.DataManager
Check "DataManager"
manager.Enabled = True
Check "Enabled"
manager.MaxFolderCount = 3
Check "MaxFolderCount"
manager.ResourcePolicy = plaDeleteOldest
Check "ResourcePolicy"
Set action = manager.FolderActions.CreateFolderAction
Check "CreateFolderAction"
' Immediately (Age 0 days) and for any size (Size 0 MB).
action.Age = 0
Check "Age"
action.Size = 0
Check "Size"
action.Actions = plaCreateCab + plaDeleteData
Check "Actions"
manager.FolderActions.Add action
Check "FolderActions.Add"

Set map = dataSet.Commit(setName, vbNullString, plaCreateOrModify)
Check "Commit"
For runs = 1 To 2
    dataSet.Start True
    Check "Start"
    ' Waits for the report and for the folder actions that follow it.
    dataSet.Stop True
    Check "Stop"
Next

' Applies the folder actions to all folders explicitly, and returns the failures.
Set failed = dataSet.DataManager.Run(plaFolderActions + plaResourceFreeing, vbNullString)
Check "Run"
WScript.Echo "Failed: " & failed.Count
For i = 0 To failed.Count - 1
    WScript.Echo failed.Item(i).Key & ": 0x" & Hex(failed.Item(i).Value) & " " & failed.Item(i).Description
    Check "Item"
Next

Set files = CreateObject("Scripting.FileSystemObject")
Check "CreateObject(""Scripting.FileSystemObject"")"
For Each folder In files.GetFolder(root).SubFolders
    For Each file In folder.Files
        WScript.Echo folder.Name & "\" & file.Name
    Next
Next
Check "the folders of the runs"
WScript.Echo "Done."
WScript.Quit 0

' Ends the script if the previous statement failed.
Sub Check(what)
    If Err.Number <> 0 Then
        WScript.Echo "FAILED: " & what & ": 0x" & Hex(Err.Number) & " " & Err.Description
        WScript.Quit 1
    End If
End Sub
