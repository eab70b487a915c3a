// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HumanText;

/**
 * A file to be sent, open for reading. Its bytes are read once, into the memory that they are sent from, so the hash is
 * that of the bytes sent; and a file that is truncated meanwhile ends early instead of faulting a mapping.
 */
final class CopySource implements AutoCloseable {
    private static final CopyBytes BOOT = readBoot();
    private static final String ALL_BITS = "unix:mode";
    private static final int SETUID = 04000;
    private static final int SETGID = 02000;
    private static final int STICKY = 01000;
    private static final PosixFilePermission[] BITS = {
        PosixFilePermission.OTHERS_EXECUTE, PosixFilePermission.OTHERS_WRITE, PosixFilePermission.OTHERS_READ,
        PosixFilePermission.GROUP_EXECUTE, PosixFilePermission.GROUP_WRITE, PosixFilePermission.GROUP_READ,
        PosixFilePermission.OWNER_EXECUTE, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_READ,
    };

    private final Path path;
    private final FileChannel channel;
    private final BasicFileAttributes before;

    private CopySource(Path path, FileChannel channel, BasicFileAttributes before) {
        this.path = path;
        this.channel = channel;
        this.before = before;
    }

    /** Opens a regular file. */
    static CopySource open(Path path) throws IOException {
        FileChannel c = FileChannel.open(path, StandardOpenOption.READ);
        try {
            BasicFileAttributes a = Files.readAttributes(path, BasicFileAttributes.class);
            if (!a.isRegularFile()) {
                throw new CopyFailure(CopyStatus.FAILED, "not a regular file");
            }
            if (a.size() > CopyProtocol.MAX_SIZE) {
                throw new CopyFailure(CopyStatus.FAILED, "larger than " + HumanText.size(CopyProtocol.MAX_SIZE));
            }
            if (a.size() == 0 && c.read(ByteBuffer.allocate(1), 0) > 0) {
                throw new CopyFailure(CopyStatus.FAILED,
                        "says that it is empty and is not, like the files of /proc; such files cannot be copied");
            }
            return new CopySource(path, c, a);
        } catch (IOException e) {
            c.close();
            throw e;
        }
    }

    long size() {
        return before.size();
    }

    /** The message that describes the file to a listener. */
    CopyMessage.File describe(int id, CopyBytes target) throws IOException {
        return new CopyMessage.File(id, mode(path), before.size(), before.lastModifiedTime().toInstant(), identity(
                path),
                target);
    }

    /**
     * Fills the buffer.
     *
     * @throws CopyFailure with {@link CopyStatus#CHANGED} if the file ends before
     */
    void read(ByteBuffer into, long position) throws IOException {
        long at = position;
        while (into.hasRemaining()) {
            int n = channel.read(into, at);
            if (n <= 0) {
                throw new CopyFailure(CopyStatus.CHANGED, "became shorter while it was copied");
            }
            at += n;
        }
    }

    /** Hashes the start of the file; returns how many bytes are left. */
    long hash(CopyHash hash, long prefix) throws IOException {
        hash.update(channel, Math.min(CopyProtocol.CHUNK, prefix - hash.position()));
        return prefix - hash.position();
    }

    /** Throws {@link CopyStatus#CHANGED} if the file has changed since it was opened. */
    void checkUnchanged() throws IOException {
        BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
        if (!Objects.equals(now.fileKey(), before.fileKey())) {
            throw new CopyFailure(CopyStatus.CHANGED, "was replaced while it was copied");
        }
        if (now.size() != before.size() || !now.lastModifiedTime().equals(before.lastModifiedTime())) {
            throw new CopyFailure(CopyStatus.CHANGED, "changed while it was copied");
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    /** Permission bits, 0 to 0777. */
    static int mode(Path path) throws IOException {
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(path);
        int mode = 0;
        for (int i = 0; i < BITS.length; i++) {
            mode |= permissions.contains(BITS[i]) ? 1 << i : 0;
        }
        return mode;
    }

    /** The mode bits that a copy lacks, in words for people; empty for none. */
    static String notKept(Path path) throws IOException {
        int mode = allBits(path);
        List<String> names = new ArrayList<>();
        if ((mode & SETUID) != 0) {
            names.add("setuid");
        }
        if ((mode & SETGID) != 0) {
            names.add("setgid");
        }
        if ((mode & STICKY) != 0) {
            names.add("sticky");
        }
        return String.join(", ", names);
    }

    private static int allBits(Path path) throws IOException {
        return (int) number(Files.getAttribute(path, ALL_BITS));
    }

    /** Sets permission bits and time of a file or directory, not following a link. */
    static void setAttributes(Path path, int mode, Instant modified) throws IOException {
        // Other bits of a directory depend on its place: setgid passes the group on to files that are created in it.
        int own = Files.isDirectory(path) ? allBits(path) & (SETUID | SETGID | STICKY) : 0;
        Files.setAttribute(path, ALL_BITS, own | mode);
        // The view with NOFOLLOW opens nothing, so it also works where the bits just set forbid reading.
        PosixFileAttributeView view = view(path);
        if (view != null) {
            view.setTimes(FileTime.from(modified), null, null);
        }
    }

    private static @Nullable PosixFileAttributeView view(Path path) {
        return Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
    }

    /** The identity of the file. */
    static CopyMessage.Identity identity(Path path) throws IOException {
        Map<String, Object> a = Files.readAttributes(path, "unix:dev,ino", LinkOption.NOFOLLOW_LINKS);
        return new CopyMessage.Identity(BOOT, number(a.get("dev")), number(a.get("ino")));
    }

    private static long number(@Nullable Object value) {
        return value instanceof Number n ? n.longValue() : 0;
    }

    private static CopyBytes readBoot() {
        try {
            String id = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip().replace("-", "");
            return CopyBytes.of(HexFormat.of().parseHex(id));
        } catch (IOException e) {
            return CopyBytes.of(new byte[CopyProtocol.BOOT_ID]);
        }
    }
}
