/* SPDX-License-Identifier: MIT */
/* openpla completion: a bash script that completes the command lines of all verbs. It contains the option tables of the
   verbs and finds sets in the store's folders, so no program is started when Tab is pressed; under Wine that takes
   seconds. */
#include "cli/cli.h"

#include <string.h>

#define VERB "completion"

#ifdef _WIN32
#define DATA "${WINEPREFIX:-$HOME/.wine}/drive_c/ProgramData/OpenPLA"
#else
#define DATA "$HOME/.openpla"
#endif

static const char driver[] =
    "# Words that begin with the one that is typed, in any case.\n"
    "_openpla_add()\n"
    "{\n"
    "    local found\n"
    "    for found in \"$@\"; do\n"
    "        if [[ ${found,,} == \"${word,,}\"* ]]; then COMPREPLY+=(\"$found\"); fi\n"
    "    done\n"
    "}\n"
    "# Sets that are stored; a name is that of its file, in which %XX is a character.\n"
    "_openpla_sets()\n"
    "{\n"
    "    local data=" DATA " file name\n"
    "    if [[ $OPENPLA_DATA == /* ]]; then data=$OPENPLA_DATA; fi\n"
    "    for file in \"$data\"/sets/Service/*/*.xml; do\n"
    "        name=${file##*/}\n"
    "        name=${name%.xml}\n"
    "        if [[ -e $file && $name != %~* ]]; then\n"
    "            printf -v name %b \"${name//%/\\\\x}\"\n"
    "            printf -v name %q \"$name\"\n"
    "            _openpla_add \"$name\"\n"
    "        fi\n"
    "    done\n"
    "}\n"
    "_openpla()\n"
    "{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[0]##*/} sub= verbs= options= values= fixed= i=1\n"
    "    local before=${COMP_WORDS[COMP_CWORD - 1],,} one\n"
    "    COMPREPLY=()\n"
    "    verb=${verb%.exe}\n"
    "    if [[ $verb == openpla ]]; then\n"
    "        if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1],,} == help ]]; then i=2; fi\n"
    "        if ((COMP_CWORD == i)); then\n"
    "            COMPREPLY=($(compgen -W \"help $_openpla_verbs\" -- \"$word\"))\n"
    "            return\n"
    "        fi\n"
    "        verb=${COMP_WORDS[i]}\n"
    "        i=$((i + 1))\n"
    "    fi\n"
    "    _openpla_table \"${verb,,}\"\n"
    "    for (( ; i < COMP_CWORD; i++)); do\n"
    "        [[ \" $verbs \" == *\" ${COMP_WORDS[i],,} \"* ]] || continue\n"
    "        sub=\"$sub ${COMP_WORDS[i],,}\"\n"
    "        verbs=\n"
    "        _openpla_table \"${verb,,}$sub\"\n"
    "    done\n"
    "    if [[ $word == -* ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
    "    elif [[ \" $values \" != *\" $before \"* ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$verbs\" -- \"$word\"))\n"
    "        if [[ ${verb,,}$sub =~ ^logman\\ (delete|export|query|start|stop|update)$ ]]; then _openpla_sets; fi\n"
    "    else\n"
    "        for one in $fixed; do\n"
    "            if [[ $one == \"$before=\"* ]]; then one=${one#*=}; _openpla_add ${one//|/ }; fi\n"
    "        done\n"
    "    fi\n"
    "    # Other words are files, like values.\n"
    "}\n"
    "complete -o default -F _openpla openpla openpla.exe";

/* Windows' names of the tools. */
static const char *const tools[] = {"diskperf", "lodctr", "logman", "relog", "tracerpt", "typeperf", "unlodctr"};

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

/* The length of "CSV|TSV" at the start of the string; 0: not a choice of words, or several may be combined. */
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

/* The value's form from the verb's help page, or from its table. */
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

/* `sub` is one word more than `of`. */
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

/* A list of a verb and its sub-verb; the tables of a sub-verb may come in parts. */
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

static void put_list(const struct verb *verb, const char *sub, const char *name, int what)
{
    struct heard h = {.verb = verb, .sub = sub, .what = what};
    printf(" %s='", name);
    options_ask(verb, put_words, &h);
    fputs("'", stdout);
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

static void put_verb(const struct verb *verb)
{
    struct texts subs = {0};
    (void)texts_add(&subs, "");
    options_ask(verb, hear_sub, &subs);
    for (size_t i = 0; i < subs.count; i++) {
        const char *sub = subs.items[i];
        printf("    '%s%s%s')", verb->name, *sub ? " " : "", sub);
        put_list(verb, sub, "verbs", SUB_VERBS);
        put_list(verb, sub, "options", OPTIONS);
        put_list(verb, sub, "values", VALUES);
        put_list(verb, sub, "fixed", FIXED);
        fputs(" ;;\n", stdout);
    }
    texts_free(&subs);
}

static int completion_write_bash(int argc, char **argv)
{
    const int result = options_parse(VERB, argc, argv, NULL, 0, NULL);
    if (result != CLI_DONE)
        return result;
    fputs("# Completion of openpla's command lines for bash, written by: openpla completion bash\n_openpla_verbs='",
          stdout);
    for (size_t i = 0; cli_verbs[i]; i++)
        printf("%s%s", i ? " " : "", cli_verbs[i]->name);
    fputs("'\n_openpla_table()\n{\n    case $1 in\n", stdout);
    for (size_t i = 0; cli_verbs[i]; i++)
        put_verb(cli_verbs[i]);
    printf("    esac\n}\n%s", driver);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (help_find_verb(tools[i]))
            printf(" %s %s.exe", tools[i], tools[i]);
    fputs("\n", stdout);
    return CLI_DONE;
}

static int run(int argc, char **argv)
{
    static const struct sub_verb verbs[] = {{"bash", completion_write_bash}};
    return cli_sub_verb(VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_completion = {
    .name = VERB,
    .summary = "writes a bash script that completes verbs, options, their words and names of sets",
    .help = "openpla completion bash\n"
            "\n"
            "Writes the script to stdout. It completes the verbs and options of this program, the words of an option's "
            "value,\n"
            "and the names of stored sets. To load it in each new shell:\n"
            "\n"
            "  openpla completion bash > ~/.local/share/bash-completion/completions/openpla\n"
            "\n"
            "The script completes openpla, openpla.exe and the tools that are copies of it, such as logman.\n",
    .run = run,
};
