// SPDX-License-Identifier: MIT
// Prints what trace.vbs prints: cscript trace.js ACTION NAME [FOLDER PROVIDER].
var given = WScript.Arguments.length;
if (given < 2 || (/^(start|boot)$/.test(WScript.Arguments(0)) && given < 4)) {
    WScript.Echo("usage: cscript trace.js ACTION NAME [FOLDER PROVIDER]; see the top of trace.vbs for the actions");
    WScript.Quit(2);
}
var action = WScript.Arguments(0), bare = WScript.Arguments(1);
var name = (/^(boot|booted|forget)$/.test(action) ? "Autosession\\" : "Session\\") + bare;

function say(key, value) {
    WScript.Echo(key + " " + value);
}

function hex(number) {
    return "0x" + (number >>> 0).toString(16).toUpperCase();
}

function make(dataSet) {
    var collector = dataSet.DataCollectors.CreateDataCollector(1);
    var provider = collector.TraceDataProviders.CreateTraceDataProvider();
    dataSet.RootPath = WScript.Arguments(2);
    collector.Name = "trace";
    collector.FileName = bare;
    collector.BufferSize = 64;
    collector.FlushTimer = 1;
    provider.Guid = WScript.Arguments(3);
    provider.Level.Value = 5;
    collector.TraceDataProviders.Add(provider);
    dataSet.DataCollectors.Add(collector);
    dataSet.Commit(name, "", 1);
}

function listed(filter) {
    var sets = new ActiveXObject("PLA.DataCollectorSetCollection"), found = 0;
    sets.GetDataCollectorSets("", filter);
    for (var all = new Enumerator(sets); !all.atEnd(); all.moveNext())
        if (all.item().Name == bare)
            found++;
    return found;
}

function show(dataSet) {
    var collector = dataSet.DataCollectors(0), provider = collector.TraceDataProviders(0);
    say("provider", provider.Guid);
    say("level", provider.Level.Value);
    say("timer", collector.FlushTimer);
    say("session", collector.SessionId);
    say("written", collector.BuffersWritten);
    say("free", collector.FreeBuffers);
    say("lost", collector.EventsLost + " " + collector.BuffersLost + " " + collector.RealTimeBuffersLost);
    say("file", collector.OutputLocation);
    say("listed", listed(name.substr(0, name.indexOf("\\") + 1) + "*"));
}

try {
    var dataSet = new ActiveXObject("PLA.DataCollectorSet");
    if (action == "start" || action == "boot") {
        make(dataSet);
        try {
            dataSet.Start(true);
        } catch (refused) {
            if (action == "start")
                throw refused;
            say("refused", hex(refused.number));
        }
    } else {
        dataSet.Query(name, "");
    }
    say("status", dataSet.Status);
    if (action == "state" || action == "booted")
        show(dataSet);
    if (action == "change") {
        dataSet.DataCollectors(0).FlushTimer = 2;
        dataSet.Commit(name, "", 0x32);
    }
    if (action == "stop") {
        dataSet.Stop(true);
        say("after", dataSet.Status);
    }
    if (action == "forget")
        dataSet.Delete();
    WScript.Echo("Done.");
} catch (e) {
    say("error", hex(e.number) + " " + e.description);
    WScript.Quit(1);
}
