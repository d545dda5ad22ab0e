/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Configurations: any text is read in bounded memory and either gives a report with places inside
 * of the text, or blocks whose dump loads to the same dump again.
 * Input: the main file.
 */
#include "fuzz.h"

#include "conf/yaml.h"
#include "../unit/conf/schema.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_MAX ((size_t)64 << 20)

static void check_pos(const struct source *s, struct pos pos)
{
    CHECK(pos.line >= 1 && pos.line <= s->line_count && pos.column >= 1);
    CHECK(pos.column - 1 <= source_line(s, pos.line).n + 2); /* at most at its line end */
}

static void check_node(const struct source *s, const struct node *n, unsigned depth)
{
    check_pos(s, n->pos);
    CHECK(depth <= YAML_DEPTH_MAX);
    CHECK(n->kind != NODE_SCALAR || n->text.p[n->text.n] == '\0');
    for (size_t i = 0; i < n->count; i++) {
        if (n->kind == NODE_MAP) {
            check_pos(s, n->entries[i].key_pos);
            CHECK(n->entries[i].key.n != 0);
            for (size_t k = 0; k < i && i < 20; k++)
                CHECK(!str_eq(n->entries[i].key, n->entries[k].key));
        }
    }
}

/* The nodes alone, and that their places lie in the text. Aliases are met at their anchor. */
static void read_nodes(struct str text)
{
    struct arena a;
    struct diag d;
    struct yaml_limits limits = {0};
    struct node *root = NULL;
    arena_init(&a, NULL, 0, 4096, 0);
    diag_init(&d, &a);
    struct source *s = source_from_text(&a, "f", text);
    CHECK(s != NULL);
    if (source_check(&d, s)) {
        enum status st = yaml_read(&a, &d, s, &limits, &root);
        CHECK((st == STATUS_OK) || (st == STATUS_INVALID && root == NULL && d.errors > 0));
        CHECK(limits.text <= 2 * YAML_ALIAS_TEXT_MAX + text.n);
    }
    for (size_t i = 0; i < d.count; i++)
        CHECK(d.entries[i].pos.line == 0 || d.entries[i].pos.line <= s->line_count);
    if (root != NULL) {
        check_node(s, root, 1);
        for (size_t i = 0; i < root->count && root->kind == NODE_MAP; i++)
            check_node(s, root->entries[i].value, 2);
    }
    CHECK(text.n > 65536 || a.used < MEMORY_MAX);
    arena_fini(&a);
}

/* Loads text as the main file; what -T prints of it goes to *dump. */
static enum status load(struct str text, struct buf *dump)
{
    char path[64];
    struct arena a;
    struct diag d;
    struct block *top;
    int fd = memfd_create("main", MFD_CLOEXEC);
    CHECK(fd >= 0 && fchmod(fd, 0600) == 0);
    CHECK(write(fd, text.p, text.n) == (ssize_t)text.n);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    arena_init(&a, NULL, 0, 4096, 0);
    diag_init(&d, &a);
    struct conf_source src = {path, "/prefix", NULL};
    enum status st = conf_load(&a, &d, &src, test_sections, &top);
    CHECK((st == STATUS_OK) == (d.errors == 0) && (st == STATUS_OK) == (top != NULL));
    buf_init(dump, 0);
    diag_print(&d, dump);
    CHECK((dump->n == 0) == (d.count == 0));
    if (top != NULL)
        conf_dump(top, test_sections, dump);
    CHECK(!dump->failed);
    CHECK(text.n > 65536 || a.used < MEMORY_MAX);
    arena_fini(&a);
    close(fd);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = fuzz_copy(str_make((const char *)data, size));
    struct buf first, second;
    read_nodes(text);
    /* what lies on this machine and in this environment shall not matter */
    if (str_find(text, STR("include")) < 0 && str_find(text, STR("nv:")) < 0) {
        if (load(text, &first) == STATUS_OK) {
            CHECK(load(buf_view(&first), &second) == STATUS_OK);
            CHECK(str_eq(buf_view(&first), buf_view(&second)));
            buf_fini(&second);
        }
        buf_fini(&first);
    }
    fuzz_free(text);
    return 0;
}
