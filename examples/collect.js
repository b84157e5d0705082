// SPDX-License-Identifier: MIT
// Creates a data collector set, lets it collect performance counters for some seconds, stops it and prints its log's
// path.
// cscript collect.js [set name] [seconds] [csv|tsv|blg]
// Under Wine an unhandled error ends a script silently with exit code 0, so every error is caught, and the
// last line of a good run is "Done."
var plaPerformanceCounter = 0, plaCreateOrModify = 3, plaPattern = 1;
var formats = { csv: 0, tsv: 1, blg: 3 };
var step = "Read the arguments";

function argument(index, otherwise) {
    return WScript.Arguments.length > index ? WScript.Arguments(index) : otherwise;
}

function hex(number) {
    return "0x" + (number >>> 0).toString(16).toUpperCase();
}

// COM servers do not accept JScript's arrays, which are script objects; a dictionary returns a COM array.
function comArray(list) {
    var dictionary = new ActiveXObject("Scripting.Dictionary");
    for (var i = 0; i < list.length; i++) {
        dictionary.Add(i, list[i]);
    }
    return dictionary.Items();
}

function pauseOneSecond() {
    try {
        WScript.Sleep(1000);
    } catch (e) {
        // Wine 8 has no WScript.Sleep; its ping waits a second between two echoes.
        new ActiveXObject("WScript.Shell").Run("ping -n 2 127.0.0.1", 0, true);
    }
}

function collect(setName, seconds, fileFormat) {
    step = "CreateObject(\"PLA.DataCollectorSet\")";
    var dataSet = new ActiveXObject("PLA.DataCollectorSet");
    step = "Description";
    dataSet.Description = "Processor, memory, system and processes, once a second";
    step = "RootPath";
    dataSet.RootPath = "C:\\PerfLogs\\Admin\\" + setName;
    // A separate folder for each run: yyyyMMdd-000001, yyyyMMdd-000002, ...
    step = "SubdirectoryFormat";
    dataSet.SubdirectoryFormat = plaPattern;
    step = "SubdirectoryFormatPattern";
    dataSet.SubdirectoryFormatPattern = "yyyyMMdd\\-NNNNNN";

    step = "CreateDataCollector";
    var collector = dataSet.DataCollectors.CreateDataCollector(plaPerformanceCounter);
    step = "Name";
    collector.Name = "Counters";
    step = "FileName";
    collector.FileName = "Counters";
    step = "LogFileFormat";
    collector.LogFileFormat = fileFormat;
    step = "SampleInterval";
    collector.SampleInterval = 1;
    step = "PerformanceCounters";
    collector.PerformanceCounters = comArray([
        "\\Processor(*)\\% Processor Time",
        "\\Memory\\Available MBytes",
        "\\Memory\\% Committed Bytes In Use",
        "\\System\\System Up Time",
        "\\System\\Processes",
        "\\System\\Threads",
        "\\System\\Context Switches/sec",
        "\\System\\Processor Queue Length",
        "\\Process(*)\\% Processor Time",
        "\\Process(*)\\Working Set"
    ]);
    step = "DataCollectors.Add";
    dataSet.DataCollectors.Add(collector);

    step = "Commit";
    var map = dataSet.Commit(setName, "", plaCreateOrModify);
    WScript.Echo("Committed: " + setName + " (" + map.Count + " issues)");
    step = "Read the validation map";
    for (var items = new Enumerator(map); !items.atEnd(); items.moveNext()) {
        var item = items.item();
        WScript.Echo("  " + item.Key + ": " + item.Description + " (" + hex(item.Value) + ")");
    }

    step = "Start";
    dataSet.Start(true);
    step = "Status";
    WScript.Echo("Started: status " + dataSet.Status);
    for (var waited = 1; waited <= seconds; waited++) {
        step = "Wait a second";
        pauseOneSecond();
        step = "Status";
        WScript.Echo("After " + waited + " s: status " + dataSet.Status);
    }
    step = "Stop";
    dataSet.Stop(true);
    step = "Status";
    WScript.Echo("Stopped: status " + dataSet.Status);

    // The files of the run are read from the stored set.
    step = "Query";
    dataSet.Query(setName, "");
    step = "SerialNumber";
    WScript.Echo("Next serial number: " + dataSet.SerialNumber);
    step = "OutputLocation";
    WScript.Echo("Next folder: " + dataSet.OutputLocation);
    step = "LatestOutputLocation";
    WScript.Echo("Folder: " + dataSet.LatestOutputLocation);
    step = "LatestOutputLocation of the collector";
    WScript.Echo("Log: " + dataSet.DataCollectors.Item(0).LatestOutputLocation);
    WScript.Echo("Done.");
}

var exitCode = 0;
try {
    var seconds = argument(1, "6"), formatName = argument(2, "csv").toLowerCase();
    if (!/^[0-9]+$/.test(seconds)) {
        WScript.Echo("FAILED: the seconds are a number, not " + seconds);
        exitCode = 2;
    } else if (formats[formatName] === undefined) {
        WScript.Echo("FAILED: the format is csv, tsv or blg, not " + formatName);
        exitCode = 2;
    } else {
        collect(argument(0, "Demo"), parseInt(seconds, 10), formats[formatName]);
    }
} catch (e) {
    WScript.Echo("FAILED: " + step + ": " + hex(e.number) + " " + e.message);
    exitCode = 1;
}
WScript.Quit(exitCode);
