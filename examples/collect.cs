// SPDX-License-Identifier: MIT
// The job of collect.vbs in C#, late bound, so that it needs no reference to a type library: makes a set, lets it collect
// counters for some seconds, stops it and names its log.
// csc collect.cs, or mcs -r:Microsoft.CSharp collect.cs; collect.exe [set name] [seconds]
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class Collect
{
    const int PerformanceCounter = 0, CommaSeparated = 0, CreateOrModify = 3;

    static void Run(string name, int seconds)
    {
        dynamic set = Activator.CreateInstance(Type.GetTypeFromProgID("PLA.DataCollectorSet", true));
        dynamic collector = set.DataCollectors.CreateDataCollector(PerformanceCounter);
        collector.Name = "Counters";
        collector.FileName = "Counters";
        collector.LogFileFormat = CommaSeparated;
        collector.LogOverwrite = true;
        collector.SampleInterval = 1;
        collector.PerformanceCounters = new string[] {
            @"\Processor(_Total)\% Processor Time", @"\Memory\Available MBytes", @"\System\Processes" };
        set.DataCollectors.Add(collector);
        foreach (dynamic issue in set.Commit(name, null, CreateOrModify))
            Console.WriteLine("  {0}: {1}", issue.Key, issue.Description);
        Console.WriteLine("Committed: {0}", name);
        set.Start(true);
        Console.WriteLine("Started");
        Thread.Sleep(seconds * 1000);
        set.Stop(true);
        // The files of the run are read from the stored set.
        set.Query(name, null);
        Console.WriteLine("Log: {0}", set.DataCollectors.Item(0).LatestOutputLocation);
        Console.WriteLine("Done.");
    }

    static int Main(string[] arguments)
    {
        try {
            Run(arguments.Length > 0 ? arguments[0] : "DemoCSharp", arguments.Length > 1 ? int.Parse(arguments[1]) : 6);
            return 0;
        } catch (COMException error) {
            Console.WriteLine("FAILED: 0x{0:X8} {1}", error.ErrorCode, error.Message);
            return 1;
        }
    }
}
