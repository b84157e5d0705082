/* SPDX-License-Identifier: MIT */
/* Accounts of sets, and their passwords. An error here would run a user's commands as the service, or reveal a
   password. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/set_credentials.h"
#include "engine/pla/sets.h"
#include "engine/pla/settings.h"
#include "tests/unit/callers.h"
#include "tests/unit/run/run_fixture.h"
#include "tests/unit/run/sets/credentials_fixture.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/skipped.h"

#include <string.h>
#ifndef _WIN32
#include <unistd.h>
#endif

#define PASSWORD       "S3cret<&>\xC3\xBC"
#define DATABASE       "SQL:Driver={SQLite3};Database=/tmp/x.db!set"
#define WITH_PASSWORD  "SQL:Driver={SQLite3};Database=/tmp/x.db;PWD=D4tabase!set"
#define OTHER_DATABASE "SQL:Driver={SQLite3};Database=/tmp/y.db!set"
#define LOGON_FAILURE  HRESULT_FROM_WIN32(1326)

static struct callers callers;

/* ---- accounts of sets; test_set_access tests who may create and change sets ---- */

HRESULT __wrap_set_access_check_create(const struct access_subject *who, const struct set_access_object *set,
                                       bool boot);
HRESULT __wrap_set_access_check_change(const struct access_subject *who, const struct set_access_object *set,
                                       const char *security);

HRESULT __wrap_set_access_check_create(const struct access_subject *who, const struct set_access_object *set, bool boot)
{
    (void)who, (void)set, (void)boot;
    return S_OK;
}

HRESULT __wrap_set_access_check_change(const struct access_subject *who, const struct set_access_object *set,
                                       const char *security)
{
    (void)who, (void)set, (void)security;
    return S_OK;
}

/* ---- an operating system with accounts ---- */

static struct {
    char account[64], password[64], log[256];
} logons;

static HRESULT log_on(const char *account, const char *password, void **token)
{
    *token = NULL;
    snprintf(logons.log + strlen(logons.log), sizeof logons.log - strlen(logons.log), "%s=%s;", account, password);
    if (strcmp(account, logons.account) != 0 || strcmp(password, logons.password) != 0)
        return error_set(LOGON_FAILURE, "UserAccount: '%s': the user name or password is wrong", account);
#ifdef _WIN32 /* the token must be usable to start a process */
    HANDLE own;
    assert_true(OpenProcessToken(GetCurrentProcess(), TOKEN_ALL_ACCESS, &own));
    assert_true(DuplicateTokenEx(own, TOKEN_ALL_ACCESS, NULL, SecurityImpersonation, TokenPrimary, token));
    CloseHandle(own);
#endif
    return S_OK;
}

static HRESULT of_caller(const struct caller *caller, void **token)
{
    (void)caller;
    *token = NULL;
    strcat(logons.log, "caller;");
    return S_OK;
}

static void close_token(void *token)
{
#ifdef _WIN32
    CloseHandle(token);
#else
    (void)token;
#endif
}

static HRESULT token_sid(void *token, char **out)
{
    (void)token;
    *out = text_copy("S-1-5-21-1-2-3-4");
    return *out ? S_OK : E_OUTOFMEMORY;
}

static void use_logon(const char *account, const char *password)
{
    static const struct logon fake = {log_on, of_caller, close_token, token_sid};
    snprintf(logons.account, sizeof logons.account, "%s", account);
    snprintf(logons.password, sizeof logons.password, "%s", password);
    logons.log[0] = 0;
    os_logon_use(&fake);
}

static int no_logon(void **state)
{
    (void)state;
    os_logon_use(NULL);
    return 0;
}

/* ---- sets ---- */

static void assert_account(const char *name, const char *expected)
{
    struct value v;
    struct object *set = a_queried_set(name);
    assert_int_equal(object_get(set, class_property(set->class, "UserAccount"), &v), S_OK);
    assert_string_equal(v.text, expected);
    value_free(&v);
    object_release(set);
}

static void assert_not_stored(const char *name)
{
    struct object *set;
    assert_int_equal(sets_create(NULL, &set), S_OK);
    assert_int_equal(set_query(set, &caller_self, name, ""), PLA_E_DCS_NOT_FOUND);
    object_release(set);
}

static void delete (const char *name)
{
    struct object *set = a_queried_set(name);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(set);
}

/* ---- passwords cannot be read ---- */

/* Asserts that no file of the store or the journal contains the password. Ignores the folder of secrets in native
   builds, because it is the protected store. */
static void assert_in_no_file(const char *folder, const char *text)
{
    struct texts names = {0};
    for (int folders = 0; folders < 2; folders++) {
        assert_int_equal(folder_list(folder, folders, &names), S_OK);
        for (size_t i = 0; i < names.count; i++) {
            char *path = path_join(folder, names.items[i]), *data;
            size_t size;
#ifndef _WIN32
            if (!strcmp(names.items[i], "secrets")) {
                memory_free(path);
                continue;
            }
#endif
            if (folders) {
                assert_in_no_file(path, text);
            } else if (SUCCEEDED(file_load(path, 1 << 24, &data, &size))) {
                if (holds(data, size, text))
                    fail_msg("%s contains the password", path);
                memory_free(data);
            }
            memory_free(path);
        }
        texts_free(&names);
    }
}

static void assert_nowhere(struct object *set, const char *text)
{
    char *data = os_data_folder(), *xml;
    size_t size;
    assert_in_no_file(data, text);
    assert_int_equal(object_to_xml(set, &xml, &size), S_OK);
    assert_false(holds(xml, size, text));
    memory_free(xml);
    memory_free(data);
}

/* ---- the tests ---- */

/* Only an administrator can give the rights of the service to a set (MS-PLA 3.2.4.1.52, note 16). */
static void only_administrators_can_run_a_set_as_the_service(void **state)
{
    struct object *set = a_set(NULL);
    (void)state;
    assert_int_equal(commit(set, &callers.user, "mine", SETS_CREATE_NEW), PLA_E_CREDENTIALS_REQUIRED);
    assert_non_null(strstr(error_text(PLA_E_CREDENTIALS_REQUIRED), "UserAccount"));
    assert_non_null(strstr(error_text(PLA_E_CREDENTIALS_REQUIRED), "SetCredentials"));
    assert_not_stored("mine");
    give(set, "NT AUTHORITY\\SYSTEM", ""); /* the name of the same account */
    assert_int_equal(commit(set, &callers.user, "mine", SETS_CREATE_NEW), PLA_E_CREDENTIALS_REQUIRED);
    give(set, "LocalService", "");
    assert_int_equal(commit(set, &callers.user, "mine", SETS_CREATE_NEW), E_ACCESSDENIED);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), "UserAccount"));
    assert_not_stored("mine");
    give(set, "", "");
    assert_int_equal(commit(set, &callers.administrator, "mine", SETS_CREATE_NEW), S_OK);
    assert_account("mine", "SYSTEM");
    /* A commit of another user must not change the account of an existing set. */
    assert_int_equal(commit(set, &callers.user, "mine", SETS_MODIFY), PLA_E_CREDENTIALS_REQUIRED);
    assert_int_equal(secrets(), 0);
    delete ("mine");
    object_release(set);
}

static void account_is_kept_and_password_is_not_readable(void **state)
{
    struct object *set = a_set(NULL), *again;
    (void)state;
    give(set, "DOMAIN\\user", PASSWORD);
    assert_int_equal(commit(set, &callers.user, "Own", SETS_CREATE_NEW), S_OK);
    assert_account("Own", "DOMAIN\\user");
    assert_nowhere(set, PASSWORD);
    assert_null(set_of(set)->password);
    size_t kept = secrets();
    /* The name in another case means the same set. The user need not pass the password again. */
    again = a_queried_set("own");
    assert_nowhere(again, PASSWORD);
    assert_int_equal(commit(again, &callers.user, "OWN", SETS_MODIFY), S_OK);
    assert_account("OWN", "DOMAIN\\user");
    assert_int_equal(secrets(), kept);
    /* Under another name, this is a new set, which needs the password to get the account. */
    assert_int_equal(commit(again, &callers.user, "other", SETS_CREATE_NEW), PLA_E_CREDENTIALS_REQUIRED);
    assert_int_equal(commit(again, &callers.administrator, "other", SETS_CREATE_NEW), S_OK);
    assert_account("other", "SYSTEM");
    delete ("other");
    object_release(again);
    /* New credentials replace the old ones. Empty credentials remove them (MS-PLA 3.2.4.1.52). */
    give(set, "user@domain.example", "another");
    assert_int_equal(commit(set, &callers.user, "own", SETS_MODIFY), S_OK);
    assert_account("own", "user@domain.example");
    assert_int_equal(secrets(), kept);
    give(set, "", "");
    assert_int_equal(commit(set, &callers.user, "own", SETS_MODIFY), PLA_E_CREDENTIALS_REQUIRED);
    assert_account("own", "user@domain.example");
    assert_int_equal(commit(set, &callers.administrator, "own", SETS_MODIFY), S_OK);
    assert_account("own", "SYSTEM");
    assert_int_equal(secrets(), 0);
    give(set, "DOMAIN\\user", PASSWORD);
    assert_int_equal(commit(set, &callers.administrator, "own", SETS_MODIFY), S_OK);
    delete ("own");
    assert_int_equal(secrets(), 0);
    object_release(set);
}

#ifndef _WIN32
/* A user with write access to a set must not get the rights of its account. */
static void other_users_must_set_credentials_again(void **state)
{
    static const struct account_sids foreign_file = {"MACHINE\\stranger", "S-1-5-21-0-0-0-1001", callers_ordinary,
                                                     NULL};
    static const struct account_sids owner = {"MACHINE\\owner", "S-1-5-21-1-2-3-4", callers_ordinary, NULL};
    const struct caller other = {.account = &foreign_file}, itself = {.account = &owner};
    struct object *set = a_set(NULL);
    (void)state;
    use_logon("user", PASSWORD);
    give(set, "user", PASSWORD);
    assert_int_equal(commit(set, &callers.user, "x", SETS_CREATE_NEW), S_OK);
    assert_int_equal(commit(set, &other, "x", SETS_MODIFY), PLA_E_CREDENTIALS_REQUIRED);
    assert_non_null(strstr(error_text(PLA_E_CREDENTIALS_REQUIRED), "'user'"));
    assert_non_null(strstr(error_text(PLA_E_CREDENTIALS_REQUIRED), "MACHINE\\stranger"));
    assert_int_equal(commit(set, &itself, "x", SETS_MODIFY), S_OK);
    assert_int_equal(commit(set, &callers.administrator, "x", SETS_MODIFY), S_OK);
    assert_account("x", "user");
    delete ("x");
    object_release(set);
}

/* A definition that another user put into the store must not run as the service. */
static void foreign_definition_is_rejected(void **state)
{
    struct object *set = a_set(NULL);
    struct texts foreign, names = {0};
    struct supervisor *s = NULL;
    (void)state, (void)s;
    if (geteuid()) {
        skipped("only root can give a file away");
        object_release(set);
        return;
    }
    assert_int_equal(commit(set, &caller_self, "kept", SETS_CREATE_NEW), S_OK);
    assert_int_equal(commit(set, &caller_self, "planted", SETS_CREATE_NEW), S_OK);
    /* Another user replaces a definition. */
    char *path = store_definition_path(SPACE, "planted");
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_int_equal(set_query(set, &caller_self, "planted", ""), E_ACCESSDENIED);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), path));
    assert_non_null(strstr(error_text(E_ACCESSDENIED), "65534"));
    assert_int_equal(run_start(SPACE, "planted", false), E_ACCESSDENIED);
    /* Another user puts a definition into the namespace's folder. It must not replace an existing one. */
    char *folder = store_folder(SPACE), *dropped = path_join(folder, "kept.xml");
    assert_int_equal(file_store(dropped, "<DataCollectorSet/>", 19), S_OK);
    assert_int_equal(chown(dropped, 65534, 65534), 0);
    assert_int_equal(store_list(&caller_self, SPACE, &names), S_OK);
    assert_true(file_exists(dropped));
    assert_int_equal(store_list_foreign(SPACE, &foreign), S_OK);
    assert_int_equal(foreign.count, 2);
    assert_string_equal(foreign.items[0], dropped);
    assert_non_null(strstr(foreign.items[1], "65534"));
    texts_free(&foreign);
    texts_free(&names);
    assert_int_equal(file_delete(dropped), S_OK);
    assert_account("kept", "SYSTEM");
    assert_int_equal(file_delete(path), S_OK);
    delete ("kept");
    memory_free(dropped);
    memory_free(folder);
    memory_free(path);
    object_release(set);
}
#endif

static void wrong_password_is_reported_at_commit(void **state)
{
    struct object *set = a_set(NULL);
    (void)state;
    use_logon("DOMAIN\\user", "right");
    give(set, "DOMAIN\\user", "wrong");
    assert_int_equal(commit(set, &callers.administrator, "x", SETS_CREATE_NEW), LOGON_FAILURE);
    assert_non_null(strstr(error_text(LOGON_FAILURE), "UserAccount: 'DOMAIN\\user'"));
    assert_null(strstr(error_text(LOGON_FAILURE), "'wrong'"));
    assert_not_stored("x");
    assert_int_equal(secrets(), 0);
    give(set, "DOMAIN\\user", "right");
    assert_int_equal(commit(set, &callers.administrator, "x", SETS_CREATE_NEW), S_OK);
    delete ("x");
    object_release(set);
}

static void invalid_account_is_rejected_immediately(void **state)
{
    struct object *set = a_set(NULL);
    (void)state;
    assert_int_equal(sets_set_credentials(set, &caller_self, "a\"b?>", PASSWORD), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), "a\"b?>"));
    assert_null(strstr(error_text(E_INVALIDARG), PASSWORD));
    assert_int_equal(sets_set_credentials(set, &caller_self, "", PASSWORD), E_INVALIDARG);
    assert_null(strstr(error_text(E_INVALIDARG), PASSWORD));
    assert_int_equal(sets_set_credentials(set, &caller_self, "LocalService", PASSWORD), S_OK);
    assert_int_equal(commit(set, &caller_self, "x", SETS_CREATE_NEW), E_INVALIDARG);
    assert_null(strstr(error_text(E_INVALIDARG), PASSWORD));
    assert_not_stored("x");
    object_release(set);
}

/* A start logs on with the set's account. The password of the account may have changed since the commit. */
static void start_logs_on_as_the_account(void **state)
{
    struct object *set = a_set("<SampleInterval>1</SampleInterval><LogFileFormat>0</LogFileFormat>" ONE_COUNTER);
    (void)state;
    use_logon("DOMAIN\\user", PASSWORD);
    give(set, "DOMAIN\\user", PASSWORD);
    assert_int_equal(commit(set, &callers.administrator, "runs", SETS_CREATE_NEW), S_OK);
    logons.log[0] = 0;
    assert_int_equal(set_start(set, &caller_self, true), S_OK);
    assert_string_equal(logons.log, "DOMAIN\\user=" PASSWORD ";");
    assert_int_equal(set_stop(set, &caller_self, true), S_OK);
    use_logon("DOMAIN\\user", "changed");
    assert_int_equal(set_start(set, &caller_self, true), LOGON_FAILURE);
    assert_non_null(strstr(error_text(LOGON_FAILURE), "DOMAIN\\user"));
    assert_int_equal(fixture_events(1004, "runs"), 1);
    struct run_record record = fixture_record("runs");
    assert_int_equal(record.last_result, LOGON_FAILURE);
    assert_non_null(strstr(record.last_message, "DOMAIN\\user"));
    run_record_free(&record);
    assert_nowhere(set, PASSWORD);
    /* An alert in a set host process can start another set, but not with the right account. */
    run_rights_confine(SPACE, "runs");
    assert_int_equal(run_start(SPACE, "runs", true), PLA_E_CREDENTIALS_REQUIRED);
    assert_non_null(strstr(error_text(PLA_E_CREDENTIALS_REQUIRED), "separate account"));
    run_secret_forget();
    /* Someone has deleted the stored password, but not the set. */
    struct texts keys;
    list_secret_keys(&keys);
    for (size_t i = 0; i < keys.count; i++)
        assert_int_equal(secret_delete(keys.items[i]), S_OK);
    texts_free(&keys);
    assert_int_equal(set_start(set, &caller_self, true), PLA_E_CREDENTIALS_REQUIRED);
    assert_non_null(strstr(error_text(PLA_E_CREDENTIALS_REQUIRED), "DOMAIN\\user"));
    delete ("runs");
    object_release(set);
}

/* A System set has no stored account (MS-PLA 3.2.1). If the caller has put an account, the set runs with this account.
   Otherwise it runs as the service if an administrator starts it, and as the caller if not. */
static void system_set_runs_as_its_starter(void **state)
{
    struct run_rights rights;
    (void)state;
    use_logon("user", "right");
    assert_int_equal(run_rights_of_caller(&callers.administrator, NULL, NULL, &rights), S_OK);
    assert_null(rights.account);
    run_rights_free(&rights);
    assert_string_equal(logons.log, "");
    assert_int_equal(run_rights_of_caller(&callers.user, NULL, NULL, &rights), S_OK);
    assert_non_null(rights.account);
    run_rights_free(&rights);
    assert_string_equal(logons.log, "caller;");
    assert_int_equal(run_rights_of_caller(&callers.user, "user", "wrong", &rights), LOGON_FAILURE);
    assert_int_equal(run_rights_of_caller(&callers.user, "user", "right", &rights), S_OK);
    assert_string_equal(rights.account, "user");
    run_rights_free(&rights);
}

/* ---- databases ---- */

static void put_source(struct object *set, const char *source)
{
    struct object **list;
    size_t count;
    assert_int_equal(collection_snapshot(set_of(set)->DataCollectors, &list, &count), S_OK);
    assert_int_equal(object_put(list[0], class_property(list[0]->class, "DataSourceName"),
                                &(struct value){.kind = PROPERTY_TEXT, .text = (char *)source}),
                     S_OK);
    objects_release(list, count);
}

static void database_password_is_handled_like_the_account_password(void **state)
{
    struct object *set = a_set("<LogFileFormat>2</LogFileFormat><DataSourceName>" WITH_PASSWORD "</DataSourceName>");
    (void)state;
    char *source = source_of(set, false), *xml;
    assert_string_equal(source, DATABASE); /* a get does not return the password */
    memory_free(source);
    assert_int_equal(object_to_xml(set, &xml, NULL), S_OK);
    assert_null(strstr(xml, "D4tabase"));
    memory_free(xml);
    assert_int_equal(set_to_commit_xml(set, true, &xml, NULL), S_OK); /* for the server, with the password */
    assert_non_null(strstr(xml, "D4tabase"));
    memory_free(xml);
    assert_int_equal(commit(set, &callers.administrator, "sql", SETS_CREATE_NEW), S_OK);
    assert_nowhere(set, "D4tabase");
    assert_connects_with("sql", "SQL:Driver={SQLite3};Database=/tmp/x.db;PWD=D4tabase!set");
    /* If a set is queried and committed again, it keeps its password. */
    struct object *again = a_queried_set("sql");
    size_t kept = secrets();
    assert_int_equal(commit(again, &callers.administrator, "sql", SETS_MODIFY), S_OK);
    assert_connects_with("sql", "SQL:Driver={SQLite3};Database=/tmp/x.db;PWD=D4tabase!set");
    assert_int_equal(secrets(), kept);
    /* The password is used only for its database. Otherwise a user with write access to the set could make the set send
       the password to a server of that user. */
    put_source(again, OTHER_DATABASE);
    assert_int_equal(commit(again, &callers.administrator, "sql", SETS_MODIFY), S_OK);
    assert_connects_with("sql", OTHER_DATABASE);
    assert_int_equal(secrets(), 0);
    put_source(again, DATABASE);
    assert_int_equal(commit(again, &callers.administrator, "sql", SETS_MODIFY), S_OK);
    assert_connects_with("sql", DATABASE);
    object_release(again);
    /* A failed commit leaves the object unchanged. */
    put_source(set, WITH_PASSWORD);
    assert_int_equal(commit(set, &callers.administrator, "sql", SETS_CREATE_NEW), PLA_E_DCS_ALREADY_EXISTS);
    source = source_of(set, true);
    assert_string_equal(source, WITH_PASSWORD);
    memory_free(source);
    assert_int_equal(secrets(), 0);
    delete ("sql");
    object_release(set);
}

static void assert_exports_with(const char *name, const char *expected)
{
    struct run_set set;
    char *text;
    assert_int_equal(run_set_load(SPACE, name, &set), S_OK);
    assert_int_equal(setting_read_text(&set.set->object, NULL, SETTING_ExportCredentials, &text), S_OK);
    assert_string_equal(text, expected);
    memory_free(text);
    run_set_free(&set);
}

/* The credentials of an export are used only for one server. */
static void export_credentials_are_handled_the_same_way(void **state)
{
    struct object *set = a_set("");
    (void)state;
    assert_int_equal(set_put_value(set, "OpenPLA.ExportUrl", "http://one"), S_OK);
    assert_int_equal(set_put_value(set, "OpenPLA.ExportCredentials", "token: T0ken"), S_OK);
    assert_int_equal(commit(set, &callers.administrator, "export", SETS_CREATE_NEW), S_OK);
    assert_nowhere(set, "T0ken");
    assert_exports_with("export", "token: T0ken");
    struct object *again = a_queried_set("export");
    assert_int_equal(commit(again, &callers.administrator, "export", SETS_MODIFY), S_OK);
    assert_exports_with("export", "token: T0ken");
    assert_int_equal(set_put_value(again, "OpenPLA.ExportUrl", "http://other"), S_OK);
    assert_int_equal(commit(again, &callers.administrator, "export", SETS_MODIFY), S_OK);
    assert_exports_with("export", "");
    assert_int_equal(secrets(), 0);
    assert_int_equal(set_put_value(again, "OpenPLA.ExportCredentials", "T0ken"), S_OK);
    assert_int_equal(commit(again, &callers.administrator, "export", SETS_MODIFY), E_INVALIDARG);
    assert_null(strstr(error_text(E_INVALIDARG), "T0ken"));
    assert_int_equal(set_put_value(again, "OpenPLA.ExportCredentials", NULL), S_OK);
    assert_int_equal(set_put_value(again, "OpenPLA.ExportUrl", "http://me:T0ken@other"), S_OK);
    assert_int_equal(commit(again, &callers.administrator, "export", SETS_MODIFY), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), "OpenPLA.ExportUrl"));
    assert_null(strstr(error_text(E_INVALIDARG), "T0ken"));
    object_release(again);
    /* A failed commit leaves the object unchanged. */
    char *text;
    assert_int_equal(set_put_value(set, "OpenPLA.ExportCredentials", "token: T0ken"), S_OK);
    assert_int_equal(commit(set, &callers.administrator, "export", SETS_CREATE_NEW), PLA_E_DCS_ALREADY_EXISTS);
    assert_int_equal(set_get_value(set, "OpenPLA.ExportCredentials", &text), S_OK);
    assert_string_equal(text, "token: T0ken");
    memory_free(text);
    delete ("export");
    object_release(set);
}

#ifndef _WIN32
/* A set host process gets the database passwords of its set. A user with write access to the set could let it run as
   that user and read the passwords from the process. This must be prevented. */
static void other_accounts_get_no_database_password(void **state)
{
    static const struct account_sids foreign_file = {"MACHINE\\stranger", "S-1-5-21-0-0-0-1001", callers_ordinary,
                                                     NULL};
    const struct caller other = {.account = &foreign_file};
    struct object *set = a_set("<LogFileFormat>2</LogFileFormat><DataSourceName>" WITH_PASSWORD "</DataSourceName>");
    (void)state;
    assert_int_equal(commit(set, &callers.administrator, "sql", SETS_CREATE_NEW), S_OK);
    struct object *again = a_queried_set("sql");
    use_logon("his", PASSWORD);
    give(again, "his", PASSWORD);
    assert_int_equal(commit(again, &callers.administrator, "sql", SETS_MODIFY), S_OK);
    assert_connects_with("sql", "SQL:Driver={SQLite3};Database=/tmp/x.db;PWD=D4tabase!set");
    give(again, "his", PASSWORD);
    assert_int_equal(commit(again, &other, "sql", SETS_MODIFY), S_OK);
    assert_connects_with("sql", DATABASE);
    object_release(again);
    delete ("sql");
    object_release(set);
}
#endif

/* Credentials that a client sends to the server are masked. The server must get them unchanged. */
static void credentials_sent_to_the_server_are_masked(void **state)
{
    static const char *const none[] = {"", "abc", "no digits", "0123456789abcdef0123456789abcdef0g"};
    struct object *set = a_set("<LogFileFormat>2</LogFileFormat><DataSourceName>" WITH_PASSWORD "</DataSourceName>");
    struct object *there = a_set("<LogFileFormat>2</LogFileFormat><DataSourceName>" DATABASE "</DataSourceName>");
    char *masked, *password, *text;
    bool sources;
    (void)state;
    assert_int_equal(set_credentials_pack(set, PASSWORD, &sources, &masked), S_OK);
    assert_true(sources);
    assert_null(strstr(masked, "D4tabase"));
    assert_int_equal(strspn(masked, "0123456789abcdef"), strlen(masked));
    assert_int_equal(set_credentials_unpack(there, masked, &password), S_OK);
    assert_string_equal(password, PASSWORD);
    text = source_of(there, true);
    assert_string_equal(text, "SQL:Driver={SQLite3};Database=/tmp/x.db;PWD=D4tabase!set");
    memory_free(text);
    memory_free_secret(password);
    masked[SHARED_KEY_DIGITS - 1] ^= 1;
    assert_int_equal(set_credentials_unpack(there, masked, &password), E_INVALIDARG);
    memory_free(masked);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(set_credentials_unpack(there, none[i], &password), E_INVALIDARG);
    /* A missing password and an empty password must be sent, too. */
    assert_int_equal(set_credentials_pack(there, NULL, &sources, &masked), S_OK);
    assert_non_null(masked);
    memory_free(masked);
    put_source(there, DATABASE);
    assert_int_equal(set_credentials_pack(there, NULL, &sources, &masked), S_OK);
    assert_false(sources);
    assert_null(masked);
    assert_int_equal(set_credentials_pack(there, "", &sources, &masked), S_OK);
    assert_int_equal(set_credentials_unpack(there, masked, &password), S_OK);
    assert_string_equal(password, "");
    memory_free(password);
    memory_free(masked);
    object_release(there);
    object_release(set);
}

/* If someone copies the key from a definition into another one, this must not give access to the password. The XML for
   clients must not contain a key. */
static void secret_belongs_to_one_set(void **state)
{
    struct object *set = a_set("<LogFileFormat>2</LogFileFormat><DataSourceName>" WITH_PASSWORD "</DataSourceName>");
    struct set_account account;
    char *xml;
    size_t size;
    (void)state;
    give(set, "user", PASSWORD);
    assert_int_equal(commit(set, &caller_self, "first", SETS_CREATE_NEW), S_OK);
    assert_int_equal(store_load(&caller_self, SPACE, "first", &xml, &size), S_OK);
    assert_int_equal(set_account_read(xml, size, &account), S_OK);
    assert_string_equal(account.user, "user");
    assert_int_equal(strlen(account.key), SHARED_KEY_DIGITS);
    set_account_free(&account);
    assert_int_equal(store_save(&caller_self, SPACE, "second", STORE_CREATE, xml, size, NULL, NULL), S_OK);
    assert_connects_with("first", "SQL:Driver={SQLite3};Database=/tmp/x.db;PWD=D4tabase!set");
    assert_connects_with("second", DATABASE);
    assert_int_equal(run_start(SPACE, "second", true), PLA_E_CREDENTIALS_REQUIRED);
    /* If the copy is deleted or changed, the password of the original must be kept. */
    delete ("second");
    assert_connects_with("first", "SQL:Driver={SQLite3};Database=/tmp/x.db;PWD=D4tabase!set");
    assert_int_equal(store_save(&caller_self, SPACE, "second", STORE_CREATE, xml, size, NULL, NULL), S_OK);
    struct object *copy = a_queried_set("second");
    give(copy, "", "");
    assert_int_equal(commit(copy, &callers.administrator, "second", SETS_MODIFY), S_OK);
    assert_connects_with("first", "SQL:Driver={SQLite3};Database=/tmp/x.db;PWD=D4tabase!set");
    object_release(copy);
    assert_int_equal(set_from_xml(set, xml, size, NULL), S_OK);
    give(set, "", "");
    assert_int_equal(commit(set, &caller_self, "third", SETS_CREATE_NEW), S_OK);
    assert_account("third", "SYSTEM");
    memory_free(xml);
    delete ("third");
    delete ("first");
    assert_int_equal(secrets(), 0);
    delete ("second");
    object_release(set);
}

/* A set host process takes the passwords when it starts. Then they are removed from the section with the run's key. */
static void host_takes_the_offered_secret(void **state)
{
    struct object *set = a_set("<LogFileFormat>2</LogFileFormat><DataSourceName>" WITH_PASSWORD "</DataSourceName>");
    struct run_rights rights;
    char key[SHARED_KEY_DIGITS + 1], *xml, *text;
    size_t size;
    (void)state;
    assert_int_equal(commit(set, &caller_self, "offers", SETS_CREATE_NEW), S_OK);
    assert_int_equal(store_load(&caller_self, SPACE, "offers", &xml, &size), S_OK);
    assert_int_equal(run_rights_of_definition(SPACE, "offers", xml, size, &rights), S_OK);
    assert_int_equal(shared_new_key(key), S_OK);
    assert_int_equal(run_rights_offer(&rights, key), S_OK);
    run_secret_take(key);
    run_secret_take("00"); /* a key for which no passwords were offered */
    assert_int_equal(run_secret_given(rights.key, &text), S_OK);
    assert_non_null(strstr(text, "D4tabase"));
    memory_free_secret(text);
    const char *left = section_memory(rights.section);
    assert_false(holds(left, 4096, "D4tabase"));
    /* The process has the passwords even if it cannot read them from the protected store. */
    struct texts keys;
    list_secret_keys(&keys);
    for (size_t i = 0; i < keys.count; i++)
        assert_int_equal(secret_delete(keys.items[i]), S_OK);
    texts_free(&keys);
    assert_connects_with("offers", "SQL:Driver={SQLite3};Database=/tmp/x.db;PWD=D4tabase!set");
    run_secret_forget();
    assert_connects_with("offers", DATABASE);
    run_rights_free(&rights);
    memory_free(xml);
    delete ("offers");
    object_release(set);
}

#define T(test) cmocka_unit_test_teardown(test, no_logon)
int main(void)
{
    const struct CMUnitTest tests[] = {
        T(only_administrators_can_run_a_set_as_the_service),
        T(account_is_kept_and_password_is_not_readable),
#ifndef _WIN32
        T(other_users_must_set_credentials_again),
        T(other_accounts_get_no_database_password),
        T(foreign_definition_is_rejected),
#endif
        T(wrong_password_is_reported_at_commit),
        T(invalid_account_is_rejected_immediately),
        T(start_logs_on_as_the_account),
        T(system_set_runs_as_its_starter),
        T(database_password_is_handled_like_the_account_password),
        T(export_credentials_are_handled_the_same_way),
        T(credentials_sent_to_the_server_are_masked),
        T(secret_belongs_to_one_set),
        T(host_takes_the_offered_secret),
    };
    callers_open(&callers);
    int failed = cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
    callers_close(&callers);
    return skipped_result(failed);
}
