# SPDX-License-Identifier: MIT
"""The job of collect.vbs in Python for Windows with pywin32 (`pip install pywin32`): creates a set, lets it collect
counters for some seconds, stops it and prints its log's path.

python collect_win32com.py [set name] [seconds]
"""
import sys
import time

import pywintypes
import win32com.client

PERFORMANCE_COUNTER, COMMA_SEPARATED, CREATE_OR_MODIFY = 0, 0, 3


def collect(name, seconds):
    data_set = win32com.client.Dispatch("PLA.DataCollectorSet")
    collector = data_set.DataCollectors.CreateDataCollector(PERFORMANCE_COUNTER)
    collector.Name = "Counters"
    collector.FileName = "Counters"
    collector.LogFileFormat = COMMA_SEPARATED
    collector.LogOverwrite = True
    collector.SampleInterval = 1
    collector.PerformanceCounters = [r"\Processor(_Total)\% Processor Time", r"\Memory\Available MBytes",
                                     r"\System\Processes"]
    data_set.DataCollectors.Add(collector)
    for issue in data_set.Commit(name, None, CREATE_OR_MODIFY):
        print(f"  {issue.Key}: {issue.Description}")
    print("Committed:", name)
    data_set.Start(True)
    print("Started")
    time.sleep(seconds)
    data_set.Stop(True)
    # The files of the run are read from the stored set.
    data_set.Query(name, None)
    print("Log:", data_set.DataCollectors.Item(0).LatestOutputLocation)
    print("Done.")


try:
    collect(sys.argv[1] if len(sys.argv) > 1 else "DemoPython", float(sys.argv[2]) if len(sys.argv) > 2 else 6)
except pywintypes.com_error as error:
    # The server's error description is the third element of the exception's excepinfo.
    sys.exit(f"FAILED: 0x{error.hresult & 0xFFFFFFFF:08X} {error.excepinfo[2] if error.excepinfo else error.strerror}")
