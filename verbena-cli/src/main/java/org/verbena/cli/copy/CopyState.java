// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The state of an unfinished file, stored beside it: its source, and how many bytes have been hashed. The file is
 * locked as long as it is open, so that only one of several processes writes.
 *
 * <pre>
 *  0 u64 "VERBCOPY"   8 u64 version   16 u64 size   24 s64 seconds   32 u64 nanoseconds   40 u64 verified bytes
 * </pre>
 *
 * <p>The number of verified bytes is a claim that is verified before it is used: after a crash of the machine the bytes
 * may be missing, so both ends compare the hash of the prefix.
 */
final class CopyState implements AutoCloseable {
    private static final long MAGIC = 0x56455242434f5059L;
    private static final long VERSION = 1;
    private static final int LENGTH = 48;
    private static final int VERIFIED = 40;

    private final Path file;
    private final FileChannel channel;
    private final ByteBuffer word = ByteBuffer.allocate(8);

    private CopyState(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    /** Opens and locks, or creates; null if another process has it. */
    static @Nullable CopyState open(Path file) throws IOException {
        FileChannel c = FileChannel.open(file,
                Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE,
                        LinkOption.NOFOLLOW_LINKS),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            FileLock lock = c.tryLock();
            if (lock != null && Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                return new CopyState(file, c);
            }
        } catch (OverlappingFileLockException e) {
            // another thread of this process: the same answer
        } catch (IOException e) {
            c.close();
            throw e;
        }
        c.close();
        return null;
    }

    /** The verified bytes if the state belongs to exactly this source, else 0. */
    long verified(long size, Instant modified) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(LENGTH);
        while (all.hasRemaining()) {
            if (channel.read(all, all.position()) < 0) {
                return 0;
            }
        }
        all.flip();
        boolean same = all.getLong() == MAGIC && all.getLong() == VERSION && all.getLong() == size
                && all.getLong() == modified.getEpochSecond() && all.getLong() == modified.getNano();
        long verified = all.getLong(VERIFIED);
        return same && verified > 0 && verified <= size ? verified : 0;
    }

    /** Starts again, with nothing verified. */
    void begin(long size, Instant modified) throws IOException {
        channel.truncate(0); // so that a half-written state is invalid
        ByteBuffer all = ByteBuffer.allocate(LENGTH).putLong(MAGIC).putLong(VERSION).putLong(size)
                .putLong(modified.getEpochSecond()).putLong(modified.getNano()).putLong(0).flip();
        while (all.hasRemaining()) {
            channel.write(all, all.position());
        }
    }

    /** Records how many bytes have been hashed. */
    void verified(long bytes) throws IOException {
        word.clear().putLong(bytes).flip();
        while (word.hasRemaining()) {
            channel.write(word, VERIFIED + word.position());
        }
    }

    /** Removes the state. */
    void delete() throws IOException {
        Files.deleteIfExists(file);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
