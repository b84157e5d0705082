/* SPDX-License-Identifier: MIT */
/* Faults in the file operations of this thread: the nth operation fails, or all from the nth one on, or the disk is
   full from then on, or the process ends at the nth one. */
#ifndef OPENPLA_TESTS_FILE_FAULTS_H
#define OPENPLA_TESTS_FILE_FAULTS_H

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/process.h"

struct file_faults {
    uint64_t at; /* number of the operation, counted from 1; 0: none */
    enum { FAULT_ONCE, FAULT_LASTING, FAULT_FULL, FAULT_END } kind;
    HRESULT hr; /* result of the failing operations */
    uint64_t count;
    enum file_operation operation; /* the first operation that failed */
    bool met;
};

/* On a full disk, operations that need no space succeed. */
static inline HRESULT file_fault(void *user, enum file_operation operation, const char *path)
{
    struct file_faults *f = user;
    (void)path;
    f->count++;
    if (!f->at || f->count < f->at || (f->kind == FAULT_ONCE && f->met))
        return S_OK;
    if (f->kind == FAULT_FULL && operation == FILE_OPERATION_WRITE) {
        f->met = true;
        f->operation = operation;
        return S_FALSE;
    }
    if (f->kind == FAULT_FULL)
        return S_OK;
    if (!f->met)
        f->operation = operation;
    f->met = true;
    if (f->kind == FAULT_END)
        process_terminate(process_own_id(), process_start_time(process_own_id()));
    return f->hr;
}

static inline void file_faults_begin(struct file_faults *f)
{
    f->count = 0;
    f->met = false;
    file_observe(file_fault, f);
}

static inline void file_faults_end(void)
{
    file_observe(NULL, NULL);
}

#endif
