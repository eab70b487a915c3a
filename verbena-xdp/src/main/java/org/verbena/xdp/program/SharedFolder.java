// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.FileIdentity;
import org.verbena.linux.FileStatus;
import org.verbena.linux.LinuxException;
import org.verbena.linux.PosixFile;
import org.verbena.linux.Sys;

/**
 * The folder of an interface in a file system of type bpf, by which processes find its maps and each other.
 *
 * <pre>
 * /sys/fs/bpf/verbena/NAMESPACE-INDEX   locked by flock(2) by whoever changes something
 *     layout-3                          a folder that says how to read the rest
 *     owner-NUMBER-PROCESS              a folder for each process, which has it locked for as long as it lives
 *     masks, flows, …                   the maps
 * </pre>
 *
 * The kernel ends a lock with the process that has it, however it ends, and does so across containers. So a folder
 * {@code owner-…} that can be locked was left behind. This, the names of these two folders, and that {@link #clear} removes all
 * else, are the same in all versions. One thread at a time.
 */
final class SharedFolder implements AutoCloseable {
    private static final String OWNER = "owner-";
    private static final String LAYOUT = "layout-";
    private static final int OTHERS_MAY_WRITE = 022;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Path path;
    private final Fd fd;

    private SharedFolder(Path path, Fd fd) {
        this.path = path;
        this.fd = fd;
    }

    /** A process that has, or had, flows on the interface. */
    record Owner(int number, String process, Path path) {}

    /**
     * Opens a folder, which is made if it is not there, and locks it.
     *
     * @throws LinuxException {@code EACCES}, {@code ETIMEDOUT} (another process holds the lock)
     */
    static SharedFolder lockedAt(Path path) throws LinuxException {
        return lockedAt(path, PATIENCE_NANOS);
    }

    static SharedFolder lockedAt(Path path, long patienceNanos) throws LinuxException {
        while (true) {
            make(path);
            Fd fd;
            try {
                fd = PosixFile.open(path, PosixFile.O_RDONLY | PosixFile.O_NOFOLLOW, 0);
            } catch (LinuxException e) {
                if (e.errno() == Errno.ENOENT) {
                    continue; // it was removed by the last one that used it
                }
                throw e;
            }
            SharedFolder folder = new SharedFolder(path, fd);
            try {
                folder.lock(patienceNanos);
                if (folder.isThere()) {
                    return folder;
                }
            } catch (LinuxException e) {
                fd.close();
                throw e;
            }
            fd.close();
        }
    }

    private static void make(Path path) throws LinuxException {
        try {
            Path parent = path.getParent();
            if (parent != null) {
                mkdir(parent);
                requireOwn(parent);
            }
            mkdir(path);
        } catch (NoSuchFileException removed) { // the parent, between two calls: the next attempt makes it
            return;
        } catch (LinuxException e) {
            if (e.errno() != Errno.ENOENT) { // as above
                throw e;
            }
        } catch (IOException e) {
            throw failure("make " + path, e);
        }
    }

    private static void mkdir(Path path) throws IOException {
        try {
            Files.createDirectory(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(
                    "rwx------")));
        } catch (FileAlreadyExistsException e) {
            if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                return;
            }
            if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                throw new NoSuchFileException(path.toString()); // removed between the two calls
            }
            throw e;
        }
    }

    /** The file system may be open to everybody: nobody else may put something in the place of what is in the folder. */
    private static void requireOwn(Path path) throws LinuxException {
        FileStatus is;
        try (Fd fd = PosixFile.open(path, PosixFile.O_RDONLY | PosixFile.O_NOFOLLOW, 0)) {
            is = FileStatus.of(fd);
        }
        if (is.uid() != 0 && is.uid() != Sys.uid() || (is.permissions() & OTHERS_MAY_WRITE) != 0 || !is.directory()) {
            throw new LinuxException("make " + path, Errno.EACCES, "it belongs to user " + is.uid()
                    + ", or others may write to it: remove it");
        }
    }

    private static LinuxException failure(String what, IOException e) {
        if (e instanceof LinuxException l) {
            return l;
        }
        LinuxException failure = new LinuxException(what, e instanceof AccessDeniedException
                ? Errno.EACCES
                : Errno.EIO, String.valueOf(e.getMessage()));
        failure.initCause(e);
        return failure;
    }

    /** Whether it still has its name. */
    private boolean isThere() throws LinuxException {
        try {
            return Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS) instanceof Long inode
                    && inode == FileIdentity.of(fd.value()).inode();
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException e) {
            throw failure("look at " + path, e);
        }
    }

    Path path() {
        return path;
    }

    /**
     * Waits for the lock.
     *
     * @throws LinuxException {@code ETIMEDOUT}
     */
    void lock() throws LinuxException {
        lock(PATIENCE_NANOS);
    }

    private void lock(long patienceNanos) throws LinuxException {
        long begin = System.nanoTime();
        for (long pause = FIRST_PAUSE_NANOS; !PosixFile.tryLock(fd); pause = Math.min(2 * pause, PAUSE_NANOS)) {
            if (System.nanoTime() - begin > patienceNanos) {
                throw new LinuxException("lock " + path, Errno.ETIMEDOUT, "another process has held it for "
                        + TimeUnit.NANOSECONDS.toMillis(patienceNanos) + " ms, perhaps one that is stopped; "
                        + "fuser " + path + " names it");
            }
            LockSupport.parkNanos(pause);
        }
    }

    void unlock() throws LinuxException {
        PosixFile.unlock(fd);
    }

    // ---- under the lock

    private List<Path> entries() throws LinuxException {
        List<Path> all = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
            entries.forEach(all::add);
            return all;
        } catch (DirectoryIteratorException e) {
            throw failure("list " + path, new IOException(e));
        } catch (IOException e) {
            throw failure("list " + path, e);
        }
    }

    /** All owners, also those that have ended. */
    List<Owner> owners() throws LinuxException {
        List<Owner> all = new ArrayList<>();
        for (Path p : entries()) {
            String[] parts = String.valueOf(p.getFileName()).split("-", -1);
            if (parts.length == 3 && p.endsWith(OWNER + parts[1] + "-" + parts[2]) && parts[1].matches(
                    "[0-9]{1,3}") && Integer.parseInt(parts[1]) <= FlowEntry.MAX_OWNER) {
                all.add(new Owner(Integer.parseInt(parts[1]), parts[2], p));
            }
        }
        return all;
    }

    /** Whether the process has not ended. */
    static boolean isAlive(Owner owner) throws LinuxException {
        try (Fd open = PosixFile.open(owner.path, PosixFile.O_RDONLY | PosixFile.O_NOFOLLOW, 0)) {
            return !PosixFile.tryLock(open);
        } catch (LinuxException e) {
            if (e.errno() == Errno.ENOENT) {
                return false;
            }
            throw e;
        }
    }

    /** The processes among them that are alive. */
    static List<Owner> alive(List<Owner> owners) throws LinuxException {
        List<Owner> alive = new ArrayList<>();
        for (Owner o : owners) {
            if (isAlive(o)) {
                alive.add(o);
            }
        }
        return alive;
    }

    static String processes(List<Owner> owners) {
        return (owners.size() == 1 ? "process " : "processes ") + owners.stream().map(Owner::process).collect(Collectors
                .joining(", "));
    }

    /** Makes a new owner's folder. */
    Path ownerPath(int number) {
        return path.resolve(OWNER + number + "-" + ProcessHandle.current().pid());
    }

    /** An owner's folder, which is locked for as long as the descriptor is open. */
    Fd addOwner(int number) throws LinuxException {
        Path p = ownerPath(number);
        try {
            mkdir(p);
        } catch (IOException e) {
            throw failure("make " + p, e);
        }
        Fd open = PosixFile.open(p, PosixFile.O_RDONLY, 0);
        try {
            if (PosixFile.tryLock(open)) {
                return open;
            }
        } catch (LinuxException e) {
            open.close();
            throw e;
        }
        open.close();
        throw new LinuxException("lock " + p, Errno.EBUSY, "another process has it");
    }

    /** The version of what is there; 0 if nothing says so. */
    int layout() throws LinuxException {
        for (Path p : entries()) {
            String name = String.valueOf(p.getFileName());
            if (name.matches(LAYOUT + "[0-9]{1,9}")) {
                return Integer.parseInt(name.substring(LAYOUT.length()));
            }
        }
        return 0;
    }

    void setLayout(int layout) throws LinuxException {
        try {
            mkdir(path.resolve(LAYOUT + layout));
        } catch (IOException e) {
            throw failure("make " + path + "/" + LAYOUT + layout, e);
        }
    }

    static void delete(Path p) throws LinuxException {
        try {
            Files.deleteIfExists(p);
        } catch (IOException e) {
            throw failure("remove " + p, e);
        }
    }

    /** Removes all that is in the folder. */
    void clear() throws LinuxException {
        for (Path p : entries()) {
            delete(p);
        }
    }

    /** Removes the folder, which is empty, and the one that it is in, if no other interface has one there. */
    void remove() throws LinuxException {
        delete(path);
        Path parent = path.getParent();
        try {
            if (parent != null) {
                Files.deleteIfExists(parent);
            }
        } catch (DirectoryNotEmptyException used) {
            // by other interfaces
        } catch (IOException e) {
            throw failure("remove " + parent, e);
        }
    }

    /** Ends the lock, if there is one. */
    @Override
    public void close() {
        fd.close();
    }
}
