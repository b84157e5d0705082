' SPDX-License-Identifier: MIT
' cscript //nologo first-run.vbs FOLDER [SECONDS]: prints in about forty lines which parts of OpenPLA work here, for
' a first test on Windows or under Wine. FOLDER has openpla.exe and its other files; SECONDS is how long each program
' collects (default 2).
' The script registers nothing, starts no service and no set, and writes only to a folder below %TEMP%, which it removes.
' It runs one trace session briefly if this account may do so. A line begins with ok, FAILED, or none if this computer
' does not have the object. The exit code is 1 if a line begins with FAILED.
Option Explicit
On Error Resume Next

Const SET_CLASS = "{03837521-098B-11D8-9414-505054503030}"
Const SESSION = "OpenPLA-first-run"
Dim shell, files, folder, scratch, program, good, bad, absent, name, output, code, seconds, object_name, counter

good = 0
bad = 0
absent = 0
Set shell = CreateObject("WScript.Shell")
Set files = CreateObject("Scripting.FileSystemObject")
If WScript.Arguments.Count < 1 Then
    WScript.Echo "usage: cscript //nologo first-run.vbs FOLDER [SECONDS]"
    WScript.Quit 2
End If
folder = files.GetAbsolutePathName(WScript.Arguments(0))
seconds = "2"
If WScript.Arguments.Count > 1 Then seconds = CStr(CLng(WScript.Arguments(1)))
program = folder & "\openpla.exe"
Randomize
scratch = Without_nul(shell.ExpandEnvironmentStrings("%TEMP%")) & "\openpla-first-run-" & CLng(Rnd * 1000000000)
Err.Clear
files.CreateFolder scratch
If Err.Number <> 0 Then
    WScript.Echo "FAILED  cannot create a folder below %TEMP%: " & Err.Description
    WScript.Quit 1
End If

WScript.Echo "OpenPLA: what works here, from " & folder
Report "system", Value("HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\ProductName") & ", build " & _
    Value("HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\CurrentBuild") & ", " & _
    Without_nul(shell.ExpandEnvironmentStrings("%PROCESSOR_ARCHITECTURE%"))
' Only administrators can read the registry of LocalService.
If Value("HKEY_USERS\S-1-5-19\Environment\TEMP") <> "" Then Report "administrator", "yes" Else Report "administrator", ""

' The programs.
For Each name In Array("openpla.exe", "openpla.dll", "openplasrv.exe", "openplahost.exe", "openpdh.dll", "openetw.dll", _
        "opentdh.dll", "openetwhost.exe")
    Report_file name, True
Next
Report_file "x86\openpla.dll", False
' Without openpla.exe every other line would fail for this reason.
If Not files.FileExists(program) Then Finish

' The command line, which needs no registration.
Check_command "help", "help", "performance logs and alerts"
Check_command "help as JSON", "help --json", """verb"""
Check_command "completion", "completion bash", "complete "
code = Run("typeperf ""\System\Processes"" ""\Memory\Available MBytes"" -sc " & seconds)
Check_samples "counters shown", 2
Read_counter_name
Check_command "counters listed", "typeperf -q " & object_name, counter
code = Run("typeperf ""\Process(*)\ID Process"" -sc 1")
Check_samples "processes", 4
Check_command "log as CSV", "typeperf ""\System\Processes"" -sc " & seconds & " -f CSV -o """ & scratch & "\a.csv"" -y", ""
Check_command "log as BLG", "typeperf ""\System\Processes"" -sc " & seconds & " -f BIN -o """ & scratch & "\a.blg"" -y", ""
Check_command "CSV read", "logstat """ & scratch & "\a.csv"" -c", counter
Check_command "BLG read", "logstat """ & scratch & "\a.blg"" -c", counter
Check_command "BLG copied", "relog """ & scratch & "\a.blg"" -f BIN -o """ & scratch & "\c.blg"" -y", ""
Check_copy scratch & "\c.blg"
Check_command "BLG into TSV", "relog """ & scratch & "\a.blg"" -f TSV -o """ & scratch & "\b.tsv"" -y", ""
Check_command "report of a log", "report """ & scratch & "\a.csv"" -o """ & scratch & "\report.xml"" -y", ""
Write_definition scratch & "\set.xml"
Check_command "definition checked", "check """ & scratch & "\set.xml"" -all", "\System\Processes"
Check_exit_code "wrong option reported", "relog -jsno", "did you mean -json", 2

' A trace session with an event provider that does not exist. On Windows, only administrators and Performance Log Users
' may start one.
code = Run("logman create trace " & SESSION & " -p {7E0C1F0A-5A54-4B0F-8F0B-6A1C2D3E4F50} -o """ & scratch & "\a.etl"" -ets")
If code = 0 Then
    Report "trace session started", "yes"
    Check_command "trace session listed", "logman query -ets", SESSION
    Check_command "trace session stopped", "logman stop " & SESSION & " -ets", ""
    Check_command "trace read", "logstat """ & scratch & "\a.etl""", ""
    Check_command "trace as CSV", "tracerpt """ & scratch & "\a.etl"" -of CSV -o """ & scratch & "\t.csv"" -y", ""
ElseIf code = &H80070005 Or code = &H80040154 Then ' access denied; PLA is not registered
    Report "trace session started", ""
Else
    Fail "trace session started", "exit code 0x" & Hex(code) & " " & Last_line()
End If

' The registered classes.
Report "PLA of this computer", Value("HKCR\CLSID\" & SET_CLASS & "\InprocServer32\") & _
    Value("HKCR\CLSID\" & SET_CLASS & "\LocalServer32\")
Check_class "PLA.DataCollectorSet"
Check_class "OpenPLA.DataCollectorSet"
code = Run("doctor -wait 20")
Report "doctor", "exit code " & code & ", " & Findings()

Finish

Sub Finish
    On Error Resume Next
    files.DeleteFolder scratch, True
    If files.FolderExists(scratch) Then
        Fail "nothing left behind", scratch
    Else
        Report "nothing left behind", "yes"
    End If
    WScript.Echo good & " ok, " & bad & " FAILED, " & absent & " none"
    WScript.Echo "Done."
    If bad > 0 Then WScript.Quit 1
    WScript.Quit 0
End Sub

Sub Line(how, what, detail)
    WScript.Echo Left(how & "        ", 8) & Left(what & Space(26), 26) & Left(detail, 120)
    Err.Clear
End Sub

' Prints ok with the detail, or none if the detail is empty.
Sub Report(what, detail)
    If detail = "" Then
        absent = absent + 1
        Line "none", what, ""
    Else
        good = good + 1
        Line "ok", what, detail
    End If
End Sub

Sub Fail(what, detail)
    bad = bad + 1
    Line "FAILED", what, detail
End Sub

' Removes NULs: Wine 8 includes the terminating NUL in strings.
Function Without_nul(text)
    Without_nul = Replace(text, Chr(0), "")
End Function

' Returns a registry value, or an empty string if it does not exist.
Function Value(path)
    On Error Resume Next
    Value = ""
    Value = Without_nul(CStr(shell.RegRead(path)))
    Err.Clear
End Function

Sub Report_file(name, required)
    On Error Resume Next
    If files.FileExists(folder & "\" & name) Then
        Report name, files.GetFile(folder & "\" & name).Size & " bytes"
    ElseIf required Then
        Fail name, "does not exist"
    Else
        Report name, ""
    End If
End Sub

Function Run(arguments)
    Run = Run_program(program, arguments)
End Function

' Runs a program and returns its exit code. Its output is then in the variable output.
Function Run_program(path, arguments)
    On Error Resume Next
    Dim text
    output = ""
    Run_program = shell.Run("cmd /s /c """"" & path & """ " & arguments & " > """ & scratch & "\out.txt"" 2>&1""", 0, True)
    If Err.Number <> 0 Then Run_program = Err.Number
    Err.Clear
    Set text = files.OpenTextFile(scratch & "\out.txt", 1)
    output = text.ReadAll
    text.Close
    Err.Clear
End Function

Function Last_line()
    Dim lines, i
    Last_line = ""
    lines = Split(Replace(output, vbCr, ""), vbLf)
    For i = 0 To UBound(lines)
        If lines(i) <> "" Then Last_line = lines(i)
    Next
End Function

' Checks that openpla exits with 0 and that its output contains the words.
Sub Check_command(what, arguments, words)
    Check_exit_code what, arguments, words, 0
End Sub

Sub Check_exit_code(what, arguments, words, expected)
    On Error Resume Next
    Dim code
    code = Run(arguments)
    If code <> expected Then
        Fail what, "exit code " & code & ": " & Last_line()
    ElseIf InStr(output, words) = 0 Then
        Fail what, "lacks " & words & ": " & Last_line()
    Else
        Report what, "exit code " & code
    End If
End Sub

' Returns the header or the last row that typeperf has printed. Fields are in quotation marks.
Function Output_row(head)
    Dim lines, i
    Output_row = ""
    lines = Split(Replace(output, vbCr, ""), vbLf)
    For i = 0 To UBound(lines)
        If Left(lines(i), 1) = """" And (InStr(lines(i), "(PDH-CSV 4.0)") > 0) = head Then Output_row = lines(i)
    Next
End Function

' Checks that typeperf has printed a header and a row with at least this number of fields, whose first counter has a
' value.
Sub Check_samples(what, fields)
    On Error Resume Next
    Dim values
    values = Split(Output_row(False), """,""")
    If code <> 0 Or Output_row(True) = "" Or UBound(values) + 1 < fields Then
        Fail what, "exit code " & code & ": " & Last_line()
    ElseIf Trim(Replace(values(1), """", "")) = "" Then
        Fail what, "no value: " & Output_row(False)
    Else
        Report what, Output_row(False)
    End If
End Sub

' Sets counter to \System\Processes in this computer's language, as typeperf printed it, and object_name to its object.
' Names that are not ASCII are not searched for, because the code page could change them.
Sub Read_counter_name
    On Error Resume Next
    Dim heads, parts, i
    object_name = ""
    counter = "\"
    heads = Split(Output_row(True), """,""")
    If UBound(heads) < 1 Then Exit Sub
    parts = Split(Replace(heads(1), """", ""), "\") ' \\COMPUTER\object\counter
    If UBound(parts) <> 4 Then Exit Sub
    For i = 1 To Len(heads(1))
        If AscW(Mid(heads(1), i, 1)) < 32 Or AscW(Mid(heads(1), i, 1)) > 126 Then Exit Sub
    Next
    object_name = """" & parts(3) & """"
    counter = "\" & parts(3) & "\" & parts(4)
End Sub

' Checks that Windows' own relog reads a log of OpenPLA. Wine has no such relog.
Sub Check_copy(path)
    On Error Resume Next
    Dim relog, code
    relog = Without_nul(shell.ExpandEnvironmentStrings("%SystemRoot%")) & "\System32\relog.exe"
    If Not files.FileExists(relog) Then
        Report "BLG read by Windows", ""
        Exit Sub
    End If
    code = Run_program(relog, """" & path & """ -f CSV -o """ & scratch & "\c.csv"" -y")
    If code = 0 And files.FileExists(scratch & "\c.csv") Then
        Report "BLG read by Windows", files.GetFile(scratch & "\c.csv").Size & " bytes"
    Else
        Fail "BLG read by Windows", "exit code " & code & ": " & Last_line()
    End If
End Sub

Sub Write_definition(path)
    On Error Resume Next
    Dim text
    Set text = files.CreateTextFile(path, True)
    text.WriteLine "<?xml version=""1.0""?><DataCollectorSet><Name>First</Name><PerformanceCounterDataCollector>" & _
        "<DataCollectorType>0</DataCollectorType><Name>Counters</Name><Counter>\System\Processes</Counter>" & _
        "</PerformanceCounterDataCollector></DataCollectorSet>"
    text.Close
    Err.Clear
End Sub

' Creates a set of this class, adds a collector, and copies the set as XML. The set is never committed.
Sub Check_class(class_name)
    On Error Resume Next
    Dim data_set, collector, copy
    Err.Clear
    Set data_set = CreateObject(class_name)
    If Err.Number <> 0 Then
        Report class_name, ""
        Exit Sub
    End If
    Set collector = data_set.DataCollectors.CreateDataCollector(0)
    collector.Name = "Counters"
    collector.SampleInterval = 7
    data_set.DataCollectors.Add collector
    Set copy = CreateObject(class_name)
    copy.SetXml data_set.Xml
    If Err.Number <> 0 Then
        Fail class_name, "0x" & Hex(Err.Number) & " " & Err.Description
    ElseIf "" & copy.DataCollectors(0).SampleInterval <> "7" Then ' as strings, because Wine's VBScript cannot compare unsigned numbers
        Fail class_name, "the copy of a set as XML differs"
    Else
        Report class_name, "creates sets"
    End If
End Sub

' Returns the ids of the doctor's findings.
Function Findings()
    Dim lines, i, parts
    Findings = ""
    lines = Split(Replace(output, vbCr, ""), vbLf)
    For i = 0 To UBound(lines)
        parts = Split(lines(i), ": ")
        If UBound(parts) > 1 And Left(lines(i), 1) <> " " Then Findings = Findings & parts(0) & " " & parts(1) & " "
    Next
End Function
