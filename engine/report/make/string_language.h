/* SPDX-License-Identifier: MIT */
/* Which of several languages' strings is taken. */
#ifndef OPENPLA_STRING_LANGUAGE_H
#define OPENPLA_STRING_LANGUAGE_H

/* How well a string's language ("": any) fits the wanted one ("de-AT"; "": none wished): its own, that without its
   country, any, English. 0: not at all. */
unsigned string_language_fit(const char *has, const char *wanted);

#endif
