// SPDX-License-Identifier: MIT
// The usual life of a set in a script: create, commit, start, wait, query the status, stop, read the log. Otherwise no
// script could collect anything. The output must be the same as that of main.vbs.
// cscript main.js SET
var step = "the arguments";

function hex(number) {
    return "0x" + (number >>> 0).toString(16).toUpperCase();
}

function each(collection, visit) {
    for (var e = new Enumerator(collection); !e.atEnd(); e.moveNext()) {
        visit(e.item());
    }
}

// Wine 8 has no WScript.Sleep.
function pause(seconds) {
    new ActiveXObject("WScript.Shell").Run("ping -n " + (seconds + 1) + " 127.0.0.1", 0, true);
}

function main(name) {
    step = "CreateObject";
    var dataSet = new ActiveXObject("PLA.DataCollectorSet");
    step = "properties of the set";
    dataSet.RootPath = "C:\\PerfLogs\\Admin\\" + name;
    dataSet.Description = "The main job";
    dataSet.SubdirectoryFormat = 1;
    dataSet.SubdirectoryFormatPattern = "NNNN";
    step = "properties of the collector";
    var collector = dataSet.DataCollectors.CreateDataCollector(0);
    collector.Name = "Counters";
    collector.FileName = "log";
    collector.LogFileFormat = 0;
    collector.SampleInterval = 1;
    collector.PerformanceCounters = ["\\Memory\\Available MBytes", "\\System\\Threads", "\\System\\System Up Time"];
    step = "Add";
    dataSet.DataCollectors.Add(collector);
    // JScript has no output parameters, so it cannot get the value map of CreateDataCollectorFromXml, which main.vbs
    // uses. SetXml returns the same map.
    step = "SetXml";
    var second = dataSet.DataCollectors.CreateDataCollector(0);
    var map = second.SetXml("<PerformanceCounterDataCollector><Name>Second</Name><Speed>1</Speed>" +
        "<LogFileFormat>0</LogFileFormat><SampleInterval>1</SampleInterval><Counter>\\System\\Processes</Counter>" +
        "</PerformanceCounterDataCollector>");
    WScript.Echo("from XML: " + second.Name + ", notes " + map.Count + ", " + map.Item(0).Key);
    step = "Add the second";
    dataSet.DataCollectors.Add(second);
    step = "Enumerator";
    var names = "";
    each(dataSet.DataCollectors, function (item) { names += " " + item.Name + "(" + item.Index + ")"; });
    WScript.Echo("collectors:" + names + ", the first " + dataSet.DataCollectors(0).Name);

    step = "Commit";
    map = dataSet.Commit(name, "", 3);
    each(map, function (item) { WScript.Echo("note: " + item.Key + " " + hex(item.Value)); });
    step = "Status";
    WScript.Echo("status " + dataSet.Status + ", serial " + dataSet.SerialNumber);
    step = "Start";
    dataSet.Start(true);
    WScript.Echo("status " + dataSet.Status);

    step = "GetDataCollectorSets";
    var sets = new ActiveXObject("PLA.DataCollectorSetCollection");
    sets.GetDataCollectorSets(null, "Service\\" + name);
    each(sets, function (found) { WScript.Echo("found " + found.Name + ", status " + found.Status); });
    pause(3);
    step = "Stop";
    dataSet.Stop(true);
    WScript.Echo("status " + dataSet.Status + ", serial " + dataSet.SerialNumber);
    step = "Query";
    var finder = new ActiveXObject("PLA.DataCollectorSet");
    finder.Query(name, "");
    step = "LatestOutputLocation";
    WScript.Echo("folder " + finder.LatestOutputLocation);
    WScript.Echo("log " + finder.DataCollectors(0).LatestOutputLocation);
    WScript.Echo("log " + finder.DataCollectors(1).LatestOutputLocation);
    step = "GetValue";
    WScript.Echo("last run: " + finder.GetValue("OpenPLA.LastRunResult") + " '" +
        finder.GetValue("OpenPLA.LastRunMessage") + "'");
    step = "Delete";
    finder.Delete();
    WScript.Echo("Done.");
}

try {
    main(WScript.Arguments(0));
} catch (e) {
    WScript.Echo("FAILED: " + step + ": " + hex(e.number) + " " + e.description);
    WScript.Quit(1);
}
