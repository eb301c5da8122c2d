"""A disk of its own, on which power can be cut, and which can be full, broken or read-only."""

import ctypes
import fcntl
import os
import pathlib
import random
import struct
import subprocess

from machines import Failed, wait_until

SIZE = "1G"
# EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: from now on nothing is written, neither data nor the journal of the file system.
SHUTDOWN, WITHOUT_JOURNAL = 0x8004587D, 2
SYNC_FILE_RANGE_WRITE = 2
PAGE = 4096

libc = ctypes.CDLL(None, use_errno=True)
libc.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]


def run(*command):
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: {ran.stderr.strip()}")
    return ran.stdout.strip()


class Disk:
    """A file with an ext4 file system, mounted at `folder`."""

    def __init__(self, folder, random_numbers):
        self.folder, self.image = pathlib.Path(folder), pathlib.Path(f"{folder}.img")
        self.random: random.Random = random_numbers

    def fresh(self):
        """An empty disk."""
        self.unmount()
        self.image.unlink(missing_ok=True)
        run("truncate", "--size", SIZE, self.image)
        run("mkfs.ext4", "-q", "-m", "0", "-F", self.image)
        self.folder.mkdir(exist_ok=True)
        self.mount()

    def mount(self):
        run("mount", "-o", "loop,errors=remount-ro", self.image, self.folder)

    def unmount(self):
        # The files of a process that was killed are closed a moment later.
        wait_until("the disk can be unmounted", self.try_unmount, 20, 0.05)

    def try_unmount(self):
        return (
            not self.folder.is_mount()
            or subprocess.run(["umount", "--quiet", self.folder], check=False, stderr=subprocess.DEVNULL).returncode == 0
        )

    def cut_power(self):
        """What was not synced is gone, except for random pages of it, which the disk had written already. Everything fails until
        `power_up`."""
        self.write_random_pages()
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, SHUTDOWN, struct.pack("I", WITHOUT_JOURNAL))
        finally:
            os.close(folder)

    def power_up(self):
        """Call it when no process has a file open."""
        self.unmount()
        self.mount()

    def write_random_pages(self):
        """A disk writes in any order before it is told to sync: here, random runs of pages of all files."""
        for path in self.folder.rglob("*"):
            try:
                if not path.is_file() or path.is_symlink():
                    continue
                pages = path.stat().st_size // PAGE + 1
                file = os.open(path, os.O_RDONLY)
            except FileNotFoundError:
                continue
            try:
                for _ in range(self.random.randrange(4)):
                    start, count = self.random.randrange(pages), self.random.randrange(1, 5)
                    libc.sync_file_range(file, start * PAGE, count * PAGE, SYNC_FILE_RANGE_WRITE)
            finally:
                os.close(file)

    def fill(self):
        """Leaves no room. Returns the file that takes it."""
        filler = self.folder / "filler"
        with open(filler, "wb", buffering=0) as file:
            for size in (1 << 20, PAGE, 1):
                try:
                    while True:
                        file.write(b"\0" * size)
                except OSError:
                    pass
        return filler

    def break_down(self):
        """The file system finds an error and makes itself read-only, as on a disk that fails.

        Nothing is written meanwhile: Linux 6.18 can confirm a sync that runs at that moment and was not done, which a program of 20 lines
        that writes and syncs shows too (1 of 12 times). No program can notice that.
        """
        device = pathlib.Path(run("findmnt", "--noheadings", "--output", "SOURCE", self.folder)).name
        run("fsfreeze", "--freeze", self.folder)
        try:
            pathlib.Path(f"/sys/fs/ext4/{device}/trigger_fs_error").write_text("test")
        finally:
            run("fsfreeze", "--unfreeze", self.folder)

    def repair(self):
        """Call it when no process has a file open."""
        self.unmount()
        # 1: errors were corrected.
        ran = subprocess.run(["e2fsck", "-p", str(self.image)], capture_output=True, text=True, check=False)
        if ran.returncode not in (0, 1):
            raise Failed(f"e2fsck: {ran.stdout}")
        self.mount()
