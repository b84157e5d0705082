/* SPDX-License-Identifier: MIT */
/* openpla dcom: manages remote DCOM clients of a server under Wine: whether they are served, at which address, and with
   which accounts they log on. */
#include "cli/cli.h"
#include "cli/output.h"
#include "com/server/dcom_settings.h"
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/os.h"

#ifdef _WIN32
#include "com/server/dcom.h"
#endif

#include <stdio.h>
#include <string.h>

#define VERB       "dcom"
#define CONNECT_MS 2000

enum { PASSWORD_ROOM = 256 };

/* Returns true under Wine. Otherwise prints that Windows serves DCOM itself, or that the native program has no server,
   and returns false. */
static bool dcom_is_here(void)
{
    if (os_is_wine())
        return true;
#ifdef _WIN32
    fputs("openpla " VERB ": Windows serves remote DCOM clients itself (configure DCOM with dcomcnfg)\n",
          cli_messages());
#else
    (void)cli_needs_server(VERB);
#endif
    return false;
}

static bool service_is_running(void)
{
#ifdef _WIN32
    return dcom_service_is_running();
#else
    return false;
#endif
}

static void service_warn(void)
{
    if (!service_is_running())
        fputs("openpla " VERB ": the service OpenPLA is not running, so no client can connect (net start OpenPLA)\n",
              cli_messages());
}

/* ---- on and off ---- */

struct dcom_choice {
    const char *address, *from, *limits;
    uint32_t port, advertised_port;
};

static HRESULT port_choose(const char *option, uint32_t given, uint16_t *out)
{
    if (given > UINT16_MAX)
        return error_set(E_INVALIDARG, "-%s: invalid port '%u': expected a number from 1 to 65535", option,
                         (unsigned)given);
    if (given)
        *out = (uint16_t)given;
    return S_OK;
}

static HRESULT text_choose(const char *given, char **out)
{
    if (!given)
        return S_OK;
    memory_free(*out);
    *out = text_copy(given);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT settings_choose(const struct dcom_choice *c, struct dcom_settings *s)
{
    HRESULT hr = port_choose("port", c->port, &s->port);
    if (SUCCEEDED(hr))
        hr = port_choose("advertise", c->advertised_port, &s->advertised_port);
    if (SUCCEEDED(hr))
        hr = text_choose(c->address, &s->address);
    if (SUCCEEDED(hr))
        hr = text_choose(c->from, &s->from);
    if (SUCCEEDED(hr) && c->limits)
        hr = dcom_limits_read(c->limits, s->limits);
    return hr;
}

static void accounts_warn(void)
{
    struct dcom_accounts accounts;
    if (SUCCEEDED(dcom_accounts_read(&accounts)) && !accounts.count)
        fputs("openpla " VERB ": no account exists, so clients cannot log on (openpla dcom account add NAME)\n",
              cli_messages());
    dcom_accounts_free(&accounts);
}

static int dcom_turn(bool on, const struct dcom_choice *c)
{
    struct dcom_settings s;
    HRESULT hr = dcom_settings_read(&s);
    if (SUCCEEDED(hr))
        hr = settings_choose(c, &s);
    s.is_on = on;
    if (SUCCEEDED(hr))
        hr = dcom_settings_write(&s);
    if (SUCCEEDED(hr) && on)
        printf("Remote DCOM clients are served at %s, port %u.\n", s.address, (unsigned)s.port);
    else if (SUCCEEDED(hr))
        printf("Remote DCOM clients are not served.\n");
    dcom_settings_free(&s);
    if (FAILED(hr))
        return cli_error(VERB, hr);
    if (on) {
        accounts_warn();
        service_warn();
    }
    return CLI_DONE;
}

static int run_on(int argc, char **argv)
{
    struct dcom_choice c = {0};
    const struct option options[] = {{"port", OPTION_COUNT, &c.port},
                                     {"address", OPTION_TEXT, &c.address},
                                     {"from", OPTION_TEXT, &c.from},
                                     {"advertise", OPTION_COUNT, &c.advertised_port},
                                     {"limits", OPTION_TEXT, &c.limits}};
    const int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, NULL);
    if (result != CLI_DONE || options_are_asked() || options_help_wanted())
        return result;
    return dcom_is_here() ? dcom_turn(true, &c) : CLI_FAILED;
}

static int run_off(int argc, char **argv)
{
    const int result = options_parse(VERB, argc, argv, NULL, 0, NULL);
    if (result != CLI_DONE || options_are_asked() || options_help_wanted())
        return result;
    return dcom_is_here() ? dcom_turn(false, &(struct dcom_choice){0}) : CLI_FAILED;
}

/* ---- status ---- */

static bool port_answers(const struct dcom_settings *s)
{
    struct socket_end *socket;
    char port[8];
    const char *address = strcmp(s->address, DCOM_ALL_ADDRESSES) == 0 ? DCOM_LOOPBACK : s->address;
    snprintf(port, sizeof port, "%u", (unsigned)s->port);
    const bool answers = SUCCEEDED(socket_connect(address, port, CONNECT_MS, &socket));
    if (answers)
        socket_close(socket);
    error_clear();
    return answers;
}

static void status_print_json(const struct dcom_settings *s, size_t accounts, bool answers)
{
    struct json j = {.out = stdout};
    json_begin(&j, NULL, '{');
    json_bool(&j, "on", s->is_on);
    json_text(&j, "address", s->address);
    json_integer(&j, "port", s->port);
    json_integer(&j, "advertisedPort", s->advertised_port ? s->advertised_port : s->port);
    json_text(&j, "from", s->from);
    json_integer(&j, "accounts", (int64_t)accounts);
    json_bool(&j, "accepts", answers);
    json_begin(&j, "limits", '{');
    for (int i = 0; i < DCOM_LIMITS; i++)
        json_integer(&j, dcom_limit_name((enum dcom_limit)i), s->limits[i]);
    json_end(&j, '}');
    json_end(&j, '}');
}

static void status_print(const struct dcom_settings *s, size_t accounts, bool answers)
{
    printf("Remote DCOM clients: %s\n", s->is_on ? "on" : "off");
    printf("Address:             %s, port %u\n", s->address, (unsigned)s->port);
    if (s->advertised_port && s->advertised_port != s->port)
        printf("Advertised port:     %u\n", (unsigned)s->advertised_port);
    printf("May connect:         %s\n", s->from);
    printf("Accounts:            %u\n", (unsigned)accounts);
    printf("State:               %s\n", answers    ? "accepts connections"
                                        : s->is_on ? "does not accept connections (see openpla events -last 20)"
                                                   : "closed");
    for (int i = 0; i < DCOM_LIMITS; i++)
        if (s->limits[i] != dcom_limit_default((enum dcom_limit)i))
            printf("Limit %s: %u\n", dcom_limit_name((enum dcom_limit)i), (unsigned)s->limits[i]);
}

static int run_status(int argc, char **argv)
{
    bool json = false;
    struct dcom_settings s;
    struct dcom_accounts accounts;
    const struct option options[] = {{"json", OPTION_FLAG, &json}};
    const int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, NULL);
    if (result != CLI_DONE || options_are_asked() || options_help_wanted())
        return result;
    if (!dcom_is_here())
        return CLI_FAILED;
    HRESULT hr = dcom_settings_read(&s);
    if (FAILED(hr))
        return cli_error(VERB, hr);
    hr = dcom_accounts_read(&accounts);
    if (SUCCEEDED(hr)) {
        const bool answers = s.is_on && port_answers(&s);
        (json ? status_print_json : status_print)(&s, accounts.count, answers);
        dcom_accounts_free(&accounts);
        if (s.is_on)
            service_warn();
    }
    dcom_settings_free(&s);
    return FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
}

/* ---- accounts ---- */

struct account_choice {
    const char *role;
    bool replace, json;
    struct texts operands;
};

/* Reads a line from standard input if that is not a console. */
static HRESULT password_from_input(const char *account, char **out)
{
    char *line = memory_zero(PASSWORD_ROOM, 1);
    *out = NULL;
    if (!line)
        return E_OUTOFMEMORY;
    if (!fgets(line, PASSWORD_ROOM, stdin)) {
        memory_free_secret(line);
        return error_set(E_INVALIDARG, "missing password for '%s': standard input is empty", account);
    }
    line[strcspn(line, "\r\n")] = 0;
    *out = line;
    return S_OK;
}

static HRESULT password_read(const char *account, char **out)
{
    char *again = NULL;
    if (!cli_input_is_console())
        return password_from_input(account, out);
    HRESULT hr = cli_ask_password(account, out);
    if (SUCCEEDED(hr)) {
        fputs("Once more. ", stderr);
        hr = cli_ask_password(account, &again);
    }
    if (SUCCEEDED(hr) && strcmp(*out, again) != 0)
        hr = error_set(E_INVALIDARG, "the two passwords of '%s' differ", account);
    if (again)
        memory_free_secret(again);
    if (FAILED(hr) && *out) {
        memory_free_secret(*out);
        *out = NULL;
    }
    return hr;
}

static int account_add(const struct account_choice *c, const char *name)
{
    enum dcom_role role = DCOM_ROLE_USERS;
    char *password;
    if (c->role && text_equal_nocase(c->role, "administrators"))
        role = DCOM_ROLE_ADMINISTRATORS;
    else if (c->role && !text_equal_nocase(c->role, "users"))
        return cli_usage(VERB, "-role: invalid role '%s': expected users or administrators", c->role);
    HRESULT hr = password_read(name, &password);
    if (SUCCEEDED(hr)) {
        hr = dcom_account_add(name, role, password, c->replace);
        memory_free_secret(password);
    }
    if (FAILED(hr))
        return cli_error(VERB, hr);
    printf("%s can log on as %s.\n", name,
           role == DCOM_ROLE_ADMINISTRATORS ? "an administrator" : "a Performance Log User");
    return CLI_DONE;
}

static int account_remove(const char *name)
{
    const HRESULT hr = dcom_account_remove(name);
    if (hr == S_FALSE)
        return cli_error(VERB,
                         error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "account '%s' does not exist", name));
    if (FAILED(hr))
        return cli_error(VERB, hr);
    printf("%s can no longer log on.\n", name);
    return CLI_DONE;
}

static const char *role_word(enum dcom_role role)
{
    return role == DCOM_ROLE_ADMINISTRATORS ? "administrators" : "users";
}

static int account_list(bool json)
{
    struct dcom_accounts accounts;
    struct json j = {.out = stdout};
    const HRESULT hr = dcom_accounts_read(&accounts);
    if (FAILED(hr))
        return cli_error(VERB, hr);
    if (json)
        json_begin(&j, NULL, '[');
    for (size_t i = 0; i < accounts.count; i++) {
        const struct dcom_account *a = &accounts.items[i];
        if (!json) {
            printf("%-24s %-16s %s\n", a->name, role_word(a->role), a->sid);
            continue;
        }
        json_begin(&j, NULL, '{');
        json_text(&j, "name", a->name);
        json_text(&j, "role", role_word(a->role));
        json_text(&j, "sid", a->sid);
        json_end(&j, '}');
    }
    if (json)
        json_end(&j, ']');
    dcom_accounts_free(&accounts);
    return CLI_DONE;
}

static int account_do(const struct account_choice *c)
{
    const struct texts *words = &c->operands;
    const char *action = words->count ? words->items[0] : "";
    const bool lists = text_equal_nocase(action, "list");
    if (!lists && !text_equal_nocase(action, "add") && !text_equal_nocase(action, "remove"))
        return cli_usage(VERB, "invalid action '%s': expected add, remove or list", action);
    if (words->count != (lists ? 1u : 2u))
        return cli_usage(VERB, lists ? "account list: expected no arguments" : "account %s: expected one name", action);
    if (!dcom_is_here())
        return CLI_FAILED;
    return lists                              ? account_list(c->json)
           : text_equal_nocase(action, "add") ? account_add(c, words->items[1])
                                              : account_remove(words->items[1]);
}

static int run_account(int argc, char **argv)
{
    struct account_choice c = {0};
    const struct option options[] = {
        {"role", OPTION_TEXT, &c.role}, {"replace", OPTION_FLAG, &c.replace}, {"json", OPTION_FLAG, &c.json}};
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &c.operands);
    if (result == CLI_DONE && !options_are_asked() && !options_help_wanted())
        result = account_do(&c);
    texts_free(&c.operands);
    return result;
}

static int dcom_run(int argc, char **argv)
{
    static const struct sub_verb verbs[] = {
        {"on", run_on}, {"off", run_off}, {"status", run_status}, {"account", run_account}};
    return cli_sub_verb(VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_dcom = {
    .name = VERB,
    .summary = "serves DCOM clients on other computers (Wine)",
    .help =
        "openpla dcom on [-port N] [-address A] [-from PATTERNS] [-advertise N] [-limits NAME=N;...]\n"
        "openpla dcom off\n"
        "openpla dcom status [-json]\n"
        "openpla dcom account add NAME [-role users | administrators] [-replace]\n"
        "openpla dcom account remove NAME\n"
        "openpla dcom account list [-json]\n"
        "\n"
        "Lets programs on other computers use the sets of this Wine prefix by DCOM, with an account that is added\n"
        "here. Access is off until it is turned on. The service OpenPLA applies each change immediately.\n"
        "\n"
        "  -port       the TCP port, default 135; clients use 135 unless they are configured for another port\n"
        "  -address    the address of this computer to listen on, * for all. Default: 127.0.0.1\n"
        "  -from       addresses that may connect, with * and ?, separated by spaces or commas: \"10.1.2.* 10.1.3.7\"\n"
        "  -advertise  the port that the server names to clients, if a firewall redirects it to -port\n"
        "  -limits     limits on connections and objects, see docs/user/limits.md\n"
        "  -role       users: a Performance Log User, the default; administrators: an administrator\n"
        "  -replace    change the password and role of an existing account\n"
        "  -json       print JSON\n"
        "\n"
        "account add asks for the password, or reads it from standard input if that is not a console. A password\n"
        "must have at least 12 characters.\n"
        "\n"
        "Exit codes: 0 done, 1 failed, 2 wrong command line.\n",
    .run = dcom_run,
};
