// SPDX-License-Identifier: MIT
// Creates an alert on the processor's load that writes an event and starts a second set for details, and waits
// until it has happened.
// cscript alert.js [set name] [load in percent] [seconds to wait at most]
var plaPerformanceCounter = 0, plaAlert = 3, plaCreateOrModify = 3;
var step = "start";

function argument(index, otherwise) {
    return WScript.Arguments.length > index ? WScript.Arguments(index) : otherwise;
}

function hex(number) {
    return "0x" + (number >>> 0).toString(16).toUpperCase();
}

function pauseOneSecond() {
    try {
        WScript.Sleep(1000);
    } catch (e) {
        // Wine 8 has no WScript.Sleep; its ping waits a second between two echoes.
        new ActiveXObject("WScript.Shell").Run("ping -n 2 127.0.0.1", 0, true);
    }
}

// Defines the set that collects details when the alert occurs.
function makeDetails(setName) {
    step = "the details";
    var details = new ActiveXObject("PLA.DataCollectorSet");
    details.RootPath = "C:\\PerfLogs\\Admin\\" + setName;
    var counters = details.DataCollectors.CreateDataCollector(plaPerformanceCounter);
    counters.Name = "Details";
    counters.LogFileFormat = 0;
    counters.SampleInterval = 1;
    counters.LogOverwrite = true;
    counters.PerformanceCounters = ["\\Process(*)\\% Processor Time", "\\System\\Processor Queue Length"];
    details.DataCollectors.Add(counters);
    details.Commit(setName + " details", "", plaCreateOrModify);
    return details;
}

// An alert needs two consecutive samples above the load. It is reported once until the load falls below it again.
function makeAlert(setName, load) {
    step = "the alert";
    var dataSet = new ActiveXObject("PLA.DataCollectorSet");
    dataSet.RootPath = "C:\\PerfLogs\\Admin\\" + setName;
    var alert = dataSet.DataCollectors.CreateDataCollector(plaAlert);
    alert.Name = "Load";
    alert.AlertThresholds = ["\\Processor(_Total)\\% Processor Time>" + load];
    alert.SampleInterval = 1;
    alert.EventLog = true;
    alert.TriggerDataCollectorSet = setName + " details";
    dataSet.DataCollectors.Add(alert);
    dataSet.SetValue("OpenPLA.AlertOn", "crossing");
    dataSet.SetValue("OpenPLA.AlertSamples", "2");
    dataSet.SetValue("OpenPLA.AlertAllClear", "yes");
    dataSet.SetValue("OpenPLA.AlertMessage", "{name}: the processors are busy to {value} %");
    dataSet.Commit(setName, "", plaCreateOrModify);
    return dataSet;
}

function watch(setName, load, seconds) {
    var details = makeDetails(setName), dataSet = makeAlert(setName, load), happened = false;
    step = "Start";
    dataSet.Start(true);
    WScript.Echo("Waiting for a load above " + load + " %");
    step = "Status";
    for (var waited = 1; waited <= seconds && !happened; waited++) {
        pauseOneSecond();
        happened = details.Status === 1;
    }
    step = "Stop";
    dataSet.Stop(true);
    step = "Query";
    dataSet.Query(setName, "");
    WScript.Echo("Log of alerts: " + dataSet.DataCollectors.Item(0).LatestOutputLocation);
    if (happened) {
        step = "Stop of the details";
        pauseOneSecond();
        details.Stop(true);
        details.Query(setName + " details", "");
        WScript.Echo("Details: " + details.DataCollectors.Item(0).LatestOutputLocation);
    } else {
        WScript.Echo("There was no such load.");
    }
    WScript.Echo("Done.");
}

var exitCode = 0;
try {
    var load = parseFloat(argument(1, "50")), seconds = parseInt(argument(2, "60"), 10);
    if (isNaN(load) || isNaN(seconds)) {
        WScript.Echo("FAILED: the load and the seconds are numbers");
        exitCode = 2;
    } else {
        watch(argument(0, "Demo alert"), load, seconds);
    }
} catch (e) {
    WScript.Echo("FAILED: " + step + ": " + hex(e.number) + " " + e.message);
    exitCode = 1;
}
WScript.Quit(exitCode);
