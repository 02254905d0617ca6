#include "CPowerCut.h"
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

typedef struct recording {
    char *folder;
    relay_operation *operations;
    int count, capacity;
    long long room;
} recording;

enum { MOST = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static recording recordings[MOST];
static sqlite3_vfs layer;

/* A file of the layer; that of the usual layer follows it in memory. */
typedef struct layer_file {
    sqlite3_file base;
    int recording;
    int file; /* -1: not remembered */
} layer_file;

static sqlite3_file *below(sqlite3_file *file) { return (sqlite3_file *)((layer_file *)file + 1); }
static const sqlite3_io_methods *methods(sqlite3_file *file) { return below(file)->pMethods; }

static void remember(sqlite3_file *file, int kind, long long offset, const void *bytes, long long count) {
    layer_file *own = (layer_file *)file;
    if (own->file < 0) return;
    pthread_mutex_lock(&lock);
    recording *to = &recordings[own->recording];
    if (to->count == to->capacity) {
        to->capacity = to->capacity ? 2 * to->capacity : 1024;
        to->operations = realloc(to->operations, (size_t)to->capacity * sizeof(relay_operation));
    }
    unsigned char *copy = NULL;
    if (count > 0) {
        copy = malloc((size_t)count);
        memcpy(copy, bytes, (size_t)count);
    }
    to->operations[to->count++] = (relay_operation){kind, own->file, offset, count, copy};
    pthread_mutex_unlock(&lock);
}

/* Takes room for what a write adds to a file; returns whether there is enough. */
static int take_room(sqlite3_file *file, long long end) {
    layer_file *own = (layer_file *)file;
    sqlite3_int64 size = 0;
    methods(file)->xFileSize(below(file), &size);
    if (own->file < 0 || end <= size) return 1;
    pthread_mutex_lock(&lock);
    recording *from = &recordings[own->recording];
    int is_enough = from->room < 0 || from->room >= end - size;
    if (is_enough && from->room >= 0) from->room -= end - size;
    pthread_mutex_unlock(&lock);
    return is_enough;
}

static int close_file(sqlite3_file *f) { return methods(f)->xClose(below(f)); }
static int read_file(sqlite3_file *f, void *to, int n, sqlite3_int64 at) { return methods(f)->xRead(below(f), to, n, at); }

static int write_file(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    if (!take_room(file, offset + count)) return SQLITE_FULL;
    int code = methods(file)->xWrite(below(file), bytes, count, offset);
    if (code == SQLITE_OK) remember(file, RELAY_WRITE, offset, bytes, count);
    return code;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
    int code = methods(file)->xTruncate(below(file), size);
    if (code == SQLITE_OK) remember(file, RELAY_TRUNCATE, size, NULL, 0);
    return code;
}

static int sync_file(sqlite3_file *file, int flags) {
    int code = methods(file)->xSync(below(file), flags);
    if (code == SQLITE_OK) remember(file, RELAY_SYNC, 0, NULL, 0);
    return code;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size) { return methods(f)->xFileSize(below(f), size); }
static int lock_file(sqlite3_file *f, int level) { return methods(f)->xLock(below(f), level); }
static int unlock_file(sqlite3_file *f, int level) { return methods(f)->xUnlock(below(f), level); }
static int check_lock(sqlite3_file *f, int *out) { return methods(f)->xCheckReservedLock(below(f), out); }
static int control(sqlite3_file *f, int what, void *with) { return methods(f)->xFileControl(below(f), what, with); }
static int sector_size(sqlite3_file *f) { return methods(f)->xSectorSize(below(f)); }
static int traits(sqlite3_file *f) { return methods(f)->xDeviceCharacteristics(below(f)); }
static int shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **to) {
    return methods(f)->xShmMap(below(f), page, size, extend, to);
}
static int shm_lock(sqlite3_file *f, int at, int n, int flags) { return methods(f)->xShmLock(below(f), at, n, flags); }
static void shm_barrier(sqlite3_file *f) { methods(f)->xShmBarrier(below(f)); }
static int shm_unmap(sqlite3_file *f, int remove) { return methods(f)->xShmUnmap(below(f), remove); }

static const sqlite3_io_methods layer_methods = {
    2, close_file, read_file, write_file, truncate_file, sync_file, file_size, lock_file, unlock_file, check_lock,
    control, sector_size, traits, shm_map, shm_lock, shm_barrier, shm_unmap, NULL, NULL};

static sqlite3_vfs *usual(sqlite3_vfs *vfs) { return (sqlite3_vfs *)vfs->pAppData; }

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    layer_file *own = (layer_file *)file;
    own->base.pMethods = NULL;
    own->file = -1;
    int code = usual(vfs)->xOpen(usual(vfs), name, below(file), flags, out);
    if (code != SQLITE_OK) return code;
    own->base.pMethods = &layer_methods;
    if (name == NULL || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL))) return code;
    pthread_mutex_lock(&lock);
    for (int at = 0; at < MOST; at++) {
        const char *folder = recordings[at].folder;
        if (folder == NULL || strncmp(name, folder, strlen(folder)) != 0) continue;
        own->recording = at;
        own->file = flags & SQLITE_OPEN_WAL ? 1 : 0;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static int delete_file(sqlite3_vfs *v, const char *n, int s) { return usual(v)->xDelete(usual(v), n, s); }
static int has_access(sqlite3_vfs *v, const char *n, int f, int *o) { return usual(v)->xAccess(usual(v), n, f, o); }
static int full_path(sqlite3_vfs *v, const char *n, int c, char *o) { return usual(v)->xFullPathname(usual(v), n, c, o); }

static void register_layer(void) {
    sqlite3_vfs *found = sqlite3_vfs_find(NULL);
    layer = *found;
    layer.zName = "powercut";
    layer.pNext = NULL;
    layer.pAppData = found;
    layer.szOsFile = (int)sizeof(layer_file) + found->szOsFile;
    layer.xOpen = open_file;
    layer.xDelete = delete_file;
    layer.xAccess = has_access;
    layer.xFullPathname = full_path;
    sqlite3_vfs_register(&layer, 0);
}

int relay_record(const char *folder) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_layer);
    int found = -1;
    pthread_mutex_lock(&lock);
    for (int at = 0; at < MOST && found < 0; at++) {
        if (recordings[at].folder != NULL) continue;
        recordings[at] = (recording){strdup(folder), NULL, 0, 0, -1};
        found = at;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

int relay_operation_count(int at) {
    pthread_mutex_lock(&lock);
    int count = recordings[at].count;
    pthread_mutex_unlock(&lock);
    return count;
}

relay_operation relay_operation_at(int at, int place) {
    pthread_mutex_lock(&lock);
    relay_operation operation = recordings[at].operations[place];
    pthread_mutex_unlock(&lock);
    return operation;
}

void relay_set_room(int at, long long bytes) {
    pthread_mutex_lock(&lock);
    recordings[at].room = bytes;
    pthread_mutex_unlock(&lock);
}

void relay_forget(int at) {
    pthread_mutex_lock(&lock);
    recording *gone = &recordings[at];
    for (int place = 0; place < gone->count; place++) free((void *)gone->operations[place].bytes);
    free(gone->operations);
    free(gone->folder);
    *gone = (recording){NULL, NULL, 0, 0, -1};
    pthread_mutex_unlock(&lock);
}
