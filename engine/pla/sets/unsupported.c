/* SPDX-License-Identifier: MIT */
/* What the data manager behind a run does not do yet. */
#include "engine/pla/sets/unsupported.h"

#include "engine/pla/model/validate.h"
#include "engine/pla/retention.h"
#include "engine/pla/retention/plan.h"

HRESULT unsupported_validate(struct object *o, struct object *issues)
{
    static const char shared[] = "all runs of the set have one folder, which is never deleted; Subdirectory gives each "
                                 "its own";
    const struct data_collector_set *set = (const struct data_collector_set *)o;
    const struct data_manager *m = (const struct data_manager *)set->DataManager;
    const bool acts = collection_count(m->FolderActions) > 0;
    object_lock(o);
    const bool on = m->Enabled, stays = on && !set_has_run_folders(set);
    /* What is looked at before a run is obeyed. */
    const bool after = stays && !m->CheckBeforeRunning;
    const struct finding all[] = {
        {after && m->MinFreeDisk, PLA_S_PROPERTY_IGNORED, "DataManager/MinFreeDisk", shared},
        {stays && m->MaxSize, PLA_S_PROPERTY_IGNORED, "DataManager/MaxSize", shared},
        {after && m->MaxFolderCount, PLA_S_PROPERTY_IGNORED, "DataManager/MaxFolderCount", shared},
        {stays && acts, PLA_S_PROPERTY_IGNORED, "DataManager/FolderActions", shared},
    };
    object_unlock(o);
    struct retention_policy policy = {0};
    bool unsent = false;
    const char *fault = NULL;
    HRESULT hr = on && acts ? set_retention_policy(set, &policy) : S_OK;
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < policy.action_count; i++)
        if (policy.actions[i].actions & ACTION_SEND_CABINET && !policy.actions[i].destination) {
            unsent = true;
            fault = send_destination_fault(policy.actions[i].send_to);
        }
    retention_policy_free(&policy);
    const struct finding sends = {unsent, PLA_S_PROPERTY_IGNORED, "DataManager/FolderActions/SendCabTo", fault};
    hr = validation_tell_all(&(struct validation){.issues = issues}, &sends, 1);
    return FAILED(hr) ? hr
                      : validation_tell_all(&(struct validation){.issues = issues}, all, sizeof all / sizeof all[0]);
}
