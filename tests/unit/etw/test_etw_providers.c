/* SPDX-License-Identifier: MIT */
/* The event providers that scripts list. OpenPLA passes through what TDH's functions return, from its own TDH and from
   the system's TDH. */
#include "engine/base/memory.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/etw_api.h"
#include "tests/unit/own_directory.h"
#include "tests/unit/scratch_folder.h"

#include <string.h>

#define PROVIDERS 3

static const GUID guids[PROVIDERS] = {
    {0x11111111, 1, 2, {1, 2, 3, 4, 5, 6, 7, 8}}, {0x22222222, 3, 4, {8}}, {0x33333333, 5, 6, {9}}};
static const char *const names[PROVIDERS] = {"Microsoft-Windows-First", "\xC3\x9Cn\xC3\xAF \xF0\x9F\x98\x80", ""};
static size_t present; /* grows by one with each call */
static ULONG status = ERROR_SUCCESS;

static ULONG WINAPI some_providers(PROVIDER_ENUMERATION_INFO *buffer, ULONG *size)
{
    struct event_providers list = {0};
    ULONG packed = status;
    if (present < PROVIDERS)
        present++;
    for (size_t i = 0; i < present; i++)
        assert_int_equal(event_providers_add(&list, &guids[i], text_copy(names[i])), S_OK);
    if (!packed)
        packed = openetw_pack_providers(&list, buffer, size);
    event_providers_free(&list);
    return packed;
}

/* Two levels; the second has no description. */
static ULONG WINAPI some_fields(GUID *guid, EVENT_FIELD_TYPE type, PROVIDER_FIELD_INFOARRAY *buffer, ULONG *size)
{
    static const WCHAR high[] = u"high", low[] = u"low", most[] = u"the most";
    const ULONG head = offsetof(PROVIDER_FIELD_INFOARRAY, FieldInfoArray) + 2 * sizeof(PROVIDER_FIELD_INFO);
    const ULONG need = head + sizeof high + sizeof low + sizeof most;
    if (!guid_equal(guid, &guids[0]) || type != EventLevelInformation)
        return ERROR_NOT_FOUND;
    if (*size < need) {
        *size = need;
        return ERROR_INSUFFICIENT_BUFFER;
    }
    memset(buffer, 0, head);
    buffer->NumberOfElements = 2;
    buffer->FieldInfoArray[0] = (PROVIDER_FIELD_INFO){head, head + sizeof high, 1};
    buffer->FieldInfoArray[1] = (PROVIDER_FIELD_INFO){head + sizeof high + sizeof most, 0, 1ull << 40};
    memcpy((char *)buffer + head, high, sizeof high);
    memcpy((char *)buffer + head + sizeof high, most, sizeof most);
    memcpy((char *)buffer + head + sizeof high + sizeof most, low, sizeof low);
    return ERROR_SUCCESS;
}

static ULONG WINAPI nobody(TRACE_QUERY_INFO_CLASS what, void *in, ULONG in_bytes, void *out, ULONG room, ULONG *need)
{
    (void)what, (void)in, (void)in_bytes, (void)out, (void)room;
    *need = 0;
    return ERROR_SUCCESS;
}

static const struct etw_api some = {.TdhEnumerateProviders = some_providers,
                                    .TdhEnumerateProviderFieldInformation = some_fields,
                                    .EnumerateTraceGuidsEx = nobody};

/* Returns blocks that refer to memory outside themselves, and a list that is never long enough. */
static ULONG WINAPI return_corrupt_blocks(TRACE_QUERY_INFO_CLASS what, void *in, ULONG in_bytes, void *out, ULONG room,
                                          ULONG *need)
{
    const TRACE_GUID_INFO head = {.InstanceCount = UINT32_MAX};
    const TRACE_PROVIDER_INSTANCE_INFO instances[] = {
        {.NextOffset = sizeof *instances, .Pid = 4}, {.NextOffset = UINT32_MAX, .Pid = 8}, {.Pid = 12}};
    (void)in, (void)in_bytes;
    if (what == TraceGuidQueryList) {
        *need = 16;
        return ERROR_INSUFFICIENT_BUFFER;
    }
    *need = sizeof head + sizeof instances;
    if (room < *need)
        return ERROR_INSUFFICIENT_BUFFER;
    memcpy(out, &head, sizeof head);
    memcpy((char *)out + sizeof head, instances, sizeof instances);
    return ERROR_SUCCESS;
}

static void registration_results_are_validated(void **state)
{
    const struct etw_api lying = {.TdhEnumerateProviders = some_providers,
                                  .EnumerateTraceGuidsEx = return_corrupt_blocks};
    struct event_registrations list;
    (void)state;
    assert_int_equal(event_registrations_list(&lying, &guids[0], &list), S_OK);
    assert_int_equal(list.count, 2);
    assert_true(list.items[0].process == 4 && list.items[1].process == 8);
    event_registrations_free(&list);
    assert_int_equal(event_registrations_list(&lying, NULL, &list), HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
    assert_int_equal(list.count, 0);
    assert_int_equal(event_registrations_list(&some, NULL, &list), S_OK);
    assert_int_equal(list.count, 0);
}

/* Event providers may be registered while the list is read. None of them may be missing. */
static void all_providers_are_listed(void **state)
{
    struct event_providers list;
    (void)state;
    present = 0;
    assert_int_equal(event_providers_list(&some, &list), S_OK);
    assert_int_equal(list.count, PROVIDERS);
    for (size_t i = 0; i < PROVIDERS; i++) {
        assert_true(guid_equal(&list.items[i].guid, &guids[i]));
        assert_string_equal(list.items[i].name, names[i]);
    }
    event_providers_free(&list);
}

static void a_failure_is_reported(void **state)
{
    struct event_providers list;
    (void)state;
    status = ERROR_ACCESS_DENIED;
    assert_int_equal(event_providers_list(&some, &list), E_ACCESSDENIED);
    assert_int_equal(list.count, 0);
    status = ERROR_NOT_ENOUGH_MEMORY;
    assert_int_equal(event_providers_list(&some, &list), E_OUTOFMEMORY);
    status = ERROR_SUCCESS;
}

static void levels_come_from_the_provider(void **state)
{
    struct event_fields fields;
    (void)state;
    assert_int_equal(event_provider_fields(&some, &guids[0], false, &fields), S_OK);
    assert_int_equal(fields.count, 2);
    assert_string_equal(fields.items[0].name, "high");
    assert_string_equal(fields.items[0].description, "the most");
    assert_true(fields.items[0].value == 1);
    assert_string_equal(fields.items[1].name, "low");
    assert_string_equal(fields.items[1].description, "");
    assert_true(fields.items[1].value == 1ull << 40);
    event_fields_free(&fields);
    assert_int_equal(event_provider_fields(&some, &guids[0], true, &fields), S_FALSE);
    assert_int_equal(event_provider_fields(&some, &guids[1], false, &fields), S_FALSE);
    assert_int_equal(fields.count, 0);
}

/* The host OS's functions succeed in any case, possibly with an empty list. */
static void functions_of_the_system_succeed(void **state)
{
    struct event_providers list;
    struct event_fields fields;
    (void)state;
    assert_int_equal(event_providers_list(host_etw(), &list), S_OK);
    event_providers_free(&list);
    assert_true(SUCCEEDED(event_provider_fields(host_etw(), &guids[0], true, &fields)));
    event_fields_free(&fields);
    assert_ptr_equal(host_etw(), host_etw());
}

static unsigned questions;

static ULONG WINAPI counted(TRACE_QUERY_INFO_CLASS what, void *in, ULONG in_bytes, void *out, ULONG room, ULONG *need)
{
    questions++;
    return openetw_api.EnumerateTraceGuidsEx(what, in, in_bytes, out, room, need);
}

/* Reading the whole directory for each of thousands of event providers would take minutes. */
static void all_registrations_are_read_in_one_pass(void **state)
{
    enum { COUNT = 300 };
    struct etw_api ours = openetw_api;
    struct event_registrations list, slowly;
    struct event_providers named;
    uint32_t registrations[COUNT + 2];
    (void)state;
    struct directory *d = own_directory();
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(directory_register(d, &(GUID){i, 1, 1, {1}}, i % 2 ? DIRECTORY_CLASSIC : DIRECTORY_PROVIDER,
                                            &registrations[i]),
                         S_OK);
    assert_int_equal(directory_register(d, &(GUID){5, 1, 1, {1}}, DIRECTORY_PROVIDER, &registrations[COUNT]), S_OK);
    assert_int_equal(directory_register(d, &(GUID){COUNT, 1, 1, {1}}, DIRECTORY_GROUP, &registrations[COUNT + 1]),
                     S_OK);
    ours.EnumerateTraceGuidsEx = counted;
    assert_int_equal(event_registrations_list(&ours, NULL, &list), S_OK);
    assert_int_equal(event_providers_list(&ours, &named), S_OK);
    assert_int_equal(questions, 0);
    assert_true(named.count >= COUNT);
    event_providers_free(&named);
    ours.registrations = NULL; /* the system's TDH has no such function */
    assert_int_equal(event_registrations_list(&ours, NULL, &slowly), S_OK);
    assert_true(questions > COUNT);
    assert_int_equal(list.count, COUNT);
    assert_int_equal(slowly.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(guid_equal(&list.items[i].guid, &slowly.items[i].guid));
        assert_int_equal(list.items[i].process, slowly.items[i].process);
    }
    event_registrations_free(&list);
    event_registrations_free(&slowly);
    for (uint32_t i = 0; i < COUNT + 2; i++)
        directory_unregister(d, registrations[i]);
}

/* Traits contain names for people who choose an event provider; TDH lists only event providers that were registered
   with a manifest. */
static void tdh_lists_no_names_from_traits(void **state)
{
    const GUID guid = {0x44444444, 1, 1, {1}};
    PROVIDER_ENUMERATION_INFO *info = memory_zero(1, 1 << 20);
    struct event_providers list;
    ULONG size = 1 << 20;
    (void)state;
    directory_name_provider(own_directory(), &guid, "My.Provider");
    assert_int_equal(openetw_api.TdhEnumerateProviders(info, &size), ERROR_SUCCESS);
    for (ULONG i = 0; i < info->NumberOfProviders; i++)
        assert_false(guid_equal(&info->TraceProviderInfoArray[i].ProviderGuid, &guid));
    memory_free(info);
    assert_int_equal(event_providers_list(&openetw_api, &list), S_OK);
    const struct event_provider *found = event_providers_find(&list, &guid);
    assert_non_null(found);
    assert_string_equal(found->name, "My.Provider");
    event_providers_free(&list);
}

/* The list of event providers for scripts and the decoder of their events must use the same definitions. */
static void fields_come_from_manifests(void **state)
{
    static const char manifest[] =
        "<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'><instrumentation><events>"
        "<provider name='P' guid='{55555555-0000-0000-0000-000000000001}' symbol='P'>"
        "<levels><level name='Loud' value='17'/></levels><keywords><keyword name='Disk' mask='0x10'/></keywords>"
        "<events><event value='1'/></events></provider></events></instrumentation></instrumentationManifest>";
    const GUID guid = {0x55555555, 0, 0, {0, 0, 0, 0, 0, 0, 0, 1}};
    struct event_fields fields;
    (void)state;
    assert_int_equal(event_provider_fields(&openetw_api, &guid, true, &fields), S_FALSE);
    assert_int_equal(tdh_load_manifest_from_memory(manifest, sizeof manifest - 1), ERROR_SUCCESS);
    assert_int_equal(event_provider_fields(&openetw_api, &guid, false, &fields), S_OK);
    assert_int_equal(fields.count, 1);
    assert_string_equal(fields.items[0].name, "Loud");
    assert_int_equal(fields.items[0].value, 17);
    event_fields_free(&fields);
    assert_int_equal(event_provider_fields(&openetw_api, &guid, true, &fields), S_OK);
    assert_int_equal(fields.items[0].value, 0x10);
    event_fields_free(&fields);
    assert_int_equal(tdh_unload_manifest_from_memory(manifest, sizeof manifest - 1), ERROR_SUCCESS);
}

static void out_of_memory_is_reported(void **state)
{
    struct event_fields fields;
    HRESULT hr = E_OUTOFMEMORY;
    (void)state;
    for (unsigned n = 1; hr == E_OUTOFMEMORY && n < 100; n++) {
        memory_fail_at(n);
        hr = event_provider_fields(&some, &guids[0], false, &fields);
        memory_fail_at(0);
        event_fields_free(&fields);
    }
    assert_int_equal(hr, S_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_providers_are_listed),           cmocka_unit_test(a_failure_is_reported),
        cmocka_unit_test(registration_results_are_validated), cmocka_unit_test(levels_come_from_the_provider),
        cmocka_unit_test(functions_of_the_system_succeed),    cmocka_unit_test(all_registrations_are_read_in_one_pass),
        cmocka_unit_test(tdh_lists_no_names_from_traits),     cmocka_unit_test(fields_come_from_manifests),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    own_directory_name();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    directory_delete(own_directory());
    return failed;
}
