' SPDX-License-Identifier: MIT
' Stops every data collector set that runs on this machine.
Option Explicit
On Error Resume Next
Dim dataSets, dataSet, failures
failures = 0
Set dataSets = CreateObject("PLA.DataCollectorSetCollection")
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
