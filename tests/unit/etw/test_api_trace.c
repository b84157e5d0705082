/* SPDX-License-Identifier: MIT */
/* API tracing without a traced program: the selection of functions, the text of calls, and the effects of a program's
   corrupt settings and tables. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/api_trace.h"
#include "engine/etw/api_trace/api_call_text.h"
#include "engine/etw/api_trace/api_image.h"
#include "engine/etw/decode/manifest/wevt_template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

/* ---- names ---- */

static void assert_canonical(const char *name, const char *expected)
{
    char *made = path_api_name(name);
    assert_string_equal(made, expected);
    memory_free(made);
}

/* Microsoft's pages write kernel32.dll!X and advapi32!X, and modules as paths. */
static void equal_names_have_one_form(void **state)
{
    (void)state;
    assert_canonical("C:\\Windows\\System32\\KERNEL32.DLL", "kernel32");
    assert_canonical("kernel32.dll!TlsGetValue", "kernel32!tlsgetvalue");
    assert_canonical("c:/x/Advapi32!RegQueryValueExW", "advapi32!regqueryvalueexw");
    assert_canonical("foo.drv", "foo.drv");
    assert_canonical(".dll", ".dll");
    assert_canonical("", "");
    assert_canonical("a.dll!b\\c.dll", "a!b\\c.dll");
}

/* ---- settings ---- */

static struct api_settings settings_of(const char *module, const char *include, const char *exclude)
{
    struct api_settings s = {.flags = API_TRACE_ARGUMENTS, .cycles_per_second = 7, .program = text_copy("C:\\x.exe")};
    struct texts modules = {0}, in = {0}, out = {0};
    if (module)
        assert_int_equal(texts_add(&modules, module), S_OK);
    if (include)
        assert_int_equal(texts_add(&in, include), S_OK);
    if (exclude)
        assert_int_equal(texts_add(&out, exclude), S_OK);
    assert_int_equal(api_settings_add_modules(&s, &modules), S_OK);
    assert_int_equal(api_settings_add_apis(&s.include, &in, "IncludeApis"), S_OK);
    assert_int_equal(api_settings_add_apis(&s.exclude, &out, "ExcludeApis"), S_OK);
    texts_free(&modules);
    texts_free(&in);
    texts_free(&out);
    return s;
}

/* Included functions also select functions outside the included modules; excluded functions take precedence. */
static void functions_are_selected_by_module_and_name(void **state)
{
    (void)state;
    struct api_settings s = settings_of("C:\\w\\Kernel32.dll", "ole32!CoInitialize", "KERNEL32.dll!Sleep");
    const enum api_module_use all = api_settings_module(&s, "kernel32"), some = api_settings_module(&s, "ole32");
    assert_int_equal(all, API_MODULE_ALL);
    assert_int_equal(some, API_MODULE_SOME);
    assert_int_equal(api_settings_module(&s, "ole"), API_MODULE_UNUSED);
    assert_int_equal(api_settings_module(&s, "ole32x"), API_MODULE_UNUSED);
    assert_true(api_settings_has(&s, all, "kernel32!beep"));
    assert_false(api_settings_has(&s, all, "kernel32!sleep"));
    assert_true(api_settings_has(&s, some, "ole32!coinitialize"));
    assert_false(api_settings_has(&s, some, "ole32!couninitialize"));
    api_settings_free(&s);
}

static void a_name_without_a_module_is_rejected(void **state)
{
    (void)state;
    static const char *const bad[] = {"Sleep", "!Sleep", "kernel32!", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct texts in = {.count = 1, .items = (char **)&bad[i]}, out = {0};
        assert_int_equal(api_settings_add_apis(&out, &in, "IncludeApis"), E_INVALIDARG);
        assert_non_null(strstr(error_text(E_INVALIDARG), "IncludeApis: invalid function"));
        texts_free(&out);
    }
}

/* Traced programs can write to the section: its contents are validated before use. */
static void corrupt_settings_are_rejected(void **state)
{
    (void)state;
    struct api_settings s = settings_of("user32", "b!c", "d!e"), again;
    struct text_buffer b = {0};
    assert_int_equal(api_settings_write(&s, &b), S_OK);
    assert_int_equal(api_settings_read((const uint8_t *)b.text, b.length, &again), S_OK);
    assert_string_equal(again.program, "C:\\x.exe");
    assert_string_equal(again.modules.items[0], "user32");
    assert_string_equal(again.include.items[0], "b!c");
    assert_string_equal(again.exclude.items[0], "d!e");
    assert_true(again.cycles_per_second == 7 && again.flags == API_TRACE_ARGUMENTS);
    api_settings_free(&again);
    for (size_t size = 0; size < b.length; size++) {
        uint8_t *copy = memory_alloc(size + 1);
        memcpy(copy, b.text, size);
        assert_int_equal(api_settings_read(copy, size, &again), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
        memory_free(copy);
    }
    for (size_t at = 0; at < b.length; at++)
        for (int value = 0; value < 256; value += 51) {
            const char kept = b.text[at];
            b.text[at] = (char)value;
            if (SUCCEEDED(api_settings_read((const uint8_t *)b.text, b.length, &again)))
                api_settings_free(&again);
            b.text[at] = kept;
        }
    memory_free(b.text);
    api_settings_free(&s);
}

/* ---- exclusive tracing of a program ---- */

static void assert_open(struct api_trace *claimed, const char *program, const char *include, HRESULT expected,
                        struct api_trace **out)
{
    struct api_settings s = settings_of("kernel32", include, NULL);
    memory_free(s.program);
    s.program = text_copy(program);
    assert_int_equal(api_trace_open(&s, claimed, out), expected);
    api_settings_free(&s);
}

/* If two sets traced one program, each would get half of its calls. */
static void program_is_traced_by_one_set(void **state)
{
    (void)state;
    struct api_trace *first, *second, *other, *same, *changed;
    assert_open(NULL, "C:\\a\\Claimed.exe", NULL, S_OK, &first);
    assert_open(NULL, "c:\\A\\claimed.EXE", NULL, PLA_E_EXE_ALREADY_CONFIGURED, &second);
    assert_non_null(strstr(error_text(PLA_E_EXE_ALREADY_CONFIGURED), "claimed.EXE"));
    assert_open(NULL, "C:\\b\\Claimed.exe", NULL, S_OK, &other);
    assert_open(first, "C:\\a\\Claimed.exe", NULL, S_OK, &same);
    assert_ptr_equal(same, first); /* a new segment changes nothing in the program */
    assert_open(first, "C:\\a\\Claimed.exe", "ole32!CoInitialize", S_OK, &changed);
    assert_ptr_not_equal(changed, first);
    assert_string_not_equal(api_trace_filter(changed)->section, api_trace_filter(first)->section);
    api_trace_close(first);
    api_trace_close(same);
    assert_open(NULL, "C:\\a\\Claimed.exe", NULL, PLA_E_EXE_ALREADY_CONFIGURED, &second);
    api_trace_close(changed);
    assert_open(NULL, "C:\\a\\Claimed.exe", NULL, S_OK, &second);
    api_trace_close(second);
    api_trace_close(other);
}

/* ---- calls as text ---- */

static const char *call_text(const char *name, const uint64_t *arguments, const double *reals)
{
    static char out[API_TEXT_ROOM];
    uint8_t xmm[4][16] = {{0}};
    struct api_signature s;
    for (int i = 0; reals && i < 4; i++)
        memcpy(xmm[3 - i], &reals[i], sizeof *reals);
    if (!api_signature_find(name, &s))
        return NULL;
    const struct api_registers registers = {.xmm0 = xmm[3]};
    const size_t bytes = api_arguments_text(&s, arguments, &registers, out);
    assert_int_equal(bytes, strlen(out) + 1);
    assert_true(bytes <= API_TEXT_ROOM);
    return out;
}

static void arguments_are_read_by_their_types(void **state)
{
    (void)state;
    static const uint16_t wide[] = {'a', '"', '\\', 0x20AC, 0};
    const uint64_t create[] = {(uintptr_t)wide, 0x80000000, UINT64_C(0xFFFFFFFF00000003), 0, 3, 0x80, 0};
    assert_string_equal(call_text("CreateFileW", create, NULL),
                        "L\"a\\\"\\\\\\u20ac\", 0x80000000, 0x3, NULL, 3, 0x80, NULL");
    assert_string_equal(call_text("GetTickCount", create, NULL), "");
    const uint64_t muldiv[] = {UINT64_C(0xFFFFFFFF), 7, 0x80000000};
    assert_string_equal(call_text("MulDiv", muldiv, NULL), "-1, 7, -2147483648");
    const uint64_t message[] = {0x1000, 18, UINT64_MAX, UINT64_MAX - 4};
    assert_string_equal(call_text("SendMessageW", message, NULL), "0x1000, 18, 18446744073709551615, -5");
    const uint64_t wide_number[] = {3, UINT64_C(12345678901234567890), 0x1000};
    assert_string_equal(call_text("CoDecodeProxy", wide_number, NULL), "3, 12345678901234567890, 0x1000");
    const uint64_t find[] = {0x1000, (uintptr_t) "Sleep"}, number[] = {0x1000, 42};
    assert_string_equal(call_text("GetProcAddress", find, NULL), "0x1000, \"Sleep\"");
    assert_string_equal(call_text("GetProcAddress", number, NULL), "0x1000, #42");
    const double reals[4] = {1.5, -0.25};
    assert_string_equal(call_text("pow", create, reals), "1.5, -0.25");
    assert_null(call_text("printf", create, NULL));
    assert_null(call_text("NoSuchFunction", create, NULL));
    assert_null(call_text("", create, NULL));
}

/* The text is built in a fixed buffer on the program's stack. */
static void long_arguments_are_cut(void **state)
{
    (void)state;
    char text[400];
    memset(text, 1, sizeof text);
    text[sizeof text - 1] = 0;
    uint64_t arguments[API_ARGUMENTS_MAX];
    for (int i = 0; i < API_ARGUMENTS_MAX; i++)
        arguments[i] = (uintptr_t)text;
    const char *made = call_text("MessageBoxA", arguments, NULL);
    assert_non_null(strstr(made, "\\x01\"..."));
    for (int letter = 'A'; letter <= 'Z'; letter++) {
        static const char kinds[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
        const struct api_signature all = {'v', API_ARGUMENTS_MAX, kinds};
        uint8_t xmm[64] = {0};
        char out[API_TEXT_ROOM];
        text[letter - 'A' + 1] = 0;
        assert_true(api_arguments_text(&all, arguments, &(struct api_registers){.xmm0 = xmm + 48}, out) <=
                    API_TEXT_ROOM);
        text[letter - 'A' + 1] = 1;
    }
}

/* A call near the end of its thread's stack must not end the program. */
static void arguments_of_32_bit_programs_end_with_the_stack(void **state)
{
    (void)state;
    static const uint32_t stack[] = {1, 2, 3, 4};
    static const uint64_t expected[] = {1, UINT64_C(0x300000002), 4};
    const struct api_signature s = {'v', 3, "iqi"}, structure = {'v', 3, "isi"};
    uint64_t values[API_ARGUMENTS_MAX];
    for (unsigned words = 0; words <= 4; words++) {
        uint32_t *copy = memory_copy(stack, words * sizeof *stack + !words);
        const unsigned whole = words == 4 ? 3 : words == 3 ? 2 : words > 0;
        api_arguments_read_32(&s, copy, copy + words, values);
        for (unsigned i = 0; i < 3; i++)
            assert_true(values[i] == (i < whole ? expected[i] : 0));
        memory_free(copy);
    }
    api_arguments_read_32(&s, stack + 1, stack, values);
    assert_true(values[0] == 0);
    api_arguments_read_32(&structure, stack, stack + 4, values);
    assert_true(values[0] == 1 && values[1] == 0 && values[2] == 0);
}

static void assert_result(const char *name, uint64_t result, const char *expected, bool failed)
{
    char out[API_RESULT_ROOM];
    uint8_t xmm[16] = {0};
    struct api_signature s;
    assert_true(api_signature_find(name, &s));
    assert_true(api_result_text(&s, result, &(struct api_registers){.xmm0 = xmm}, out) <= sizeof out);
    assert_string_equal(out, expected);
    assert_int_equal(api_result_failed(&s, result), failed);
}

static void failures_are_recognized_by_their_results(void **state)
{
    (void)state;
    assert_result("CreateFileW", UINT64_MAX, "0xffffffffffffffff", true);
    assert_result("CreateFileW", 0x54, "0x54", false);
    assert_result("CloseHandle", UINT64_C(0xFFFFFFFF00000000), "0", true);
    assert_result("CloseHandle", 1, "1", false);
    assert_result("RegOpenKeyExW", 2, "2", true);
    assert_result("CoCreateInstance", 0x80004005, "0x80004005", true);
    assert_result("NtClose", 0xC0000008, "0xc0000008", true);
    assert_result("Sleep", 77, "", false);
    assert_result("GetTickCount64", UINT64_MAX, "18446744073709551615", false);
}

/* ---- tables of modules ---- */

enum { IMAGE = 0x3000, PE = 0x80, EXPORTS = 0x1000, IMPORTS = 0x1800, TEXT = 0x2000 };

static void put(uint8_t *image, size_t at, uint64_t value, size_t bytes)
{
    memcpy(image + at, &value, bytes);
}

/* Exports Code (code), Data (data) and Other (a forward); imports two functions of a.dll. */
static uint8_t *make_image(void)
{
    uint8_t *image = memory_zero(1, IMAGE);
    memcpy(image, "MZ", 2);
    put(image, 0x3C, PE, 4);
    memcpy(image + PE, "PE\0\0\x64\x86\x02", 7);
    put(image, PE + 20, 0xF0, 2);
    put(image, PE + 24, 0x20B, 2);
    put(image, PE + 80, IMAGE, 4);
    put(image, PE + 132, 16, 4);
    put(image, PE + 136, EXPORTS, 4);
    put(image, PE + 140, 0x200, 4);
    put(image, PE + 144, IMPORTS, 4);
    put(image, PE + 148, 40, 4);
    const size_t sections = PE + 24 + 0xF0;
    put(image, sections + 8, 0x1000, 4);
    put(image, sections + 12, 0x1000, 4);
    put(image, sections + 36, 0x40000040, 4);
    put(image, sections + 48, 0x1000, 4);
    put(image, sections + 52, TEXT, 4);
    put(image, sections + 76, 0x60000020, 4);
    put(image, EXPORTS + 20, 3, 4);
    put(image, EXPORTS + 24, 3, 4);
    put(image, EXPORTS + 28, EXPORTS + 0x40, 4);
    put(image, EXPORTS + 32, EXPORTS + 0x60, 4);
    put(image, EXPORTS + 36, EXPORTS + 0x80, 4);
    put(image, EXPORTS + 0x40, TEXT + 16, 4);
    put(image, EXPORTS + 0x44, 0x1F00, 4);
    put(image, EXPORTS + 0x48, EXPORTS + 0x100, 4);
    for (unsigned i = 0; i < 3; i++) {
        put(image, EXPORTS + 0x60 + 4 * i, EXPORTS + 0xA0 + 8 * i, 4);
        put(image, EXPORTS + 0x80 + 2 * i, i, 2);
    }
    memcpy(image + EXPORTS + 0xA0, "Code\0\0\0\0Data\0\0\0\0Other", 21);
    memcpy(image + EXPORTS + 0x100, "x.Other", 8);
    put(image, IMPORTS + 12, IMPORTS + 0x100, 4);
    put(image, IMPORTS + 16, IMPORTS + 0x80, 4);
    put(image, IMPORTS + 0x80, 0x1111, 8);
    put(image, IMPORTS + 0x88, 0x2222, 8);
    memcpy(image + IMPORTS + 0x100, "a.dll", 6);
    return image;
}

struct taken {
    const struct api_image *image;
    unsigned code, data, forwards, slots;
};

static void take_export(void *user, const struct api_export *found)
{
    struct taken *t = user;
    if (found->forwards)
        t->forwards++;
    else if (api_image_is_code(t->image, found->rva))
        t->code++;
    else
        t->data++;
    assert_true(strlen(found->name) < IMAGE);
}

static void take_slot(void *user, const char *dll, void **slot)
{
    struct taken *t = user;
    t->slots++;
    assert_true((uint8_t *)slot >= t->image->base && (uint8_t *)(slot + 1) <= t->image->base + t->image->size);
    assert_true(strlen(dll) < IMAGE);
}

static bool walk(uint8_t *bytes, struct taken *t)
{
    struct api_image image;
    *t = (struct taken){.image = &image};
    if (!api_image_read(bytes, IMAGE, &image))
        return false;
    const bool exports = api_image_exports(&image, take_export, t);
    return api_image_imports(&image, take_slot, t) && exports;
}

static void exports_and_slots_are_found(void **state)
{
    (void)state;
    struct taken t;
    uint8_t *image = make_image();
    assert_true(walk(image, &t));
    assert_int_equal(t.code, 1);
    assert_int_equal(t.data, 1);
    assert_int_equal(t.forwards, 1);
    assert_int_equal(t.slots, 2);
    /* An address outside the image belongs to another module; the following entries are found nevertheless. */
    put(image, EXPORTS + 0x40, IMAGE + 0x100, 4);
    assert_true(walk(image, &t));
    assert_int_equal(t.code, 0);
    assert_int_equal(t.data, 1);
    assert_int_equal(t.forwards, 2);
    memory_free(image);
}

/* A program that corrupts its tables must not make the tracer access memory outside the image, or loop forever. */
static void corrupt_tables_stay_in_the_image(void **state)
{
    (void)state;
    static const uint32_t values[] = {0, 1, 0x1000, IMAGE - 4, IMAGE, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF};
    struct taken t;
    uint8_t *image = make_image();
    for (size_t at = 0; at + 4 <= IMAGE;
         at +=
         at < 0x200 || (at >= EXPORTS && at < EXPORTS + 0x120) || (at >= IMPORTS && at < IMPORTS + 0x120) ? 2 : 0x100)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            uint8_t kept[4];
            memcpy(kept, image + at, 4);
            memcpy(image + at, &values[i], 4);
            (void)walk(image, &t);
            memcpy(image + at, kept, 4);
        }
    memory_free(image);
}

/* ---- the resources of openapitrace.dll ---- */

static void add_resource(struct text_buffer *to, const char *type, uint16_t language, const uint8_t *bytes, size_t size)
{
    enum { PRIMARY_BITS = 10, A_LINE = 8 };
    assert_int_equal(size % sizeof(uint32_t), 0);
    text_buffer_format(to, "LANGUAGE 0x%x, 0x%x\n1 %s\nBEGIN", language & ((1u << PRIMARY_BITS) - 1),
                       (unsigned)language >> PRIMARY_BITS, type);
    for (size_t i = 0; i < size / sizeof(uint32_t); i++) {
        uint32_t word;
        memcpy(&word, bytes + i * sizeof word, sizeof word);
        text_buffer_format(to, "%s%s0x%XL", i ? "," : "", i % A_LINE ? " " : "\n  ", word);
    }
    text_buffer_add(to, "\nEND\n");
}

/* Windows' tools, and all programs that decode with opentdh.dll, read the messages of API traces from these resources.
   If OPENPLA_WRITE_GOLDEN is set, the test writes the file instead of comparing it. */
static void resources_match_the_manifest(void **state)
{
    struct provider_manifests list;
    struct text_buffer expected = {0};
    uint8_t *bytes;
    char *present;
    size_t size;
    (void)state;
    char *path = text_format("%s/engine/etw/api_trace/api_trace_events.rc", getenv("OPENPLA_SOURCE_DIR"));
    assert_int_equal(manifest_xml_read(api_trace_manifest, api_trace_manifest_size, NULL, &list), S_OK);
    assert_int_equal(list.count, 1);
    text_buffer_add(&expected, "/* SPDX-License-Identifier: MIT */\n"
                               "/* The events of API tracing, compiled from api_trace.man: OPENPLA_WRITE_GOLDEN=1 "
                               "test_api_trace writes this file. */\n");
    assert_int_equal(wevt_template_write(&list, &bytes, &size), S_OK);
    add_resource(&expected, "WEVT_TEMPLATE", 0, bytes, size);
    memory_free(bytes);
    for (size_t i = 0; i < list.items[0]->messages.count; i++) {
        const struct message_language *language = &list.items[0]->messages.items[i];
        uint16_t number;
        assert_true(language_number(language->name, &number));
        assert_int_equal(message_table_write(language, &bytes, &size), S_OK);
        add_resource(&expected, "11", number, bytes, size);
        memory_free(bytes);
    }
    if (getenv("OPENPLA_WRITE_GOLDEN"))
        assert_int_equal(file_store(path, expected.text, expected.length), S_OK);
    assert_int_equal(file_load(path, 1 << 20, &present, &size), S_OK);
    assert_string_equal(present, expected.text);
    memory_free(present);
    memory_free(expected.text);
    memory_free(path);
    provider_manifests_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_names_have_one_form),
        cmocka_unit_test(functions_are_selected_by_module_and_name),
        cmocka_unit_test(a_name_without_a_module_is_rejected),
        cmocka_unit_test(corrupt_settings_are_rejected),
        cmocka_unit_test(program_is_traced_by_one_set),
        cmocka_unit_test(arguments_are_read_by_their_types),
        cmocka_unit_test(long_arguments_are_cut),
        cmocka_unit_test(arguments_of_32_bit_programs_end_with_the_stack),
        cmocka_unit_test(failures_are_recognized_by_their_results),
        cmocka_unit_test(exports_and_slots_are_found),
        cmocka_unit_test(corrupt_tables_stay_in_the_image),
        cmocka_unit_test(resources_match_the_manifest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
