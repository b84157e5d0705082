/* SPDX-License-Identifier: MIT */
/* The COM wrapper of a model object: one per object and moment, with the interface's vtable, made from the class table.
 */
#ifndef OPENPLA_WRAPPER_H
#define OPENPLA_WRAPPER_H

#include "engine/pla/model.h"
#include "mspla.h"

#include <windows.h>
#include <ole2.h>

/* What a class of objects is to COM. */
struct com_class {
    const struct class *model;
    const IID *interface_id;
    const IID *base_id; /* the interface it inherits from besides IDispatch, or NULL */
    const void *vtable;
    ITypeInfo *type_info; /* loaded at first use, kept for the module's life */
};
extern struct com_class com_classes[];
extern const size_t com_classes_count;

struct wrapper {
    const void *vtable; /* first, as the interface's layout asks */
    ISupportErrorInfo error_info;
    LONG references;
    struct object *model;      /* a reference */
    struct client_use *client; /* whose it counts as; NULL: nobody's */
    struct com_class *class;
};
static inline struct wrapper *wrapper_of(void *interface_pointer)
{
    return interface_pointer;
}
static inline struct object *model_of(void *interface_pointer)
{
    return wrapper_of(interface_pointer)->model;
}

/* The class' row of the table. */
struct com_class *com_class_of(const struct class *model);
/* The object's wrapper, made if it has none now; a reference to its interface. What is outstanding of the object is
   done first (object_complete), and its failure is returned. */
HRESULT wrapper_get(struct object *model, void **interface_pointer);
/* For a method that gives an object out, whose reference is taken over: wrapper_get unless hr is a failure, which is
   returned then. Without a place for it the object is not wanted. */
HRESULT wrapper_give(HRESULT hr, struct object *model, void **interface_pointer);
/* The model behind an interface pointer of ours, as a reference; E_INVALIDARG, naming `argument`, if it is not one of
   this process' objects of the model class (NULL: any class). */
HRESULT wrapper_model(IUnknown *pointer, const struct class *class, const char *argument, struct object **model);

HRESULT wrapper_query(struct wrapper *s, REFIID iid, void **out);
ULONG wrapper_add_reference(struct wrapper *s);
ULONG wrapper_release(struct wrapper *s);
/* Type information of the class' interface; a reference. */
HRESULT class_type_info(const struct class *class, ITypeInfo **out);

/* Methods that the type library does not have, nor GetIDsOfNames: what costs a client of our own several calls between
   processes, in one. The numbers are ours; another server has no members of them. */
enum own_member {
    OWN_WHOLE_COMMIT = 0x504c4101, /* of a set: com/facade/own_members.h */
    OWN_STATUSES,                  /* of a collection of sets, as all below */
    OWN_NAMES,
    OWN_DEFINITIONS
};

/* dispatch.c: IDispatch of every object. */
HRESULT dispatch_get_type_info(struct wrapper *s, UINT index, ITypeInfo **out);
HRESULT dispatch_get_ids(struct wrapper *s, REFIID iid, LPOLESTR *names, UINT count, DISPID *ids);
HRESULT dispatch_invoke(struct wrapper *s, DISPID id, REFIID iid, WORD flags, DISPPARAMS *params, VARIANT *result,
                        EXCEPINFO *exception, UINT *bad_argument);

/* What every method of an object returns through: on failure the thread gets an IErrorInfo with the engine's text. */
HRESULT com_result(void *interface_pointer, HRESULT hr);
/* E_POINTER with the argument's name. */
HRESULT com_no_pointer(void *interface_pointer, const char *argument);

/* The vtables of all objects, each in its object's file; and COM_OBJECT_<model class>, the pointer to its interface. */
#define CLASS(model, I, base)                                                                                          \
    extern const I##Vtbl I##_vtable;                                                                                   \
    typedef I *COM_OBJECT_##model;
#include "engine/pla/classes.def"
#undef CLASS

/* Under Wine: the server's interfaces stay known to its RPC layer for the process' whole life.
   Wine takes an interface out of its RPC layer when the last object with it is released, holding a lock while it waits
   for calls of that interface to end; a call that needs the same lock then never ends, and the server answers nobody
   any more. So one object of no use keeps each interface in. In the multithreaded apartment; ends with the process. */
HRESULT kept_interfaces_begin(void);

#endif
