/* SPDX-License-Identifier: MIT */
/* Alert collectors with a PDH whose instances, values and failures the test controls: each value beyond its threshold
   causes one alert per sample, also in the log. */
#include "engine/pla/collect/alert_watch.h"
#include "engine/pla/collect/collect.h"
#include "engine/pla/model.h"
#include "fake_pdh.h"
#include "tests/unit/scratch_folder.h"

struct test {
    char *base, *path;
    struct object *object;
    struct alert_collector *model;
    struct alert_rules rules;
    struct texts heard; /* "> 5 \path 7", "clear ...", "missing \path", "note ..." */
    int woken;
    struct collect_context context;
};

static void record_alert(struct test *t, char *line)
{
    if (line)
        (void)texts_add_owned(&t->heard, line);
}

static void note(void *user, HRESULT reason, const char *subject, const char *text)
{
    record_alert(user, FAILED(reason) ? text_format("missing %s", subject) : text_format("note %s", text));
}

static char *alert(void *user, const struct crossing *c)
{
    record_alert(user, text_format("%s%c %s %s %s", c->clear ? "clear " : "", c->comparison, c->threshold, c->counter,
                                   c->value));
    return text_copy("the message");
}

static void alert_rules(void *user, struct alert_rules *out)
{
    *out = ((struct test *)user)->rules;
}

static void wake(void *user)
{
    ((struct test *)user)->woken++;
}

static void instances(const char *a, const char *b, const char *c)
{
    fake_instances[0] = a;
    fake_instances[1] = b;
    fake_instances[2] = c;
    fake_instances[3] = NULL;
}

static struct object *make_model(void)
{
    struct object *o;
    assert_int_equal(object_create(&alert_collector_class, NULL, &o), S_OK);
    ((struct alert_collector *)o)->SampleInterval = 1;
    return o;
}

static int setup(void **state)
{
    struct test *t = memory_zero(1, sizeof *t);
    if (!t)
        return -1;
    t->base = scratch_create("test_alert_collector");
    t->path = path_join(t->base, "a.csv");
    t->object = make_model();
    t->model = (struct alert_collector *)t->object;
    t->context = (struct collect_context){.output_path = t->path,
                                          .output_base = t->base,
                                          .description = "",
                                          .note = note,
                                          .alert = alert,
                                          .alert_rules = alert_rules,
                                          .wake = wake,
                                          .user = t};
    instances("alpha", "beta", NULL);
    fake_values = NULL;
    fake_no_memory = false;
    fake_list_status = 0;
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct test *t = *state;
    void *base = t->base;
    texts_free(&t->heard);
    object_release(t->object);
    memory_free(t->path);
    memory_free(t);
    scratch_end(&base);
    return fake_open_queries; /* a query that is still open would be a leak in PDH */
}

static void watch(struct object *model, const char *threshold)
{
    assert_int_equal(texts_add(&((struct alert_collector *)model)->AlertThresholds, threshold), S_OK);
}

static struct collector *open_one(struct test *t)
{
    struct collector *c;
    HRESULT hr = collector_open(t->object, &t->context, &c);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    return c;
}

/* Takes a sample and expects its alerts, one per line, unsorted. */
static void assert_alerts(struct test *t, struct collector *c, const char *wanted)
{
    struct text_buffer b = {0};
    texts_free(&t->heard);
    assert_int_equal(collector_sample(c), S_OK);
    for (size_t i = 0; i < t->heard.count; i++)
        text_buffer_format(&b, "%s\n", t->heard.items[i]);
    assert_string_equal(b.text ? b.text : "", wanted);
    text_buffer_free(&b);
}

static size_t rows(const struct test *t)
{
    char *text;
    size_t size, n = 0;
    assert_int_equal(file_load(t->path, 1 << 24, &text, &size), S_OK);
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        n++;
    memory_free(text);
    return n - 1; /* the header */
}

/* Two thresholds for one counter, one threshold for an instance, and one for all instances need only a single query.
   Each alert has the name that the user wrote. */
static void each_threshold_raises_alerts(void **state)
{
    struct test *t = *state;
    const double values[] = {5, 70};
    fake_values = values;
    watch(t->object, "\\Memory\\Free>1.5");
    watch(t->object, "\\Memory\\Free<1.5");
    watch(t->object, "\\Process(beta)\\Count > 60");
    watch(t->object, "\\Process(*)\\Count<71");
    struct collector *c = open_one(t);
    assert_int_equal(collector_interval_ms(c), 1000);
    assert_alerts(t, c, "< 1.5 \\Memory\\Free 1\n> 60 \\Process(beta)\\Count 70\n"); /* wildcards have no value yet */
    assert_alerts(t, c,
                  "> 1.5 \\Memory\\Free 2\n> 60 \\Process(beta)\\Count 70\n"
                  "< 71 \\Process(alpha)\\Count 5\n< 71 \\Process(beta)\\Count 70\n");
    assert_int_equal(rows(t), 6);
    assert_int_equal(fake_open_queries, 1);
    assert_int_equal(collector_close(c), S_OK);
    /* A host process that is prepared before its run opens the collectors without reporting anything. */
    watch(t->object, "\\No\\Counter>1");
    texts_free(&t->heard);
    collector_rehearse(t->object);
    assert_int_equal(t->heard.count, 0);
}

/* An instance that starts later must be watched, and an instance that does not match must not cause an alert. */
static void instances_appear_and_disappear(void **state)
{
    struct test *t = *state;
    const double values[] = {5, 6, 7};
    fake_values = values;
    watch(t->object, "\\Process(b*)\\Count>1");
    struct collector *c = open_one(t);
    assert_alerts(t, c, "");
    assert_alerts(t, c, "> 1 \\Process(beta)\\Count 6\n");
    instances("b2", "alpha", "beta");
    assert_alerts(t, c, "> 1 \\Process(b2)\\Count 5\n> 1 \\Process(beta)\\Count 7\n");
    instances("alpha", NULL, NULL);
    assert_alerts(t, c, "");
    instances(NULL, NULL, NULL);
    assert_alerts(t, c, "");
    instances("beta", NULL, NULL);
    assert_alerts(t, c, "> 1 \\Process(beta)\\Count 5\n");
    assert_int_equal(collector_close(c), S_OK);
}

/* Each instance has a separate state, regardless of its position in the list. */
static void instances_are_distinguished(void **state)
{
    struct test *t = *state;
    const double high[] = {5, 5, 5}, low[] = {5, 0, 5};
    t->rules = (struct alert_rules){.on_crossing = true, .all_clear = true};
    fake_values = high;
    watch(t->object, "\\Process(*)\\Count>1");
    struct collector *c = open_one(t);
    assert_alerts(t, c, "");
    assert_alerts(t, c, "> 1 \\Process(alpha)\\Count 5\n> 1 \\Process(beta)\\Count 5\n");
    fake_values = low;
    assert_alerts(t, c, "clear > 1 \\Process(beta)\\Count 0\n");
    fake_values = high;
    instances("new", "alpha", "beta");
    assert_alerts(t, c, "> 1 \\Process(new)\\Count 5\n> 1 \\Process(beta)\\Count 5\n");
    instances("beta", "new", NULL);
    assert_alerts(t, c, "clear > 1 \\Process(alpha)\\Count \n");
    assert_alerts(t, c, "");
    assert_int_equal(collector_close(c), S_OK);
    assert_int_equal(rows(t), 6);
}

/* If a counter provider fails for one sample, alerts for values beyond the threshold must not be cleared and then
   raised again. */
static void sample_without_instance_list_keeps_alert_state(void **state)
{
    struct test *t = *state;
    const double high[] = {5, 5};
    t->rules = (struct alert_rules){.on_crossing = true, .all_clear = true};
    fake_values = high;
    watch(t->object, "\\Process(*)\\Count>1");
    struct collector *c = open_one(t);
    assert_alerts(t, c, "");
    assert_alerts(t, c, "> 1 \\Process(alpha)\\Count 5\n> 1 \\Process(beta)\\Count 5\n");
    fake_list_status = (PDH_STATUS)PDH_CSTATUS_INVALID_DATA;
    assert_alerts(t, c, "");
    fake_list_status = 0;
    assert_alerts(t, c, "");
    instances(NULL, NULL, NULL);
    assert_alerts(t, c, "clear > 1 \\Process(alpha)\\Count \nclear > 1 \\Process(beta)\\Count \n");
    assert_int_equal(collector_close(c), S_OK);
}

/* A mistyped counter must not disable the others; a service that starts later must be watched. */
static void missing_counter_is_named_and_searched_again(void **state)
{
    struct test *t = *state;
    fake_no_memory = true;
    watch(t->object, "\\Memory\\Free>0");
    watch(t->object, "\\Process(alpha)\\Nonsense>0");
    watch(t->object, "\\Process(beta)\\Count>0.5");
    watch(t->object, "\\nothing>5");
    struct collector *c = open_one(t);
    assert_int_equal(t->heard.count, 3);
    assert_string_equal(t->heard.items[0], "missing \\Memory\\Free");
    assert_string_equal(t->heard.items[1], "missing \\Process(alpha)\\Nonsense");
    assert_string_equal(t->heard.items[2], "missing \\nothing");
    for (int i = 1; i < 10; i++)
        assert_alerts(t, c, "> 0.5 \\Process(beta)\\Count 1\n");
    fake_no_memory = false;
    assert_alerts(t, c,
                  "note \\Memory\\Free: the counter was missing; it exists now and is watched\n"
                  "> 0.5 \\Process(beta)\\Count 1\n> 0 \\Memory\\Free 10\n");
    assert_int_equal(collector_close(c), S_OK);
}

/* SampleInterval in MS-PLA 3.2.4.8: the collector takes a single sample. */
static void collector_without_interval_takes_one_sample(void **state)
{
    struct test *t = *state;
    HRESULT reason;
    t->model->SampleInterval = UINT32_MAX;
    watch(t->object, "\\Memory\\Free>0");
    watch(t->object, "\\Process(alpha)\\Time>0"); /* this rate has no value in the first sample */
    struct collector *c = open_one(t);
    assert_int_equal(collector_end(c, true), ENDS_BY_ITSELF);
    assert_alerts(t, c, "");
    assert_int_equal(collector_poll(c, &reason), COLLECTOR_GOES_ON);
    assert_alerts(t, c, "> 0 \\Memory\\Free 2\n> 0 \\Process(alpha)\\Time 200\n");
    assert_int_equal(collector_poll(c, &reason), COLLECTOR_DONE);
    /* The next segment takes no sample. */
    assert_int_equal(collector_complete(c), S_OK);
    t->context.previous = c;
    struct collector *next = open_one(t);
    assert_int_equal(t->woken, 1);
    assert_int_equal(collector_poll(next, &reason), COLLECTOR_DONE);
    assert_int_equal(collector_close(c), S_OK);
    assert_int_equal(collector_close(next), S_OK);
    t->model->SampleInterval = 5;
    t->context.previous = NULL;
    c = open_one(t);
    assert_int_equal(collector_end(c, true), ENDS_WITH_RUN);
    assert_int_equal(collector_close(c), S_OK);
}

/* A new segment must not report the alert again when nothing has changed. */
static void next_segment_keeps_alert_state(void **state)
{
    struct test *t = *state;
    t->rules = (struct alert_rules){.on_crossing = true};
    watch(t->object, "\\Memory\\Free>0");
    watch(t->object, "\\Process(*)\\Count>0.1");
    struct collector *c = open_one(t);
    assert_alerts(t, c, "> 0 \\Memory\\Free 1\n");
    assert_alerts(t, c, "> 0.1 \\Process(alpha)\\Count 0.25\n> 0.1 \\Process(beta)\\Count 1.25\n");
    assert_int_equal(collector_complete(c), S_OK);
    t->context.previous = c;
    struct collector *next = open_one(t);
    assert_int_equal(collector_close(c), S_OK);
    assert_alerts(t, next, "");
    assert_int_equal(collector_close(next), S_OK);
    assert_int_equal(rows(t), 3);
}

/* Commit with plaUpdateRunningInstance: unchanged thresholds must not be reported again, and a rate must not lose its
   previous sample. */
static void running_collector_accepts_new_thresholds(void **state)
{
    struct test *t = *state;
    t->rules = (struct alert_rules){.on_crossing = true};
    watch(t->object, "\\Memory\\Free>0");
    watch(t->object, "\\Process(alpha)\\Count<7");
    struct collector *c = open_one(t);
    assert_alerts(t, c, "> 0 \\Memory\\Free 1\n< 7 \\Process(alpha)\\Count 0\n");
    struct object *other = make_model();
    watch(other, "\\Process(alpha)\\Time>150");
    watch(other, "\\Memory\\Free>0");
    watch(other, "\\Memory\\Free>1");
    assert_true(collector_hands_over(c, other));
    assert_int_equal(collector_update(c, other), S_OK);
    assert_int_equal(fake_open_queries, 1);
    assert_alerts(t, c, "> 150 \\Process(alpha)\\Time 200\n> 1 \\Memory\\Free 2\n");
    ((struct alert_collector *)other)->SampleInterval = 2;
    assert_int_equal(collector_update(c, other), S_FALSE);
    assert_alerts(t, c, "");
    object_release(other);
    assert_int_equal(collector_close(c), S_OK);
}

/* A full disk, or a user's existing file, must not end the alerts. */
static void log_failure_does_not_stop_alerts(void **state)
{
    struct test *t = *state;
    assert_int_equal(file_store(t->path, "somebody's", 10), S_OK);
    watch(t->object, "\\Memory\\Free>0");
    struct collector *c = open_one(t);
    assert_int_equal(t->heard.count, 1);
    assert_non_null(strstr(t->heard.items[0], "a.csv"));
    assert_alerts(t, c, "> 0 \\Memory\\Free 1\n");
    assert_alerts(t, c, "> 0 \\Memory\\Free 2\n");
    assert_int_equal(file_delete(t->path), S_OK);
    texts_free(&t->heard);
    assert_int_equal(collector_sample(c), S_OK);
    assert_int_equal(t->heard.count, 2);
    assert_non_null(strstr(t->heard.items[1], "can be written again; lost rows: 0"));
    assert_int_equal(rows(t), 3);
    assert_int_equal(collector_close(c), S_OK);
    t->context.output_path = ""; /* OpenPLA.AlertLog is "none" */
    c = open_one(t);
    assert_alerts(t, c, "> 0 \\Memory\\Free 1\n");
    assert_int_equal(collector_close(c), S_OK);
    assert_int_equal(rows(t), 3);
}

/* A full log must not end its alerts; with segments, the next segment continues the log. */
static void full_log_does_not_end_alerts(void **state)
{
    struct test *t = *state;
    HRESULT reason;
    watch(t->object, "\\Memory\\Free>0");
    for (int i = 0; i < 2; i++) {
        t->context.segmented = i;
        t->context.segment_max_mb = 1;
        struct collector *c = open_one(t);
        int n = 0;
        for (; n < 20000 && collector_poll(c, &reason) == COLLECTOR_GOES_ON; n++)
            assert_int_equal(collector_sample(c), S_OK);
        assert_int_equal(collector_close(c), S_OK);
        assert_true(i ? n > 9000 && n < 20000 : n == 20000);
        if (!i)
            assert_true(rows(t) > 1000 && rows(t) < 19000);
    }
}

static void out_of_memory_is_an_error(void **state)
{
    struct test *t = *state;
    struct object *other = make_model();
    t->rules = (struct alert_rules){.on_crossing = true, .all_clear = true};
    watch(t->object, "\\Memory\\Free>0");
    watch(t->object, "\\Process(b*)\\Count>0.1");
    watch(t->object, "\\Process(*)\\None>0.1");
    watch(other, "\\Process(*)\\Count>0.1");
    for (uint64_t n = 1;; n++) {
        struct collector *c;
        memory_fail_at(n);
        HRESULT hr = collector_open(t->object, &t->context, &c), all = hr;
        for (int i = 0; SUCCEEDED(hr) && i < 3; i++) {
            HRESULT one = collector_sample(c);
            all = FAILED(one) ? one : all;
        }
        if (SUCCEEDED(hr)) {
            HRESULT one = collector_update(c, other);
            all = FAILED(one) ? one : all;
            one = collector_sample(c);
            all = FAILED(one) ? one : all;
            uint64_t used = memory_count();
            memory_fail_at(0);
            (void)collector_close(c);
            if (used < n)
                break;
        }
        memory_fail_at(0);
        assert_true(all == S_OK || all == E_OUTOFMEMORY);
        texts_free(&t->heard);
        assert_true(n < 5000);
    }
    object_release(other);
}

/* Out of memory must not clear an alert whose value is still beyond the threshold, nor raise an alert twice. */
static void out_of_memory_clears_no_alert(void **state)
{
    struct test *t = *state;
    const double high[] = {5, 5};
    t->rules = (struct alert_rules){.on_crossing = true, .all_clear = true};
    t->context.output_path = ""; /* no log: if it failed, the test would take that for out of memory */
    fake_values = high;
    watch(t->object, "\\Process(*)\\Count>1");
    watch(t->object, "\\Process(*a#*)\\Count>1"); /* a first instance has the implicit number #0 */
    for (uint64_t n = 1, used = n; n <= used; n++) {
        struct collector *c = open_one(t);
        assert_alerts(t, c, "");
        assert_alerts(t, c,
                      "> 1 \\Process(alpha)\\Count 5\n> 1 \\Process(beta)\\Count 5\n"
                      "> 1 \\Process(alpha)\\Count 5\n> 1 \\Process(beta)\\Count 5\n");
        assert_int_equal(collector_update(c, t->object), S_OK);
        texts_free(&t->heard);
        memory_fail_at(n);
        HRESULT hr = collector_sample(c);
        used = FAILED(hr) ? n + 1 : memory_count();
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
        assert_int_equal(t->heard.count, 0);
        assert_alerts(t, c, "");
        assert_int_equal(collector_close(c), S_OK);
        assert_true(n < 1000);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_threshold_raises_alerts, setup, teardown),
        cmocka_unit_test_setup_teardown(instances_appear_and_disappear, setup, teardown),
        cmocka_unit_test_setup_teardown(instances_are_distinguished, setup, teardown),
        cmocka_unit_test_setup_teardown(sample_without_instance_list_keeps_alert_state, setup, teardown),
        cmocka_unit_test_setup_teardown(missing_counter_is_named_and_searched_again, setup, teardown),
        cmocka_unit_test_setup_teardown(collector_without_interval_takes_one_sample, setup, teardown),
        cmocka_unit_test_setup_teardown(next_segment_keeps_alert_state, setup, teardown),
        cmocka_unit_test_setup_teardown(running_collector_accepts_new_thresholds, setup, teardown),
        cmocka_unit_test_setup_teardown(log_failure_does_not_stop_alerts, setup, teardown),
        cmocka_unit_test_setup_teardown(full_log_does_not_end_alerts, setup, teardown),
        cmocka_unit_test_setup_teardown(out_of_memory_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(out_of_memory_clears_no_alert, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
