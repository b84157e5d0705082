/* SPDX-License-Identifier: MIT */
/* Classes of MOF files and their inheritance. Finds the class that describes a classic event, and creates the schema of
   the event. The classes of the kernel's events (MSNT_SystemTrace) are built in; `openpla mof add` adds files. */
#ifndef OPENPLA_MOF_CLASSES_H
#define OPENPLA_MOF_CLASSES_H

#include "engine/etw/decode/event_schema.h"
#include "engine/etw/decode/mof/mof_text.h"

/* May be read by several threads; adding requires exclusive access. */
struct mof_classes;

HRESULT mof_classes_create(struct mof_classes **out);
HRESULT mof_classes_create_empty(struct mof_classes **out); /* omits the built-in classes of the kernel's events */
void mof_classes_free(struct mof_classes *c);               /* NULL is allowed */
/* Adds either all classes of a file or none. A class replaces one of the same name from another file. Base classes may
   follow the classes derived from them. On failure, returns a MOF_E_ code, and the error text begins with
   "source(line): ". */
HRESULT mof_classes_add(struct mof_classes *c, const char *source, const void *bytes, size_t size);
/* Sets the language of the texts: a LANGID, or 0 for the texts outside ms_XXXX namespaces. The fallback is English. */
void mof_classes_language(struct mof_classes *c, uint16_t language);

/* Returns the schema of events of the class with this Guid, type and version: from the class of that version or, if
   it does not exist, of the nearest lower version. A class without EventVersion counts as the newest. Returns
   HRESULT_FROM_WIN32(ERROR_NOT_FOUND) with the reason. */
HRESULT mof_classes_schema(const struct mof_classes *c, const GUID *event, uint8_t type, uint16_t version,
                           struct event_schema **out);

/* A class derived from EventTrace; sessions enable it by its Guid. */
struct mof_provider {
    GUID guid;
    const char *name; /* borrowed from the classes */
};
size_t mof_classes_providers(const struct mof_classes *c, const struct mof_provider **out);
/* Lists the values named in the property "Flags" (keywords) or "Level" of the provider's class. Returns S_FALSE if the
   class has no such property or the property has no ValueMap. The texts are borrowed from the classes; the caller frees
   the array, which is from memory_alloc. */
struct mof_field {
    const char *name, *description;
    uint64_t value;
};
HRESULT mof_classes_fields(const struct mof_classes *c, const GUID *provider, const char *property,
                           struct mof_field **out, size_t *count);

/* A class that describes events of certain types. */
struct mof_event_class {
    const struct mof_class *type_class; /* the class that has the properties */
    const struct mof_class *event_class, *provider_class;
    GUID event;
    bool versioned;
    uint16_t version; /* valid if `versioned` */
    bool shipped;     /* the class is built in */
};
/* Lists all event classes in order of GUID and version. */
size_t mof_classes_events(const struct mof_classes *c, const struct mof_event_class **out);
/* Creates the schema for the at-th type of the class. */
HRESULT mof_event_schema(const struct mof_classes *c, const struct mof_event_class *e, size_t at,
                         struct event_schema **out);
/* Returns the types of the class, as listed in its EventType. */
const struct mof_qualifier *mof_event_types(const struct mof_event_class *e);
/* Finds a class by name, ignoring case; NULL if unknown. */
const struct mof_class *mof_classes_find(const struct mof_classes *c, const char *name);
/* Returns the base class; NULL if the class has none, or if it is unknown. */
const struct mof_class *mof_classes_base(const struct mof_classes *c, const struct mof_class *of);
/* Maximum depth of inheritance; deeper or circular inheritance is rejected with MOF_E_INVALID_SUPERCLASS. */
#define MOF_BASES_MOST 32
/* Returns the at-th text of a qualifier in the selected language; NULL if missing. */
const char *mof_classes_text(const struct mof_classes *c, const struct mof_class *of, const struct mof_property *p,
                             const char *qualifier, size_t at);

/* ---- files added by `openpla mof add`, in a folder that every decoder reads ---- */

/* Adds the file under its name if it is consistent with the existing files; its contents are stored unchanged.
   Returns HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) if the name exists and `replace` is not set, or a MOF_E_ code with
   "file(line): ...". */
HRESULT mof_files_add(const char *path, bool replace);
HRESULT mof_files_list(struct texts *names); /* without files, the result is an empty list */
/* Removes the added file with this name, ignoring case. Returns HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) if there is no
   file with this name. */
HRESULT mof_files_remove(const char *name);

/* Loads the built-in classes and the classes of the added files, with texts in the user's language. */
HRESULT mof_files_classes(struct texts *warnings, struct mof_classes **out);
HRESULT mof_origin(struct schema_origin *out);

#endif
