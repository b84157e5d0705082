# SPDX-License-Identifier: MIT
# Made of reg/registration.def. Windows protects the keys of its own PLA: their owner is TrustedInstaller, and
# administrators only read. Before openplasrv /regserver /dropin an administrator allows it:
#   .\allow-dropin.ps1            saves owner and descriptor of each key, then lets administrators write
#   .\allow-dropin.ps1 -Restore   after openplasrv /unregserver: owners and descriptors as they were
param([switch]$Restore, [string]$Saved = "$env:ProgramData\OpenPLA-dropin-descriptors.csv")
$ErrorActionPreference = 'Stop'
Add-Type -Namespace OpenPLA -Name Privileges -MemberDefinition '[DllImport("ntdll.dll")] public static extern int RtlAdjustPrivilege(int privilege, bool enable, bool thread, out bool was);'
$was = $false
# SeTakeOwnership, SeBackup, SeRestore: what setting another owner needs.
foreach ($privilege in 9, 17, 18) {
    if ([OpenPLA.Privileges]::RtlAdjustPrivilege($privilege, $true, $false, [ref]$was)) {
        throw 'this needs an administrator'
    }
}
$machine = [Microsoft.Win32.Registry]::LocalMachine
$all = [System.Security.AccessControl.AccessControlSections]'Owner, Group, Access'
function Open([string]$key, [string]$rights) {
    $machine.OpenSubKey($key, [Microsoft.Win32.RegistryKeyPermissionCheck]::ReadWriteSubTree,
                        [System.Security.AccessControl.RegistryRights]$rights)
}
function Under([string]$key) {
    $opened = $machine.OpenSubKey($key)
    if (-not $opened) { return }
    $key
    foreach ($name in $opened.GetSubKeyNames()) { Under "$key\$name" }
}
function Descriptor([string]$key) {
    $opened = $machine.OpenSubKey($key)
    if (-not $opened) { return }
    $opened.GetAccessControl($all).GetSecurityDescriptorSddlForm($all)
    $opened.Dispose()
}
if ($Restore) {
    # From the lowest keys up: a parent that has its protection back may refuse what is below it. So does a key
    # that is as it was, where this is done again.
    $refused = @()
    $rows = @(Import-Csv -LiteralPath $Saved)
    [array]::Reverse($rows)
    foreach ($row in $rows) {
        $now = Descriptor $row.Key
        if (-not $now -or $now -eq $row.Sddl) { continue }
        try {
            $security = New-Object System.Security.AccessControl.RegistrySecurity
            $security.SetSecurityDescriptorSddlForm($row.Sddl, $all)
            $opened = Open $row.Key 'ChangePermissions, TakeOwnership'
            $opened.SetAccessControl($security)
            $opened.Dispose()
        } catch { $refused += "$($row.Key): $_" }
    }
    if ($refused) { throw "$Saved stays, since these are not as they were: $($refused -join '; ')" }
    Remove-Item -LiteralPath $Saved
    return
}
if (Test-Path -LiteralPath $Saved) { throw "$Saved is there: it holds what was before" }
$administrators = New-Object System.Security.Principal.SecurityIdentifier 'S-1-5-32-544'
# Those that are there: of a key that is not, nothing comes.
$keys = @(
    Under 'Software\Classes\CLSID\{03837521-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837525-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837531-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837532-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837546-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837547-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{0383751C-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837530-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837538-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837539-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837526-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837527-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837528-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837529-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837513-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{03837511-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837521-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837525-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837531-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837532-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837546-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837547-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{0383751C-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837530-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837538-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837539-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837526-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837527-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837528-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837529-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837513-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\CLSID\{03837511-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\PLA.DataCollectorSet.1'
    Under 'Software\Classes\PLA.DataCollectorSetCollection.1'
    Under 'Software\Classes\PLA.ServerDataCollectorSet.1'
    Under 'Software\Classes\PLA.ServerDataCollectorSetCollection.1'
    Under 'Software\Classes\PLA.SystemDataCollectorSet.1'
    Under 'Software\Classes\PLA.SystemDataCollectorSetCollection.1'
    Under 'Software\Classes\PLA.TraceSession.1'
    Under 'Software\Classes\PLA.TraceSessionCollection.1'
    Under 'Software\Classes\PLA.BootTraceSession.1'
    Under 'Software\Classes\PLA.BootTraceSessionCollection.1'
    Under 'Software\Classes\PLA.LegacyDataCollectorSet.1'
    Under 'Software\Classes\PLA.LegacyDataCollectorSetCollection.1'
    Under 'Software\Classes\PLA.LegacyTraceSession.1'
    Under 'Software\Classes\PLA.LegacyTraceSessionCollection.1'
    Under 'Software\Classes\PLA.TraceDataProvider.1'
    Under 'Software\Classes\PLA.TraceDataProviderCollection.1'
    Under 'Software\Classes\PLA.DataCollectorSet'
    Under 'Software\Classes\PLA.DataCollectorSetCollection'
    Under 'Software\Classes\PLA.ServerDataCollectorSet'
    Under 'Software\Classes\PLA.ServerDataCollectorSetCollection'
    Under 'Software\Classes\PLA.SystemDataCollectorSet'
    Under 'Software\Classes\PLA.SystemDataCollectorSetCollection'
    Under 'Software\Classes\PLA.TraceSession'
    Under 'Software\Classes\PLA.TraceSessionCollection'
    Under 'Software\Classes\PLA.BootTraceSession'
    Under 'Software\Classes\PLA.BootTraceSessionCollection'
    Under 'Software\Classes\PLA.LegacyDataCollectorSet'
    Under 'Software\Classes\PLA.LegacyDataCollectorSetCollection'
    Under 'Software\Classes\PLA.LegacyTraceSession'
    Under 'Software\Classes\PLA.LegacyTraceSessionCollection'
    Under 'Software\Classes\PLA.TraceDataProvider'
    Under 'Software\Classes\PLA.TraceDataProviderCollection'
    Under 'Software\Classes\AppID\{03837503-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\AppID\openplasrv.exe'
    Under 'Software\Classes\Interface\{03837520-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{03837541-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{03837543-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{03837544-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{038374FF-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{03837506-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{0383750B-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{03837514-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{03837516-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{0383751A-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{03837512-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{0383753A-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{03837510-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{0383753D-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{03837502-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{03837524-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{03837533-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Interface\{03837534-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{03837520-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{03837541-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{03837543-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{03837544-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{038374FF-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{03837506-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{0383750B-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{03837514-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{03837516-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{0383751A-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{03837512-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{0383753A-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{03837510-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{0383753D-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{03837502-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{03837524-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{03837533-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\Wow6432Node\Interface\{03837534-098B-11D8-9414-505054503030}'
    Under 'Software\Classes\CLSID\{8F0A225D-4973-4EC5-9D6D-94767352E129}'
    Under 'Software\Classes\Wow6432Node\CLSID\{8F0A225D-4973-4EC5-9D6D-94767352E129}'
    Under 'Software\Classes\CLSID\{7B40792D-05FF-44C4-9058-F440C71F17D4}'
    Under 'Software\Classes\TypeLib\{03837500-098B-11D8-9414-505054503030}'
)
if (-not $keys) { throw 'there is no PLA here whose keys are protected' }
$rows = foreach ($key in $keys) { [pscustomobject]@{ Key = $key; Sddl = Descriptor $key } }
$rows | Export-Csv -LiteralPath $Saved -NoTypeInformation
foreach ($key in $keys) {
    $opened = Open $key 'TakeOwnership'
    $security = New-Object System.Security.AccessControl.RegistrySecurity
    $security.SetOwner($administrators)
    $opened.SetAccessControl($security)
    $opened.Dispose()
    $opened = Open $key 'ChangePermissions, ReadPermissions'
    $security = $opened.GetAccessControl('Access')
    $security.AddAccessRule((New-Object System.Security.AccessControl.RegistryAccessRule $administrators, 'FullControl', 'Allow'))
    $opened.SetAccessControl($security)
    $opened.Dispose()
}
