/* A layer of SQLite over the usual one that remembers what was written and synced, so that a test can make the files as
   a loss of power would have left them; and that can run out of room. */
#pragma once

/* What happened to a file: its database (0) or its log (1). */
enum { RELAY_WRITE, RELAY_TRUNCATE, RELAY_SYNC };

typedef struct relay_operation {
    int kind;
    int file;
    long long offset; /* for RELAY_TRUNCATE the new size */
    long long count;
    const unsigned char *bytes;
} relay_operation;

/* Remembers what happens to files below `folder`, opened through the layer "powercut"; returns its number, or -1. */
int relay_record(const char *folder);

/* How many operations were remembered so far, and one of them, which stays until relay_forget. */
int relay_operation_count(int recording);
relay_operation relay_operation_at(int recording, int place);

/* Lets files below the folder grow by so many bytes more; negative: by any. */
void relay_set_room(int recording, long long bytes);

/* Ends a recording, when its files are closed. */
void relay_forget(int recording);
