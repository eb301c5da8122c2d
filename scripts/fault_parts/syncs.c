/* Preloaded into a program: its syncs take longer (SYNC_DELAY_MS), or do nothing at all (SYNC_NOTHING). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static int slow_sync(const char *name, int file) {
    const char *delay = getenv("SYNC_DELAY_MS");
    if (getenv("SYNC_NOTHING"))
        return 0;
    if (delay) {
        long ms = atol(delay);
        struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
        nanosleep(&pause, NULL);
    }
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    return real(file);
}

int fsync(int file) { return slow_sync("fsync", file); }
int fdatasync(int file) { return slow_sync("fdatasync", file); }
