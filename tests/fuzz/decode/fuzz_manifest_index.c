/* SPDX-License-Identifier: MIT */
/* Any bytes as the index of a folder of manifests: the folder can be used, lists its provider or the reason why it has
   none, and is queried for it. An odd first byte keeps the valid first line. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/etw/manifest_origins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const GUID provider = {0xA1B2C3D4, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const char manifest[] =
    "<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'><instrumentation><events>"
    "<provider name='P' guid='{A1B2C3D4-0001-0002-0304-05060708090A}'><events><event value='1'/></events></provider>"
    "</events></instrumentation></instrumentationManifest>";
static char *folder, *data_folder, *below, *index_file, *manifest_file;

static void must(bool done)
{
    if (!done)
        abort();
}

static void clean_up(void)
{
    (void)file_delete(index_file);
    (void)file_delete(manifest_file);
    (void)folder_delete(below);
    (void)folder_delete(data_folder);
    (void)folder_delete(folder);
}

/* Creates a folder with one manifest, and sets the path of its index. */
static void prepare(void)
{
    char name[64];
    snprintf(name, sizeof name, "fuzz_manifest_index.%u.tmp", (unsigned)process_own_id());
    must((folder = os_full_path(name)) && (data_folder = path_join(folder, "data")) &&
         (below = path_join(data_folder, "manifest-index")) && (manifest_file = path_join(folder, "one.man")));
    snprintf(name, sizeof name, "%016llx.txt", (unsigned long long)hash_text(HASH_START, folder));
    must((index_file = path_join(below, name)) && setenv("OPENPLA_DATA", data_folder, 1) == 0);
    must(SUCCEEDED(folder_create_protected(below, PROTECTION_DATA)));
    must(SUCCEEDED(file_store(manifest_file, manifest, sizeof manifest - 1)) && atexit(clean_up) == 0);
}

static void store_index(const uint8_t *data, size_t size)
{
    struct text_buffer b = {0};
    if (data[0] & 1)
        text_buffer_format(&b, "OpenPLA manifest index 1\t%s\n", folder);
    text_buffer_add_n(&b, (const char *)data + 1, size - 1);
    must(!b.failed && SUCCEEDED(file_store(index_file, b.text, b.length)));
    text_buffer_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct schema_origin origin;
    struct texts warnings = {0};
    struct known_providers known = {0};
    const struct provider_manifest *found;
    if (!folder)
        prepare();
    if (size == 0)
        return 0;
    store_index(data, size);
    must(SUCCEEDED(manifest_xml_folder_origin(folder, "en-US", &warnings, &origin)));
    must(SUCCEEDED(origin.providers(origin.context, &known)) && known.count + warnings.count != 0);
    (void)origin.manifest(origin.context, &provider, &found);
    origin.free(origin.context);
    known_providers_free(&known);
    texts_free(&warnings);
    return 0;
}
