// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Doorbell;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.FileIdentity;
import org.verbena.linux.FileStatus;
import org.verbena.linux.LinuxException;
import org.verbena.linux.PosixFile;
import org.verbena.linux.UserIds;
import org.verbena.telemetry.CounterFolder;
import org.verbena.telemetry.CounterLayout;

/**
 * Another process's counter file. It is read, not mapped: a file that becomes shorter meanwhile is an error then, and
 * not a signal; and nothing in it is believed that has not been checked.
 */
final class CounterFileReader implements CounterSource {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    /** The wait for a stopped process, which may be about to continue. */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /**
     * How long one that runs may take to gather what its peers have counted, and to publish what it publishes at the
     * first reading only: a busy machine may not let it begin, and thousands of objects are much work.
     */
    private static final long GATHERING_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    private final Path path;
    private final Fd fd;
    private final FileIdentity identity;
    private final String verb;
    private final long pid;
    private final long created;
    private final String command;
    private final String bell;

    private CounterFileReader(Path path, Fd fd, FileIdentity identity, String verb, MemorySegment header) {
        this.path = path;
        this.fd = fd;
        this.identity = identity;
        this.verb = verb;
        pid = CounterFolder.pid(path);
        created = header.get(LONG, CounterLayout.HEADER_CREATED);
        command = EntryView.text(header, CounterLayout.HEADER_COMMAND, CounterLayout.MAX_COMMAND);
        bell = EntryView.text(header, CounterLayout.HEADER_BELL, CounterLayout.MAX_BELL);
    }

    /** Opens a file that has to be a user's. */
    static CounterFileReader open(Path path, int uid) throws CounterFileException {
        String verb = "look at process " + CounterFolder.pid(path);
        Fd fd;
        try {
            fd = PosixFile.open(path, PosixFile.O_RDONLY | PosixFile.O_NONBLOCK | PosixFile.O_NOFOLLOW, 0);
        } catch (LinuxException e) {
            if (e.errno() == Errno.ELOOP) {
                throw new CounterFileException(verb, Errno.EBADMSG, path + " is a symbolic link: not followed");
            }
            throw new CounterFileException(verb, e);
        }
        try (Arena arena = Arena.ofConfined()) {
            FileStatus s = FileStatus.of(fd);
            if (!s.regularFile() || s.uid() != uid) {
                throw new CounterFormatException(path + " is not a file of user " + Integer.toUnsignedString(uid));
            }
            if (!UserIds.isOneUser(uid)) {
                throw new CounterFormatException(path + " may be anybody's: user " + Integer.toUnsignedString(uid)
                        + " stands for all users whom this user namespace does not map");
            }
            MemorySegment header = arena.allocate(CounterLayout.HEADER, 8);
            if (PosixFile.read(fd, 0, header) < header.byteSize()) {
                throw new CounterFormatException(path + " is too short");
            }
            if (header.get(LONG, CounterLayout.HEADER_MAGIC) != CounterLayout.MAGIC) {
                throw new CounterFormatException(path + " is not a counter file");
            }
            int version = header.get(INT, CounterLayout.HEADER_VERSION);
            if (version != CounterLayout.VERSION || header.get(INT,
                    CounterLayout.HEADER_CHUNK) != CounterLayout.CHUNK) {
                throw new CounterFileException(verb, Errno.EPROTONOSUPPORT, "its counter file has version " + version
                        + ", this is version " + CounterLayout.VERSION + ": look with the Verbena that it uses");
            }
            return new CounterFileReader(path, fd, FileIdentity.of(fd.value()), verb, header);
        } catch (LinuxException e) {
            fd.close();
            throw new CounterFileException(verb, e);
        } catch (CounterFormatException e) {
            fd.close();
            throw new CounterFileException(verb, Errno.EBADMSG, String.valueOf(e.getMessage()));
        } catch (CounterFileException e) {
            fd.close();
            throw e;
        }
    }

    /** Bytes of an entry. */
    static long bytes(EntryView e) {
        return e.cells().length == CounterLayout.LARGE_CELLS ? CounterLayout.LARGE_ENTRY : CounterLayout.SMALL_ENTRY;
    }

    @Override
    public long pid() {
        return pid;
    }

    @Override
    public String command() {
        return command;
    }

    @Override
    public long created() {
        return created;
    }

    @Override
    public boolean isAlive() {
        if (fd.isClosed() || !Files.exists(path) || CounterFolder.isLeftBehind(path)) {
            return false;
        }
        try (Fd now = PosixFile.open(path, PosixFile.O_RDONLY | PosixFile.O_NONBLOCK | PosixFile.O_NOFOLLOW, 0)) {
            return FileIdentity.of(now.value()).equals(identity);
        } catch (LinuxException e) {
            return false;
        }
    }

    @Override
    public List<EntryView> entries() throws CounterFileException {
        List<EntryView> all = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(8, 8);
            MemorySegment chunk = arena.allocate(CounterLayout.CHUNK, 8);
            long chunks = word(word, CounterLayout.HEADER_CHUNKS);
            if (chunks < 0 || chunks > CounterLayout.MAX_CHUNKS) {
                throw new CounterFormatException(path + " says that it has " + chunks + " chunks");
            }
            for (int i = 0; i < chunks; i++) {
                readFully(CounterLayout.chunk(i), chunk);
                all.addAll(EntryView.ofChunk(chunk, CounterLayout.chunk(i)));
            }
            return all;
        } catch (CounterFormatException e) {
            throw new CounterFileException(verb, Errno.EBADMSG, String.valueOf(e.getMessage()));
        }
    }

    @Override
    public @Nullable EntryView entry(EntryView earlier) throws CounterFileException {
        if (fd.isClosed()) {
            return null;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entry = arena.allocate(bytes(earlier), 8);
            readFully(earlier.id(), entry);
            EntryView now = EntryView.again(entry, earlier);
            readFully(earlier.id(), entry.asSlice(0, Long.BYTES)); // whose are the cells that came last?
            return EntryView.isStill(entry, earlier) ? now : null;
        } catch (CounterFormatException e) {
            throw new CounterFileException(verb, Errno.EBADMSG, String.valueOf(e.getMessage()));
        }
    }

    private long word(MemorySegment to, long at) throws CounterFileException, CounterFormatException {
        readFully(at, to);
        return to.get(LONG, 0);
    }

    private void readFully(long at, MemorySegment to) throws CounterFileException, CounterFormatException {
        try {
            if (PosixFile.read(fd, at, to) < to.byteSize()) {
                throw new CounterFormatException(path + " was cut off");
            }
        } catch (IllegalStateException e) {
            throw new CounterFileException(verb, Errno.EINVAL, "it is closed: it was looked at long enough");
        } catch (LinuxException e) {
            throw new CounterFileException(verb, e);
        }
    }

    @Override
    public void refresh() throws CounterFileException {
        if (!bell.startsWith(CounterLayout.BELL_PREFIX)) {
            throw new CounterFileException(verb, Errno.EBADMSG, "it names no doorbell of its own");
        }
        try (Arena arena = Arena.ofConfined(); Doorbell d = Doorbell.connect(bell)) {
            MemorySegment word = arena.allocate(8, 8);
            long begun = word(word, CounterLayout.HEADER_GATHERINGS_BEGUN);
            d.ring();
            long start = System.nanoTime();
            while (word(word, CounterLayout.HEADER_GATHERINGS_ENDED) - begun <= 0) {
                long waited = System.nanoTime() - start;
                if (waited > GATHERING_NANOS || waited > PATIENCE_NANOS && isStopped()) {
                    if (!isAlive()) {
                        return;
                    }
                    throw new CounterFileException(verb, Errno.ETIMEDOUT,
                            "it does not gather what its peers have counted: is it stopped? PREFER_CACHED does not ask it");
                }
                LockSupport.parkNanos(POLL_NANOS);
            }
        } catch (LinuxException e) {
            if (isAlive()) {
                throw e.errno() == Errno.ECONNREFUSED && isInAnotherNetwork()
                        ? new CounterFileException(verb, Errno.ETIMEDOUT,
                                "it is in another network namespace and cannot be"
                                        + " asked to gather what its peers have counted: look from there (nsenter --net=/proc/"
                                        + pid + "/ns/net), or with PREFER_CACHED")
                        : new CounterFileException(verb, e);
            }
        } catch (IllegalArgumentException e) {
            throw new CounterFileException(verb, Errno.EBADMSG, "it names no doorbell");
        } catch (CounterFormatException e) {
            throw new CounterFileException(verb, Errno.EBADMSG, String.valueOf(e.getMessage()));
        }
    }

    /** Names of doorbells are those of a network namespace. */
    private boolean isInAnotherNetwork() {
        try {
            return !Files.readSymbolicLink(Path.of("/proc", Long.toString(pid), "ns", "net"))
                    .equals(Files.readSymbolicLink(Path.of("/proc", "self", "ns", "net")));
        } catch (IOException e) {
            return false; // another user's
        }
    }

    /** True for a process that does nothing until it is continued, and for one that cannot be seen from here. */
    private boolean isStopped() {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"), StandardCharsets.ISO_8859_1);
            return "Tt".indexOf(stat.charAt(stat.lastIndexOf(')') + 2)) >= 0;
        } catch (IOException | IndexOutOfBoundsException e) {
            return true;
        }
    }

    @Override
    public void close() {
        fd.close();
    }
}
