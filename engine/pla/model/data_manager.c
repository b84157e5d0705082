/* SPDX-License-Identifier: MIT */
/* The data manager and its folder actions (MS-PLA 3.2.4.2 to 3.2.4.4). */
#include "engine/base/xml_document.h"
#include "engine/pla/model/validate.h"

#include <string.h>

#define CLASS     folder_action
#define INTERFACE IFolderAction
#define ROWS      "engine/pla/folder_action.def"
#include "engine/pla/model/class_rows.inc"
const struct class folder_action_class = {
    .name = "FolderAction",
    CLASS_ROWS(folder_action, IFolderAction),
};

static const struct class *const action_items[] = {&folder_action_class, NULL};
const struct class folder_action_collection_class = {
    .name = "FolderActionCollection",
    .size = sizeof(struct collection),
    .items = offsetof(struct collection, items),
    .item_classes = action_items,
};

/* XML shorter than this cannot be nested too deeply. */
#define SURELY_FLAT 1024

/* Checks the nesting of an XML fragment, which begins three elements deep in the set's XML. */
static HRESULT check_depth(const char *xml)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, "<a><b><c>");
    text_buffer_add(&b, xml_without_prologue(xml));
    text_buffer_add(&b, "</c></b></a>");
    HRESULT hr = b.failed ? E_OUTOFMEMORY : xml_check_fragment(b.text, NULL);
    text_buffer_free(&b);
    return hr;
}

static HRESULT manager_check_xml(struct object *o, const struct property *p, const struct value *in)
{
    (void)o;
    HRESULT hr = xml_check_fragment(in->text, p->xml_use == XML_WHOLE ? p->xml : NULL);
    if (SUCCEEDED(hr) && strlen(in->text) > SURELY_FLAT)
        hr = check_depth(in->text);
    return FAILED(hr) ? error_prefix(hr, "%s", p->name) : hr;
}

HRESULT data_manager_set(struct object *manager, struct object **set)
{
    object_lock(manager);
    *set = manager->parent && object_try_reference(manager->parent) ? manager->parent : NULL;
    object_unlock(manager);
    return *set ? S_OK : error_set(PLA_E_DCS_NOT_FOUND, "the data manager's set no longer exists");
}

#define CLASS     data_manager
#define INTERFACE IDataManager
#define ROWS      "engine/pla/data_manager.def"
#include "engine/pla/model/class_rows.inc"

static HRESULT created(struct object *o)
{
    return object_create_child(o, &folder_action_collection_class, &((struct data_manager *)o)->FolderActions);
}

const struct class data_manager_class = {
    .name = "DataManager",
    CLASS_ROWS(data_manager, IDataManager),
    .created = created,
};
