// SPDX-License-Identifier: MIT
// The JScript version of trace_set.vbs.
var action = WScript.Arguments(0), name = WScript.Arguments(1);
try {
    var dataSet = new ActiveXObject("PLA.DataCollectorSet");
    if (action === "start") {
        dataSet.RootPath = WScript.Arguments(2);
        var collector = dataSet.DataCollectors.CreateDataCollector(1);
        collector.Name = "trace";
        collector.FileName = name;
        var provider = collector.TraceDataProviders.CreateTraceDataProvider();
        provider.Guid = "{5C1D2A8E-3B6F-4E0A-9D57-1F0B6A2C8E43}";
        provider.Level.Value = 4;
        collector.TraceDataProviders.Add(provider);
        dataSet.DataCollectors.Add(collector);
        dataSet.Commit(name, "", 3);
        dataSet.Start(true);
    } else {
        dataSet.Query(name, "");
    }
    if (action === "change") {
        dataSet.DataCollectors(0).TraceDataProviders(0).Level.Value = 5;
        dataSet.Commit(name, "", 0x12);
    }
    if (action === "stop") {
        dataSet.Stop(true);
        dataSet.Delete();
    }
    WScript.Echo("Done.");
} catch (e) {
    WScript.Echo("error " + e.number + " " + e.description);
    WScript.Quit(1);
}
