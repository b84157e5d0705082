/* SPDX-License-Identifier: MIT */
/* The settings that OpenPLA adds to a set. Tests the effect of mistyped values, and that all rows are complete. */
#include "engine/base/memory.h"
#include "engine/pla/settings.h"
#include "engine/pla/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static struct object *set_with(const char *key, const char *value)
{
    struct object *set;
    assert_int_equal(set_create(&set), S_OK);
    if (value)
        assert_int_equal(set_put_value(set, key, value), S_OK);
    return set;
}

static void read_as(enum setting_number which, const char *value, HRESULT wanted, uint32_t number)
{
    struct object *set = set_with(settings[which].key, value);
    uint32_t out = 77;
    assert_int_equal(setting_read(set, which, &out), wanted);
    assert_int_equal(out, number);
    object_release(set);
}

static void invalid_values_mean_the_default(void **state)
{
    (void)state;
    read_as(SETTING_Restart, NULL, S_OK, RESTART_NEVER);
    read_as(SETTING_Restart, "boot", S_OK, RESTART_BOOT);
    read_as(SETTING_Restart, "ALWAYS", S_OK, RESTART_ALWAYS);
    read_as(SETTING_Restart, "sometimes", E_INVALIDARG, RESTART_NEVER);
    assert_string_equal(error_text(E_INVALIDARG),
                        "invalid value 'sometimes': expected one of never, boot, always (using never)");
    read_as(SETTING_StopAtExpiry, "Yes", S_OK, STOP_AT_EXPIRY_YES);
    read_as(SETTING_StopAtExpiry, "1", E_INVALIDARG, STOP_AT_EXPIRY_NO);
    read_as(SETTING_NewInstancesFile, NULL, S_OK, 0);
    read_as(SETTING_NewInstancesFile, "4294967295", S_OK, UINT32_MAX);
    read_as(SETTING_NewInstancesFile, "4294967296", E_INVALIDARG, 0);
    read_as(SETTING_AlertOn, "Each Sample", S_OK, ALERT_ON_SAMPLE);
    read_as(SETTING_AlertOn, "CROSSING", S_OK, ALERT_ON_CROSSING);
    read_as(SETTING_NewInstancesFile, "-1", E_INVALIDARG, 0);
    assert_string_equal(error_text(E_INVALIDARG),
                        "OpenPLA.NewInstancesFile: invalid value '-1': expected a number of seconds");
}

static size_t reported(const char *key, const char *value, HRESULT wanted)
{
    struct object *set = set_with(key, value), *issues;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(settings_validate(set, issues), wanted);
    size_t count = collection_count(issues);
    object_release(issues);
    object_release(set);
    return count;
}

/* If a word is invalid, Commit must report it and store the set. If a number is invalid, Commit must fail. The results
   of a run are not settings. */
static void commit_reports_invalid_values(void **state)
{
    (void)state;
    assert_int_equal(reported("openpla.RESTART", "boot", S_OK), 0);
    assert_int_equal(reported("openpla.RESTART", "booot", S_OK), 1);
    assert_int_equal(reported("OpenPLA.NewInstancesFile", "60", S_OK), 0);
    assert_int_equal(reported("OpenPLA.NewInstancesFile", "60 s", E_INVALIDARG), 0);
    assert_int_equal(reported("OpenPLA.LastRunResult", "anything", S_OK), 0);
    assert_int_equal(reported("OpenPLA.Other", "anything", S_OK), 0);
}

static void distance_is(const char *value, HRESULT wanted, double number, bool percent)
{
    struct object *set = set_with("OpenPLA.AlertHysteresis", value);
    double out;
    bool relative;
    assert_int_equal(setting_read_distance(set, "any", SETTING_AlertHysteresis, &out, &relative), wanted);
    assert_true(out == number && relative == percent);
    object_release(set);
}

/* If "5 %" was read as 5 MB, the state of an alert would never become normal again. */
static void hysteresis_is_a_number_or_a_percentage(void **state)
{
    static const char *const bad[] = {"", "%", "-1", "5 %%", "0x10", "1e3", "nan", "five", ".", "5;"};
    (void)state;
    distance_is(NULL, S_OK, 0, false);
    distance_is("0", S_OK, 0, false);
    distance_is(" 12.5 ", S_OK, 12.5, false);
    distance_is("10%", S_OK, 10, true);
    distance_is("10 % ", S_OK, 10, true);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        distance_is(bad[i], E_INVALIDARG, 0, false);
    assert_int_equal(reported("OpenPLA.AlertHysteresis", "far", E_INVALIDARG), 0);
    assert_string_equal(error_text(E_INVALIDARG), "OpenPLA.AlertHysteresis: invalid value 'far': expected a number "
                                                  "such as 12.5, or a percentage of the threshold such as 10%");
}

static struct object *add_alert(struct object *set, const char *name)
{
    struct object *alert;
    assert_int_equal(object_create(&alert_collector_class, NULL, &alert), S_OK);
    assert_int_equal(object_put_text(alert, class_property(&alert_collector_class, "Name"), name), S_OK);
    assert_int_equal(collection_add(set_of(set)->DataCollectors, alert), S_OK);
    object_release(alert);
    return set;
}

/* Two alerts in a set can have different settings: one is reported immediately, the other after a minute. A mistyped
   name of a collector must be reported. */
static void collector_can_have_its_own_settings(void **state)
{
    uint32_t seconds, on;
    char *text;
    struct object *issues, *set = add_alert(set_with("OpenPLA.AlertHoldOff", "60"), "Disk [C]");
    (void)state;
    assert_int_equal(set_put_value(set, "OpenPLA.AlertHoldOff[Disk [C]]", "5"), S_OK);
    assert_int_equal(set_put_value(set, "openpla.alertmessage[disk [c]]", "low"), S_OK);
    assert_int_equal(setting_read_of(set, "Disk [C]", SETTING_AlertHoldOff, &seconds), S_OK);
    assert_int_equal(seconds, 5);
    assert_int_equal(setting_read_of(set, "Other", SETTING_AlertHoldOff, &seconds), S_OK);
    assert_int_equal(seconds, 60);
    assert_int_equal(setting_read_of(set, "Other", SETTING_AlertOn, &on), S_OK);
    assert_int_equal(on, ALERT_ON_SAMPLE);
    assert_int_equal(setting_read_text(set, "Disk [C]", SETTING_AlertMessage, &text), S_OK);
    assert_string_equal(text, "low");
    memory_free(text);
    assert_int_equal(setting_read_text(set, "Other", SETTING_AlertMessage, &text), S_OK);
    assert_string_equal(text, "");
    memory_free(text);
    assert_int_equal(set_put_value(set, "OpenPLA.ExportUrl", "http://one"), S_OK);
    assert_int_equal(set_put_value(set, "OpenPLA.ExportUrl[]", "http://two"), S_OK);
    assert_int_equal(setting_read_text(set, NULL, SETTING_ExportUrl, &text), S_OK);
    assert_string_equal(text, "http://one");
    memory_free(text);
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(settings_validate(set, issues), S_OK);
    assert_int_equal(collection_count(issues), 0);
    assert_int_equal(set_put_value(set, "OpenPLA.AlertOn[Disk C]", "crossing"), S_OK);
    assert_int_equal(set_put_value(set, "OpenPLA.AlertOn[Disk [C]]", "always"), S_OK);
    assert_int_equal(settings_validate(set, issues), S_OK);
    assert_int_equal(collection_count(issues), 2);
    assert_int_equal(set_put_value(set, "OpenPLA.AlertSamples[Disk [C]]", "some"), S_OK);
    assert_int_equal(settings_validate(set, issues), E_INVALIDARG);
    object_release(issues);
    object_release(set);
}

/* GetValue returns the results of a run in this form. */
static void run_results_are_read_by_key(void **state)
{
    struct run_record record = {.last_message = (char[]){"one counter"}, .last_result = E_ACCESSDENIED};
    const struct latest_run run = {"Service", "a set that never ran", &record};
    (void)state;
    assert_null(setting_find("OpenPLA.LastRun"));
    assert_null(setting_find("Restart"));
    char *text = setting_find("openpla.lastrunresult")->of_run(&run);
    assert_string_equal(text, "0x80070005");
    memory_free(text);
    text = setting_find("OpenPLA.LastRunMessage")->of_run(&run);
    assert_string_equal(text, "one counter");
    memory_free(text);
    text = setting_find("OpenPLA.Figures")->of_run(&run);
    assert_string_equal(text, "");
    memory_free(text);
}

/* If a row did not have exactly one type, its value would be read wrongly. */
static void every_row_has_one_type_and_a_description(void **state)
{
    (void)state;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting *s = &settings[i];
        assert_int_equal((s->words != NULL) + (s->unit != NULL) + s->distance + s->text + (s->of_run != NULL), 1);
        assert_ptr_equal(setting_find(s->key), s);
        assert_true(strlen(s->doc) > 20);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_values_mean_the_default),
        cmocka_unit_test(commit_reports_invalid_values),
        cmocka_unit_test(hysteresis_is_a_number_or_a_percentage),
        cmocka_unit_test(collector_can_have_its_own_settings),
        cmocka_unit_test(run_results_are_read_by_key),
        cmocka_unit_test(every_row_has_one_type_and_a_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
