/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is put into the directory of a server under test (files, links, special files) and what
 * is read back from it (logs).
 */
#include "lib/client.h"
#include "lib/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILLED (64u << 20)

static void must(bool ok, const char *what, const char *path)
{
    if (!ok) {
        fprintf(stderr, "test set-up: %s %s: %s\n", what, path, strerror(errno));
        exit(99);
    }
}

const char *server_path(const struct server *s, const char *rel)
{
    static char path[8][4400];
    static unsigned turn;
    char *p = path[turn++ % 8];
    snprintf(p, sizeof(path[0]), "%s/%s", s->dir, rel);
    return p;
}

/* Makes the directories above the last component of `path`. */
static void make_parents(const char *path)
{
    char part[4400];
    snprintf(part, sizeof(part), "%s", path);
    for (char *p = strchr(part + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
        *p = '\0';
        must(mkdir(part, 0755) == 0 || errno == EEXIST, "mkdir", part);
        *p = '/';
    }
}

void server_mkdir(const struct server *s, const char *rel)
{
    const char *path = server_path(s, rel);
    make_parents(path);
    must(mkdir(path, 0755) == 0 || errno == EEXIST, "mkdir", path);
}

void server_data(const struct server *s, const char *rel, const void *p, size_t n)
{
    const char *path = server_path(s, rel);
    make_parents(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0 && write(fd, p, n) == (ssize_t)n, "write", path);
    close(fd);
}

void server_text(const struct server *s, const char *rel, const char *text)
{
    server_data(s, rel, text, strlen(text));
}

unsigned char file_byte(uint64_t i)
{
    return i >= FILLED ? 0 : (unsigned char)(i ^ (i >> 8) * 7 ^ (i >> 16) * 31);
}

void server_fill(const struct server *s, const char *rel, uint64_t n)
{
    static unsigned char block[65536];
    const char *path = server_path(s, rel);
    make_parents(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0 && ftruncate(fd, (off_t)n) == 0, "make", path);
    for (uint64_t at = 0; at < n && at < FILLED; at += sizeof(block)) {
        size_t len = n - at < sizeof(block) ? (size_t)(n - at) : sizeof(block);
        for (size_t i = 0; i < len; i++)
            block[i] = file_byte(at + i);
        must(pwrite(fd, block, len, (off_t)at) == (ssize_t)len, "write", path);
    }
    close(fd);
}

void server_link(const struct server *s, const char *rel, const char *target)
{
    const char *path = server_path(s, rel);
    make_parents(path);
    must(symlink(target, path) == 0, "symlink", path);
}

void server_fifo(const struct server *s, const char *rel)
{
    const char *path = server_path(s, rel);
    make_parents(path);
    must(mkfifo(path, 0666) == 0, "mkfifo", path);
}

void server_mtime(const struct server *s, const char *rel, int64_t seconds, long ns)
{
    const char *path = server_path(s, rel);
    struct timespec ts[2] = {{seconds, ns}, {seconds, ns}};
    must(utimensat(AT_FDCWD, path, ts, 0) == 0, "utimensat", path);
}

char *server_read(const struct server *s, const char *rel)
{
    size_t n = 0, room = 65536;
    char *text = malloc(room);
    FILE *f = fopen(server_path(s, rel), "r");
    while (f != NULL) {
        size_t got = fread(text + n, 1, room - n - 1, f);
        n += got;
        if (got == 0)
            break;
        if (room - n < 2)
            text = realloc(text, room *= 2);
    }
    if (f != NULL)
        fclose(f);
    text[n] = '\0';
    return text;
}

bool server_wait_text(const struct server *s, const char *rel, const char *text, int ms)
{
    for (int64_t end = now_ms() + ms;; sleep_ms(20)) {
        char *all = server_read(s, rel);
        bool found = strstr(all, text) != NULL;
        free(all);
        if (found || now_ms() > end)
            return found;
    }
}

size_t count_text(const char *hay, const char *needle)
{
    size_t n = 0;
    for (const char *p = hay; (p = strstr(p, needle)) != NULL; p += strlen(needle))
        n++;
    return n;
}
