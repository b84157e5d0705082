@echo off
rem SPDX-License-Identifier: MIT
rem baseline.cmd [FOLDER [TIME [INTERVAL]]]
rem Records this computer's processor, memory, disk and network counters as a CSV file in FOLDER, for TIME (hh:mm:ss),
rem with a row every INTERVAL seconds. The first run, made while all is well, creates baseline.csv. Later runs create
rem now.csv and compare it with baseline.csv: the result is compare.html and the exit code 0 (nothing is worse), 3
rem (worse) or 4 (much worse). Set OPENPLA to the path of openpla.exe if it is not in PATH.
setlocal
set name=Baseline
set folder=%~1
set duration=%~2
set interval=%~3
if not defined folder set folder=%SystemDrive%\PerfLogs\Baseline
if not defined duration set duration=24:00:00
if not defined interval set interval=15
if not defined OPENPLA set OPENPLA=openpla.exe

rem Stops and deletes the set of an earlier run; errors are ignored.
"%OPENPLA%" logman stop %name% >nul 2>nul
"%OPENPLA%" logman delete %name% >nul 2>nul
if not exist "%folder%" mkdir "%folder%"
set log=baseline
if exist "%folder%\baseline.csv" set log=now

rem A batch file needs two percent signs for one.
"%OPENPLA%" logman create counter %name% -o "%folder%\%log%" --v -ow -f csv -si %interval% -rf %duration% -c "\Processor(_Total)\%% Processor Time" "\System\Processor Queue Length" "\Memory\Available Bytes" "\Memory\Pages/sec" "\PhysicalDisk(_Total)\Disk Bytes/sec" "\Network Interface(*)\Bytes Total/sec"
if not %ERRORLEVEL%==0 goto failed
"%OPENPLA%" logman start %name%
if not %ERRORLEVEL%==0 goto failed

rem The set stops by itself.
:running
ping -n 3 127.0.0.1 >nul
"%OPENPLA%" logman query %name% | find "Running" >nul
if %ERRORLEVEL%==0 goto running

"%OPENPLA%" logman delete %name%
if not %ERRORLEVEL%==0 goto failed
"%OPENPLA%" logstat "%folder%\%log%.csv"
if not %ERRORLEVEL%==0 exit /b %ERRORLEVEL%
if %log%==baseline exit /b 0
"%OPENPLA%" compare "%folder%\baseline.csv" "%folder%\now.csv" -html "%folder%\compare.html" -y
exit /b %ERRORLEVEL%

rem "if errorlevel 1" would miss failures: a failing logman exits with an HRESULT, which is negative.
:failed
set code=%ERRORLEVEL%
echo The baseline was not made: %code%
exit /b %code%
