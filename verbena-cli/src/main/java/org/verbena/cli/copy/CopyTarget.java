// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HumanText;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Memfd;
import org.verbena.linux.PosixFile;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/**
 * A file that arrives: first as an unfinished file whose space is reserved, which a peer writes through a mapping, then
 * renamed to its place. Used by one thread at a time.
 *
 * <p>This process itself never accesses the mapping (it hashes with read(2)), so a file that is truncated
 * meanwhile cannot fault it. Verified bytes stay for a later attempt; a file without any is removed.
 */
final class CopyTarget implements AutoCloseable {
    /** The number of bytes that are mapped at once. */
    static final long WINDOW = 256L << 20;

    /** Serves the connection during long work. */
    interface Tick {
        void tick() throws CopyFailure;
    }

    private final CopyTree tree;
    private final CopyTree.Place place;
    private final CopyMessage.File source;
    private final CopyState state;
    private final FileChannel file;
    private final CopyHash hash = new CopyHash();
    private final long offered;
    private boolean keep;
    private long resumedFrom;
    private long windowEnd;
    private @Nullable Arena arena;
    private @Nullable MemoryRegion region;

    private CopyTarget(CopyTree tree, CopyTree.Place place, CopyMessage.File source, CopyState state, Tick tick)
            throws IOException {
        this.tree = tree;
        this.place = place;
        this.source = source;
        this.state = state;
        long verified = Files.exists(place.part()) ? state.verified(source.size(), source.modified()) : 0;
        offered = verified / CopyProtocol.CHUNK * CopyProtocol.CHUNK;
        keep = offered > 0;
        try {
            reserve(tick);
            file = FileChannel.open(place.part(),
                    Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
        } catch (IOException e) {
            if (!keep) {
                Files.deleteIfExists(place.part());
                state.delete();
            }
            throw e;
        }
    }

    /**
     * Opens the unfinished file of a source and reserves its space.
     *
     * @param tick called from time to time if that takes long
     */
    static CopyTarget open(CopyTree tree, CopyMessage.File source, Tick tick) throws IOException {
        CopyTree.Place place = tree.place(source.path());
        checkReplaceable(place, source);
        if (!tree.claim(place)) {
            throw busy(source);
        }
        CopyState state = null;
        try {
            CopyTree.createArea(place.area());
            state = CopyState.open(place.state());
            if (state == null) {
                throw busy(source);
            }
            return new CopyTarget(tree, place, source, state, tick);
        } catch (IOException | RuntimeException e) {
            if (state != null) {
                state.close();
            }
            tree.release(place);
            throw e;
        }
    }

    private static CopyFailure busy(CopyMessage.File source) {
        return new CopyFailure(CopyStatus.BUSY, "\"" + source.path() + "\" is being written by another copy just now");
    }

    private static void checkReplaceable(CopyTree.Place place, CopyMessage.File source) throws IOException {
        BasicFileAttributes a = CopyTree.attributes(place.target());
        if (a == null || a.isSymbolicLink()) {
            return;
        }
        String target = HumanText.printable(place.target().toString());
        if (a.isDirectory()) {
            throw new CopyFailure(CopyStatus.FAILED, target + " is a directory, \"" + source.path() + "\" is a file");
        }
        if (!a.isRegularFile()) {
            throw new CopyFailure(CopyStatus.FAILED, target + " is in the way: it is not a regular file");
        }
        if (CopySource.identity(place.target()).equals(source.identity())) {
            throw new CopyFailure(CopyStatus.SAME_FILE, "source and target are the same file, " + target);
        }
    }

    /** Allocates all the space now, so that a full disk is known before the first byte moves. */
    private void reserve(Tick tick) throws IOException {
        int flags = PosixFile.O_RDWR | PosixFile.O_CREAT | PosixFile.O_NOFOLLOW | (keep ? 0 : PosixFile.O_TRUNC);
        try (Fd fd = PosixFile.open(place.part(), flags, 0600)) {
            if (source.size() > 0) {
                Memfd.allocate(fd, 0, source.size());
            }
        } catch (LinuxException e) {
            if (e.errno() == Errno.EOPNOTSUPP) {
                writeZeros(tick);
                return;
            }
            // ENOMEM: a file system in memory that is short of memory
            if (e.errno() == Errno.ENOSPC || e.errno() == Errno.EDQUOT || e.errno() == Errno.ENOMEM) {
                throw new CopyFailure(CopyStatus.NO_SPACE, CopySpace.sentence(place.parent(), source.size(), e), e);
            }
            throw e;
        }
    }

    /** For file systems without fallocate(2). */
    private void writeZeros(Tick tick) throws IOException {
        try (FileChannel c = FileChannel.open(place.part(), StandardOpenOption.WRITE)) {
            ByteBuffer zeros = ByteBuffer.allocateDirect(CopyProtocol.CHUNK);
            long at = Math.max(offered, keep ? c.size() : 0);
            while (at < source.size()) {
                zeros.clear().limit((int) Math.min(zeros.capacity(), source.size() - at));
                at += c.write(zeros, at);
                tick.tick();
            }
        }
    }

    CopyMessage.File source() {
        return source;
    }

    CopyTree.Place place() {
        return place;
    }

    /** The prefix that an earlier attempt left, a number of whole chunks. */
    long offered() {
        return offered;
    }

    long resumedFrom() {
        return resumedFrom;
    }

    long verified() {
        return hash.position();
    }

    boolean isComplete() {
        return hash.position() == source.size();
    }

    CopyBytes sha256() {
        return hash.value();
    }

    /** Hashes the offered prefix; returns how many bytes are left, so that the caller may do other work in between. */
    long hashOffered() throws IOException {
        try {
            hash.update(file, Math.min(CopyProtocol.CHUNK, offered - hash.position()));
        } catch (EOFException e) {
            return -1;
        }
        return offered - hash.position();
    }

    /** Continues behind the offered prefix, or from the start if the prefix is not that of the source. */
    void start(boolean resume) throws IOException {
        if (resume) {
            resumedFrom = offered;
        } else {
            keep = false;
            hash.reset();
            state.begin(source.size(), source.modified());
        }
        windowEnd = hash.position();
    }

    /** Maps and registers the next window; an empty one at the end. */
    CopyMessage.Grant grant(ProtectionDomain pd) throws IOException {
        long offset = hash.position();
        long length = Math.min(WINDOW, source.size() - offset);
        windowEnd = offset + length;
        if (length == 0) {
            return new CopyMessage.Grant(source.id(), offset, 0, 0, 0);
        }
        Arena a = Arena.ofShared();
        arena = a;
        MemorySegment window = file.map(MapMode.READ_WRITE, offset, length, a);
        MemoryRegion r = pd.register(window, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
        region = r;
        return new CopyMessage.Grant(source.id(), offset, length, r.address(), r.rkey());
    }

    /** Hashes the chunk that has just arrived. */
    void chunk(int index) throws IOException {
        if (index != hash.position() / CopyProtocol.CHUNK || hash.position() >= windowEnd) {
            throw CopyFailure.protocol("chunk " + Integer.toUnsignedString(index) + " where "
                    + hash.position() / CopyProtocol.CHUNK + " is due");
        }
        hash.update(file, Math.min(CopyProtocol.CHUNK, windowEnd - hash.position()));
        state.verified(hash.position());
        keep |= hash.position() >= CopyProtocol.CHUNK;
    }

    boolean isWindowDone() {
        return hash.position() == windowEnd;
    }

    /** Deregisters the window; when this returns no sender writes the file any more. */
    void closeWindow() throws VerbsException {
        MemoryRegion r = region;
        if (r != null) {
            r.close(); // if this fails the arena must stay
            region = null;
        }
        Arena a = arena;
        if (a != null) {
            a.close();
            arena = null;
        }
    }

    /** Makes the file durable and moves it to its place. */
    void commit() throws IOException {
        Path part = place.part();
        file.force(true);
        CopySource.setAttributes(part, source.mode(), source.modified());
        checkReplaceable(place, source);
        Files.move(part, place.target(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        keep = false;
    }

    /** Discards what has arrived. */
    void discard() {
        keep = false;
    }

    /** Closes; keeps the unfinished file if a later attempt can use it. */
    @Override
    public void close() throws IOException {
        try {
            closeWindow();
        } finally {
            file.close();
            if (!keep) {
                Files.deleteIfExists(place.part());
                state.delete();
            }
            state.close();
            tree.release(place);
        }
    }
}
