/* SPDX-License-Identifier: MIT */
/* The MOF files that were added to this computer (`openpla mof add`): a folder beside the store's, from which every
   decoder takes its classes. */
#ifndef OPENPLA_MOF_FILES_H
#define OPENPLA_MOF_FILES_H

#include "engine/etw/decode/mof/mof_classes.h"
#include "engine/etw/decode/schemas.h"

/* Adds the file under its name, once it holds together with what is there; its contents stay as they are. Without
   `replace` ERROR_ALREADY_EXISTS's HRESULT when there is one of that name. MOF_E_ codes with "file(line): ...". */
HRESULT mof_files_add(const char *path, bool replace);
HRESULT mof_files_list(struct texts *names); /* none is no failure */
/* By the name that the list has, in any case. ERROR_FILE_NOT_FOUND's HRESULT. */
HRESULT mof_files_remove(const char *name);
/* Adds the classes of all of them, whatever order they need. A file that is wrong hides no other: it is left out, with
   a text in `remarks` (may be NULL). */
HRESULT mof_files_load(struct mof_classes *classes, struct texts *remarks);

/* The shipped classes and those of the files, as they are now, with texts in the user's language. */
HRESULT mof_files_classes(struct texts *remarks, struct mof_classes **out);
HRESULT mof_origin(struct schema_origin *out);

#endif
