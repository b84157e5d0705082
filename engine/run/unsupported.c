/* SPDX-License-Identifier: MIT */
/* The data manager behind a run and the tasks, which do not run yet. */
#include "engine/run/unsupported.h"

HRESULT unsupported_validate(struct object *o, struct object *issues)
{
    static const char tasks[] = "this version runs no tasks";
    static const char manager[] = "this version does not manage data: it makes no report and removes nothing";
    const struct data_collector_set *set = (const struct data_collector_set *)o;
    const struct data_manager *m = (const struct data_manager *)set->DataManager;
    bool actions = collection_count(m->FolderActions) > 0;
    object_lock(o);
    /* What is looked at before a run is obeyed. */
    bool on = m->Enabled, after = on && !m->CheckBeforeRunning;
    const struct {
        const char *key, *why;
        bool asked;
    } all[] = {
        {"Task", tasks, set->Task[0] != 0},
        {"DataManager/MinFreeDisk", manager, after && m->MinFreeDisk},
        {"DataManager/MaxSize", manager, on && m->MaxSize},
        {"DataManager/MaxFolderCount", manager, after && m->MaxFolderCount},
        {"DataManager/ReportFileName", manager, on},
        {"DataManager/RuleTargetFileName", manager, on},
        {"DataManager/EventsFileName", manager, on && m->EventsFileName[0]},
        {"DataManager/FolderActions", manager, on && actions},
        {"DataManager/ReportSchema", manager, on && m->ReportSchema[0]},
        {"DataManager/Rules", manager, on && m->Rules[0]},
    };
    object_unlock(o);
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof all / sizeof all[0]; i++)
        if (all[i].asked)
            hr = issues_add(issues, PLA_S_PROPERTY_IGNORED, all[i].key, all[i].why);
    return hr;
}
