/* SQLite as Swift sees it, plus what Swift cannot call: variadics, and macros that cast. */
#pragma once
#include <sqlite3.h>

/* sqlite3_db_config is variadic: no trigger, view or function of a damaged file's schema is to be trusted. */
static inline int relay_sqlite_harden(sqlite3 *database) {
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    return code;
}

/* SQLITE_TRANSIENT is a cast of -1 to a function pointer. */
static inline int relay_sqlite_bind_blob(sqlite3_stmt *statement, int place, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, place, bytes, count, SQLITE_TRANSIENT);
}

static inline int relay_sqlite_bind_text(sqlite3_stmt *statement, int place, const char *bytes, int count) {
    return sqlite3_bind_text(statement, place, bytes, count, SQLITE_TRANSIENT);
}

/* The extended result codes are macros with an expression. */
static inline int relay_sqlite_is_full(int code) {
    return (code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_FSYNC
        || code == SQLITE_IOERR_TRUNCATE || code == SQLITE_IOERR_SHMSIZE;
}
