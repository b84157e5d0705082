// SPDX-License-Identifier: MIT
// Uses every object of the object model from JScript. Otherwise a script would fail with an object that other clients
// can use. The output must be the same as that of all_objects.vbs.
// cscript all_objects.js SET
var step = "the arguments";

function hex(number) {
    return "0x" + (number >>> 0).toString(16).toUpperCase();
}

function each(collection, visit) {
    for (var e = new Enumerator(collection); !e.atEnd(); e.moveNext()) {
        visit(e.item());
    }
}

// Prints the error of a call that must fail.
function showError(what, attempt) {
    step = what;
    try {
        attempt();
    } catch (e) {
        WScript.Echo(what + ": " + hex(e.number) + " " + e.description);
        return;
    }
    throw new Error(what + " went well");
}

function describeTrace(collector) {
    collector.BufferSize = 64;
    collector.Guid = "{A68CA8B7-004F-D7B6-A698-07E2DE0F1F5E}";
    collector.StreamMode = 3;
    var provider = collector.TraceDataProviders.CreateTraceDataProvider();
    provider.Guid = "{A68CA8B7-004F-D7B6-A698-07E2DE0F1F5D}";
    provider.DisplayName = "Network";
    provider.Level.Value = 5;
    provider.KeywordsAny.Value = "0x10";
    provider.FilterData = [49, 50, 46, 56];
    provider.FilterEnabled = true;
    step = "value map";
    var item = provider.KeywordsAll.CreateValueMapItem();
    item.Key = "Send";
    item.Description = "What is sent";
    item.Value = 1;
    item.Enabled = true;
    provider.KeywordsAll.Add(item);
    provider.KeywordsAll.Add(4);
    provider.KeywordsAll.ValueMapType = 2;
    step = "Add of the provider";
    collector.TraceDataProviders.Add(provider);
    var other = collector.TraceDataProviders.CreateTraceDataProvider();
    other.Guid = "{A68CA8B7-004F-D7B6-A698-07E2DE0F1F5D}";
    showError("a provider twice", function () { collector.TraceDataProviders.Add(other); });
    showError("by process", function () { collector.TraceDataProviders.GetTraceDataProvidersByProcess("", 2147483632); });
}

function describeOthers(collectors) {
    step = "configuration";
    var configuration = collectors("Configuration");
    configuration.RegistryKeys = ["HKEY_LOCAL_MACHINE\\Software\\"];
    configuration.Files = ["%windir%\\win.ini"];
    configuration.ManagementQueries = ["root\\cimv2:SELECT * FROM Win32_Processor"];
    configuration.QueryNetworkAdapters = true;
    configuration.FileMaxCount = 10;
    step = "alert";
    var alert = collectors("Alert");
    alert.AlertThresholds = ["\\System\\Threads>5000", "\\Memory\\Available MBytes<10.5"];
    alert.EventLog = true;
    alert.TriggerDataCollectorSet = "Other";
    alert.Task = "Tell";
    alert.TaskArguments = "{name} {value}";
    showError("a threshold", function () { alert.AlertThresholds = ["nothing"]; });
    step = "API tracing";
    var api = collectors("Api");
    api.ExePath = "C:\\windows\\system32\\cmd.exe";
    api.LogFilePath = "api.etl";
    api.IncludeApis = ["kernel32!Sleep"];
    api.ExcludeApis = ["kernel32!Beep"];
    api.LogApiNamesOnly = true;
}

function describeSet(dataSet) {
    step = "properties of the set";
    dataSet.DisplayName = "@%systemroot%\\system32\\no-such-openpla.dll,#1";
    dataSet.Keywords = ["all", "objects"];
    dataSet.SetValue("Owner", "Anna");
    var names = ["Counters", "Trace", "Configuration", "Alert", "Api"];
    for (var i = 0; i < 5; i++) {
        step = names[i];
        var collector = dataSet.DataCollectors.CreateDataCollector(i);
        collector.Name = names[i];
        dataSet.DataCollectors.Add(collector);
    }
    step = "counters";
    dataSet.DataCollectors("counters").PerformanceCounters = ["\\System\\Threads", "\\Memory\\Available MBytes"];
    dataSet.DataCollectors(0).SegmentMaxRecords = 5;
    step = "provider";
    describeTrace(dataSet.DataCollectors("Trace"));
    describeOthers(dataSet.DataCollectors);
    step = "schedule";
    // Wine 8's JScript cannot create dates, so SetXml adds the schedule; the set keeps its five collectors.
    dataSet.SetXml("<DataCollectorSet><Schedule><StartDate>2024-01-31</StartDate>" +
        "<EndDate>12/31/2024</EndDate><StartTime>6:30 AM</StartTime></Schedule></DataCollectorSet>");
    var schedule = dataSet.Schedules(0);
    schedule.Days = 127;
    dataSet.Schedules.Remove(schedule);
    dataSet.Schedules.Add(schedule);
    step = "data manager";
    var manager = dataSet.DataManager;
    manager.Enabled = true;
    manager.MinFreeDisk = 200;
    manager.ResourcePolicy = 1;
    manager.Rules = "<Rules><Logging level=\"15\" file=\"rules.log\"/></Rules>";
    var action = manager.FolderActions.CreateFolderAction();
    action.Age = 56;
    action.Actions = 8 + 16;
    action.SendCabTo = "\\\\server\\share";
    manager.FolderActions.Add(action);
    showError("Run", function () { manager.Run(1, ""); });
    showError("Extract", function () { manager.Extract("a.cab", "C:\\"); });
}

function truth(condition) {
    return condition ? "True" : "False";
}

function number(bool) {
    return bool ? -1 : 0;
}

function showSet(copy) {
    step = "Enumerator over collectors";
    each(copy.DataCollectors, function (collector) {
        WScript.Echo("collector " + collector.Index + ": " + collector.Name + ", type " + collector.DataCollectorType);
        WScript.Echo(collector.Xml);
    });
    step = "Enumerator over providers";
    var providers = copy.DataCollectors(1).TraceDataProviders;
    each(providers, function (provider) {
        WScript.Echo("provider: " + provider.DisplayName + " " + provider.Guid + ", level " + provider.Level.Value +
            ", any " + provider.KeywordsAny.Value + ", all " + provider.KeywordsAll.Value);
        each(provider.KeywordsAll, function (item) {
            WScript.Echo("  keyword '" + item.Key + "' " + item.Value + ", enabled " + number(item.Enabled));
        });
    });
    step = "Query of a provider";
    var other = providers.CreateTraceDataProvider();
    other.Query("Windows Kernel Trace", "");
    WScript.Echo("kernel: " + other.Guid + ", keywords " + other.KeywordsAny.Count);
    step = "Resolve";
    providers(0).Resolve(other);
    WScript.Echo("resolved: " + providers(0).DisplayName + ", any " + providers(0).KeywordsAny.Value);
    step = "Enumerator over schedules";
    each(copy.Schedules, function (schedule) {
        var parts = /<StartDate>(\d+)\/(\d+)\/(\d+)<.*<EndDate>(\d+)\/.*<StartTime>(\d+:\d+):00 AM</.exec(copy.Xml);
        WScript.Echo("schedule: " + parts[3] + "-" + parts[1] + "-" + parts[2] + " " + parts[5] + " to month " + parts[4] +
            ", days " + schedule.Days);
    });
    step = "Enumerator over folder actions";
    each(copy.DataManager.FolderActions, function (action) {
        WScript.Echo("folder action: " + action.Age + " days, " + action.Actions + ", " + action.SendCabTo);
    });
    WScript.Echo("data manager: " + number(copy.DataManager.Enabled) + " " + copy.DataManager.MinFreeDisk + " " +
        copy.DataManager.ResourcePolicy + " " + copy.DataManager.ReportFileName);
}

function main(name) {
    step = "CreateObject";
    var dataSet = new ActiveXObject("PLA.DataCollectorSet"), copy = new ActiveXObject("PLA.DataCollectorSet");
    describeSet(dataSet);
    step = "Commit";
    each(dataSet.Commit(name, "", 3), function (item) { WScript.Echo("note: " + item.Key + " " + hex(item.Value)); });
    step = "SetXml";
    var map = copy.SetXml(dataSet.Xml);
    WScript.Echo("SetXml: " + map.Count + " issues, the same: " +
        truth(copy.DataManager.Rules === dataSet.DataManager.Rules));
    step = "Query";
    copy.Query(name, "");
    WScript.Echo("set: " + copy.DisplayName + ", " + copy.GetValue("owner") + ", the same: " +
        truth(copy.Xml === dataSet.Xml));
    showSet(copy);
    step = "Start";
    copy.Subdirectory = name;
    copy.Commit(name, "", 2);
    copy.Start(true);
    WScript.Echo("status " + copy.Status);
    step = "Stop";
    copy.Stop(true);
    step = "Query after the run";
    copy.Query(name, "");
    var message = copy.GetValue("OpenPLA.LastRunMessage");
    if (message.indexOf("the program was not started while the set ran") < 0)
        WScript.Echo(message);
    step = "GetDataCollectorSets";
    var sets = new ActiveXObject("PLA.DataCollectorSetCollection");
    sets.GetDataCollectorSets("", "service\\" + name);
    each(sets, function (item) { WScript.Echo("found " + item.Name + " with " + item.DataCollectors.Count); });
    step = "Remove";
    sets.Remove(0);
    showError("Query of what was removed", function () { copy.Query(name, ""); });
    WScript.Echo("Done.");
}

try {
    main(WScript.Arguments(0));
} catch (e) {
    WScript.Echo("FAILED: " + step + ": " + hex(e.number) + " " + e.description);
    WScript.Quit(1);
}
