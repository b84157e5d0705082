/* SPDX-License-Identifier: MIT */
/* A set's commit by a client of ours, whose server gets the definition and answers with what it has found in one call.
   Another server is asked for the same by what MS-PLA has: SetXml, SetCredentials, Commit, and the map's items one by
   one. */
#ifndef OPENPLA_WHOLE_COMMIT_H
#define OPENPLA_WHOLE_COMMIT_H

#include "com/objects/skin.h"

struct whole_commit {
    const char *xml, *name;
    const char *user, *password; /* NULL: no credentials go with it */
    const char *masked;          /* what credentials_to_give made of the password and of data sources; NULL: nothing */
    const char *whole_xml;       /* the XML with what is secret in it, for another server; NULL: it is `xml` */
    uint32_t mode;
};
/* Client: commits at the server's new object of a set. What the server's validation says, and `issues` does not yet, is
   added. */
HRESULT whole_commit_ask(IDispatch *set, const struct whole_commit *what, struct object *issues);
/* Client: adds the items of a map of the server's (an object in a VARIANT; none: nothing) to `issues`. */
HRESULT whole_commit_take_map(const VARIANT *map, struct object *issues);
/* Server: OWN_WHOLE_COMMIT of the set. Arguments: XML, name, user, what is masked, VT_BSTR, and the mode, VT_I4; the
   third and the fourth are VT_EMPTY if there is nothing. The result is an array of texts, three for each issue: its
   Value in decimal digits, Key, Description; nothing if there is no memory for it, as the set is committed. */
HRESULT whole_commit_answer(struct object *set, const DISPPARAMS *params, VARIANT *result);

#endif
