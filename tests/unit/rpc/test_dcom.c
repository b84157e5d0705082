/* SPDX-License-Identifier: MIT */
/* The parts of remote DCOM that do not need COM: settings, accounts and their identities, messages between the front
   end and the service, and the method table. */
#include "com/remote/slots.h"
#include "com/server/dcom_link.h"
#include "com/server/dcom_settings.h"
#include "engine/base/memory.h"
#include "engine/base/registry.h"
#include "tests/unit/scratch_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

#define GOOD_PASSWORD "a password of tests"

/* ---- settings ---- */

static void remote_clients_are_off_and_local_by_default(void **state)
{
    struct dcom_settings s;
    (void)state;
    registry_delete(DCOM_KEY);
    assert_int_equal(dcom_settings_read(&s), S_OK);
    assert_false(s.is_on);
    assert_int_equal(s.port, 135);
    assert_string_equal(s.address, "127.0.0.1");
    assert_int_equal(s.limits[DCOM_LIMIT_connections], 256);
    dcom_settings_free(&s);
}

static void settings_write(struct dcom_settings *s, const char *address, const char *from, HRESULT expected)
{
    memory_free(s->address);
    memory_free(s->from);
    s->address = text_copy(address);
    s->from = text_copy(from);
    assert_int_equal(dcom_settings_write(s), expected);
}

static void other_computers_need_patterns_and_an_address(void **state)
{
    struct dcom_settings s, read;
    (void)state;
    assert_int_equal(dcom_settings_read(&s), S_OK);
    s.is_on = true;
    s.port = 47135;
    settings_write(&s, "*", "127.0.0.1 ::1", E_INVALIDARG);
    settings_write(&s, "10.1.2.3", "127.*", E_INVALIDARG);
    settings_write(&s, "example.com", "*", E_INVALIDARG);
    settings_write(&s, "10.1.2.3", "10.1.2.*, 10.1.3.7", S_OK);
    s.limits[DCOM_LIMIT_connections] = 7;
    settings_write(&s, "*", "10.1.2.*", S_OK);
    assert_int_equal(dcom_settings_read(&read), S_OK);
    assert_true(read.is_on);
    assert_int_equal(read.port, 47135);
    assert_string_equal(read.address, "*");
    assert_string_equal(read.from, "10.1.2.*");
    assert_int_equal(read.limits[DCOM_LIMIT_connections], 7);
    assert_int_equal(read.limits[DCOM_LIMIT_idle_seconds], 900);
    dcom_settings_free(&read);
    s.port = 0;
    assert_int_equal(dcom_settings_write(&s), E_INVALIDARG);
    dcom_settings_free(&s);
}

static void invalid_limit_changes_no_setting(void **state)
{
    uint32_t limits[DCOM_LIMITS] = {0};
    (void)state;
    assert_int_equal(dcom_limits_read("connections=5;idle_seconds=60", limits), S_OK);
    assert_int_equal(limits[DCOM_LIMIT_connections], 5);
    assert_int_equal(limits[DCOM_LIMIT_idle_seconds], 60);
    static const char *const invalid[] = {
        "connections=6;nonsense=1", "connections=0", "connections=4097", "connections=x", "connections", "=",
        "connections=6;;=7"};
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        assert_int_equal(dcom_limits_read(invalid[i], limits), E_INVALIDARG);
    assert_int_equal(limits[DCOM_LIMIT_connections], 5);
}

/* ---- accounts ---- */

static void accounts_are_added_replaced_and_removed(void **state)
{
    struct dcom_accounts all;
    struct auth_accounts store;
    uint8_t hash[AUTH_HASH_BYTES], expected[AUTH_HASH_BYTES];
    char name[AUTH_NAME_BYTES];
    (void)state;
    assert_int_equal(dcom_account_add("short", DCOM_ROLE_USERS, "elevenchars", false), E_INVALIDARG);
    static const char *const invalid[] = {"", " a", "a ", "a\\b", "a/b", "a@b", "a*", "a\nb"};
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        assert_int_equal(dcom_account_add(invalid[i], DCOM_ROLE_USERS, GOOD_PASSWORD, false), E_INVALIDARG);
    assert_int_equal(dcom_account_add("Tester", DCOM_ROLE_USERS, GOOD_PASSWORD, false), S_OK);
    assert_int_equal(dcom_account_add("tester", DCOM_ROLE_USERS, GOOD_PASSWORD, false),
                     HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(dcom_auth_accounts(&store), S_OK);
    assert_true(store.find(store.user, "TESTER", "ANY", hash, name));
    assert_string_equal(name, "Tester");
    assert_int_equal(auth_hash_password(GOOD_PASSWORD, expected), S_OK);
    assert_memory_equal(hash, expected, sizeof hash);
    assert_false(store.find(store.user, "another", "", hash, name));
    assert_int_equal(dcom_accounts_read(&all), S_OK);
    char *sid = text_copy(dcom_account_named(&all, "tester")->sid);
    dcom_accounts_free(&all);
    assert_int_equal(dcom_account_add("tester", DCOM_ROLE_ADMINISTRATORS, "another password", true), S_OK);
    assert_true(store.find(store.user, "tester", "", hash, name));
    assert_memory_not_equal(hash, expected, sizeof hash);
    assert_int_equal(dcom_accounts_read(&all), S_OK);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.items[0].role, DCOM_ROLE_ADMINISTRATORS);
    assert_string_equal(all.items[0].sid, sid); /* the same SID, so that the account still owns its sets */
    dcom_accounts_free(&all);
    assert_int_equal(dcom_account_remove("TESTER"), S_OK);
    assert_int_equal(dcom_account_remove("tester"), S_FALSE);
    assert_int_equal(dcom_account_add("tester", DCOM_ROLE_USERS, GOOD_PASSWORD, false), S_OK);
    assert_int_equal(dcom_accounts_read(&all), S_OK);
    assert_string_not_equal(all.items[0].sid, sid); /* a new account with an old name gets another SID */
    dcom_accounts_free(&all);
    dcom_account_remove("tester");
    memory_free(sid);
}

static bool allows(const struct dcom_identity *who, const char *descriptor)
{
    static const struct access_rights one = {1, 1, 1, 1};
    const struct caller caller = {.account = &who->sids};
    struct access_subject *subject;
    bool allowed;
    assert_int_equal(access_open(&caller, &subject), S_OK);
    assert_int_equal(access_allows(subject, descriptor, &one, 1, &allowed), S_OK);
    access_close(subject);
    return allowed;
}

static void roles_control_the_rights_of_an_account(void **state)
{
    char name[] = "someone", sid[] = "S-1-5-21-1-2-3-1001";
    const struct dcom_account user = {.name = name, .role = DCOM_ROLE_USERS, .sid = sid};
    const struct dcom_account administrator = {.name = name, .role = DCOM_ROLE_ADMINISTRATORS, .sid = sid};
    struct dcom_identity user_is, administrator_is;
    (void)state;
    dcom_identity_of(&user, &user_is);
    dcom_identity_of(&administrator, &administrator_is);
    assert_true(allows(&user_is, "D:(A;;1;;;S-1-5-32-559)"));
    assert_false(allows(&administrator_is, "D:(A;;1;;;S-1-5-32-559)"));
    assert_true(allows(&administrator_is, "D:(A;;1;;;BA)"));
    assert_false(allows(&user_is, "D:(A;;1;;;BA)"));
    assert_false(allows(&user_is, "D:(D;;1;;;S-1-5-21-1-2-3-1001)(A;;1;;;WD)"));
    assert_false(allows(&user_is, "D:(D;;1;;;NU)(A;;1;;;WD)"));
    assert_true(allows(&user_is, "D:(A;;1;;;AU)"));
    char *account = caller_account(&(struct caller){.account = &user_is.sids});
    assert_string_equal(account, "dcom\\someone");
    memory_free(account);
}

/* ---- messages ---- */

static void messages_survive_the_pipe(void **state)
{
    struct dual_strings bindings = {.count = 2, .addresses = {"10.1.2.3[47135]", "host"}}, read_bindings;
    char address[LINK_ADDRESS_BYTES], account[AUTH_NAME_BYTES];
    const uint8_t stub[5] = {1, 2, 3, 4, 5}, *read_stub;
    struct rpc_call call = {.iid = {1, 2, 3, {4}}, .has_object = true, .object = {5, 6, 7, {8}}, .opnum = 66}, read;
    struct ndr_writer w = {0};
    struct link_header header;
    size_t size;
    uint32_t fault;
    (void)state;
    call.account = "tester";
    call.level = AUTH_LEVEL_PRIVACY;
    call.stub = stub;
    call.size = sizeof stub;
    link_write_open(&w, 9, "10.9.8.7", &bindings);
    assert_true(link_header_read(w.bytes, &header));
    assert_int_equal(header.kind, LINK_OPEN);
    assert_int_equal(header.session, 9);
    assert_int_equal(header.size, w.size - LINK_HEADER);
    assert_true(link_read_open(w.bytes + LINK_HEADER, header.size, address, &read_bindings));
    assert_string_equal(address, "10.9.8.7");
    assert_string_equal(read_bindings.addresses[1], "host");
    ndr_writer_free(&w);
    link_write_call(&w, 9, &call);
    assert_true(link_read_call(w.bytes + LINK_HEADER, w.size - LINK_HEADER, &read, account));
    assert_string_equal(read.account, "tester");
    assert_int_equal(read.opnum, 66);
    assert_int_equal(read.size, sizeof stub);
    assert_memory_equal(read.stub, stub, sizeof stub);
    assert_memory_equal(&read.object, &call.object, sizeof call.object);
    for (size_t cut = 0; cut < w.size - LINK_HEADER; cut++) /* a truncated message is never accepted */
        assert_false(link_read_call(w.bytes + LINK_HEADER, cut, &read, account));
    ndr_writer_free(&w);
    link_write_answer(&w, 9, 0, stub, sizeof stub);
    assert_true(link_read_answer(w.bytes + LINK_HEADER, w.size - LINK_HEADER, &fault, &read_stub, &size));
    assert_int_equal(fault, 0);
    assert_memory_equal(read_stub, stub, size);
    ndr_writer_free(&w);
    const uint8_t huge[LINK_HEADER] = {0, 0, 0, 0x7F, LINK_CALL}, unknown[LINK_HEADER] = {0, 0, 0, 0, 99};
    assert_false(link_header_read(huge, &header));
    assert_false(link_header_read(unknown, &header));
}

/* ---- the table ---- */

static const struct remote_type *type_named(const char *name)
{
    for (size_t i = 0; i < remote_type_count(); i++)
        if (strcmp(remote_type_at(i)->name, name) == 0)
            return remote_type_at(i);
    return NULL;
}

static void the_table_has_every_method(void **state)
{
    const struct remote_type *set = type_named("IDataCollectorSet");
    size_t slots = 0;
    (void)state;
    assert_int_equal(remote_type_count(), 18);
    for (size_t i = 0; i < remote_type_count(); i++)
        slots += remote_type_at(i)->count;
    assert_int_equal(slots, 435); /* 310 methods, and those that five interfaces inherit */
    assert_non_null(set);
    assert_ptr_equal(remote_type_find(&set->iid), set);
    assert_null(remote_method_of(set, 6));
    assert_null(remote_method_of(set, (uint16_t)(7 + set->count)));
    assert_string_equal(remote_method_of(set, 7)->name, "get_DataCollectors");
    assert_string_equal(remote_method_of(set, 66)->name, "GetValue");
}

/* After a name of odd length, the offset of `mode` is not a multiple of 4. A client whose enumerations have 4 bytes
   adds 2 bytes of padding before it. */
static void enumeration_with_four_bytes_is_read(void **state)
{
    const struct remote_type *set = type_named("IDataCollectorSet");
    const struct remote_method *commit = NULL;
    struct remote_value values[REMOTE_PARAMETERS_MOST];
    struct ndr_arena arena = {0};
    unsigned form = 2;
    (void)state;
    for (uint16_t opnum = 7; !commit || strcmp(commit->name, "Commit") != 0; opnum++)
        commit = remote_method_of(set, opnum);
    for (int wide = 0; wide < 2; wide++) {
        struct ndr_writer w = {0};
        ndr_write_bstr(&w, &(struct ndr_bstr){.bytes = (const uint8_t *)"a\0b\0", .size = 4});
        ndr_write_bstr(&w, &(struct ndr_bstr){.bytes = (const uint8_t *)"c\0", .size = 2});
        if (wide)
            ndr_write_u32(&w, 0x1003);
        else
            ndr_write_u16(&w, 0x1003);
        struct ndr_reader in = ndr_reader_over(w.bytes, w.size);
        remote_read_request(commit, &in, &arena, &form, values);
        assert_int_equal(in.fault, 0);
        assert_int_equal(values[2].number, 0x1003);
        ndr_writer_free(&w);
    }
    ndr_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remote_clients_are_off_and_local_by_default),
        cmocka_unit_test(other_computers_need_patterns_and_an_address),
        cmocka_unit_test(invalid_limit_changes_no_setting),
        cmocka_unit_test(accounts_are_added_replaced_and_removed),
        cmocka_unit_test(roles_control_the_rights_of_an_account),
        cmocka_unit_test(messages_survive_the_pipe),
        cmocka_unit_test(the_table_has_every_method),
        cmocka_unit_test(enumeration_with_four_bytes_is_read),
    };
    char *folder = scratch_create("test_dcom");
    scratch_environment("OPENPLA_DATA", folder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    registry_delete(DCOM_KEY);
    scratch_remove(folder);
    memory_free(folder);
    return failed;
}
