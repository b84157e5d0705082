' SPDX-License-Identifier: MIT
' The task for task.vbs: copies the logs of a segment into a folder, and writes a note for each log.
' cscript archive_log.vbs FOLDER STATE TEXT LOG...
' STATE: 1 while the set continues to collect, 0 when it has stopped.
' Tasks of several segments can run at the same time, so they do not share files.
Option Explicit

Dim files, folder, copy, note, i
If WScript.Arguments.Count < 3 Then
    WScript.Echo "usage: cscript archive_log.vbs FOLDER STATE TEXT LOG..."
    WScript.Quit 2
End If
Set files = CreateObject("Scripting.FileSystemObject")
folder = WScript.Arguments(0)
On Error Resume Next
files.CreateFolder folder ' it may already exist
On Error Goto 0
For i = 3 To WScript.Arguments.Count - 1
    copy = folder & "\" & files.GetFileName(WScript.Arguments(i))
    files.CopyFile WScript.Arguments(i), copy
    Set note = files.CreateTextFile(copy & ".txt", True)
    note.WriteLine WScript.Arguments(1) & " " & WScript.Arguments(i) & " (" & WScript.Arguments(2) & ")"
    note.Close
Next
