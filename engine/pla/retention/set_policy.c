/* SPDX-License-Identifier: MIT */
/* A set's policy, of its properties. */
#include "engine/pla/set_policy.h"

#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/pla/retention/cabinet_send.h"
#include "engine/pla/retention/folder_record.h"
#include "engine/report/report_names.h"

bool set_has_run_folders(const struct data_collector_set *set)
{
    return set->Subdirectory[0] || set->SubdirectoryFormat;
}

unsigned set_retention_parts(const struct data_collector_set *set)
{
    const struct data_manager *m = (const struct data_manager *)set->DataManager;
    if (!m->Enabled || !set_has_run_folders(set))
        return 0;
    return (collection_count(m->FolderActions) ? RETENTION_ACTIONS : 0u) |
           (m->MaxFolderCount || m->MaxSize || m->MinFreeDisk ? RETENTION_LIMITS : 0u);
}

struct content_names set_content_names(const struct data_collector_set *set)
{
    const struct data_manager *m = (const struct data_manager *)set->DataManager;
    return (struct content_names){m->RuleTargetFileName[0] ? m->RuleTargetFileName : REPORT_FILE_NAME,
                                  m->ReportFileName[0] ? m->ReportFileName : PAGE_FILE_NAME};
}

static HRESULT take_action(const struct folder_action *a, struct retention_action *out)
{
    *out = (struct retention_action){.size = a->Size, .age = a->Age, .actions = a->Actions};
    out->send_to = host_expand_environment(a->SendCabTo);
    if (!out->send_to)
        return E_OUTOFMEMORY;
    out->destination = send_destination_fault(out->send_to) ? 0 : folder_sent_to(out->send_to);
    return S_OK;
}

HRESULT set_retention_policy(const struct data_collector_set *set, struct retention_policy *out)
{
    const struct data_manager *m = (const struct data_manager *)set->DataManager;
    struct object **list;
    size_t count;
    *out = (struct retention_policy){.most_folders = m->MaxFolderCount,
                                     .most_size = m->MaxSize,
                                     .least_free = m->MinFreeDisk,
                                     .oldest_first = m->ResourcePolicy != 0};
    HRESULT hr = collection_snapshot(m->FolderActions, &list, &count);
    if (FAILED(hr))
        return hr;
    out->actions = memory_zero(count + 1, sizeof *out->actions);
    hr = out->actions ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        hr = take_action((const struct folder_action *)list[i], &out->actions[i]);
        out->action_count = i + 1;
    }
    objects_release(list, count);
    if (FAILED(hr))
        retention_policy_free(out);
    return hr;
}

void retention_policy_free(struct retention_policy *policy)
{
    for (size_t i = 0; policy->actions && i < policy->action_count; i++)
        memory_free(policy->actions[i].send_to);
    memory_free(policy->actions);
    *policy = (struct retention_policy){0};
}
