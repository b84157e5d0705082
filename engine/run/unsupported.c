/* SPDX-License-Identifier: MIT */
/* The data manager behind a run, which does not run yet. */
#include "engine/run/unsupported.h"

#include "engine/model/validate.h"

HRESULT unsupported_validate(struct object *o, struct object *issues)
{
    static const char manager[] = "this version does not manage data: it makes no report and removes nothing";
    const struct data_collector_set *set = (const struct data_collector_set *)o;
    const struct data_manager *m = (const struct data_manager *)set->DataManager;
    bool actions = collection_count(m->FolderActions) > 0;
    object_lock(o);
    /* What is looked at before a run is obeyed. */
    bool on = m->Enabled, after = on && !m->CheckBeforeRunning;
    const struct finding all[] = {
        {after && m->MinFreeDisk, PLA_S_PROPERTY_IGNORED, "DataManager/MinFreeDisk", manager},
        {on && m->MaxSize, PLA_S_PROPERTY_IGNORED, "DataManager/MaxSize", manager},
        {after && m->MaxFolderCount, PLA_S_PROPERTY_IGNORED, "DataManager/MaxFolderCount", manager},
        {on, PLA_S_PROPERTY_IGNORED, "DataManager/ReportFileName", manager},
        {on, PLA_S_PROPERTY_IGNORED, "DataManager/RuleTargetFileName", manager},
        {on && m->EventsFileName[0], PLA_S_PROPERTY_IGNORED, "DataManager/EventsFileName", manager},
        {on && actions, PLA_S_PROPERTY_IGNORED, "DataManager/FolderActions", manager},
        {on && m->ReportSchema[0], PLA_S_PROPERTY_IGNORED, "DataManager/ReportSchema", manager},
        {on && m->Rules[0], PLA_S_PROPERTY_IGNORED, "DataManager/Rules", manager},
    };
    object_unlock(o);
    return validation_tell_all(&(struct validation){.issues = issues}, all, sizeof all / sizeof all[0]);
}
