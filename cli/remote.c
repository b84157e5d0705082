/* SPDX-License-Identifier: MIT */
/* openpla remote: manages the accounts with which this user logs on to remote computers. */
#include "cli/cli.h"
#include "cli/output.h"
#include "engine/base/memory.h"
#include "engine/rpc/remote_account.h"

#include <stdio.h>
#include <string.h>

#define VERB "remote"

static int remote_add(int argc, char **argv)
{
    struct texts operands = {0};
    struct remote_account account = {0};
    char *password = NULL;
    int result = options_parse(VERB, argc, argv, NULL, 0, &operands);
    if (result == CLI_DONE && operands.count != 2)
        result = cli_usage(VERB, "add: expected a computer and an account");
    if (result == CLI_DONE) {
        HRESULT hr = cli_ask_password(operands.items[1], &password);
        if (SUCCEEDED(hr))
            hr = remote_account_make(operands.items[1], password, &account);
        if (SUCCEEDED(hr))
            hr = remote_account_store(operands.items[0], &account);
        result = FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
    }
    remote_account_free(&account);
    memory_free_secret(password);
    texts_free(&operands);
    return result;
}

static int remote_remove(int argc, char **argv)
{
    struct texts operands = {0};
    bool all = false;
    const struct option options[] = {{"all", OPTION_FLAG, &all}};
    int result = options_parse(VERB, argc, argv, options, 1, &operands);
    if (result == CLI_DONE && operands.count != (all ? 0 : 1))
        result = cli_usage(VERB, "remove: expected a computer or -all");
    if (result == CLI_DONE) {
        HRESULT hr = all ? remote_account_remove_all() : remote_account_remove(operands.items[0]);
        if (hr == S_FALSE)
            hr =
                error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "no account is stored for '%s'", operands.items[0]);
        result = FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
    }
    texts_free(&operands);
    return result;
}

static void remote_write_json(const struct texts *list)
{
    struct json json = {.out = stdout};
    json_begin(&json, NULL, '[');
    for (size_t i = 0; i + 1 < list->count; i += 2) {
        json_begin(&json, NULL, '{');
        json_text(&json, "computer", list->items[i]);
        json_text(&json, "account", list->items[i + 1]);
        json_end(&json, '}');
    }
    json_end(&json, ']');
}

static int remote_list(int argc, char **argv)
{
    struct texts list = {0}, operands = {0};
    bool wants_json = false;
    const struct option options[] = {{"json", OPTION_FLAG, &wants_json}};
    int result = options_parse(VERB, argc, argv, options, 1, &operands);
    if (result == CLI_DONE && operands.count)
        result = cli_usage(VERB, "list: expected no arguments");
    if (result == CLI_DONE) {
        const HRESULT hr = remote_account_list(&list);
        result = FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
    }
    if (result == CLI_DONE && wants_json)
        remote_write_json(&list);
    for (size_t i = 0; result == CLI_DONE && !wants_json && i + 1 < list.count; i += 2)
        printf("%s\t%s\n", list.items[i], list.items[i + 1]);
    texts_free(&list);
    texts_free(&operands);
    return result;
}

static int remote_run(int argc, char **argv)
{
    static const struct sub_verb verbs[] = {{"add", remote_add}, {"list", remote_list}, {"remove", remote_remove}};
    return cli_sub_verb(VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_remote = {
    .name = VERB,
    .summary = "stores the accounts for other computers",
    .run = remote_run,
    .help =
        "openpla remote add COMPUTER ACCOUNT\n"
        "openpla remote list [--json]\n"
        "openpla remote remove COMPUTER | -all\n"
        "\n"
        "Stores an account for another computer. logman, typeperf, counter paths with a computer, and scripts that\n"
        "manage sets of the computer use the account to log on there. ACCOUNT is user, DOMAIN\\user or user@domain.\n"
        "The password is asked for, or read from standard input if that is not a console. Only the hash that NTLM\n"
        "needs is stored, for this user only. Protect it like the password: anyone who has the hash can log on with\n"
        "it.\n"
        "\n"
        "COMPUTER is a name or an address as you will use it later, with or without a port. An account stored for a\n"
        "name with a port takes precedence over one stored for the name.\n"
        "\n"
        "  -all    removes all accounts\n"
        "  --json  print a JSON array\n",
};
