/* SPDX-License-Identifier: MIT */
/* What the data manager behind a run does not do yet. */
#include "engine/run/unsupported.h"

#include "engine/model/validate.h"

HRESULT unsupported_validate(struct object *o, struct object *issues)
{
    static const char frees[] = "this version removes nothing, whatever a set's folders hold";
    static const char html[] = "this version makes no HTML of the report";
    static const char rules[] = "this version applies no rules to the report";
    static const char actions[] = "this version does nothing with old folders";
    const struct data_collector_set *set = (const struct data_collector_set *)o;
    const struct data_manager *m = (const struct data_manager *)set->DataManager;
    bool acts = collection_count(m->FolderActions) > 0;
    object_lock(o);
    /* What is looked at before a run is obeyed. */
    bool on = m->Enabled, after = on && !m->CheckBeforeRunning;
    const struct finding all[] = {
        {after && m->MinFreeDisk, PLA_S_PROPERTY_IGNORED, "DataManager/MinFreeDisk", frees},
        {on && m->MaxSize, PLA_S_PROPERTY_IGNORED, "DataManager/MaxSize", frees},
        {after && m->MaxFolderCount, PLA_S_PROPERTY_IGNORED, "DataManager/MaxFolderCount", frees},
        {on, PLA_S_PROPERTY_IGNORED, "DataManager/ReportFileName", html},
        {on && acts, PLA_S_PROPERTY_IGNORED, "DataManager/FolderActions", actions},
        {on && m->Rules[0], PLA_S_PROPERTY_IGNORED, "DataManager/Rules", rules},
    };
    object_unlock(o);
    return validation_tell_all(&(struct validation){.issues = issues}, all, sizeof all / sizeof all[0]);
}
