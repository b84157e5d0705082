/* SPDX-License-Identifier: MIT */
/* The work of openpla run. */
#ifndef OPENPLA_RUN_H
#define OPENPLA_RUN_H

/* argv: options of the verb, the program and its arguments. Returns the program's exit code, or an enum cli_exit after
   printing a message. Only for Windows and Wine. */
int run_program(int argc, char **argv);

#endif
