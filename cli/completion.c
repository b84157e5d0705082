/* SPDX-License-Identifier: MIT */
/* openpla completion: prints scripts for bash, zsh and fish that complete the command lines of all verbs. A script
   contains the option tables of the verbs and finds sets in the store's folders. Tab therefore starts no program,
   because under Wine that would take seconds. The shell functions that use the tables are in the folder
   cli/completion. */
#include "cli/cli.h"
#include "engine/report/report_schema.h"

#include <string.h>

#define VERB "completion"

extern const struct shipped_schema completion_drivers[];

/* The names of Windows' tools. */
static const char *const tools[] = {"diskperf", "lodctr", "logman", "relog", "tracerpt", "typeperf", "unlodctr"};

/* The strings that the shell's syntax needs before, between and after the parts of a script: lists of words, rows of
   the table, and summaries of the verbs. */
struct shell {
    const char *name, *driver;
    const char *head; /* the beginning of a line that contains the names of the programs; NULL if no line contains
                         them */
    const char *list_begin, *list_named, *list_end;
    const char *row_begin, *row_named, *row_end;
    const char *table_begin, *table_end;
    /* NULL if the shell shows no summaries */
    const char *summaries_begin, *summary_begin, *summary_named, *summaries_end;
};
static const struct shell bash = {
    .name = "bash",
    .driver = "bash.sh",
    .list_begin = " ",
    .list_named = "='",
    .list_end = "'",
    .row_begin = "    '",
    .row_named = "')",
    .row_end = " ;;\n",
    .table_begin = "_openpla_table()\n{\n    case $1 in\n",
    .table_end = "    esac\n}\n",
};
static const struct shell zsh = {
    .name = "zsh",
    .driver = "zsh.sh",
    .head = "#compdef ",
    .list_begin = " ",
    .list_named = "='",
    .list_end = "'",
    .row_begin = "    '",
    .row_named = "')",
    .row_end = " ;;\n",
    .table_begin = "_openpla_table()\n{\n    case $1 in\n",
    .table_end = "    esac\n}\n",
    .summaries_begin = "_openpla_summaries=(",
    .summary_begin = "\n    '",
    .summary_named = ":",
    .summaries_end = "\n)\n",
};
static const struct shell fish = {
    .name = "fish",
    .driver = "fish.fish",
    .list_begin = "; set ",
    .list_named = " (string split -n ' ' -- '",
    .list_end = "')",
    .row_begin = "        case '",
    .row_named = "'",
    .row_end = "\n",
    .table_begin = "function __openpla_table --no-scope-shadowing\n    switch $argv[1]\n",
    .table_end = "    end\nend\n",
    .summaries_begin = "set -g __openpla_summaries",
    .summary_begin = " \\\n    '",
    .summary_named = "'\\t'",
    .summaries_end = "\n",
};

struct heard {
    const struct verb *verb;
    const char *sub;
    bool begun;
    int what;
};
enum { SUB_VERBS, OPTIONS, VALUES, FIXED };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the length of a choice such as "CSV|TSV" at the start of the string. Returns 0 if the string does not begin
   with a choice, or if several words of the choice may be combined. */
static size_t choice_length(const char *text)
{
    size_t length = 0;
    bool choice = false;
    for (; is_letter(text[length]) || (text[length] == '|' && is_letter(text[length + 1])); length++)
        choice |= text[length] == '|';
    const char *behind = text + length;
    const bool ends = !*behind || *behind == ']' || *behind == '\n' || (*behind == ' ' && behind[1] != '.');
    return choice && ends ? length : 0;
}

/* Returns the form of the option's value. The form is in the option's table or in the verb's help. */
static const char *form_of(const struct verb *verb, const struct option *option)
{
    if (option->kind == OPTION_FORM)
        return option->target;
    const size_t length = strlen(option->name);
    for (const char *at = verb->help; at && (at = strstr(at, "\n  -")) != NULL; at++)
        if (strncmp(at + 4, option->name, length) == 0 && at[4 + length] == ' ')
            return at + 5 + length;
    return NULL;
}

static void put_choice(const struct heard *h, const struct option *option)
{
    const char *form = form_of(h->verb, option);
    if (!form)
        return;
    form += *form == '[';
    const size_t length = choice_length(form);
    if (length)
        printf(" -%s=%.*s", option->name, (int)length, form);
}

/* If `sub` consists of `of` and exactly one more word, returns this word; otherwise NULL. `of` may be "". */
static const char *last_word(const char *sub, const char *of)
{
    const size_t length = strlen(of);
    if (strncmp(sub, of, length) != 0 || !sub[length] || (length && sub[length] != ' '))
        return NULL;
    sub += length + (length > 0);
    return strchr(sub, ' ') ? NULL : sub;
}

static void put(struct heard *h, const char *dash, const char *word)
{
    printf("%s%s%s", h->begun ? " " : "", dash, word);
    h->begun = true;
}

/* Prints a list of words for a verb and its sub-verb. A sub-verb may report its options in several tables. */
static void put_words(void *user, const char *sub, const struct option *options, size_t count)
{
    struct heard *h = user;
    const char *word = last_word(sub, h->sub);
    if (h->what == SUB_VERBS && word)
        put(h, "", word);
    for (size_t i = 0; h->what != SUB_VERBS && strcmp(sub, h->sub) == 0 && i < count; i++)
        if (h->what == FIXED)
            put_choice(h, &options[i]);
        else if (h->what == OPTIONS || options[i].kind != OPTION_FLAG)
            put(h, "-", options[i].name);
}

static void put_list(const struct shell *shell, const struct verb *verb, const char *sub, const char *name, int what)
{
    struct heard h = {.verb = verb, .sub = sub, .what = what};
    printf("%s%s%s", shell->list_begin, name, shell->list_named);
    options_ask(verb, put_words, &h);
    fputs(shell->list_end, stdout);
}

static void hear_sub(void *user, const char *sub, const struct option *options, size_t count)
{
    struct texts *subs = user;
    (void)options;
    (void)count;
    for (size_t i = 0; i < subs->count; i++)
        if (strcmp(subs->items[i], sub) == 0)
            return;
    (void)texts_add(subs, sub);
}

static void put_verb(const struct shell *shell, const struct verb *verb)
{
    struct texts subs = {0};
    (void)texts_add(&subs, "");
    options_ask(verb, hear_sub, &subs);
    for (size_t i = 0; i < subs.count; i++) {
        const char *sub = subs.items[i];
        printf("%s%s%s%s%s", shell->row_begin, verb->name, *sub ? " " : "", sub, shell->row_named);
        put_list(shell, verb, sub, "verbs", SUB_VERBS);
        put_list(shell, verb, sub, "options", OPTIONS);
        put_list(shell, verb, sub, "values", VALUES);
        put_list(shell, verb, sub, "fixed", FIXED);
        fputs(shell->row_end, stdout);
    }
    texts_free(&subs);
}

/* Prints each summary in single quotes. Apostrophes become typographic apostrophes, because these cannot end the
   quotes. */
static void put_summaries(const struct shell *shell)
{
    fputs(shell->summaries_begin, stdout);
    for (size_t i = 0; cli_verbs[i]; i++) {
        printf("%s%s%s", shell->summary_begin, cli_verbs[i]->name, shell->summary_named);
        for (const char *at = cli_verbs[i]->summary; *at; at++)
            fputs(*at == '\'' ? "\xE2\x80\x99" : (char[]){*at, 0}, stdout);
        fputs("'", stdout);
    }
    fputs(shell->summaries_end, stdout);
}

static void put_tools(void)
{
    fputs("openpla openpla.exe", stdout);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (help_find_verb(tools[i]))
            printf(" %s %s.exe", tools[i], tools[i]);
}

/* Prints the shell's part of the script, with @TOOLS@ replaced by the names of the programs. */
static void put_driver(const char *file)
{
    for (const struct shipped_schema *driver = completion_drivers; driver->name; driver++) {
        const char *mark = strstr(driver->xml, "@TOOLS@");
        if (strcmp(driver->name, file) != 0 || !mark)
            continue;
        fwrite(driver->xml, 1, (size_t)(mark - driver->xml), stdout);
        put_tools();
        fputs(mark + strlen("@TOOLS@"), stdout);
    }
}

static int completion_write(const struct shell *shell, int argc, char **argv)
{
    const int result = options_parse(VERB, argc, argv, NULL, 0, NULL);
    if (result != CLI_DONE)
        return result;
    if (shell->head) {
        fputs(shell->head, stdout);
        put_tools();
        fputs("\n", stdout);
    }
    printf("# Completion of openpla's command lines for %s, written by: openpla completion %s\n", shell->name,
           shell->name);
    if (shell->summaries_begin) {
        put_summaries(shell);
    } else {
        fputs("_openpla_verbs='", stdout);
        for (size_t i = 0; cli_verbs[i]; i++)
            printf("%s%s", i ? " " : "", cli_verbs[i]->name);
        fputs("'\n", stdout);
    }
    fputs(shell->table_begin, stdout);
    for (size_t i = 0; cli_verbs[i]; i++)
        put_verb(shell, cli_verbs[i]);
    fputs(shell->table_end, stdout);
    put_driver(shell->driver);
    return CLI_DONE;
}

static int completion_write_bash(int argc, char **argv)
{
    return completion_write(&bash, argc, argv);
}

static int completion_write_zsh(int argc, char **argv)
{
    return completion_write(&zsh, argc, argv);
}

static int completion_write_fish(int argc, char **argv)
{
    return completion_write(&fish, argc, argv);
}

static int run(int argc, char **argv)
{
    static const struct sub_verb verbs[] = {
        {"bash", completion_write_bash}, {"zsh", completion_write_zsh}, {"fish", completion_write_fish}};
    return cli_sub_verb(VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_completion = {
    .name = VERB,
    .summary = "writes a shell script that completes verbs, options, their values and set names",
    .help = "openpla completion bash\n"
            "openpla completion zsh\n"
            "openpla completion fish\n"
            "\n"
            "Writes the script to stdout. It completes the verbs and options of this program, the values of options,\n"
            "and the names of stored sets. To load it in each new shell:\n"
            "\n"
            "  openpla completion bash > ~/.local/share/bash-completion/completions/openpla\n"
            "  openpla completion zsh > ~/.zfunc/_openpla\n"
            "  openpla completion fish > ~/.config/fish/completions/openpla.fish\n"
            "\n"
            "zsh needs the script's folder in its fpath before compinit runs: fpath+=~/.zfunc. Each script completes "
            "openpla,\n"
            "openpla.exe and the tools that are copies of it, such as logman. Debian's package installs all scripts.\n",
    .run = run,
};
