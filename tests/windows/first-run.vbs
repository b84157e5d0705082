' SPDX-License-Identifier: MIT
' What works of OpenPLA on this computer, in some forty lines; for a first look at it on Windows, and under Wine.
' cscript //nologo first-run.vbs FOLDER [SECONDS]
' FOLDER has openpla.exe and the files beside it; SECONDS is how long each program may collect (2).
' It registers nothing, starts no service and no set, and writes below %TEMP% alone, into a folder that it removes; one
' trace session of its own runs for a moment where this account may have one. Lines are ok, FAILED, or none for what this
' computer does not have. The exit code is 1 if one has FAILED.
Option Explicit
On Error Resume Next

Const SET_CLASS = "{03837521-098B-11D8-9414-505054503030}"
Const SESSION = "OpenPLA-first-run"
Dim shell, files, folder, scratch, program, good, bad, absent, name, output, code, seconds, thing, counter

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
scratch = Plain(shell.ExpandEnvironmentStrings("%TEMP%")) & "\openpla-first-run-" & CLng(Rnd * 1000000000)
Err.Clear
files.CreateFolder scratch
If Err.Number <> 0 Then
    WScript.Echo "FAILED  no folder can be made below %TEMP%: " & Err.Description
    WScript.Quit 1
End If

WScript.Echo "OpenPLA: what works here, from " & folder
Tell "system", Value("HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\ProductName") & ", build " & _
    Value("HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\CurrentBuild") & ", " & _
    Plain(shell.ExpandEnvironmentStrings("%PROCESSOR_ARCHITECTURE%"))
' The registry of LocalService is there for administrators alone.
If Value("HKEY_USERS\S-1-5-19\Environment\TEMP") <> "" Then Tell "administrator", "yes" Else Tell "administrator", ""

' The programs.
For Each name In Array("openpla.exe", "openpla.dll", "openplasrv.exe", "openplahost.exe", "openpdh.dll", "openetw.dll", _
        "opentdh.dll", "openetwhost.exe")
    Present name, True
Next
Present "x86\openpla.dll", False
' Each line below would say only that.
If Not files.FileExists(program) Then Finish

' The command line, which needs no registration.
Try "help", "help", "performance logs and alerts"
Try "help as JSON", "help --json", """verb"""
Try "completion", "completion bash", "complete "
code = Run("typeperf ""\System\Processes"" ""\Memory\Available MBytes"" -sc " & seconds)
Judge_samples "counters shown", 2
Name_counter
Try "counters listed", "typeperf -q " & thing, counter
code = Run("typeperf ""\Process(*)\ID Process"" -sc 1")
Judge_samples "processes", 4
Try "log as CSV", "typeperf ""\System\Processes"" -sc " & seconds & " -f CSV -o """ & scratch & "\a.csv"" -y", ""
Try "log as BLG", "typeperf ""\System\Processes"" -sc " & seconds & " -f BIN -o """ & scratch & "\a.blg"" -y", ""
Try "CSV read", "logstat """ & scratch & "\a.csv"" -c", counter
Try "BLG read", "logstat """ & scratch & "\a.blg"" -c", counter
Try "BLG copied", "relog """ & scratch & "\a.blg"" -f BIN -o """ & scratch & "\c.blg"" -y", ""
Judge_copy scratch & "\c.blg"
Try "BLG into TSV", "relog """ & scratch & "\a.blg"" -f TSV -o """ & scratch & "\b.tsv"" -y", ""
Try "report of a log", "report """ & scratch & "\a.csv"" -o """ & scratch & "\report.xml"" -y", ""
Write_definition scratch & "\set.xml"
Try "definition judged", "check """ & scratch & "\set.xml"" -all", "\System\Processes"
Try_code "a wrong option told", "relog -jsno", "did you mean -json", 2

' A trace session, of a provider that nobody has; on Windows administrators and Performance Log Users may.
code = Run("logman create trace " & SESSION & " -p {7E0C1F0A-5A54-4B0F-8F0B-6A1C2D3E4F50} -o """ & scratch & "\a.etl"" -ets")
If code = 0 Then
    Tell "trace session begun", "yes"
    Try "trace session listed", "logman query -ets", SESSION
    Try "trace session ended", "logman stop " & SESSION & " -ets", ""
    Try "trace read", "logstat """ & scratch & "\a.etl""", ""
    Try "trace as CSV", "tracerpt """ & scratch & "\a.etl"" -of CSV -o """ & scratch & "\t.csv"" -y", ""
ElseIf code = &H80070005 Or code = &H80040154 Then ' not for this account; no PLA is registered
    Tell "trace session begun", ""
Else
    Fail "trace session begun", "exit code 0x" & Hex(code) & " " & Last_line()
End If

' What is registered.
Tell "PLA of this computer", Value("HKCR\CLSID\" & SET_CLASS & "\InprocServer32\") & _
    Value("HKCR\CLSID\" & SET_CLASS & "\LocalServer32\")
Set_by "PLA.DataCollectorSet"
Set_by "OpenPLA.DataCollectorSet"
code = Run("doctor -wait 20")
Tell "doctor", "exit code " & code & ", " & Findings()

Finish

Sub Finish
    On Error Resume Next
    files.DeleteFolder scratch, True
    If files.FolderExists(scratch) Then
        Fail "nothing left behind", scratch
    Else
        Tell "nothing left behind", "yes"
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

' ok with the detail, or none where there is none.
Sub Tell(what, detail)
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

' Wine 8 counts the zero behind a text with it.
Function Plain(text)
    Plain = Replace(text, Chr(0), "")
End Function

' A value of the registry, empty where it is not there.
Function Value(path)
    On Error Resume Next
    Value = ""
    Value = Plain(CStr(shell.RegRead(path)))
    Err.Clear
End Function

Sub Present(name, wanted)
    On Error Resume Next
    If files.FileExists(folder & "\" & name) Then
        Tell name, files.GetFile(folder & "\" & name).Size & " bytes"
    ElseIf wanted Then
        Fail name, "is not there"
    Else
        Tell name, ""
    End If
End Sub

Function Run(arguments)
    Run = Run_of(program, arguments)
End Function

' Its words are in output then.
Function Run_of(path, arguments)
    On Error Resume Next
    Dim text
    output = ""
    Run_of = shell.Run("cmd /s /c """"" & path & """ " & arguments & " > """ & scratch & "\out.txt"" 2>&1""", 0, True)
    If Err.Number <> 0 Then Run_of = Err.Number
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

' The program ends with 0, and what it says has the words.
Sub Try(what, arguments, words)
    Try_code what, arguments, words, 0
End Sub

Sub Try_code(what, arguments, words, wanted)
    On Error Resume Next
    Dim code
    code = Run(arguments)
    If code <> wanted Then
        Fail what, "exit code " & code & ": " & Last_line()
    ElseIf InStr(output, words) = 0 Then
        Fail what, "does not say " & words & ": " & Last_line()
    Else
        Tell what, "exit code " & code
    End If
End Sub

' Of what typeperf has shown: its head, or its last row. Fields are in quotation marks.
Function Shown(head)
    Dim lines, i
    Shown = ""
    lines = Split(Replace(output, vbCr, ""), vbLf)
    For i = 0 To UBound(lines)
        If Left(lines(i), 1) = """" And (InStr(lines(i), "(PDH-CSV 4.0)") > 0) = head Then Shown = lines(i)
    Next
End Function

' A head, and a row of as many fields at least, of which the first counter has a value.
Sub Judge_samples(what, fields)
    On Error Resume Next
    Dim values
    values = Split(Shown(False), """,""")
    If code <> 0 Or Shown(True) = "" Or UBound(values) + 1 < fields Then
        Fail what, "exit code " & code & ": " & Last_line()
    ElseIf Trim(Replace(values(1), """", "")) = "" Then
        Fail what, "no value: " & Shown(False)
    Else
        Tell what, Shown(False)
    End If
End Sub

' counter is \System\Processes in this computer's language, as it was shown, thing its object; what this code page may
' show otherwise than it is is not looked for.
Sub Name_counter
    On Error Resume Next
    Dim heads, parts, i
    thing = ""
    counter = "\"
    heads = Split(Shown(True), """,""")
    If UBound(heads) < 1 Then Exit Sub
    parts = Split(Replace(heads(1), """", ""), "\") ' \\COMPUTER\object\counter
    If UBound(parts) <> 4 Then Exit Sub
    For i = 1 To Len(heads(1))
        If AscW(Mid(heads(1), i, 1)) < 32 Or AscW(Mid(heads(1), i, 1)) > 126 Then Exit Sub
    Next
    thing = """" & parts(3) & """"
    counter = "\" & parts(3) & "\" & parts(4)
End Sub

' What OpenPLA wrote is read by Windows' own relog, which Wine has not: nobody else judges that form.
Sub Judge_copy(path)
    On Error Resume Next
    Dim relog, code
    relog = Plain(shell.ExpandEnvironmentStrings("%SystemRoot%")) & "\System32\relog.exe"
    If Not files.FileExists(relog) Then
        Tell "BLG read by Windows", ""
        Exit Sub
    End If
    code = Run_of(relog, """" & path & """ -f CSV -o """ & scratch & "\c.csv"" -y")
    If code = 0 And files.FileExists(scratch & "\c.csv") Then
        Tell "BLG read by Windows", files.GetFile(scratch & "\c.csv").Size & " bytes"
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

' A set in this process' memory: made, filled, turned into XML and back, never committed.
Sub Set_by(class_name)
    On Error Resume Next
    Dim set_made, collector, copy
    Err.Clear
    Set set_made = CreateObject(class_name)
    If Err.Number <> 0 Then
        Tell class_name, ""
        Exit Sub
    End If
    Set collector = set_made.DataCollectors.CreateDataCollector(0)
    collector.Name = "Counters"
    collector.SampleInterval = 7
    set_made.DataCollectors.Add collector
    Set copy = CreateObject(class_name)
    copy.SetXml set_made.Xml
    If Err.Number <> 0 Then
        Fail class_name, "0x" & Hex(Err.Number) & " " & Err.Description
    ElseIf "" & copy.DataCollectors(0).SampleInterval <> "7" Then ' as text: Wine's VBScript compares no unsigned numbers
        Fail class_name, "a set's XML does not give the set"
    Else
        Tell class_name, "makes sets"
    End If
End Sub

' The ids of what the doctor found.
Function Findings()
    Dim lines, i, parts
    Findings = ""
    lines = Split(Replace(output, vbCr, ""), vbLf)
    For i = 0 To UBound(lines)
        parts = Split(lines(i), ": ")
        If UBound(parts) > 1 And Left(lines(i), 1) <> " " Then Findings = Findings & parts(0) & " " & parts(1) & " "
    Next
End Function
