/* SPDX-License-Identifier: MIT */
/* RegistryKeys of a configuration collector: the document contains the registry's values, and an entry with a reason
   for each key or value that cannot be read. */
#include "engine/base/os.h"
#include "engine/pla/collect/configuration_source.h"
#include "tests/unit/collect/configuration_fixture.h"

static char top[96]; /* below HKEY_LOCAL_MACHINE; used only by this process */

static struct registry_key *made(const char *below)
{
    struct registry_key *key;
    bool is_new;
    char *path = text_format("%s%s", top, below);
    assert_int_equal(registry_create(path, &is_new, &key), S_OK);
    memory_free(path);
    return key;
}

static void put(const char *below, const char *name, uint32_t type, const void *data, size_t size)
{
    struct registry_key *key = made(below);
    assert_int_equal(registry_write(key, name, type, data, size), S_OK);
    registry_close(key);
}

static void ask(struct collected *c, const char *behind)
{
    char *text = text_format("HKEY_LOCAL_MACHINE\\%s%s", top, behind);
    assert_int_equal(texts_add_owned(&c->request.registry_keys, text), S_OK);
}

static void collect(struct collected *c)
{
    collect_source(c, configuration_collect_registry);
    assert_int_equal(c->hr, S_OK);
}

static int forget(void **state)
{
    (void)state;
    return FAILED(registry_delete(top));
}

#define OF(name, column) "string(//Item[Data[@name='name']='" name "']/Data[@name='" column "'])"

/* Tests each value type, and data that do not match the type under which they were stored. */
static void every_type_is_shown_correctly(void **state)
{
    static const WCHAR texts[] = u"one\0two\0\0", holes[] = u"one\0\0two\0", lines[] = u"one\ntwo\0\0";
    static const WCHAR text[] = u"C:\\Gr\u00F6\u00DFe", lone[] = {'a', 0xD800}, control[] = u"a\001";
    static const struct {
        const char *name;
        uint32_t type;
        const void *data;
        size_t size;
        const char *shown, *value;
        bool hex;
    } rows[] = {
        {"None", 0, "ab", 2, "REG_NONE", "6162", true},
        {"Text", 1, text, sizeof text, "REG_SZ",
         "C:\\Gr\xC3\xB6\xC3\x9F"
         "e",
         false},
        {"TextWithoutEnd", 1, text, sizeof text - 2, "REG_SZ",
         "C:\\Gr\xC3\xB6\xC3\x9F"
         "e",
         false},
        {"TextEmpty", 1, "", 0, "REG_SZ", "", false},
        {"TextOdd", 1, "a\0b", 3, "REG_SZ", "610062", true},
        {"TextWithNul", 1, "a\0\0\0b\0\0\0", 8, "REG_SZ", "6100000062000000", true},
        {"TextLone", 1, lone, 4, "REG_SZ", "610000D8", true},
        {"TextControl", 1, control, 6, "REG_SZ", "610001000000", true},
        {"Expand", 2, u"%Path%", 14, "REG_EXPAND_SZ", "%Path%", false},
        {"Bytes", 3, "\0\xFF\x1A", 3, "REG_BINARY", "00FF1A", true},
        {"Number", 4, "\1\0\0\x80", 4, "REG_DWORD", "2147483649", false},
        {"NumberShort", 4, "abc", 3, "REG_DWORD", "616263", true},
        {"NumberLong", 4, "abcde", 5, "REG_DWORD", "6162636465", true},
        {"BigEndian", 5, "\x80\0\0\1", 4, "REG_DWORD_BIG_ENDIAN", "2147483649", false},
        {"Texts", 7, texts, sizeof texts - 2, "REG_MULTI_SZ", "one\ntwo", false},
        {"TextsHole", 7, holes, sizeof holes, "REG_MULTI_SZ",
         "6F006E006500000000007400770"
         "06F0000000000",
         true},
        {"TextsLine", 7, lines, sizeof lines - 2, "REG_MULTI_SZ", "6F006E0065000A00740077006F0000000000", true},
        {"TextsNone", 7, "\0", 2, "REG_MULTI_SZ", "", false},
        {"Resources", 8, "ab", 2, "REG_RESOURCE_LIST", "6162", true},
        {"Long", 11, "\1\0\0\0\0\0\0\x80", 8, "REG_QWORD", "9223372036854775809", false},
        {"LongShort", 11, "abcd", 4, "REG_QWORD", "61626364", true},
        {"Own", 0x80001234, "ab", 2, "0x80001234", "6162", true},
    };
    struct collected c = {.hr = S_OK};
    char path[128];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        put("", rows[i].name, rows[i].type, rows[i].data, rows[i].size);
    ask(&c, "\\");
    collect(&c);
    snprintf(path, sizeof path, "%u", (unsigned)(sizeof rows / sizeof *rows));
    check_xpath(c.doc, "count(/Report/Section[@name='registry']/Table[@name='registryKeys']/Item)", path);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(path, sizeof path, "string(//Item[Data='%s']/Data[@name='type'])", rows[i].name);
        check_xpath(c.doc, path, rows[i].shown);
        snprintf(path, sizeof path, "string(//Item[Data='%s']/Data[@name='value'])", rows[i].name);
        check_xpath(c.doc, path, rows[i].value);
        snprintf(path, sizeof path, "string(//Item[Data='%s']/Data[@name='value']/@type)", rows[i].name);
        check_xpath(c.doc, path, rows[i].hex ? "hex" : "");
    }
    check_xpath(c.doc, "count(//Data[@name='error' and text()])", "0");
    collected_end(&c);
}

/* A value that is too large is omitted, with an entry that names it; the other values are written. */
static void huge_values_are_named(void **state)
{
    struct collected c = {.hr = S_OK};
    char *much = memory_zero(1, REGISTRY_MOST_BYTES + 2);
    (void)state;
    put("", "Huge", REGISTRY_BYTES, much, REGISTRY_MOST_BYTES + 2);
    put("", "Small", REGISTRY_NUMBER, "\7\0\0\0", 4);
    put("", "Most", REGISTRY_BYTES, much, REGISTRY_MOST_BYTES);
    memory_free(much);
    ask(&c, "\\");
    ask(&c, "\\Huge");
    collect(&c);
    check_xpath(c.doc, OF("Small", "value"), "7");
    check_xpath(c.doc, "string-length(//Item[Data='Most']/Data[@name='value'])", "2097152");
    check_xpath(c.doc, "count(//Item[Data='Huge' and contains(Data[@name='error'], '1048578 bytes')])", "2");
    check_xpath(c.doc, "string(//Item[Data='Huge'][1]/Data[@name='value'])", "");
    collected_end(&c);
}

static void each_form_requests_the_right_keys_or_values(void **state)
{
    struct collected c = {.hr = S_OK};
    (void)state;
    put("", "Start", REGISTRY_NUMBER, "\1\0\0\0", 4);
    put("\\One", "Start", REGISTRY_NUMBER, "\2\0\0\0", 4);
    put("\\One", "C:\\dir\\a.dll", REGISTRY_NUMBER, "\3\0\0\0", 4);
    put("\\One\\Two", "Start", REGISTRY_NUMBER, "\4\0\0\0", 4);
    put("\\One\\Two", "Other", REGISTRY_NUMBER, "\5\0\0\0", 4);
    registry_close(made("\\One\\Empty"));
    ask(&c, "\\Start");               /* 1 */
    ask(&c, "\\one\\C:\\dir\\a.dll"); /* 2: a name with backslashes */
    ask(&c, "\\One\\");               /* 3 */
    ask(&c, "\\One\\\\");             /* 4 */
    ask(&c, "\\\\Start");             /* 5: values with that name in all keys */
    ask(&c, "\\One\\Empty\\");        /* 6 */
    char *text = text_format("\\hklm\\%s\\Start", top);
    assert_int_equal(texts_add_owned(&c.request.registry_keys, text), S_OK); /* 7 */
    char *own = os_computer_name();
    text = text_format("\\\\%s\\HKEY_LOCAL_MACHINE\\%s\\Start /REG:64", own, top);
    memory_free(own);
    assert_int_equal(texts_add_owned(&c.request.registry_keys, text), S_OK); /* 8 */
    text = text_format("\\\\127.0.0.1\\HKEY_LOCAL_MACHINE\\%s\\Start", top);
    assert_int_equal(texts_add_owned(&c.request.registry_keys, text), S_OK); /* 9 */
    collect(&c);
    check_xpath(c.doc, "count(//Table)", "9");
    check_xpath(c.doc, "string(//Table[9]/Item/Data[@name='value'])", "1");
    check_xpath(c.doc, "count(//Table[1]/Item)", "1");
    check_xpath(c.doc, "string(//Table[1]/Item/Data[@name='value'])", "1");
    text = text_format("HKEY_LOCAL_MACHINE\\%s", top);
    check_xpath(c.doc, "string(//Table[1]/Item/Data[@name='key'])", text);
    memory_free(text);
    check_xpath(c.doc, "string(//Table[2]/Item/Data[@name='value'])", "3");
    check_xpath(c.doc, "string(//Table[2]/Item/Data[@name='name'])", "C:\\dir\\a.dll");
    check_xpath(c.doc, "count(//Table[3]/Item)", "2");
    check_xpath(c.doc, "sum(//Table[3]/Item/Data[@name='value'])", "5");
    check_xpath(c.doc, "count(//Table[4]/Item)", "5");
    check_xpath(c.doc, "sum(//Table[4]/Item[Data[@name='type']='REG_DWORD']/Data[@name='value'])", "14");
    check_xpath(c.doc, "string(//Table[4]/Item[Data[@name='type']='key']/Data[@name='value'])", "");
    check_xpath(c.doc, "count(//Table[5]/Item)", "3");
    check_xpath(c.doc, "sum(//Table[5]/Item/Data[@name='value'])", "7");
    check_xpath(c.doc, "string(//Table[6]/Item/Data[@name='type'])", "key");
    check_xpath(c.doc, "string(//Table[7]/Item/Data[@name='value'])", "1");
    check_xpath(c.doc, "string(//Table[8]/Item/Data[@name='value'])", "1");
    check_xpath(c.doc, "count(//Data[@name='error' and text()])", "0");
    collected_end(&c);
}

static void depth_is_relative_to_the_key(void **state)
{
    struct collected c = {.request = {.registry_depth = 1}};
    (void)state;
    put("", "A", REGISTRY_NUMBER, "\1\0\0\0", 4);
    put("\\One", "B", REGISTRY_NUMBER, "\2\0\0\0", 4);
    put("\\One\\Two", "C", REGISTRY_NUMBER, "\3\0\0\0", 4);
    ask(&c, "\\\\");
    ask(&c, "\\One\\\\");
    collect(&c);
    check_xpath(c.doc, "count(//Table[1]/Item)", "2");
    check_xpath(c.doc, "count(//Table[2]/Item)", "2");
    check_xpath(c.doc, OF("C", "value"), "3");
    collected_end(&c);
}

/* Missing keys and empty entries are reported with a reason, and the rest is collected. */
static void unreadable_values_are_entries(void **state)
{
    static const char *const bad[] = {"HKEY_NOWHERE\\A\\B", "HKEY_LOCAL_MACHINE", "", "\\\\", "\\\\OTHER", "A\\B"};
    struct collected c = {.hr = S_OK};
    (void)state;
    put("\\One", "A", REGISTRY_NUMBER, "\1\0\0\0", 4);
    ask(&c, "\\NoKey\\NoValue");
    ask(&c, "\\One\\NoValue");
    ask(&c, "\\One");
    ask(&c, "\\NoKey\\");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(texts_add(&c.request.registry_keys, bad[i]), S_OK);
    ask(&c, "\\One\\A");
    collect(&c);
    check_xpath(c.doc, "count(//Table)", "11");
    check_xpath(c.doc, "count(//Table[count(Item)=1])", "11");
    check_xpath(c.doc, "contains(//Table[1]/Item/Data[@name='error'], 'NoKey: the key does not exist')", "true");
    check_xpath(c.doc, "string(//Table[1]/Item/Data[@name='result'])", "0x80070002");
    check_xpath(c.doc, "contains(//Table[2]/Item/Data[@name='error'], 'One: no value NoValue')", "true");
    check_xpath(c.doc, "contains(//Table[3]/Item/Data[@name='error'], 'a key of that name exists')", "true");
    check_xpath(c.doc, "contains(//Table[4]/Item/Data[@name='error'], 'NoKey: the key does not exist')", "true");
    for (int i = 5; i <= 10; i++) {
        char path[96];
        snprintf(path, sizeof path, "string(//Table[%d]/Item/Data[@name='result'])", i);
        check_xpath(c.doc, path, "0x80070057");
    }
    check_xpath(c.doc, "contains(//Table[5]/Item/Data[@name='error'], 'HKEY_NOWHERE')", "true");
    check_xpath(c.doc, "string(//Table[11]/Item/Data[@name='value'])", "1");
    collected_end(&c);
}

static void other_computers_are_rejected_with_the_reason(void **state)
{
    struct collected c = {.hr = S_OK};
    (void)state;
#ifdef _WIN32
    if (!os_is_wine())
        skip(); /* the host OS would search for the computer */
#endif
    assert_int_equal(texts_add(&c.request.registry_keys, "\\\\OTHER\\HKEY_LOCAL_MACHINE\\Software\\A"), S_OK);
    assert_int_equal(texts_add(&c.request.registry_keys, "\\\\OTHER\\HKEY_LOCAL_MACHINE\\Software\\A\\\\"), S_OK);
    collect(&c);
    check_xpath(c.doc, "count(//Item[Data[@name='result']='0x80070032' and contains(Data[@name='error'], 'OTHER')])",
                "2");
    collected_end(&c);
}

static void view_with_32_bits_can_be_requested(void **state)
{
    struct collected c = {.hr = S_OK};
    struct registry_key *key;
    bool is_new;
    (void)state;
    char *path = text_format("SOFTWARE\\Wow6432Node\\%s\\Below", top + sizeof "SOFTWARE");
    assert_int_equal(registry_create(path, &is_new, &key), S_OK);
    assert_int_equal(registry_write(key, "Of32", REGISTRY_NUMBER, "\x20\0\0\0", 4), S_OK);
    registry_close(key);
    put("\\Below", "Of64", REGISTRY_NUMBER, "\x40\0\0\0", 4);
    ask(&c, "\\Below\\ /reg:32");
    ask(&c, "\\\\");
    ask(&c, "\\\\ /reg:32");
    collect(&c);
    path[strlen(path) - sizeof "Below"] = 0;
    assert_int_equal(registry_delete(path), S_OK);
    memory_free(path);
    check_xpath(c.doc, "string(//Table[1]/Item/Data[@name='value'])", "32");
    check_xpath(c.doc, "string(//Table[2]/Item[Data='Of64']/Data[@name='value'])", "64");
    check_xpath(c.doc, "count(//Table[2]/Item[Data='Of32'])", "0");
    check_xpath(c.doc, "string(//Table[3]/Item[Data='Of32']/Data[@name='value'])", "32");
    check_xpath(c.doc, "count(//Table[3]/Item[Data='Of64'])", "0");
    collected_end(&c);
}

/* Registry links can lead anywhere, also in circles. */
static void links_are_recorded_and_not_followed(void **state);

#ifdef _WIN32
#include <windows.h>
#include <winternl.h>

NTSTATUS NTAPI NtDeleteKey(HANDLE key);

static void links_are_recorded_and_not_followed(void **state)
{
    struct collected c = {.hr = S_OK};
    WCHAR *wide, *target;
    HKEY handle, link;
    size_t units;
    (void)state;
    put("\\Real", "A", REGISTRY_NUMBER, "\1\0\0\0", 4);
    char *path = text_format("%s\\Real", top), *text = text_format("\\Registry\\Machine\\%s", top);
    assert_int_equal(text_to_utf16(path, &wide, NULL), S_OK);
    assert_int_equal(text_to_utf16(text, &target, &units), S_OK);
    assert_int_equal(RegOpenKeyExW(HKEY_LOCAL_MACHINE, wide, 0, KEY_ALL_ACCESS, &handle), 0);
    assert_int_equal(
        RegCreateKeyExW(handle, L"Back", 0, NULL, REG_OPTION_CREATE_LINK, KEY_ALL_ACCESS, NULL, &link, NULL), 0);
    assert_int_equal(RegSetValueExW(link, L"SymbolicLinkValue", 0, REG_LINK, (const BYTE *)target, (DWORD)(2 * units)),
                     0);
    ask(&c, "\\\\");
    ask(&c, "\\Real\\Back\\Real\\Back\\Real\\A"); /* a path can pass through links */
    collect(&c);
    assert_int_equal(NtDeleteKey(link), 0);
    check_xpath(c.doc, "count(//Table[1]/Item)", "3"); /* the top key, value A in Real, and the link */
    check_xpath(c.doc, "string(//Table[1]/Item[Data='REG_LINK']/Data[@name='value'])", text);
    check_xpath(c.doc, "string(//Table[2]/Item/Data[@name='value'])", "1");
    RegCloseKey(link);
    RegCloseKey(handle);
    memory_free(wide);
    memory_free(target);
    memory_free(text);
    memory_free(path);
    collected_end(&c);
}

/* A key that cannot be read gets an entry; its sibling keys are collected. */
static void keys_without_access_are_named(void **state)
{
    static const struct {
        ACL acl;
    } nobody = {{ACL_REVISION, 0, sizeof(ACL), 0, 0}};
    struct collected c = {.hr = S_OK};
    SECURITY_DESCRIPTOR none;
    HKEY handle;
    WCHAR *wide;
    (void)state;
    put("\\A", "A", REGISTRY_NUMBER, "\1\0\0\0", 4);
    put("\\Closed", "B", REGISTRY_NUMBER, "\2\0\0\0", 4);
    put("\\Z", "Z", REGISTRY_NUMBER, "\3\0\0\0", 4);
    char *path = text_format("%s\\Closed", top);
    assert_int_equal(text_to_utf16(path, &wide, NULL), S_OK);
    assert_int_equal(RegOpenKeyExW(HKEY_LOCAL_MACHINE, wide, 0, KEY_ALL_ACCESS, &handle), 0);
    InitializeSecurityDescriptor(&none, SECURITY_DESCRIPTOR_REVISION);
    SetSecurityDescriptorDacl(&none, TRUE, (PACL)(uintptr_t)&nobody.acl, FALSE);
    assert_int_equal(RegSetKeySecurity(handle, DACL_SECURITY_INFORMATION, &none), 0);
    ask(&c, "\\\\");
    collect(&c);
    SetSecurityDescriptorDacl(&none, TRUE, NULL, FALSE);
    assert_int_equal(RegSetKeySecurity(handle, DACL_SECURITY_INFORMATION, &none), 0);
    RegCloseKey(handle);
    check_xpath(c.doc, OF("A", "value"), "1");
    check_xpath(c.doc, OF("Z", "value"), "3");
    check_xpath(c.doc, "count(//Item[Data='B'])", "0");
    check_xpath(c.doc, "count(//Item[Data[@name='result']='0x80070005' and contains(Data[@name='key'], 'Closed')])",
                "1");
    memory_free(wide);
    memory_free(path);
    collected_end(&c);
}
#else
static void links_are_recorded_and_not_followed(void **state)
{
    struct collected c = {.hr = S_OK};
    (void)state;
    put("\\Real\\Back", REGISTRY_LINK_VALUE, REGISTRY_LINK, u"\\Registry", 18);
    put("\\Real\\Back\\Deep", "A", REGISTRY_NUMBER, "\1\0\0\0", 4);
    ask(&c, "\\\\");
    collect(&c);
    check_xpath(c.doc, "count(//Item)", "3");
    check_xpath(c.doc, "string(//Item[Data='REG_LINK']/Data[@name='value'])", "\\Registry");
    collected_end(&c);
}
#endif

/* The depth of nested keys is limited. */
static void depth_limit_ends_a_branch(void **state)
{
    struct collected c = {.hr = S_OK};
    struct text_buffer b = {.length = 0};
    (void)state;
    for (int i = 0; i < 515; i++)
        text_buffer_add(&b, "\\k");
    char *deep = text_buffer_take(&b);
    put(deep, "A", REGISTRY_NUMBER, "\1\0\0\0", 4);
    memory_free(deep);
    ask(&c, "\\\\");
    collect(&c);
    check_xpath(c.doc, "count(//Item[Data='key'])", "513");
    check_xpath(c.doc, "count(//Item)", "514");
    check_xpath(c.doc, "contains(//Item[514]/Data[@name='error'], 'are skipped')", "true");
    collected_end(&c);
}

/* ---- a registry that changes, and a stop during the collection ---- */

static struct {
    unsigned calls, at; /* performs the action at call number `at` of registry_value_at */
    enum { NOTHING, DELETE_ALL, STOP } what;
    atomic_bool *stop;
} change;

HRESULT __real_registry_value_at(struct registry_key *key, uint32_t index, struct registry_entry *out);
HRESULT __wrap_registry_value_at(struct registry_key *key, uint32_t index, struct registry_entry *out);

HRESULT __wrap_registry_value_at(struct registry_key *key, uint32_t index, struct registry_entry *out)
{
    if (++change.calls == change.at && change.what == DELETE_ALL)
        registry_delete(top);
    if (change.calls == change.at && change.what == STOP)
        atomic_store(change.stop, true);
    return __real_registry_value_at(key, index, out);
}

static void keys_that_vanish_are_named(void **state)
{
    (void)state;
    for (unsigned at = 1; at <= 4; at++) {
        struct collected c = {.hr = S_OK};
        put("\\A", "A", REGISTRY_NUMBER, "\1\0\0\0", 4);
        put("\\B", "B", REGISTRY_NUMBER, "\2\0\0\0", 4);
        put("", "T", REGISTRY_NUMBER, "\3\0\0\0", 4);
        change.calls = 0;
        change.at = at;
        change.what = DELETE_ALL;
        ask(&c, "\\\\");
        assert_int_equal(texts_add(&c.request.registry_keys, "HKEY_LOCAL_MACHINE\\SOFTWARE\\NoSuchKey\\"), S_OK);
        collect(&c);
        change.what = NOTHING;
        check_xpath(c.doc, "count(//Table)", "2");
        check_xpath(c.doc, "count(//Table[1]/Item[Data[@name='result']='0x800703FA'])>0", "true");
        check_xpath(c.doc, "contains(//Table[1]/Item[last()]/Data[@name='error'], 'OpenPLA test')", "true");
        collected_end(&c);
    }
}

static void stop_takes_effect_at_the_next_value(void **state)
{
    struct collected c = {.hr = S_OK};
    (void)state;
    struct registry_key *key = made("");
    for (int i = 0; i < 3000; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        assert_int_equal(registry_write(key, name, REGISTRY_NUMBER, "\1\0\0\0", 4), S_OK);
    }
    registry_close(key);
    change.calls = 0;
    change.at = 1000;
    change.what = STOP;
    change.stop = &c.stop;
    ask(&c, "\\\\");
    ask(&c, "\\v1");
    collect(&c);
    change.what = NOTHING;
    assert_int_equal(change.calls, 1000);
    check_xpath(c.doc, "count(//Item)", "1000");
    check_xpath(c.doc, "count(//Table)", "1");
    collected_end(&c);
}

static void request_all_forms(struct collected *c)
{
    ask(c, "\\\\");
    ask(c, "\\A /reg:64");
    ask(c, "\\None\\None");
    ask(c, "\\\\A");
}

static void out_of_memory_ends_the_collection(void **state)
{
    (void)state;
    put("", "A", REGISTRY_NUMBER, "\1\0\0\0", 4);
    put("\\B", "Texts", REGISTRY_TEXTS, u"a\0b\0", 10);
    put("\\Link", REGISTRY_LINK_VALUE, REGISTRY_TEXT, u"a", 4);
    assert_true(collect_without_memory(configuration_collect_registry, request_all_forms) > 30);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_type_is_shown_correctly, forget),
        cmocka_unit_test_teardown(huge_values_are_named, forget),
        cmocka_unit_test_teardown(each_form_requests_the_right_keys_or_values, forget),
        cmocka_unit_test_teardown(depth_is_relative_to_the_key, forget),
        cmocka_unit_test_teardown(unreadable_values_are_entries, forget),
        cmocka_unit_test(other_computers_are_rejected_with_the_reason),
        cmocka_unit_test_teardown(view_with_32_bits_can_be_requested, forget),
        cmocka_unit_test_teardown(links_are_recorded_and_not_followed, forget),
#ifdef _WIN32
        cmocka_unit_test_teardown(keys_without_access_are_named, forget),
#endif
        cmocka_unit_test_teardown(depth_limit_ends_a_branch, forget),
        cmocka_unit_test_teardown(keys_that_vanish_are_named, forget),
        cmocka_unit_test_teardown(stop_takes_effect_at_the_next_value, forget),
        cmocka_unit_test_teardown(out_of_memory_ends_the_collection, forget),
    };
    char *name = text_format("SOFTWARE\\OpenPLA test %u", (unsigned)process_own_id());
    text_fit(top, sizeof top, name);
    memory_free(name);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
