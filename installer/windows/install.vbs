' SPDX-License-Identifier: MIT
' Installs OpenPLA from the folder that this script is in, or removes that: for who cannot or will not use the MSI.
'   cscript //nologo install.vbs [beside|dropin] [FOLDER]      C:\Program Files\OpenPLA without a name
'   cscript //nologo install.vbs remove [FOLDER]
' Needs an administrator. Sets that run are never stopped: it refuses then. Users' sets and logs always stay.
Option Explicit
Dim shell, files, source, target, verb, argument
Set shell = CreateObject("WScript.Shell")
Set files = CreateObject("Scripting.FileSystemObject")
source = files.GetParentFolderName(WScript.ScriptFullName)
target = shell.ExpandEnvironmentStrings("%ProgramW6432%")
If target = "%ProgramW6432%" Then target = shell.ExpandEnvironmentStrings("%ProgramFiles%")
target = target & "\OpenPLA"
verb = ""
For Each argument In WScript.Arguments
    Select Case LCase(argument)
    Case "beside", "dropin", "remove"
        verb = LCase(argument)
    Case Else
        If InStr(argument, "\") = 0 Then Quit 2, "install.vbs [beside|dropin|remove] [FOLDER]: what is " & argument & "?"
        target = argument
    End Select
Next
If LCase(source) = LCase(target) Then Quit 2, "Run the install.vbs that was unpacked, not the installed one."
RefuseRunning
If verb = "remove" Then Remove Else Install
WScript.Echo "Done."

Sub Quit(code, text)
    WScript.Echo text
    WScript.Quit code
End Sub

Function Server(arguments)
    Server = shell.Run("""" & target & "\openplasrv.exe"" " & arguments, 0, True)
End Function

Sub RefuseRunning
    If Not files.FileExists(target & "\openplasrv.exe") Then Exit Sub
    If Server("/sets") <> 0 Then Quit 1, "A data collector set is running: stop it first, as stop-sets.vbs does."
    shell.Run "net stop OpenPLA", 0, True
End Sub

Sub Install
    Dim option_
    If Not files.FolderExists(target) Then files.CreateFolder target
    files.CopyFolder source & "\*", target, True
    files.CopyFile source & "\*", target, True
    option_ = ""
    If verb <> "" Then option_ = " /" & verb
    If Server("/regserver" & option_) <> 0 Then
        Quit 1, """" & target & "\openplasrv.exe"" /regserver" & option_ & " failed: run it to see why."
    End If
    shell.Run "net start OpenPLA", 0, True
End Sub

' What this archive holds, and folders that are empty then: whatever else is there is somebody else's.
Sub Remove
    If Not files.FileExists(target & "\openplasrv.exe") Then Quit 1, "There is no " & target & "\openplasrv.exe"
    If Server("/unregserver") <> 0 Then Quit 1, "openplasrv /unregserver failed: run it to see why."
    RemoveLike files.GetFolder(source), target
End Sub

Sub RemoveLike(folder, from)
    Dim item
    If Not files.FolderExists(from) Then Exit Sub
    For Each item In folder.SubFolders
        RemoveLike item, from & "\" & item.Name
    Next
    For Each item In folder.Files
        If files.FileExists(from & "\" & item.Name) Then files.DeleteFile from & "\" & item.Name, True
    Next
    If files.GetFolder(from).Files.Count + files.GetFolder(from).SubFolders.Count = 0 Then files.DeleteFolder from
End Sub
