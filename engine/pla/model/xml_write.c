/* SPDX-License-Identifier: MIT */
/* Writes objects as XML; this is the format step. Elements are in the order of the rows; empty elements are <X/>
   (behaviour 18). */
#include "engine/base/memory.h"
#include "engine/base/xml_document.h"
#include "engine/base/xml_text.h"
#include "engine/pla/model/validate.h"

#include <stdio.h>
#include <string.h>

#define USUAL_SIZE 8192 /* initial buffer size in bytes */

static void write_number(struct text_buffer *b, const char *element, int64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)n);
    xml_add_element(b, element, text);
}

/* Writes a VARIANT. As in Windows' exports, values in an index map are decimal, and those in other maps are
   hexadecimal. */
static void write_variant(struct text_buffer *b, const char *element, const struct variant *v, bool hexadecimal)
{
    char text[64] = "";
    if (v->type == VARIANT_TEXT) {
        xml_add_element(b, element, v->text);
        return;
    }
    if (v->type == VARIANT_R4 || v->type == VARIANT_R8 || v->type == VARIANT_DATE)
        snprintf(text, sizeof text, "%.17g", v->real);
    else if (v->type != VARIANT_EMPTY && v->type != VARIANT_NULL)
        snprintf(text, sizeof text,
                 hexadecimal              ? "0x%llx"
                 : v->type == VARIANT_UI8 ? "%llu"
                                          : "%lld",
                 (unsigned long long)v->integer);
    xml_add_element(b, element, text);
}

static void write_bytes(struct text_buffer *b, const char *element, const struct bytes *bytes)
{
    if (!bytes->count) /* omitted if empty, as in Windows' exports */
        return;
    xml_start_element(b, element);
    for (size_t i = 0; i < bytes->count; i++)
        text_buffer_format(b, "%02X", bytes->items[i]);
    xml_end_element(b, element);
}

static HRESULT write_date(struct text_buffer *b, const struct property *p, const struct variant *v)
{
    char *text = v->type != VARIANT_DATE    ? text_copy("")
                 : p->kind == PROPERTY_DATE ? date_to_text(v->real)
                                            : time_to_text(v->real);
    if (!text)
        return E_OUTOFMEMORY;
    xml_add_element(b, p->xml, text);
    memory_free(text);
    return S_OK;
}

static void write_text(struct text_buffer *b, const struct property *p, const char *text)
{
    if (p->xml_use == XML_STORED || p->xml_use == XML_SHOWN || !text[0]) {
        xml_add_element(b, p->xml, text);
        return;
    }
    /* `text` is XML that was checked when it was set. */
    if (p->xml_use == XML_INSIDE)
        xml_start_element(b, p->xml);
    text_buffer_add(b, xml_without_prologue(text));
    if (p->xml_use == XML_INSIDE)
        xml_end_element(b, p->xml);
}

static void write_texts(struct text_buffer *b, const struct property *p, const struct texts *list)
{
    for (size_t i = 0; i < list->count; i++)
        xml_add_element(b, p->xml, list->items[i]);
    if (!list->count && p->text) /* otherwise a reader would set the default */
        xml_add_element(b, p->xml, "");
}

/* The output, and the live state of the set. The live state is read only once. */
struct writing {
    struct text_buffer text;
    const struct set_live *live; /* NULL: live state is not read */
    bool for_commit;             /* the XML is for set_to_commit_xml */
    bool secrets;                /* includes the secrets of data sources */
    char **security;             /* receives a copy of the set's Security as it is written; NULL: not needed */
};

static HRESULT write_contents(struct writing *w, struct object *o, bool hexadecimal);
static HRESULT write_object(struct writing *w, struct object *o, const char *element, bool hexadecimal);

static HRESULT write_items(struct writing *w, struct object *collection, bool hexadecimal)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(collection, &list, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = write_object(w, list[i], list[i]->class->name, hexadecimal);
    objects_release(list, count);
    return hr;
}

static HRESULT write_value(struct writing *w, const struct property *p, const struct value *v, bool hexadecimal)
{
    char guid[39];
    switch (p->kind) {
    case PROPERTY_BOOL:
        write_number(&w->text, p->xml, v->boolean ? -1 : 0);
        return S_OK;
    case PROPERTY_I32:
        write_number(&w->text, p->xml, v->i32);
        return S_OK;
    case PROPERTY_U32:
    case PROPERTY_ENUM:
    case PROPERTY_FLAGS:
        write_number(&w->text, p->xml, v->u32);
        return S_OK;
    case PROPERTY_U64:
        write_variant(&w->text, p->xml, &(struct variant){.type = VARIANT_UI8, .integer = (int64_t)v->u64}, false);
        return S_OK;
    case PROPERTY_GUID:
        text_from_guid(&v->guid, guid);
        xml_add_element(&w->text, p->xml, guid);
        return S_OK;
    case PROPERTY_BYTES:
        write_bytes(&w->text, p->xml, &v->bytes);
        return S_OK;
    case PROPERTY_DATE:
    case PROPERTY_TIME:
        return write_date(&w->text, p, &v->variant);
    case PROPERTY_TEXT:
        write_text(&w->text, p, v->text);
        return S_OK;
    case PROPERTY_TEXTS:
        write_texts(&w->text, p, &v->texts);
        return S_OK;
    case PROPERTY_VARIANT:
        write_variant(&w->text, p->xml, &v->variant, hexadecimal);
        return S_OK;
    case PROPERTY_OBJECT:
        return p->xml_use == XML_ITEMS ? write_items(w, v->object, false) : write_object(w, v->object, p->xml, false);
    }
    return E_UNEXPECTED;
}

/* Writes a list directly from its field, without a copy. */
static void write_list(struct writing *w, struct object *o, const struct property *p)
{
    object_lock(o);
    write_texts(&w->text, p, (const struct texts *)(const void *)((const char *)o + p->offset));
    object_unlock(o);
}

/* Copies the Security, but only if a reader of the XML would get the same string. */
static HRESULT keep_security(struct object *o, const struct property *p, const struct value *v, char **out)
{
    const HRESULT hr = xml_holds(v->text) && !xml_has_outer_blank(v->text) ? p->check(o, p, v) : S_FALSE;
    if (hr == E_OUTOFMEMORY)
        return hr;
    if (hr != S_OK) {
        error_clear();
        return S_OK;
    }
    *out = text_copy(v->text);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT write_property(struct writing *w, struct object *o, const struct property *p, bool hexadecimal)
{
    struct value v;
    if (p->kind == PROPERTY_TEXTS && !p->get && !p->get_live) {
        write_list(w, o, p);
        return S_OK;
    }
    HRESULT hr = w->secrets && p->secret ? object_get_field(o, p, &v) : object_get_with(o, p, w->live, &v);
    if (FAILED(hr) && p->xml_use == XML_SHOWN && hr != E_OUTOFMEMORY) {
        /* An error in a value that is only shown, such as a location with an invalid pattern, must not make the whole
           export fail. Such a value is written as an empty element. */
        error_clear();
        xml_add_element(&w->text, p->xml, "");
        return S_OK;
    }
    if (FAILED(hr))
        return hr;
    if (!p->if_any || v.u64 != 0)
        hr = write_value(w, p, &v, hexadecimal);
    if (SUCCEEDED(hr) && w->security && p == &data_collector_set_class.properties[IDataCollectorSet_Security])
        hr = keep_security(o, p, &v, w->security);
    value_free(&v);
    return hr;
}

static void write_user_value(struct text_buffer *b, const struct user_value *v)
{
    text_buffer_add(b, "<Value name=\"");
    xml_add_escaped(b, v->key, true);
    text_buffer_add(b, v->document                     ? "\" type=\"document\">"
                       : xml_has_outer_blank(v->value) ? "\"" XML_KEEPS_BLANKS ">"
                                                       : "\">");
    if (v->document)
        text_buffer_add(b, v->value);
    else
        xml_add_escaped(b, v->value, false);
    xml_end_element(b, "Value");
}

static void write_user_values(struct text_buffer *b, struct data_collector_set *set)
{
    object_lock(&set->object);
    for (size_t i = 0; i < set->value_count; i++)
        write_user_value(b, &set->values[i]);
    object_unlock(&set->object);
}

/* Returns whether set_to_commit_xml omits the row: it is only shown, or it is live state and no client has set it. */
static bool row_is_omitted(struct object *o, const struct property *p)
{
    if (p->xml_use == XML_SHOWN)
        return !p->read;
    return !object_field_stands(o, p);
}

/* Returns whether the object is a set in the namespace Session. */
static bool is_session(const struct object *o)
{
    const struct data_collector_set *set = (const struct data_collector_set *)o;
    const char *space = o->class != &data_collector_set_class ? NULL : set->space ? set->space : set->category;
    return space && !strcmp(space, "Session");
}

static HRESULT write_object(struct writing *w, struct object *o, const char *element, bool hexadecimal)
{
    size_t from = w->text.length;
    xml_start_element(&w->text, element);
    HRESULT hr = write_contents(w, o, hexadecimal);
    xml_end_or_empty(&w->text, element, from);
    return hr;
}

/* Writes the contents of an object's element: rows, items, and the user values of a set. */
static HRESULT write_contents(struct writing *w, struct object *o, bool hexadecimal)
{
    HRESULT hr = S_OK;
    if (o->class == &value_map_class)
        hexadecimal = ((struct value_map *)o)->ValueMapType != 1;
    bool session = is_session(o);
    for (size_t i = 0; SUCCEEDED(hr) && i < o->class->property_count; i++) {
        const struct property *p = &o->class->properties[i];
        if (p->xml_use != XML_HIDDEN && !(w->for_commit && row_is_omitted(o, p)) && !(session && p->not_in_sessions))
            hr = write_property(w, o, p, hexadecimal);
    }
    if (SUCCEEDED(hr) && o->class->items)
        hr = write_items(w, o, hexadecimal);
    if (SUCCEEDED(hr) && o->class == &data_collector_set_class)
        write_user_values(&w->text, (struct data_collector_set *)o);
    return hr;
}

static HRESULT to_xml(struct object *o, struct writing w, char **xml, size_t *size)
{
    *xml = NULL;
    text_buffer_reserve(&w.text, USUAL_SIZE);
    HRESULT hr = write_object(&w, o, o->class->name, false);
    if (SUCCEEDED(hr)) {
        if (size)
            *size = w.text.length;
        *xml = text_buffer_take(&w.text);
        hr = *xml ? S_OK : E_OUTOFMEMORY;
    }
    text_buffer_free(&w.text);
    return hr;
}

HRESULT set_to_stored_xml(struct object *set, char **xml, size_t *size)
{
    return to_xml(set, (struct writing){0}, xml, size);
}

HRESULT set_to_stored_xml_with_security(struct object *set, char **xml, size_t *size, char **security)
{
    *security = NULL;
    HRESULT hr = to_xml(set, (struct writing){.security = security}, xml, size);
    if (FAILED(hr)) {
        memory_free(*security);
        *security = NULL;
    }
    return hr;
}

HRESULT set_to_commit_xml(struct object *set, bool secrets, char **xml, size_t *size)
{
    return to_xml(set, (struct writing){.for_commit = true, .secrets = secrets}, xml, size);
}

HRESULT object_to_xml(struct object *o, char **xml, size_t *size)
{
    struct set_live live;
    *xml = NULL;
    HRESULT hr = o->class == &trace_data_collector_class ? trace_check_providers(o) : S_OK;
    if (FAILED(hr))
        return hr;
    hr = object_read_live(
        o, SET_LIVE_STATUS | SET_LIVE_SERIAL_NUMBER | SET_LIVE_LOCATION | SET_LIVE_FILES | SET_LIVE_NEXT_FOLDER, &live);
    if (FAILED(hr) && hr != PLA_E_DCS_NOT_FOUND)
        return hr;
    if (hr == PLA_E_DCS_NOT_FOUND) /* a collector without a set has only its own values */
        error_clear();
    hr = to_xml(o, (struct writing){.live = hr == S_OK ? &live : NULL}, xml, size);
    set_live_free(&live);
    return hr;
}
