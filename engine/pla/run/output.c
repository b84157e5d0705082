/* SPDX-License-Identifier: MIT */
/* The output of a run. */
#include "engine/pla/run/output.h"

#include "engine/base/file.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/pla/model/name_pattern.h"
#include "engine/pla/retention/plan.h"
#include "engine/pla/sets/run_folders.h"

#include <string.h>

HRESULT output_check_root(const struct data_collector_set *set)
{
    char *root = host_expand_environment(set_root(set));
    HRESULT hr = root ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !folder_exists(root))
        hr = set_creates_root(root)
                 ? folder_create(root)
                 : error_set(HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND),
                             "RootPath: there is no folder \"%s\" (create it; a start creates folders below "
                             "%%systemdrive%%\\PerfLogs alone)",
                             root);
    memory_free(root);
    return hr;
}

/* path with "_<serial>" before its extension. */
static char *with_serial(const char *path, uint32_t serial_number)
{
    const char *extension = path_extension(path);
    return text_format("%.*s_%06u%s", (int)(strlen(path) - strlen(extension)), path, (unsigned)serial_number,
                       extension);
}

HRESULT output_file(struct object *collector, const char *folder, const struct name_context *context, bool follows,
                    char **out)
{
    HRESULT hr = collector_output_file(collector, folder, context, out);
    const struct data_collector *c = collector_of(collector);
    if (FAILED(hr) || !follows || c->LogOverwrite || c->LogAppend || c->LogCircular ||
        !collector_file_is_there(collector, *out))
        return hr;
    char *other = with_serial(*out, context->serial_number);
    memory_free(*out);
    *out = other;
    return other ? S_OK : E_OUTOFMEMORY;
}

static HRESULT check_disk(const struct data_manager *m, const char *root)
{
    uint64_t bytes = 0;
    HRESULT hr = m->MinFreeDisk ? folder_free_bytes(root, &bytes) : S_OK;
    if (SUCCEEDED(hr) && m->MinFreeDisk && bytes >> 20 < m->MinFreeDisk)
        hr = error_set(PLA_E_NO_MIN_DISK, "MinFreeDisk: \"%s\" has %u MB left, the set asks for %u", root,
                       (unsigned)(bytes >> 20), (unsigned)m->MinFreeDisk);
    return hr;
}

static HRESULT check_folders(const struct data_manager *m, const char *root)
{
    struct texts folders = {0};
    HRESULT hr = m->MaxFolderCount ? folder_list(root, true, &folders) : S_OK;
    if (SUCCEEDED(hr) && m->MaxFolderCount && folders.count >= m->MaxFolderCount)
        hr = error_set(PLA_E_TOO_MANY_FOLDERS, "MaxFolderCount: \"%s\" has %u folders, the set allows %u", root,
                       (unsigned)folders.count, (unsigned)m->MaxFolderCount);
    texts_free(&folders);
    return hr;
}

static HRESULT check(const struct data_manager *m, const char *root)
{
    HRESULT hr = check_disk(m, root);
    return SUCCEEDED(hr) ? check_folders(m, root) : hr;
}

/* A folder in which a user's own files stay makes no room: the second pass knows it as none of the set's. */
enum { ROOM_PASSES = 2 };

/* What does not hold is made to hold, by the policy, before the start fails: a disk that others have filled would keep
   a set from running for ever. */
HRESULT output_check_resources(const struct run_set *r)
{
    const struct data_manager *m = (const struct data_manager *)r->set->DataManager;
    if (!m->Enabled || !m->CheckBeforeRunning)
        return S_OK;
    char *root = host_expand_environment(set_root(r->set));
    HRESULT hr = root ? check(m, root) : E_OUTOFMEMORY, passed = S_OK;
    for (int i = 0; i < ROOM_PASSES && SUCCEEDED(passed) && (hr == PLA_E_NO_MIN_DISK || hr == PLA_E_TOO_MANY_FOLDERS);
         i++) {
        struct error_kept why = error_keep(hr);
        passed = run_folders_pass(&(struct run_pass){.space = r->space,
                                                     .name = r->name,
                                                     .set = r->set,
                                                     .root = root,
                                                     .parts = RETENTION_LIMITS,
                                                     .room_for_one = true});
        struct error_kept failure = error_keep(passed);
        hr = passed == E_OUTOFMEMORY ? passed : check(m, root);
        if (hr == why.hr && FAILED(passed))
            hr = error_set(hr, "%s; no room could be made: %s", why.text, failure.text);
    }
    memory_free(root);
    return hr;
}
