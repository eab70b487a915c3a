// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Doorbell;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;
import org.verbena.linux.Poll;
import org.verbena.linux.PosixFile;
import org.verbena.linux.ServiceThread;
import org.verbena.linux.Sys;
import org.verbena.linux.spi.RawMemory;

/**
 * The file in which this process shows its objects and their counters, see {@link CounterLayout}: one a process,
 * made with its first context. It is locked as long as the process lives, by which others tell what was left behind.
 *
 * <p>What cannot be put into a file (its file system is full, the folder is not ours) is counted all the same, in
 * memory that only this process sees; a warning says so.
 *
 * <p>Most cells hold at any time what has happened. Some things only a peer can count; providers gather those when they
 * are asked to, see {@link #onGather}. Safe for use by several threads.
 */
public final class CounterFile {
    private static final Logger LOG = System.getLogger("org.verbena.telemetry");
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MAX_RESTING = 4096;
    /** How long requests of others are not taken after one was answered. */
    private static final int PAUSE_MILLIS = 1;
    /** Ids of entries that are in no file lie behind all that can be in one. */
    static final long PRIVATE = 1L << 48;

    private final @Nullable Fd fd;
    private final @Nullable Path path;
    private final Mapping header;
    private final List<Mapping> chunks = new ArrayList<>();
    private final List<Long> chunkIds = new ArrayList<>();
    private final Free small = new Free(CounterLayout.SMALL_ENTRY, CounterLayout.SMALL_CELLS);
    private final Free large = new Free(CounterLayout.LARGE_ENTRY, CounterLayout.LARGE_CELLS);
    private final Map<Long, CounterEntry> open = new HashMap<>();
    private final List<Runnable> gatherers = new CopyOnWriteArrayList<>();
    private int published;
    private long hidden;
    private boolean warned;

    private record Place(long id, long address) {}

    private record Resting(Place place, long since) {}

    /** Places for entries of one size. */
    private final class Free {
        private final int bytes;
        private final int cells;
        private final ArrayDeque<Place> ready = new ArrayDeque<>();
        /**
         * Entries of closed objects: a thread that was about to store into a cell finishes before the entry is reused.
         */
        private final ArrayDeque<Resting> resting = new ArrayDeque<>();

        Free(int bytes, int cells) {
            this.bytes = bytes;
            this.cells = cells;
        }

        Place take() {
            long now = System.nanoTime();
            for (Resting r = resting.peek(); r != null && (now - r.since > REST_NANOS
                    || resting.size() > MAX_RESTING); r = resting.peek()) {
                ready.add(resting.remove().place);
            }
            if (ready.isEmpty()) {
                addChunk(bytes, ready);
            }
            return ready.remove();
        }

        void give(Place p) {
            resting.add(new Resting(p, System.nanoTime()));
        }
    }

    /** Made when it is first asked for. */
    private static final class Own {
        static final CounterFile FILE = create();

        static {
            FlightRecording.recordCounters();
        }
    }

    private CounterFile(@Nullable Fd fd, @Nullable Path path, Mapping header) {
        this.fd = fd;
        this.path = path;
        this.header = header;
    }

    /** This process's. */
    public static CounterFile own() {
        return Own.FILE;
    }

    private static CounterFile create() {
        try {
            CounterFile f = createPublished(CounterFolder.own());
            f.removeAtEnd();
            return f;
        } catch (IOException | RuntimeException e) { // whatever it is, the device is to work
            LOG.log(Level.WARNING, "other processes cannot see the counters of this one: {0}", e.getMessage());
            return createHidden();
        }
    }

    private void removeAtEnd() {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(this::remove, "verbena-counters-end"));
        } catch (IllegalStateException e) { // the end has begun
            remove();
        }
    }

    private static CounterFile createHidden() {
        try {
            CounterFile f = new CounterFile(null, null, Mapping.anonymous(CounterLayout.HEADER));
            f.fillHeader();
            return f;
        } catch (LinuxException e) {
            throw new IllegalStateException("no memory for counters", e);
        }
    }

    static CounterFile createPublished(CounterFolder folder) throws LinuxException, IOException {
        try {
            return createIn(folder);
        } catch (LinuxException e) {
            if (e.errno() == Errno.ENOENT) {
                return createIn(folder); // the last process that used the folder has just removed it
            }
            throw e;
        }
    }

    private static CounterFile createIn(CounterFolder folder) throws LinuxException, IOException {
        folder.make();
        try {
            folder.sweep();
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "files of processes that have ended stay", e);
        }
        Path path = folder.fresh(Sys.pid());
        Path fresh = path.resolveSibling("." + path.getFileName());
        Fd fd = PosixFile.open(fresh, PosixFile.O_RDWR | PosixFile.O_CREAT | PosixFile.O_EXCL, 0600);
        Doorbell bell = null;
        try {
            PosixFile.tryLock(fd);
            Memfd.allocate(fd, 0, CounterLayout.HEADER);
            Mapping header = Mapping.map(fd, 0, CounterLayout.HEADER, true);
            CounterFile f = new CounterFile(fd, path, header);
            f.fillHeader();
            bell = f.bindBell(); // before the file is visible: its readers may ring
            Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
            f.listen(bell);
            return f;
        } catch (IOException | RuntimeException e) {
            if (bell != null) {
                bell.close();
            }
            Files.deleteIfExists(fresh);
            Files.deleteIfExists(path);
            fd.close();
            throw e;
        }
    }

    private void fillHeader() {
        long h = header.address();
        RawMemory.putInt(h + CounterLayout.HEADER_VERSION, CounterLayout.VERSION);
        RawMemory.putInt(h + CounterLayout.HEADER_CHUNK, CounterLayout.CHUNK);
        RawMemory.putLong(h + CounterLayout.HEADER_PID, Sys.pid());
        RawMemory.putLong(h + CounterLayout.HEADER_CREATED, now());
        String command = ProcessHandle.current().info().commandLine().orElse("");
        CounterEntry.putText(h + CounterLayout.HEADER_COMMAND, command, CounterLayout.MAX_COMMAND);
        RawMemory.putLongRelease(h, CounterLayout.MAGIC);
    }

    private static long now() {
        Instant t = Instant.now();
        return t.getEpochSecond() * 1_000_000_000L + t.getNano();
    }

    // ---- entries

    /**
     * Takes an entry.
     *
     * @param type of the object, see {@link ObjectKind}
     * @param context the entry of the context that the object was made from; 0 for a context
     * @param cells how many there are to be, at most {@link CounterLayout#LARGE_CELLS}
     * @param counted those that are counted, a bit each
     */
    public CounterEntry take(int type, int number, String name, long context, int cells, long counted) {
        return take(type, number, name, context, cells, counted, now());
    }

    /**
     * As the other, for an object that is older than its entry.
     *
     * @param created when it was made, ns since 1970
     */
    public synchronized CounterEntry take(int type, int number, String name, long context, int cells, long counted,
            long created) {
        Free free = cells <= CounterLayout.SMALL_CELLS ? small : large;
        Place p = free.take();
        CounterEntry e = new CounterEntry(this, p.id, p.address, free.cells, type, context);
        e.begin(number, name, counted, created);
        open.put(e.id(), e);
        return e;
    }

    private void addChunk(int entry, ArrayDeque<Place> free) {
        Mapping m = publishedChunk();
        long id = CounterLayout.chunk(published);
        if (m == null) {
            m = hiddenChunk();
            id = PRIVATE + hidden++ * CounterLayout.CHUNK;
        } else {
            published++;
        }
        chunks.add(m);
        chunkIds.add(id);
        for (long at = entry; at + entry <= CounterLayout.CHUNK; at += entry) {
            free.add(new Place(id + at, m.address() + at));
        }
        RawMemory.putIntRelease(m.address(), entry);
        if (id < PRIVATE) {
            RawMemory.putLongRelease(header.address() + CounterLayout.HEADER_CHUNKS, published);
        }
    }

    private @Nullable Mapping publishedChunk() {
        Fd file = fd;
        if (file == null || published >= CounterLayout.MAX_CHUNKS) {
            return null;
        }
        long at = CounterLayout.chunk(published);
        try {
            Memfd.allocate(file, at, CounterLayout.CHUNK);
            return Mapping.map(file, at, CounterLayout.CHUNK, true);
        } catch (LinuxException e) {
            if (!warned) {
                warned = true;
                LOG.log(Level.WARNING, "other processes cannot see the counters of some objects of this one, {0}: {1}",
                        path, e.getMessage());
            }
            return null;
        }
    }

    private static Mapping hiddenChunk() {
        try {
            return Mapping.anonymous(CounterLayout.CHUNK);
        } catch (LinuxException e) {
            throw new IllegalStateException("no memory for counters", e);
        }
    }

    /** An object's entry is free; the one that it adds up in keeps what it has counted. Called by the entry. */
    synchronized void give(CounterEntry e) {
        open.remove(e.id());
        CounterEntry total = e.total();
        if (total == null || total.isClosed()) {
            e.end();
        } else {
            long changes = total.address() + CounterLayout.CHANGES;
            RawMemory.putLongVolatile(changes, RawMemory.getLong(changes) + 1);
            for (long m = e.counted(); m != 0; m &= m - 1) {
                int cell = Long.numberOfTrailingZeros(m);
                total.add(cell, RawMemory.getLongOpaque(e.cell(cell)));
            }
            e.end();
            RawMemory.putLongVolatile(changes, RawMemory.getLong(changes) + 1);
        }
        (e.isLarge() ? large : small).give(new Place(e.id(), e.address()));
    }

    /**
     * The sum of some cells of an entry and of those that {@linkplain CounterEntry#addUpIn add up in} it, open ones and
     * closed ones.
     */
    public synchronized long sumWithParts(CounterEntry total, long mask) {
        long sum = total.sum(mask);
        for (CounterEntry e : open.values()) {
            if (e.total() == total) {
                sum += e.sum(mask & e.counted());
            }
        }
        return sum;
    }

    /**
     * A context is about to be closed: nothing else is left of it, not even of objects that were dropped without being
     * closed.
     */
    public synchronized void endContext(CounterEntry context) {
        List.copyOf(open.values()).stream().filter(e -> e.context() == context.id() && e != context)
                .forEach(CounterEntry::close);
    }

    /** When it was made, ns since 1970. */
    public long created() {
        return RawMemory.getLong(header.address() + CounterLayout.HEADER_CREATED);
    }

    /** How many chunks there are, in the file and elsewhere. */
    public synchronized int chunks() {
        return chunks.size();
    }

    /** Where a chunk is: the offset in the file, or what stands for it. */
    public synchronized long chunk(int index) {
        return chunkIds.get(index);
    }

    /** Copies a part of a chunk; what is changed meanwhile is old or new. */
    public void read(long id, MemorySegment to) {
        Mapping m;
        long offset;
        synchronized (this) {
            int i = chunks.size() - 1;
            while (i >= 0 && (id < chunkIds.get(i) || id - chunkIds.get(i) >= CounterLayout.CHUNK)) {
                i--;
            }
            m = chunks.get(i);
            offset = id - chunkIds.get(i);
        }
        MemorySegment.copy(m.segment(), offset, to, 0, to.byteSize());
    }

    /** The file; null if there is none. */
    public @Nullable Path path() {
        return path;
    }

    // ---- what peers count

    /**
     * For providers: runs {@code gatherer} whenever a reader wants exact cells, on the reader's thread or on one of this
     * file's. It gathers what peers have counted.
     *
     * @return ends that when it is run
     */
    public Runnable onGather(Runnable gatherer) {
        gatherers.add(gatherer);
        return () -> gatherers.remove(gatherer);
    }

    /** Gathers what peers have counted until now. */
    public void gather() {
        long h = header.address();
        synchronized (gatherers) {
            long number = RawMemory.getLong(h + CounterLayout.HEADER_GATHERINGS_BEGUN) + 1;
            RawMemory.putLongVolatile(h + CounterLayout.HEADER_GATHERINGS_BEGUN, number);
            for (Runnable r : gatherers) {
                r.run();
            }
            RawMemory.putLongRelease(h + CounterLayout.HEADER_GATHERINGS_ENDED, number);
        }
    }

    private Doorbell bindBell() throws LinuxException {
        String name = CounterLayout.BELL_PREFIX + HexFormat.of().toHexDigits(Sys.random())
                + HexFormat.of().toHexDigits(Sys.random());
        Doorbell bell = Doorbell.bind(name);
        CounterEntry.putText(header.address() + CounterLayout.HEADER_BELL, name, CounterLayout.MAX_BELL);
        return bell;
    }

    /** Waits for other processes that want exact values, on a thread that sleeps until then. */
    private void listen(Doorbell bell) {
        ServiceThread.start("verbena-counters", () -> answer(bell));
    }

    private void answer(Doorbell bell) {
        try {
            while (true) {
                Poll.await(bell.fd(), Poll.IN, -1);
                bell.silence();
                gatherForOthers();
                Thread.sleep(PAUSE_MILLIS); // anybody may ring
            }
        } catch (LinuxException | InterruptedException e) {
            LOG.log(Level.WARNING, "other processes cannot ask for exact counters of this one: {0}", e.getMessage());
        }
    }

    private void gatherForOthers() {
        try {
            gather();
        } catch (Throwable e) { // later ones want to be answered too
            LOG.log(Level.ERROR, "counters could not be gathered", e);
        }
    }

    private void remove() {
        Path p = path;
        if (p != null) {
            try {
                Files.deleteIfExists(p);
                CounterFolder.own().removeIfEmpty();
            } catch (IOException | SecurityException e) { // another agent's policy, too
                LOG.log(Level.DEBUG, "the counter file stays until the next reader removes it", e);
            }
        }
    }
}
