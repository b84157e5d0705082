/* SPDX-License-Identifier: MIT */
/* What the verbs of openpla.exe share: the table's row, exit codes, errors, options. */
#ifndef OPENPLA_CLI_H
#define OPENPLA_CLI_H

#include "engine/os/text.h"

enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,  /* nothing was done, or not all of it: the text on stderr says what */
    CLI_USAGE = 2,   /* the command line is wrong */
    CLI_REMARKS = 3, /* done, but the data was damaged: each remark is on stderr */
};

/* One verb: a file of its own and a row in main.c's table. */
struct verb {
    const char *name;
    const char *summary; /* one line, for the list of verbs */
    const char *help;    /* whole, ends with a newline */
    /* argv without the program's and the verb's name, UTF-8. Gives an enum cli_exit. */
    int (*run)(int argc, char **argv);
};

/* A verb of verbs: "openpla manifest add". */
struct sub_verb {
    const char *name;
    int (*run)(int argc, char **argv); /* argv without its name too */
};
/* Runs the one that argv[0] names, in any case. Gives an enum cli_exit; for none of them CLI_USAGE with their names. */
int cli_sub_verb(const char *verb, const struct sub_verb *verbs, size_t count, int argc, char **argv);

/* "openpla VERB: text (0x80070002)" on stderr, the text being error_text(hr). Gives CLI_FAILED. */
int cli_error(const char *verb, HRESULT hr);
/* "openpla VERB: ..." on stderr and where to find help. Gives CLI_USAGE. */
int cli_usage(const char *verb, const char *format, ...) PRINTF_LIKE(2, 3);

/* An option as Windows' tools take them: "-name", "/name" or "--name", in any case, the value as the next argument. */
struct option {
    const char *name; /* without the dash */
    enum option_kind {
        OPTION_FLAG,     /* no value; target: bool */
        OPTION_TEXT,     /* one value; target: const char *, borrowed from argv */
        OPTION_OPTIONAL, /* one value, or none: then target, as that of OPTION_TEXT, is "" */
        OPTION_TEXTS,    /* all arguments up to the next option; target: struct texts, copies */
        OPTION_COUNT,    /* one value, a whole number from 1 on; target: uint32_t */
    } kind;
    void *target;
};
/* Fills in the targets. What belongs to no option is added to `operands` (NULL: there may be none). "--": everything
   behind it is an operand. An argument that begins with '/' and names no option is an operand, a path. CLI_DONE, or
   CLI_USAGE or CLI_FAILED with the text written. */
int options_parse(const char *verb, int argc, char **argv, const struct option *options, size_t count,
                  struct texts *operands);
/* Adds the arguments to `out`, and in the place of each "-config FILE" what FILE says: pieces of a command line, or
   "[option]" and lines with its values. E_INVALIDARG where the file's name is missing. */
HRESULT settings_expand(int argc, char **argv, struct texts *out);
/* The same. CLI_DONE, or CLI_USAGE or CLI_FAILED with the text written. */
int options_with_settings(const char *verb, int argc, char **argv, struct texts *out);

#ifdef _WIN32
/* The console's output page is again what it was before us; what we write to it from now on is not UTF-8 there. */
void cli_console_restore(void);
#endif

/* The words of -b and -e, one time together. *local: a FILETIME value. CLI_DONE, also when there are none, which leaves
 *local as it is; else CLI_USAGE or CLI_FAILED with the text written. */
int cli_time(const char *verb, const char *option, const struct texts *words, int64_t *local);
/* Asks whether the file that is there may go. */
bool cli_may_overwrite(const char *path);
/* Asks on the console, without showing it, for the account's password; for memory_free_secret. E_INVALIDARG where there
   is no console. */
HRESULT cli_ask_password(const char *account, char **out);

/* How far a long work is, as a percentage on stderr: after a second, twice a second. Zero-initialise. */
struct cli_progress {
    uint64_t begun, shown; /* of clock_monotonic_ms */
    bool visible;
};
void cli_progress_show(struct cli_progress *p, uint64_t done, uint64_t total);
void cli_progress_end(struct cli_progress *p); /* takes it off the screen */

#endif
