' SPDX-License-Identifier: MIT
' Creates a data collector set that runs as an account, and one that logs to a database with a password, and shows that
' neither password is read back.
' cscript account.vbs [set name] [account] [password]
' Under Wine an unhandled error ends a script silently with exit code 0, so every step is checked, and the
' last line of a good run is "Done."
Option Explicit
On Error Resume Next

Const plaPerformanceCounter = 0
Const plaCreateOrModify = 3

Dim setName, account, password, dataSet, collector, map, item, stored

setName = "Account"
account = "DOMAIN\collector"
password = "a password"
If WScript.Arguments.Count > 0 Then setName = WScript.Arguments(0)
If WScript.Arguments.Count > 1 Then account = WScript.Arguments(1)
If WScript.Arguments.Count > 2 Then password = WScript.Arguments(2)

Set dataSet = CreateObject("PLA.DataCollectorSet")
Check "CreateObject(""PLA.DataCollectorSet"")"
Set collector = dataSet.DataCollectors.CreateDataCollector(plaPerformanceCounter)
Check "CreateDataCollector"
collector.Name = "Counters"
Check "Name"
collector.LogFileFormat = 2
Check "LogFileFormat"
collector.DataSourceName = "SQL:Driver={SQLite3};Database=/tmp/none.db;PWD={" & password & "}!Servers"
Check "DataSourceName"
collector.PerformanceCounters = Array("\System\Processes")
Check "PerformanceCounters"
dataSet.DataCollectors.Add collector
Check "DataCollectors.Add"

' An account and its password: DOMAIN\user or user@domain. Two empty strings remove them.
dataSet.SetCredentials account, password
Check "SetCredentials"
Set map = dataSet.Commit(setName, vbNullString, plaCreateOrModify)
Check "Commit"
For Each item In map
    WScript.Echo "  " & item.Key & ": " & item.Description & " (0x" & Hex(item.Value) & ")"
    Check "Read the validation map"
Next

Set stored = CreateObject("PLA.DataCollectorSet")
stored.Query setName, vbNullString
Check "Query"
WScript.Echo "UserAccount: " & stored.UserAccount
Check "UserAccount"
WScript.Echo "DataSourceName: " & stored.DataCollectors(0).DataSourceName
Check "DataSourceName"
WScript.Echo "Passwords in the XML: " & (InStr(stored.Xml, password) > 0 Or InStr(dataSet.Xml, password) > 0)
Check "Xml"

' The user who set the password, or an administrator, need not pass it again.
stored.Description = "changed"
stored.Commit setName, vbNullString, plaCreateOrModify
Check "Commit of the changed set"
stored.Query setName, vbNullString
Check "Query of the changed set"
WScript.Echo "After a change: " & stored.UserAccount

stored.SetCredentials "", ""
Check "SetCredentials without an account"
stored.Commit setName, vbNullString, plaCreateOrModify
Check "Commit without an account"
stored.Query setName, vbNullString
Check "Query without an account"
WScript.Echo "Without credentials: " & stored.UserAccount
stored.Delete
Check "Delete"
WScript.Echo "Done."

Sub Check(what)
    If Err.Number <> 0 Then
        WScript.Echo "FAILED: " & what & ": 0x" & Hex(Err.Number) & " " & Err.Description
        WScript.Quit 1
    End If
End Sub
