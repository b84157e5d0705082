# SPDX-License-Identifier: MIT
"""The job of collect.vbs in Python for Windows with comtypes (`pip install comtypes`), which uses the interfaces of the
type library instead of member names: creates a set, lets it collect counters for some seconds, stops it and prints its
log's path.

python collect_comtypes.py [set name] [seconds]
"""
import sys
import time

import comtypes
import comtypes.client

# Creates a Python module with the interfaces and enumerations of the registered type library.
pla = comtypes.client.GetModule(("{03837500-098B-11D8-9414-505054503030}", 1, 0))


def collect(name, seconds):
    data_set = comtypes.client.CreateObject("PLA.DataCollectorSet", interface=pla.IDataCollectorSet)
    plain = data_set.DataCollectors.CreateDataCollector(pla.plaPerformanceCounter)
    collector = plain.QueryInterface(pla.IPerformanceCounterDataCollector)
    collector.Name = "Counters"
    collector.FileName = "Counters"
    collector.LogFileFormat = pla.plaCommaSeparated
    collector.LogOverwrite = True
    collector.SampleInterval = 1
    collector.PerformanceCounters = [r"\Processor(_Total)\% Processor Time", r"\Memory\Available MBytes",
                                     r"\System\Processes"]
    data_set.DataCollectors.Add(plain)
    issues = data_set.Commit(name, None, pla.plaCreateOrModify)
    print(f"Committed: {name} ({issues.Count} issues)")
    data_set.Start(True)
    print("Started")
    time.sleep(seconds)
    data_set.Stop(True)
    # The files of the run are read from the stored set.
    data_set.Query(name, None)
    print("Log:", data_set.DataCollectors.Item(0).LatestOutputLocation)
    print("Done.")


try:
    collect(sys.argv[1] if len(sys.argv) > 1 else "DemoComtypes", float(sys.argv[2]) if len(sys.argv) > 2 else 6)
except comtypes.COMError as error:
    sys.exit(f"FAILED: 0x{error.hresult & 0xFFFFFFFF:08X} {error.details[0] or error.text}")
