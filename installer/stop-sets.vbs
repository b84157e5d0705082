' SPDX-License-Identifier: MIT
' Stops all running data collector sets of OpenPLA on this computer. Sets of Windows' PLA are not touched.
Option Explicit
On Error Resume Next
Dim shell, product, dataSets, dataSet, failures
Set shell = CreateObject("WScript.Shell")
product = "OpenPLA"
If Server("{03837525-7D7F-4CE7-B081-7C53C3F9BDF1}") = "" Then product = "PLA"
If product = "PLA" And Server("{03837525-098B-11D8-9414-505054503030}") = "" Then
    WScript.Echo "OpenPLA is not registered here"
    WScript.Quit 1
End If
failures = 0
Err.Clear
Set dataSets = CreateObject(product & ".DataCollectorSetCollection")
dataSets.GetDataCollectorSets vbNullString, vbNullString
If Err.Number <> 0 Then
    WScript.Echo "GetDataCollectorSets: 0x" & Hex(Err.Number) & " " & Err.Description
    WScript.Quit 1
End If
For Each dataSet In dataSets
    If dataSet.Status <> 0 Then
        Err.Clear
        dataSet.Stop True
        WScript.Echo "Stop " & dataSet.Name & ": 0x" & Hex(Err.Number) & " " & Err.Description
        If Err.Number <> 0 Then failures = failures + 1
        Err.Clear
    End If
Next
WScript.Echo "Done."
If failures > 0 Then WScript.Quit 1

' Returns the server program of a class, identified by a value that only OpenPLA writes; empty for other products.
Function Server(identifier)
    On Error Resume Next
    Server = ""
    Server = shell.RegRead("HKLM\Software\Classes\CLSID\" & identifier & "\LocalServer32\ServerExecutable")
End Function
