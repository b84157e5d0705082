' SPDX-License-Identifier: MIT
' Installs OpenPLA from the folder of the unpacked zip, or removes it: registers its programs and starts the service.
'   cscript //nologo install.vbs [beside | dropin]
'   cscript //nologo install.vbs remove [beside | dropin]
' Default: beside Windows' PLA; under Wine in its place. Requires an administrator. Files, sets and logs are kept.
Option Explicit
Dim shell, files, folder, words, i, code, said

Set shell = CreateObject("WScript.Shell")
Set files = CreateObject("Scripting.FileSystemObject")
folder = files.GetParentFolderName(WScript.ScriptFullName)
If Not files.FileExists(folder & "\openplasrv.exe") Then Quit 1, "There is no " & folder & "\openplasrv.exe"
words = "/regserver /start"
For i = 0 To WScript.Arguments.Count - 1
    Select Case LCase(WScript.Arguments(i))
    Case "remove"
        If i > 0 Then Usage
        words = "/unregserver"
    Case "beside", "dropin"
        words = words & " /" & LCase(WScript.Arguments(i))
    Case Else
        Usage
    End Select
Next
If Left(words, 2) = "/u" Then
    If Server("/sets") <> 0 Then Quit 1, said & "A data collector set is running: stop it, or have stop-sets.vbs stop it."
End If
code = Server(words)
If code <> 0 Then Quit 1, said & "openplasrv.exe " & words & " ended with 0x" & Hex(code)
Quit 0, "Done."

' Stores the output in `said`: a separate console window would close before anybody can read it.
Function Server(words)
    On Error Resume Next
    Dim path, text
    said = ""
    path = files.GetSpecialFolder(2) & "\" & files.GetTempName()
    Server = shell.Run("cmd /s /c """"" & folder & "\openplasrv.exe"" " & words & " > """ & path & """ 2>&1""", 0, True)
    If Err.Number <> 0 Then Server = Err.Number
    Set text = files.OpenTextFile(path, 1)
    said = text.ReadAll
    text.Close
    files.DeleteFile path
End Function

Sub Usage()
    Quit 2, "install.vbs [remove] [beside | dropin]"
End Sub

Sub Quit(code, text)
    WScript.Echo text
    WScript.Quit code
End Sub
