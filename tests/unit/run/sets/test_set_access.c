/* SPDX-License-Identifier: MIT */
/* The access check for each verb, each kind of caller and each kind of descriptor. An error here would let a user read,
   change, stop or delete another user's set, or deny access to the owner. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"
#include "engine/pla/definition.h"
#include "engine/pla/sets.h"
#include "tests/unit/callers.h"
#include "tests/unit/file_faults.h"
#include "tests/unit/run/run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define OPEN_TO_ALL "D:(A;;FA;;;WD)"

static struct callers callers;

/* The call that fails in each verb: the nth file operation or, if `memory`, the nth allocation. n 0: no call. */
#define FAULT HRESULT_FROM_WIN32(1117) /* ERROR_IO_DEVICE, which only the simulated faults return */
static struct {
    bool memory;
    uint64_t n, calls;
    struct file_faults files;
} fault;

static void verb_begins(void)
{
    fault.files = (struct file_faults){.at = fault.memory ? 0 : fault.n, .kind = FAULT_ONCE, .hr = FAULT};
    if (!fault.n)
        return;
    file_faults_begin(&fault.files);
    memory_fail_at(fault.memory ? fault.n : 0);
}

static HRESULT verb_ended(HRESULT hr)
{
    if (!fault.n)
        return hr;
    fault.calls = fault.memory ? memory_count() : fault.files.count;
    memory_fail_at(0);
    file_faults_end();
    return hr;
}

static struct object *new_set(void)
{
    struct object *set = NULL;
    assert_int_equal(sets_create(NULL, &set), S_OK);
    return set;
}

static void put_security(struct object *set, const char *security)
{
    struct value v = {.kind = PROPERTY_TEXT, .text = (char *)security};
    assert_int_equal(object_put(set, class_property(set->class, "Security"), &v), S_OK);
}

static char *security_of(struct object *set)
{
    struct value v;
    assert_int_equal(object_get(set, class_property(set->class, "Security"), &v), S_OK);
    return v.text;
}

static HRESULT commit(struct object *set, const struct caller *caller, const char *name, uint32_t mode)
{
    struct object *issues = NULL;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    verb_begins();
    HRESULT hr = verb_ended(set_commit(set, caller, name, "", mode, issues));
    object_release(issues);
    return hr;
}

static struct object *queried(const char *name)
{
    struct object *set = new_set();
    assert_int_equal(set_query(set, &caller_self, name, ""), S_OK);
    return set;
}

/* Writes a set with this Security directly to the store, so that no access check is made. */
static void store(const char *name, const char *security)
{
    char *xml = text_format("<DataCollectorSet><Security>%s</Security></DataCollectorSet>", security);
    assert_int_equal(store_save(&caller_self, SPACE, name, STORE_CREATE_OR_MODIFY, xml, strlen(xml), NULL, NULL), S_OK);
    memory_free(xml);
}

static bool lists(const struct caller *caller, const char *filter)
{
    struct object *sets = NULL;
    assert_int_equal(sets_collection_create(NULL, &sets), S_OK);
    verb_begins();
    HRESULT hr = verb_ended(sets_find(sets, caller, "", filter));
    const bool any = SUCCEEDED(hr) && collection_count(sets) != 0;
    assert_true(SUCCEEDED(hr) || hr == E_ACCESSDENIED || fault.n);
    object_release(sets);
    return any;
}

static HRESULT get_value(const char *name, const struct caller *caller)
{
    struct object *set = queried(name);
    char *value = NULL;
    verb_begins();
    HRESULT hr = verb_ended(sets_get_value(set, caller, "OpenPLA.LastRunMessage", &value));
    memory_free(value);
    object_release(set);
    return hr;
}

/* Commits the stored set again. If `security` is not NULL, changes its Security. */
static HRESULT change(const char *name, const struct caller *caller, const char *security)
{
    struct object *set = queried(name);
    if (security)
        put_security(set, security);
    HRESULT hr = commit(set, caller, name, SETS_MODIFY);
    object_release(set);
    return hr;
}

static HRESULT by_object(const char *name, const struct caller *caller, char verb)
{
    struct object *set = queried(name);
    if (verb != 'F')
        verb_begins();
    HRESULT hr = verb == 'D'   ? verb_ended(set_delete(set, caller))
                 : verb == 'X' ? verb_ended(set_start(set, caller, true))
                 : verb == 'T' ? verb_ended(set_stop(set, caller, true))
                               : commit(set, caller, name, SETS_FLUSH_TRACE);
    object_release(set);
    return hr;
}

static HRESULT query(const char *name, const struct caller *caller)
{
    struct object *set = new_set();
    verb_begins();
    HRESULT hr = verb_ended(set_query(set, caller, name, ""));
    char *bound = NULL;
    struct value v;
    assert_int_equal(object_get(set, class_property(set->class, "Name"), &v), S_OK);
    bound = v.text;
    assert_string_equal(bound, SUCCEEDED(hr) ? name : ""); /* a caller that is rejected gets nothing */
    memory_free(bound);
    object_release(set);
    return hr;
}

static HRESULT ask(char verb, const char *name, const struct caller *caller)
{
    char *filter = text_format(SPACE "\\%s", name);
    HRESULT hr = verb == 'L'   ? lists(caller, filter) ? S_OK : E_ACCESSDENIED
                 : verb == 'Q' ? query(name, caller)
                 : verb == 'V' ? get_value(name, caller)
                 : verb == 'C' ? change(name, caller, NULL)
                 : verb == 'S' ? change(name, caller, OPEN_TO_ALL "(A;;FR;;;AN)")
                               : by_object(name, caller, verb);
    memory_free(filter);
    return hr;
}

/* L list, Q Query, V GetValue, C Commit, S Commit of another Security, D Delete, X Start, T Stop, F flush. */
#define VERBS "LQVCSDXTF"

static const struct {
    const char *security;
    const char *administrator, *user, *logger, *owner; /* the verbs that each caller may use */
} rows[] = {
    {"", VERBS, "", "LQVXTF", ""},
    {SET_DEFAULT_SECURITY, VERBS, "", "LQVXTF", ""},
    {"D:(A;;FA;;;BA)", VERBS, "", "", ""},
    {"D:(A;;FA;;;BA)(A;;0x1200a9;;;LU)", VERBS, "", "LQVXTF", ""},
    {OPEN_TO_ALL, VERBS, VERBS, VERBS, VERBS},
    {"D:(A;;GA;;;WD)", VERBS, VERBS, VERBS, VERBS},
    {"D:(A;;FR;;;WD)", "LQVSD", "LQV", "LQV", "LQV"},
    {"D:(A;;0x1200a9;;;WD)", "LQVSDXTF", "LQVXTF", "LQVXTF", "LQVXTF"},
    {"D:(A;;0x1301ff;;;WD)", VERBS, "LQVCDXTF", "LQVCDXTF", "LQVCDXTF"},
    {"D:(A;;FX;;;WD)", "LQVSDXTF", "XTF", "XTF", "XTF"},
    {"D:(A;;FW;;;WD)", "LQVCSD", "C", "C", "C"},
    {"D:(A;;SD;;;WD)", "LQVSD", "D", "D", "D"},
    {"D:(A;;WD;;;WD)", "LQVSD", "S", "S", "S"},
    {"D:(D;;FA;;;WD)(A;;FA;;;BA)", "LQVSD", "", "", ""},
    {"D:(A;;FA;;;BA)(D;;FA;;;WD)", VERBS, "", "", ""},
    {"D:(D;;FX;;;BA)(A;;FA;;;WD)", "LQVSD", NULL, VERBS, VERBS},
    {"D:", "LQVSD", "", "", ""},
    {"D:(A;IO;FA;;;WD)", "LQVSD", "", "", ""},
    {"D:(A;;FA;;;S-1-5-21-9-9-9-5)", "LQVSD", "", "", ""},
    {"D:(A;;FA;;;" CALLERS_OWNER ")", "LQVSD", "", "", VERBS},
    {"O:" CALLERS_OWNER "D:(A;;0x1;;;SY)", "LQVSD", "", "", "S"},
    {"D:(XA;;FA;;;WD;(1==1))", "LQVSD", "", "", ""},
    /* The property would reject these, but a file may contain them. */
    {"D:NO_ACCESS_CONTROL", VERBS, "", "", ""},
    {"O:BAG:BA", VERBS, "", "", ""},
    {"everybody", VERBS, "", "", ""},
};

static void assert_cell(size_t row, const char *who, const struct caller *caller, const char *expected)
{
    char found[sizeof VERBS] = "";
    const char *name = "matrix";
    for (const char *verb = VERBS; expected && *verb; verb++) {
        char *before, *after;
        size_t size, size_after;
        store(name, rows[row].security);
        assert_int_equal(store_load(&caller_self, SPACE, name, &before, &size), S_OK);
        HRESULT hr = ask(*verb, name, caller);
        const bool refused = hr == E_ACCESSDENIED;
        if (refused && *verb != 'L')
            assert_non_null(strstr(error_text(hr), "'Service\\matrix'"));
        if (refused) { /* the verb must have had no effect */
            assert_int_equal(store_load(&caller_self, SPACE, name, &after, &size_after), S_OK);
            assert_string_equal(after, before);
            memory_free(after);
        } else {
            found[strlen(found)] = *verb;
        }
        memory_free(before);
    }
    print_message("%-48.48s %-13s %s\n", rows[row].security, who, found);
    if (expected && strcmp(found, expected) != 0)
        fail_msg("%s, %s: may %s, not %s", rows[row].security, who, found, expected);
}

static void each_verb_of_each_caller_with_each_descriptor(void **state)
{
    (void)state;
    scratch_environment("OPENPLA_HOST", "no such program"); /* Start fails for callers with access; nothing runs */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_cell(i, "itself", &caller_self,
                    rows[i].security[0] == 'e' || !strncmp(rows[i].security, "O:BAG:BA", 9) ||
                            strstr(rows[i].security, "NO_ACCESS")
                        ? NULL
                        : VERBS);
        assert_cell(i, "administrator", &callers.administrator, rows[i].administrator);
        assert_cell(i, "user", &callers.user, rows[i].user);
        assert_cell(i, "nobody", &callers.nobody, "");
        if (!callers.described)
            continue;
        assert_cell(i, "logger", &callers.logger, rows[i].logger);
        assert_cell(i, "owner", &callers.owner, rows[i].owner);
    }
    assert_int_equal(store_delete(&caller_self, SPACE, "matrix"), S_OK);
}

/* Administrators can create sets, as in MS-PLA. Performance Log Users can create sets too, and change the sets that
   they have created (behaviour 4). */
static void rights_to_create_sets(void **state)
{
    (void)state;
    struct object *set = new_set();
    assert_int_equal(commit(set, &callers.user, "made", SETS_CREATE_NEW), E_ACCESSDENIED);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), "Performance Log Users"));
    assert_int_equal(commit(set, &callers.nobody, "made", SETS_CREATE_NEW), E_ACCESSDENIED);
    assert_int_equal(store_check_access(&callers.administrator, SET_ACCESS_QUERY, SPACE, "made"), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(commit(set, &callers.user, "Autosession\\made", SETS_CREATE_NEW), PLA_E_DCS_SINGLETON_REQUIRED);
    /* If an administrator creates a set, its Security is unchanged. */
    assert_int_equal(commit(set, &callers.administrator, "made", SETS_CREATE_NEW), S_OK);
    char *security = security_of(set);
    assert_string_equal(security, SET_DEFAULT_SECURITY);
    memory_free(security);
    assert_int_equal(set_delete(set, &callers.user), E_ACCESSDENIED);
    assert_int_equal(set_delete(set, &callers.administrator), S_OK);
    object_release(set);
    if (!callers.described)
        return;
    set = new_set();
    put_security(set, "");
    assert_int_equal(sets_set_credentials(set, &callers.logger, "MACHINE\\logger", "secret"), S_OK);
    assert_int_equal(commit(set, &callers.logger, "made", SETS_CREATE_NEW), S_OK);
    security = security_of(set);
    assert_string_equal(security, "O:" CALLERS_LOGGER "G:DUD:(A;;FA;;;SY)(A;;FA;;;BA)(A;;FA;;;" CALLERS_LOGGER
                                  ")(A;;0x1200a9;;;S-1-5-32-559)");
    memory_free(security);
    assert_int_equal(commit(set, &callers.owner, "made", SETS_MODIFY), E_ACCESSDENIED);
    object_release(set);
    /* If the client commits another object with the default Security, it must not lose its own access to the set. */
    set = new_set();
    assert_int_equal(commit(set, &callers.logger, "made", SETS_MODIFY), S_OK);
    assert_int_equal(set_query(set, &callers.logger, "made", ""), S_OK);
    security = security_of(set);
    assert_non_null(strstr(security, "(A;;FA;;;" CALLERS_LOGGER ")"));
    memory_free(security);
    /* If a verb is rejected, the object must be unchanged. */
    put_security(set, SET_DEFAULT_SECURITY);
    assert_int_equal(commit(set, &callers.logger, "made", SETS_CREATE_NEW), PLA_E_DCS_ALREADY_EXISTS);
    security = security_of(set);
    assert_string_equal(security, SET_DEFAULT_SECURITY);
    memory_free(security);
    assert_int_equal(set_delete(set, &callers.logger), S_OK);
    object_release(set);
}

/* System sets can run, but cannot be changed. If no descriptor is registered for a trace session, it has ETW's default
   rights. */
static void sets_that_are_not_stored(void **state)
{
    (void)state;
    scratch_environment("OPENPLA_HOST", "no such program");
    struct object *set = new_set();
    assert_int_equal(set_query(set, &callers.user, "System\\System Performance", ""), E_ACCESSDENIED);
    assert_false(lists(&callers.user, "System\\*"));
    assert_true(lists(&callers.administrator, "System\\*"));
    assert_int_equal(set_query(set, &callers.administrator, "System\\System Performance", ""), S_OK);
    assert_int_equal(set_start(set, &callers.user, true), E_ACCESSDENIED);
    assert_int_equal(set_stop(set, &callers.user, true), E_ACCESSDENIED);
    assert_int_equal(commit(set, &callers.administrator, "System\\System Performance", SETS_MODIFY), E_NOTIMPL);
    assert_int_not_equal(set_start(set, &callers.administrator, true), E_ACCESSDENIED);
    assert_int_equal(set_stop(set, &callers.administrator, true), PLA_E_DCS_NOT_RUNNING);
    if (callers.described) {
        assert_int_equal(set_query(set, &callers.logger, "System\\System Performance", ""), S_OK);
        assert_int_not_equal(set_start(set, &callers.logger, true), E_ACCESSDENIED);
        assert_int_equal(set_stop(set, &callers.logger, true), PLA_E_DCS_NOT_RUNNING);
    }
    object_release(set);
}

static void sessions_start_for_callers_with_trace_rights(void **state)
{
    static const char xml[] =
        "<DataCollectorSet><TraceDataCollector><Name>t</Name></TraceDataCollector></DataCollectorSet>";
    struct object *set = new_set();
    (void)state;
    assert_int_equal(set_from_xml(set, xml, strlen(xml), NULL), S_OK);
    assert_int_equal(commit(set, &callers.user, "Autosession\\gate", SETS_CREATE_NEW), E_ACCESSDENIED);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), "only administrators"));
    assert_int_equal(commit(set, &callers.user, "Session\\gate", SETS_CREATE_NEW), E_ACCESSDENIED);
    assert_int_equal(commit(set, &callers.user, "Session\\gate", SETS_CREATE_NEW | SETS_VALIDATE_ONLY), E_ACCESSDENIED);
    if (callers.described) {
        assert_int_equal(commit(set, &callers.logger, "Autosession\\gate", SETS_CREATE_NEW), E_ACCESSDENIED);
        assert_int_equal(commit(set, &callers.logger, "Session\\gate", SETS_CREATE_NEW), S_OK);
        assert_int_equal(set_start(set, &callers.user, true), E_ACCESSDENIED);
        assert_int_equal(set_start(set, &callers.owner, true), E_ACCESSDENIED);
        /* If a session does not run, only callers that may query it learn this. */
        assert_int_equal(set_stop(set, &callers.user, true), E_ACCESSDENIED);
        assert_int_equal(set_stop(set, &callers.nobody, true), E_ACCESSDENIED);
        assert_int_equal(set_stop(set, &callers.logger, true), PLA_E_DCS_NOT_RUNNING);
    }
    object_release(set);
}

/* Kernel events show the actions of all users, and the server starts sessions with its own rights. If a caller may not
   start a kernel session, the server must not start one for that caller. */
static void kernel_events_are_for_administrators(void **state)
{
#define TRACE(inside)                                                                                                  \
    "<DataCollectorSet><TraceDataCollector><Name>t</Name>" inside "</TraceDataCollector></DataCollectorSet>"
    static const char plain[] = TRACE(""), system_logger[] = TRACE("<ExtendedModes>33554432</ExtendedModes>");
    static const char kernel[] =
        TRACE("<TraceDataProvider><Guid>{9E814AAD-3204-11D2-9A82-006008A86939}</Guid></TraceDataProvider>");
#undef TRACE
    static const char *const asking[] = {kernel, system_logger};
    static const char *const names[] = {"Session\\kernel", "Session\\NT Kernel Logger", "Autosession\\gate"};
    (void)state;
    if (!callers.described)
        return;
    struct object *set = new_set();
    assert_int_equal(set_from_xml(set, plain, strlen(plain), NULL), S_OK);
    assert_int_equal(commit(set, &callers.administrator, "Autosession\\gate", SETS_CREATE_NEW), S_OK);
    object_release(set);
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            set = new_set();
            assert_int_equal(set_from_xml(set, asking[i], strlen(asking[i]), NULL), S_OK);
            assert_int_equal(commit(set, &callers.logger, names[k], 0), E_ACCESSDENIED);
            assert_non_null(strstr(error_text(E_ACCESSDENIED), "requests kernel events"));
            assert_int_equal(commit(set, &callers.logger, names[k], SETS_VALIDATE_ONLY), E_ACCESSDENIED);
            assert_int_equal(commit(set, &callers.administrator, names[k], SETS_VALIDATE_ONLY), S_OK);
            object_release(set);
        }
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++) { /* these values are put after the commit */
        set = new_set();
        assert_int_equal(set_from_xml(set, plain, strlen(plain), NULL), S_OK);
        assert_int_equal(commit(set, &callers.logger, "Session\\gate", SETS_CREATE_NEW), S_OK);
        assert_int_equal(set_from_xml(set, asking[i], strlen(asking[i]), NULL), S_OK);
        assert_int_equal(set_start(set, &callers.logger, true), E_ACCESSDENIED);
        object_release(set);
    }
    set = new_set(); /* the set would be the kernel's session only because of its name */
    assert_int_equal(set_from_xml(set, plain, strlen(plain), NULL), S_OK);
    assert_int_equal(commit(set, &callers.logger, "Session\\NT Kernel Logger", SETS_CREATE_NEW), S_OK);
    assert_int_equal(set_start(set, &callers.logger, true), E_ACCESSDENIED);
    object_release(set);
    set = new_set(); /* a caller with access can query the set and commit it again */
    assert_int_equal(set_from_xml(set, system_logger, strlen(system_logger), NULL), S_OK);
    assert_int_equal(commit(set, &callers.administrator, "Autosession\\gate", SETS_MODIFY), S_OK);
    object_release(set);
    set = queried("Autosession\\gate");
    char *security = security_of(set);
    assert_string_equal(security, "O:BAG:BAD:(A;;0x120fff;;;SY)(A;;0x120fff;;;BA)");
    memory_free(security);
    struct object *issues = NULL;
    bool reported;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_commit(set, &callers.administrator, "Autosession\\gate", "", SETS_MODIFY, issues), S_OK);
    assert_int_equal(issues_has(issues, PLA_S_PROPERTY_IGNORED, "Security", &reported), S_OK);
    assert_false(reported);
    object_release(issues);
    assert_int_equal(set_delete(set, &callers.administrator), S_OK);
    object_release(set);
}

/* A Commit that only validates must make the same access check as a real one, so that the caller sees the rejection
   before. A rejected one must not reveal which sets exist. */
static void validation_checks_access_as_well(void **state)
{
    enum { LOOK_NEW = SETS_CREATE_NEW | SETS_VALIDATE_ONLY, LOOK = SETS_MODIFY | SETS_VALIDATE_ONLY };
    (void)state;
    store("looked", "D:(A;;FA;;;BA)");
    struct object *set = new_set();
    assert_int_equal(commit(set, &callers.user, "looked", LOOK), E_ACCESSDENIED);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), "'Service\\looked'"));
    assert_int_equal(commit(set, &callers.nobody, "looked", LOOK), E_ACCESSDENIED);
    assert_int_equal(commit(set, &callers.user, "new", LOOK_NEW), E_ACCESSDENIED);
    assert_int_equal(commit(set, &callers.administrator, "looked", LOOK), S_OK);
    assert_int_equal(commit(set, &callers.administrator, "new", LOOK_NEW), S_OK);
    if (callers.described) /* the object of the rejected caller must be unchanged */
        assert_int_equal(commit(set, &callers.logger, "new", LOOK_NEW), S_OK);
    char *security = security_of(set);
    assert_string_equal(security, SET_DEFAULT_SECURITY);
    memory_free(security);
    object_release(set);
    assert_int_equal(store_check_access(&caller_self, SET_ACCESS_QUERY, SPACE, "looked"), S_OK);
    assert_int_equal(store_delete(&caller_self, SPACE, "looked"), S_OK);
    assert_int_equal(store_delete(&caller_self, SPACE, "new"), PLA_E_DCS_NOT_FOUND);
}

/* A list must contain only sets that the caller may read. Only administrators see sets whose files are corrupt. */
static void lists_contain_only_readable_sets(void **state)
{
    (void)state;
    store("hidden", "D:(A;;FA;;;BA)");
    store("shown", "D:(A;;FR;;;WD)");
    store("damaged", "D:(A;;FR;;;WD)");
    char *path = store_definition_path(SPACE, "damaged");
    assert_int_equal(file_store(path, "torn", 4), S_OK);
    memory_free(path);
    struct object *sets = NULL;
    struct value name;
    struct object *item;
    assert_int_equal(sets_collection_create(NULL, &sets), S_OK);
    assert_int_equal(sets_find(sets, &callers.user, "", SPACE "\\*"), S_OK);
    assert_int_equal(collection_count(sets), 1);
    assert_int_equal(collection_item(sets, 0, &item), S_OK);
    assert_int_equal(object_get(item, class_property(item->class, "Name"), &name), S_OK);
    assert_string_equal(name.text, "shown");
    memory_free(name.text);
    object_release(item);
    assert_int_equal(sets_find(sets, &callers.administrator, "", SPACE "\\*"), S_OK);
    assert_int_equal(collection_count(sets), 2);
    object_release(sets);
    struct object *set = new_set();
    assert_int_equal(set_query(set, &callers.user, "damaged", ""), E_ACCESSDENIED);
    assert_int_equal(set_delete(set, &callers.user), PLA_E_DCS_NOT_FOUND); /* the object is not bound to a set */
    assert_int_equal(set_query(set, &callers.administrator, "damaged", ""), OPENPLA_E_MALFORMED_XML);
    assert_int_equal(set_delete(set, &callers.user), E_ACCESSDENIED);
    assert_int_equal(set_delete(set, &callers.administrator), S_OK);
    object_release(set);
    assert_int_equal(store_delete(&caller_self, SPACE, "hidden"), S_OK);
    assert_int_equal(store_delete(&caller_self, SPACE, "shown"), S_OK);
}

/* Access to a stored set depends on its XML, even if the line after it contains another descriptor. */
static void access_is_controlled_by_the_xml(void **state)
{
    (void)state;
    static const char was[] = "D:(A;;FA;;;WD)", is[] = "D:(A;;FA;;;BA)";
    char *text;
    size_t size;
    store("edited", was);
    char *path = store_definition_path(SPACE, "edited");
    assert_int_equal(store_check_access(&callers.user, SET_ACCESS_DELETE, SPACE, "edited"), S_OK);
    assert_int_equal(file_load(path, 65536, &text, &size), S_OK);
    assert_non_null(strstr(text, "<?openpla-security of="));
    memcpy(strstr(text, was), is, strlen(is));
    assert_int_equal(file_store(path, text, size), S_OK);
    memory_free(text);
    assert_int_equal(store_check_access(&callers.user, SET_ACCESS_DELETE, SPACE, "edited"), SET_ACCESS_REFUSED);
    assert_false(lists(&callers.user, SPACE "\\*"));
    assert_int_equal(store_check_access(&callers.administrator, SET_ACCESS_DELETE, SPACE, "edited"), S_OK);
    memory_free(path);
    assert_int_equal(store_delete(&caller_self, SPACE, "edited"), S_OK);
}

/* ---- several callers at the same time ---- */

struct asking {
    const struct caller *caller;
    bool may;
    atomic_uint wrong;
    struct thread *thread;
};

static void check_access_repeatedly(void *user)
{
    struct asking *a = user;
    for (int i = 0; i < 200; i++) {
        const HRESULT hr = store_check_access(a->caller, SET_ACCESS_COMMIT, SPACE, "shared");
        const bool right = hr == (a->may ? S_OK : SET_ACCESS_REFUSED);
        atomic_fetch_add(&a->wrong, right && lists(a->caller, SPACE "\\*") == a->may ? 0 : 1);
    }
}

static void concurrent_callers_are_distinguished(void **state)
{
    struct asking askings[] = {{.caller = &callers.administrator, .may = true},
                               {.caller = &callers.user, .may = false},
                               {.caller = &callers.administrator, .may = true},
                               {.caller = &callers.user, .may = false}};
    (void)state;
    store("shared", "D:(A;;FA;;;BA)");
    store_keep_definitions(true);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(thread_start(check_access_repeatedly, &askings[i], &askings[i].thread), S_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_true(thread_wait(askings[i].thread, PATIENCE_MS));
        thread_close(askings[i].thread);
        assert_int_equal(atomic_load(&askings[i].wrong), 0);
    }
    store_keep_definitions(false);
    assert_int_equal(store_delete(&caller_self, SPACE, "shared"), S_OK);
}

/* ---- error messages and events ---- */

static void events_name_the_caller(void **state)
{
    (void)state;
    char *folder = fixture_folder("events");
    char *xml = text_format("<RootPath>%s</RootPath><Security>D:(A;;FA;;;BA)(A;;FX;;;S-1-5-32-559)</Security>", folder);
    fixture_commit("told", folder, xml, CSV_EACH_SECOND ONE_COUNTER);
    memory_free(xml);
    const struct caller *starter = callers.described ? &callers.logger : &callers.administrator;
    char *account = caller_account(starter);
    struct object *set = queried("told");
    assert_int_equal(set_start(set, starter, true), S_OK);
    fixture_await_event(1003, "told");
    assert_string_equal(fixture_user, account);
    assert_int_equal(set_stop(set, &callers.user, true), E_ACCESSDENIED);
    assert_int_equal(set_stop(set, starter, true), S_OK);
    assert_int_equal(fixture_events(9021, "told"), 1);
    assert_string_equal(fixture_user, account);
    memory_free(account);
    assert_int_equal(fixture_events(9020, "told"), 1);
    account = caller_account(&callers.user);
    assert_string_equal(fixture_user, account);
    assert_non_null(strstr(fixture_reason, "Stop"));
    memory_free(account);
    /* If callers are rejected many times, the journal must not be filled. */
    for (int i = 0; i < 3 * REFUSALS_TOLD; i++)
        assert_int_equal(set_delete(set, &callers.user), E_ACCESSDENIED);
    assert_in_range(fixture_events(9020, "told"), 2, REFUSALS_TOLD);
    assert_int_equal(set_delete(set, &callers.administrator), S_OK);
    object_release(set);
    memory_free(folder);
}

/* If an allocation fails or a file cannot be read, the access check must not be bypassed, and the set must be
   unchanged. */
static void failures_never_grant_access(void **state)
{
    (void)state;
    const uint64_t wider = callers.described ? 64 : 4; /* under Wine, each failure takes long, so fewer are tested */
    scratch_environment("OPENPLA_HOST", "no such program");
    store("scarce", "D:(A;;FA;;;BA)");
    for (int memory = 0; memory < 2; memory++)
        for (const char *verb = VERBS; *verb; verb++) {
            char *before, *after;
            size_t size;
            uint64_t n = 1;
            assert_int_equal(store_load(&caller_self, SPACE, "scarce", &before, &size), S_OK);
            for (bool met = true; met; n += 1 + (memory ? n / wider : 0)) {
                fault.n = n;
                fault.memory = memory;
                const HRESULT hr = ask(*verb, "scarce", &callers.user);
                met = fault.calls >= n;
                fault.n = 0;
                if (hr != E_ACCESSDENIED && hr != (memory ? E_OUTOFMEMORY : FAULT))
                    fail_msg("verb %c, %s %u: 0x%08X", *verb, memory ? "allocation" : "operation", (unsigned)n,
                             (unsigned)hr);
                assert_int_equal(store_load(&caller_self, SPACE, "scarce", &after, &size), S_OK);
                assert_string_equal(after, before);
                memory_free(after);
            }
            print_message("verb %c: one of %u %s failed in turn\n", *verb, (unsigned)fault.calls,
                          memory ? "allocations" : "operations on files");
            memory_free(before);
        }
    assert_int_equal(store_delete(&caller_self, SPACE, "scarce"), S_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_name_the_caller), /* must run first, because other tests cause many rejections */
        cmocka_unit_test(each_verb_of_each_caller_with_each_descriptor),
        cmocka_unit_test(rights_to_create_sets),
        cmocka_unit_test(sets_that_are_not_stored),
        cmocka_unit_test(sessions_start_for_callers_with_trace_rights),
        cmocka_unit_test(kernel_events_are_for_administrators),
        cmocka_unit_test(validation_checks_access_as_well),
        cmocka_unit_test(lists_contain_only_readable_sets),
        cmocka_unit_test(access_is_controlled_by_the_xml),
        cmocka_unit_test(concurrent_callers_are_distinguished),
        cmocka_unit_test(failures_never_grant_access),
    };
    callers_open(&callers);
    int rc = cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
    callers_close(&callers);
    return rc;
}
