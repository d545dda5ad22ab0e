/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Injected faults: parsing the rules, counting ops, and keeping the completion contract while
 * lying.  An error must be final, so a multishot that is to fail is really cancelled and the lie
 * told when it has ended; only an accept that is short of resources may fail and go on.
 */
#include "event/fault.h"

#include "core/check.h"
#include "event/backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define RULES_MAX 32
#define ERRNO_MAX 134
#define GENERATION_SHIFT 32
#define GENERATION_MASK 0xffffffu

enum fault_what { FAULT_ERROR, FAULT_SHORT, FAULT_DUP };

struct rule {
    enum op_kind kind;
    enum fault_what what;
    uint32_t which;
    bool onwards;   /* `which` and all after it */
    uint32_t value; /* errno or bytes */
    uint32_t seen;
};

/* A multishot that has been cancelled and is to end with an error. */
struct ending {
    const struct op *op;
    int32_t res;
};

struct ev_fault {
    struct rule rules[RULES_MAX];
    size_t rule_count;
    struct ending *endings;
    size_t ending_count, ending_room;
};

/* --- parsing --- */

static const struct {
    const char *name;
    enum op_kind kind;
} kinds[] = {
    {"accept", OP_ACCEPT},    {"recv", OP_RECV},        {"send", OP_SEND},
    {"sendv", OP_SENDV},      {"send_file", OP_SEND_FILE}, {"read", OP_READ_FILE},
    {"write", OP_WRITE_FILE}, {"open", OP_OPEN},        {"poll", OP_POLL},
    {"connect", OP_CONNECT},
};

/* A decimal number from 1 on at *p, which moves behind it. 0: none. */
static uint32_t number(const char **p)
{
    uint32_t n = 0;

    for (; **p >= '0' && **p <= '9' && n < 100000000; (*p)++)
        n = n * 10 + (uint32_t)(**p - '0');
    return n;
}

static int errno_by_name(const char *name)
{
    for (int e = 1; e < ERRNO_MAX; e++) {
        const char *n = strerrorname_np(e);
        if (n != NULL && strcmp(n, name) == 0)
            return e;
    }
    return 0;
}

static const char *parse_what(struct rule *r, const char *what)
{
    if (strcmp(what, "dup") == 0) {
        r->what = FAULT_DUP;
        return NULL;
    }
    if (strncmp(what, "short:", 6) == 0) {
        what += 6;
        r->what = FAULT_SHORT;
        r->value = number(&what);
        if (r->value == 0 || *what != '\0')
            return "short wants a number of bytes from 1";
        if (r->kind != OP_SEND && r->kind != OP_SENDV && r->kind != OP_READ_FILE &&
            r->kind != OP_WRITE_FILE)
            return "short is for send, sendv, read and write";
        return NULL;
    }
    r->what = FAULT_ERROR;
    r->value = (uint32_t)errno_by_name(what);
    return r->value == 0 ? "expected an errno name, dup or short:N" : NULL;
}

/* NULL, or what is wrong. */
static const char *parse_rule(struct rule *r, const char *text)
{
    const char *colon = strchr(text, ':');
    size_t n = colon != NULL ? (size_t)(colon - text) : 0;

    *r = (struct rule){.kind = OP_NONE};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (n == strlen(kinds[i].name) && memcmp(text, kinds[i].name, n) == 0)
            r->kind = kinds[i].kind;
    if (r->kind == OP_NONE)
        return "unknown kind of operation";
    text = colon + 1;
    r->which = number(&text);
    if (*text == '+') {
        r->onwards = true;
        text++;
    }
    if (r->which == 0 || *text != ':')
        return "expected the number of an occurrence";
    return parse_what(r, text + 1);
}

/* Cuts the first rule off the list at *rest; NULL when there is none left. */
static char *next_item(char **rest)
{
    char *item = *rest, *comma;

    if (item == NULL || *item == '\0')
        return NULL;
    comma = strchr(item, ',');
    *rest = comma != NULL ? comma + 1 : NULL;
    if (comma != NULL)
        *comma = '\0';
    return item;
}

/* NULL, or what is wrong; the text is cut up and *item is the rule it is wrong with. */
static const char *parse_rules(struct ev_fault *f, char *text, const char **item)
{
    const char *bad = "no rule in it";

    while ((*item = next_item(&text)) != NULL) {
        if (f->rule_count == RULES_MAX)
            return "too many rules";
        bad = parse_rule(&f->rules[f->rule_count++], *item);
        if (bad != NULL)
            return bad;
    }
    return bad;
}

struct ev_fault *ev_fault_parse(const char *spec, char *why, size_t size)
{
    struct ev_fault *f = calloc(1, sizeof(*f));
    char *copy = strdup(spec);
    const char *item = NULL, *bad = "out of memory";

    if (f != NULL && copy != NULL)
        bad = parse_rules(f, copy, &item);
    if (bad != NULL) {
        (void)snprintf(why, size, "fault \"%s\": %s", item != NULL ? item : spec, bad);
        ev_fault_free(f);
        f = NULL;
    }
    free(copy);
    return f;
}

void ev_fault_free(struct ev_fault *f)
{
    if (f == NULL)
        return;
    free(f->endings);
    free(f);
}

/* --- applying --- */

/* Counts one occurrence; true if the rule speaks of this one. */
static bool rule_hits(struct rule *r)
{
    r->seen++;
    return r->seen == r->which || (r->onwards && r->seen > r->which);
}

static bool cut_msg(struct msghdr *msg, size_t n)
{
    for (size_t i = 0; i < msg->msg_iovlen; i++) {
        if (msg->msg_iov[i].iov_len >= n) {
            bool cut = msg->msg_iov[i].iov_len > n || i + 1 < msg->msg_iovlen;
            msg->msg_iov[i].iov_len = n;
            msg->msg_iovlen = i + 1;
            return cut;
        }
        n -= msg->msg_iov[i].iov_len;
    }
    return false;
}

static bool cut(struct op *op, size_t n)
{
    size_t *len = op->kind == OP_SEND ? &op->u.send.n : &op->u.rw.n;

    if (op->kind == OP_SENDV)
        return cut_msg(op->u.sendv.msg, n);
    if (*len <= n)
        return false;
    *len = n;
    return true;
}

bool ev_fault_submit(struct ev_fault *f, struct op *op)
{
    bool done = false;

    for (size_t i = 0; i < f->rule_count; i++) {
        struct rule *r = &f->rules[i];
        if (r->what == FAULT_SHORT && r->kind == (enum op_kind)op->kind && rule_hits(r))
            done = cut(op, r->value) || done;
    }
    return done;
}

/* What the same slot would have said before its last owner left it. */
static void deliver_stale(struct loop *loop, const struct op *op)
{
    uint64_t data = loop_user_data(loop, op);
    uint64_t generation = (data >> GENERATION_SHIFT) & GENERATION_MASK;

    data &= ~((uint64_t)GENERATION_MASK << GENERATION_SHIFT);
    data |= ((generation - 1) & GENERATION_MASK) << GENERATION_SHIFT;
    CHECK(loop_slot_find(loop, data) == NULL);
}

static void discard(const struct op *op, int32_t res)
{
    if (res >= 0 && (op->kind == OP_ACCEPT || op->kind == OP_OPEN))
        (void)close(res);
}

static void end_later(struct ev_fault *f, const struct op *op, int32_t res)
{
    if (f->ending_count == f->ending_room) {
        size_t room = f->ending_room * 2 + 8;
        struct ending *p = realloc(f->endings, room * sizeof(*p));
        CHECK(p != NULL); /* test builds only */
        f->endings = p;
        f->ending_room = room;
    }
    f->endings[f->ending_count++] = (struct ending){op, res};
}

/* The entry of an op that is ending, NULL if it is not. */
static struct ending *ending_of(struct ev_fault *f, const struct op *op)
{
    for (size_t i = 0; i < f->ending_count; i++)
        if (f->endings[i].op == op)
            return &f->endings[i];
    return NULL;
}

static bool may_go_on(const struct op *op, uint32_t err)
{
    return op->kind == OP_ACCEPT &&
           (err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM);
}

bool ev_fault_complete(struct loop *loop, struct op *op, int32_t *res, unsigned flags)
{
    struct ev_fault *f = loop->fault;
    struct ending *end = ending_of(f, op);
    uint32_t err = 0;

    if (end != NULL) {
        discard(op, *res);
        if ((flags & OP_MORE) != 0)
            return false;
        *res = end->res;
        *end = f->endings[--f->ending_count];
        return true;
    }
    if (*res == -ECANCELED)
        return true;
    for (size_t i = 0; i < f->rule_count; i++) {
        struct rule *r = &f->rules[i];
        if (r->what == FAULT_SHORT || r->kind != (enum op_kind)op->kind || !rule_hits(r))
            continue;
        if (r->what == FAULT_DUP)
            deliver_stale(loop, op);
        else
            err = r->value;
    }
    if (err == 0)
        return true;
    discard(op, *res);
    if ((flags & OP_MORE) == 0 || may_go_on(op, err)) {
        *res = -(int32_t)err;
        return true;
    }
    end_later(f, op, -(int32_t)err);
    op_cancel(loop, op);
    return false;
}
