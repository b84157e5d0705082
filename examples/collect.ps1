# SPDX-License-Identifier: MIT
# The job of collect.vbs in PowerShell: creates a set, lets it collect counters for some seconds, stops it and prints
# its log's path.
# powershell -File collect.ps1 [-Name SET] [-Seconds N]
param([string]$Name = 'DemoPowerShell', [int]$Seconds = 6)
$ErrorActionPreference = 'Stop'
$plaPerformanceCounter = 0
$plaCommaSeparated = 0
$plaCreateOrModify = 3
try {
    $set = New-Object -ComObject PLA.DataCollectorSet
    $collector = $set.DataCollectors.CreateDataCollector($plaPerformanceCounter)
    $collector.Name = 'Counters'
    $collector.FileName = 'Counters'
    $collector.LogFileFormat = $plaCommaSeparated
    $collector.LogOverwrite = $true
    $collector.SampleInterval = 1
    $collector.PerformanceCounters = [string[]]('\Processor(_Total)\% Processor Time', '\Memory\Available MBytes',
        '\System\Processes')
    $set.DataCollectors.Add($collector)
    foreach ($issue in $set.Commit($Name, $null, $plaCreateOrModify)) {
        Write-Output "  $($issue.Key): $($issue.Description)"
    }
    Write-Output "Committed: $Name"
    $set.Start($true)
    Write-Output 'Started'
    Start-Sleep -Seconds $Seconds
    $set.Stop($true)
    # The files of the run are read from the stored set.
    $set.Query($Name, $null)
    Write-Output "Log: $($set.DataCollectors.Item(0).LatestOutputLocation)"
    Write-Output 'Done.'
}
catch {
    Write-Output ('FAILED: 0x{0:X8} {1}' -f $_.Exception.HResult, $_.Exception.Message)
    exit 1
}
