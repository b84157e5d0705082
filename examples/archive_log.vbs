' SPDX-License-Identifier: MIT
' The task of task.vbs: copies the logs of a segment into a folder, and notes them there in archive.txt.
' cscript archive_log.vbs FOLDER STATE TEXT LOG...
' STATE: 1 when the set collects on, 0 when it has stopped.
Option Explicit

Dim files, folder, list, i
Set files = CreateObject("Scripting.FileSystemObject")
folder = WScript.Arguments(0)
If Not files.FolderExists(folder) Then files.CreateFolder folder
Set list = files.OpenTextFile(folder & "\archive.txt", 8, True)
For i = 3 To WScript.Arguments.Count - 1
    files.CopyFile WScript.Arguments(i), folder & "\" & files.GetFileName(WScript.Arguments(i))
    list.WriteLine WScript.Arguments(1) & " " & WScript.Arguments(i) & " (" & WScript.Arguments(2) & ")"
Next
list.Close
