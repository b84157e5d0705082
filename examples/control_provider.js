// SPDX-License-Identifier: MIT
// Controls an event provider as in MS-PLA 4.1: a set enables the network provider of send_packets.exe, which must be
// running, for packets sent to one address. After some seconds it changes the level to errors only, and after the same
// time again it stops.
// cscript control_provider.js [set name] [seconds]
// Under Wine an unhandled error ends a script silently with exit code 0, so every error is caught, and the
// last line of a good run is "Done."
var plaTrace = 1, plaModify = 2, plaCreateOrModify = 3, plaUpdateRunningInstance = 16, plaPattern = 1;
var network = "{A68CA8B7-004F-D7B6-A698-07E2DE0F1F5D}", address = "12.84.150.40";
var step = "Read the arguments";

function argument(index, otherwise) {
    return WScript.Arguments.length > index ? WScript.Arguments(index) : otherwise;
}

function hex(number) {
    return "0x" + (number >>> 0).toString(16).toUpperCase();
}

function hexOf(text) {
    var all = "";
    for (var i = 0; i < text.length; i++) {
        all += text.charCodeAt(i).toString(16).toUpperCase();
    }
    return all;
}

function pause(seconds) {
    step = "Wait";
    for (var i = 0; i < seconds; i++) {
        try {
            WScript.Sleep(1000);
        } catch (e) {
            // Wine 8 has no WScript.Sleep; its ping waits a second between two echoes.
            new ActiveXObject("WScript.Shell").Run("ping -n 2 127.0.0.1", 0, true);
        }
    }
}

function control(setName, seconds) {
    step = "CreateObject(\"PLA.DataCollectorSet\")";
    var dataSet = new ActiveXObject("PLA.DataCollectorSet");
    step = "RootPath";
    dataSet.RootPath = "C:\\PerfLogs\\Admin\\" + setName;
    step = "SubdirectoryFormat";
    dataSet.SubdirectoryFormat = plaPattern;
    step = "SubdirectoryFormatPattern";
    dataSet.SubdirectoryFormatPattern = "yyyyMMdd\\-NNNNNN";
    step = "CreateDataCollector";
    var collector = dataSet.DataCollectors.CreateDataCollector(plaTrace);
    // FilterData is an array of bytes, which scripts cannot create but XML can contain.
    step = "SetXml";
    collector.SetXml("<TraceDataCollector><Name>Packets</Name><FileName>Packets</FileName><TraceDataProvider>" +
        "<Guid>" + network + "</Guid><FilterEnabled>-1</FilterEnabled><FilterType>1</FilterType><FilterData>" +
        hexOf(address) + "</FilterData></TraceDataProvider></TraceDataCollector>");
    // Checks whether the provider exists now. A provider without a name is shown by its GUID.
    step = "CreateTraceDataProvider";
    var found = collector.TraceDataProviders.CreateTraceDataProvider();
    step = "Query";
    found.Query(network, "");
    WScript.Echo("Provider: " + found.DisplayName);
    step = "TraceDataProviders";
    var provider = collector.TraceDataProviders.Item(0);
    step = "Level";
    provider.Level.Value = 5;
    step = "KeywordsAny";
    provider.KeywordsAny.Value = 1;
    step = "KeywordsAll";
    provider.KeywordsAll.Value = 1;
    step = "DataCollectors.Add";
    dataSet.DataCollectors.Add(collector);

    step = "Commit";
    var map = dataSet.Commit(setName, "", plaCreateOrModify);
    WScript.Echo("Committed: " + setName + " (" + map.Count + " issues)");
    step = "Start";
    dataSet.Start(true);
    WScript.Echo("Started: level " + provider.Level.Value);
    pause(seconds);
    step = "Level";
    provider.Level.Value = 2;
    step = "Commit of the running set";
    dataSet.Commit(setName, "", plaModify + plaUpdateRunningInstance);
    WScript.Echo("Changed: level " + provider.Level.Value);
    pause(seconds);
    step = "Stop";
    dataSet.Stop(true);
    step = "Query";
    dataSet.Query(setName, "");
    step = "LatestOutputLocation of the collector";
    WScript.Echo("Trace: " + dataSet.DataCollectors.Item(0).LatestOutputLocation);
    WScript.Echo("Done.");
}

var exitCode = 0;
try {
    var seconds = argument(1, "3");
    if (!/^[0-9]+$/.test(seconds)) {
        WScript.Echo("FAILED: the seconds are a number, not " + seconds);
        exitCode = 2;
    } else {
        control(argument(0, "ProviderSample"), parseInt(seconds, 10));
    }
} catch (e) {
    WScript.Echo("FAILED: " + step + ": " + hex(e.number) + " " + e.message);
    exitCode = 1;
}
WScript.Quit(exitCode);
