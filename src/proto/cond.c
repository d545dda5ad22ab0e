/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preconditions.  Each of the two pairs is one question: where a tag is given the date beside it
 * is not looked at, in either direction (RFC 9110 13.1.3, 13.1.4).
 */
#include "proto/cond.h"

#include "proto/date.h"

/* Does a tag of the list, which may take several lines, match? */
static bool any_tag(const struct field *f, size_t n, enum field_id id, size_t from,
                    const struct cond_target *t, bool strong)
{
    for (size_t i = from; i < n; i++) {
        if (f[i].id != id) {
            continue;
        }
        struct str rest = f[i].value;
        struct etag star;
        bool match = t->has_etag
                         ? etag_list_matches(rest, t->etag, strong, true)
                         : etag_next(&rest, &star) == ETAG_STAR; /* it exists, tag or none */
        if (match) {
            return true;
        }
    }
    return false;
}

/*
 * If-None-Match: the tag itself by weak comparison, or that of another coding. A tag that is the
 * selected one's is preferred over others of the list.
 */
static bool none_match(const struct field *f, size_t n, size_t from, const struct cond_target *t,
                       struct etag *held)
{
    if (any_tag(f, n, FIELD_IF_NONE_MATCH, from, t, false)) {
        *held = t->etag;
        return true;
    }
    for (size_t i = from; t->has_etag && i < n; i++) {
        struct str rest = f[i].value;
        while (f[i].id == FIELD_IF_NONE_MATCH && etag_next(&rest, held) == ETAG_TAG) {
            if (etag_same_base(*held, t->base)) {
                return true;
            }
        }
    }
    *held = (struct etag){.weak = false};
    return false;
}

/* The date of a field; false if there is none or it cannot be read. */
static bool field_date(const struct field *f, const uint16_t *first, enum field_id id,
                       const struct cond_target *t, int64_t *date)
{
    return first[id] != 0 && t->has_mtime && date_parse(f[first[id] - 1].value, t->now_year, date);
}

enum cond_result cond_evaluate(const struct field *f, size_t n, const uint16_t *first,
                               const struct cond_target *t, struct etag *held)
{
    size_t match = first[FIELD_IF_MATCH], none = first[FIELD_IF_NONE_MATCH];
    int64_t date;

    *held = (struct etag){.weak = false};
    if (match != 0) {
        if (!any_tag(f, n, FIELD_IF_MATCH, match - 1, t, true)) {
            return COND_PRECONDITION_FAILED;
        }
    } else if (field_date(f, first, FIELD_IF_UNMODIFIED_SINCE, t, &date) && t->mtime > date) {
        return COND_PRECONDITION_FAILED;
    }
    if (none != 0) {
        if (none_match(f, n, none - 1, t, held)) {
            return t->get_or_head ? COND_NOT_MODIFIED : COND_PRECONDITION_FAILED;
        }
    } else if (t->get_or_head && t->since != COND_SINCE_OFF &&
               field_date(f, first, FIELD_IF_MODIFIED_SINCE, t, &date) &&
               (t->mtime == date || (t->mtime < date && t->since == COND_SINCE_BEFORE))) {
        return COND_NOT_MODIFIED;
    }
    return COND_NONE;
}

bool cond_range_applies(const struct field *f, const uint16_t *first, const struct cond_target *t)
{
    struct etag tag;
    int64_t date;

    if (first[FIELD_IF_RANGE] == 0) {
        return true;
    }
    struct str value = f[first[FIELD_IF_RANGE] - 1].value;
    if (str_starts(value, STR("\"")) || str_starts(value, STR("W/"))) {
        return t->has_etag && etag_next(&value, &tag) == ETAG_TAG && value.n == 0 &&
               etag_equal_strong(tag, t->etag);
    }
    return field_date(f, first, FIELD_IF_RANGE, t, &date) && date == t->mtime;
}
