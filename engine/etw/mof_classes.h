/* SPDX-License-Identifier: MIT */
/* Classes of MOF files, with what they inherit: which class describes a classic event, and its schema. The classes of
   the kernel's events (MSNT_SystemTrace) are always known; files are added by `openpla mof add`. */
#ifndef OPENPLA_MOF_CLASSES_H
#define OPENPLA_MOF_CLASSES_H

#include "engine/etw/decode/event_schema.h"
#include "engine/etw/decode/mof/mof_text.h"

/* Read by any number of threads; who adds to it does so alone. */
struct mof_classes;

HRESULT mof_classes_create(struct mof_classes **out);
HRESULT mof_classes_create_empty(struct mof_classes **out); /* without those of the kernel's events */
void mof_classes_free(struct mof_classes *c);               /* NULL is allowed */
/* Adds all classes of a file, or none. A class takes the place of one of that name from another file; classes need not
   stand before those that derive from them. Fails with "source(line): ..." and a MOF_E_ code. */
HRESULT mof_classes_add(struct mof_classes *c, const char *source, const void *bytes, size_t size);
/* The language of the texts: a LANGID, 0 for what the files have outside of ms_XXXX. English stands in for it. */
void mof_classes_language(struct mof_classes *c, uint16_t language);

/* What an event of the class with this Guid, type and version says: by the class of that version; else by that of the
   nearest lower one; the class without EventVersion counts as the newest. ERROR_NOT_FOUND's HRESULT with the reason. */
HRESULT mof_classes_schema(const struct mof_classes *c, const GUID *event, uint8_t type, uint16_t version,
                           struct event_schema **out);

/* A class with the Guid that sessions enable it by: derived from EventTrace. */
struct mof_provider {
    GUID guid;
    const char *name; /* borrowed of the classes */
};
size_t mof_classes_providers(const struct mof_classes *c, const struct mof_provider **out);
/* Values that the provider's class names: of its property "Flags" (keywords) or "Level". S_FALSE: none. The texts are
   borrowed of the classes, the array is the caller's, from memory_alloc. */
struct mof_field {
    const char *name, *description;
    uint64_t value;
};
HRESULT mof_classes_fields(const struct mof_classes *c, const GUID *provider, const char *property,
                           struct mof_field **out, size_t *count);

/* One class that describes events of these types. */
struct mof_event_class {
    const struct mof_class *type_class; /* has the properties */
    const struct mof_class *event_class, *provider_class;
    GUID event;
    bool versioned;
    uint16_t version; /* with `versioned` */
    bool shipped;     /* one of ours */
};
/* All of them, in the order of GUID and version. */
size_t mof_classes_events(const struct mof_classes *c, const struct mof_event_class **out);
/* The schema that one of them makes for the at-th of its types. */
HRESULT mof_event_schema(const struct mof_classes *c, const struct mof_event_class *e, size_t at,
                         struct event_schema **out);
/* The types that it has, as its EventType says them. */
const struct mof_qualifier *mof_event_types(const struct mof_event_class *e);
/* A class by its name, in any case; NULL: none. */
const struct mof_class *mof_classes_find(const struct mof_classes *c, const char *name);
/* The class that it derives from; NULL: none, or none that is known. */
const struct mof_class *mof_classes_base(const struct mof_classes *c, const struct mof_class *of);
/* Bases from one class to the first of all; more, or a circle, is MOF_E_INVALID_SUPERCLASS. */
#define MOF_BASES_MOST 32
/* A text of a qualifier in the language that is asked for: the at-th. NULL: none. */
const char *mof_classes_text(const struct mof_classes *c, const struct mof_class *of, const struct mof_property *p,
                             const char *qualifier, size_t at);

/* ---- files added by `openpla mof add`: a folder beside the store's, which every decoder reads ---- */

/* Adds the file under its name, once it holds together with what is there; its contents stay as they are. Without
   `replace` ERROR_ALREADY_EXISTS's HRESULT when there is one of that name. MOF_E_ codes with "file(line): ...". */
HRESULT mof_files_add(const char *path, bool replace);
HRESULT mof_files_list(struct texts *names); /* none is no failure */
/* By the name that the list has, in any case. ERROR_FILE_NOT_FOUND's HRESULT. */
HRESULT mof_files_remove(const char *name);

/* The shipped classes and those of the files, as they are now, with texts in the user's language. */
HRESULT mof_files_classes(struct texts *warnings, struct mof_classes **out);
HRESULT mof_origin(struct schema_origin *out);

#endif
