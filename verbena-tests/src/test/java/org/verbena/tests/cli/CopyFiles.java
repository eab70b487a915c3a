// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.verbena.testkit.Thorough;

/** Files for tests, and their comparison. */
public final class CopyFiles {
    static final String AREA = ".verbena-copy";
    /** Bytes of a file whose copy can be stopped in its middle. */
    static final int LONG_MIB = Thorough.ON ? 300 : 64;
    static final long LONG = (long) LONG_MIB << 20;

    private CopyFiles() {}

    /** Writes a file of bytes that do not repeat. */
    public static Path write(Path file, long size, long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] piece = new byte[1 << 20];
        random.nextBytes(piece);
        try (FileChannel c = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE)) {
            for (long at = 0; at < size; at += piece.length) {
                ByteBuffer.wrap(piece).putLong(0, at + seed); // so that no chunk is like another
                c.write(ByteBuffer.wrap(piece, 0, (int) Math.min(piece.length, size - at)));
            }
        }
        return file;
    }

    /** Compares bytes, which costs a tenth of their hashes. */
    static void assertSame(Path copy, Path original) throws IOException {
        assertThat(Files.mismatch(copy, original)).as("first byte of %s that is not that of %s", copy, original)
                .isEqualTo(-1);
    }

    public static String sha256(Path file) throws IOException {
        try (FileChannel c = FileChannel.open(file)) {
            MessageDigest d = MessageDigest.getInstance("SHA-256");
            ByteBuffer b = ByteBuffer.allocateDirect(1 << 20);
            while (c.read(b.clear()) > 0) {
                d.update(b.flip());
            }
            return HexFormat.of().formatHex(d.digest());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** All below a directory but symbolic links: kind, permissions, time, size and hash by relative path. */
    static Map<String, String> describe(Path root) throws IOException {
        Map<String, String> found = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path p : all.filter(p -> !p.equals(root) && !Files.isSymbolicLink(p)).toList()) {
                boolean directory = Files.isDirectory(p);
                found.put(root.relativize(p).toString(), (directory ? "d " : "f ")
                        + PosixFilePermissions.toString(Files.getPosixFilePermissions(p)) + " " + Files
                                .getLastModifiedTime(p)
                        + (directory ? "" : " " + Files.size(p) + " " + sha256(p)));
            }
        }
        return found;
    }

    /** The bytes that an unfinished copy has verified; 0 if there is none. */
    static long verified(Path directory) throws IOException {
        Path area = directory.resolve(AREA);
        if (!Files.isDirectory(area)) {
            return 0;
        }
        try (Stream<Path> all = Files.list(area)) {
            for (Path p : all.filter(p -> p.toString().endsWith(".state")).toList()) {
                byte[] state = Files.readAllBytes(p);
                return state.length < 48 ? 0 : ByteBuffer.wrap(state).getLong(40);
            }
        } catch (NoSuchFileException e) {
            return 0;
        }
        return 0;
    }
}
