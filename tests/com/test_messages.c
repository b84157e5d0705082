/* SPDX-License-Identifier: MIT */
/* Tests the message tables of our DLLs: a program passes a result to FormatMessage, as with Windows' pdh.dll and
   pla.dll; without a message it would show a number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <windows.h>
#include <cmocka.h>
#include <string.h>

static const struct {
    const char *name;
    DWORD number;
    const char *text;
} rows[] = {
#define RESULT_TEXT(name, number, text) {#name, number, text},
#include "engine/base/result_texts.def"
#undef RESULT_TEXT
};

/* Every row of the list with the prefix in its name has a message, and no other result does. */
static void each_result_has_its_text(const char *dll, const char *prefix)
{
    char text[512], wanted[512];
    HMODULE module = LoadLibraryA(dll);
    assert_non_null(module);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_HMODULE | FORMAT_MESSAGE_IGNORE_INSERTS, module,
                                            rows[i].number, 0, text, sizeof text, NULL);
        snprintf(wanted, sizeof wanted, "%s\r\n", strncmp(rows[i].name, prefix, strlen(prefix)) ? "" : rows[i].text);
        if (strcmp(length ? text : "\r\n", wanted) != 0)
            fail_msg("%s: %s: \"%s\"", dll, rows[i].name, length ? text : "");
    }
    FreeLibrary(module);
}

static void pdh_has_messages_for_its_statuses(void **state)
{
    (void)state;
    each_result_has_its_text("openpdh.dll", "PDH_");
}

static void pla_has_messages_for_all_its_results(void **state)
{
    (void)state;
    each_result_has_its_text("openpla.dll", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pdh_has_messages_for_its_statuses),
        cmocka_unit_test(pla_has_messages_for_all_its_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
