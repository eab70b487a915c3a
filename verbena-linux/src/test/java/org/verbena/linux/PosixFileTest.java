// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PosixFileTest {
    @TempDir private Path dir;

    @Test
    void createsAndReservesAFile() throws Exception {
        Path file = dir.resolve("new file");
        try (Fd fd = PosixFile.open(file, PosixFile.O_RDWR | PosixFile.O_CREAT | PosixFile.O_EXCL, 0600)) {
            Memfd.allocate(fd, 0, 123_456);
        }
        assertThat(file).hasSize(123_456);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
        assertFails(file, PosixFile.O_RDWR | PosixFile.O_CREAT | PosixFile.O_EXCL, Errno.EEXIST);
        try (Fd fd = PosixFile.open(file, PosixFile.O_WRONLY | PosixFile.O_TRUNC, 0)) {
            assertThat(Memfd.size(fd)).isZero();
        }
    }

    @Test
    void namesTheErrno() throws Exception {
        assertFails(dir.resolve("none"), PosixFile.O_RDONLY, Errno.ENOENT);
        Path link = Files.createSymbolicLink(dir.resolve("link"), Files.createFile(dir.resolve("file")));
        PosixFile.open(link, PosixFile.O_RDONLY, 0).close();
        assertFails(link, PosixFile.O_RDONLY | PosixFile.O_NOFOLLOW, Errno.ELOOP);
    }

    private static void assertFails(Path file, int flags, int errno) {
        assertThatThrownBy(() -> PosixFile.open(file, flags, 0600))
                .isInstanceOfSatisfying(LinuxException.class, e -> assertThat(e.errno()).isEqualTo(errno))
                .hasMessageContaining(file.toString());
    }

    @Test
    void identityIsIndependentOfName() throws Exception {
        Path file = Files.createFile(dir.resolve("file"));
        Path link = Files.createLink(dir.resolve("link"), file);
        try (Fd a = PosixFile.open(file, PosixFile.O_RDONLY, 0);
                Fd b = PosixFile.open(link, PosixFile.O_RDWR, 0);
                Fd other = PosixFile.open(Files.createFile(dir.resolve("other")), PosixFile.O_RDONLY, 0)) {
            FileIdentity id = FileIdentity.of(a.value());
            assertThat(FileIdentity.of(b.value())).isEqualTo(id);
            assertThat(FileIdentity.of(other.value())).isNotEqualTo(id);
            assertThat(id.inode()).isEqualTo(((Number) Files.getAttribute(file, "unix:ino")).longValue());
            long device = ((Number) Files.getAttribute(file, "unix:dev")).longValue();
            assertThat(id.device()).as("makedev(3)").isEqualTo((device >>> 8 & 0xfff) << 32 | device & 0xff
                    | device >>> 12 & 0xfff00);
        }
        for (int wrong : new int[] {-1, PosixFile.AT_FDCWD, 1 << 20}) {
            assertThatThrownBy(() -> FileIdentity.of(wrong)).isInstanceOfSatisfying(LinuxException.class,
                    e -> assertThat(e.errno()).isEqualTo(Errno.EBADF));
        }
    }

    @Test
    void unknownFlagsAreRejected() {
        assertThatThrownBy(() -> PosixFile.open(dir, 0x4000_0000, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PosixFile.open(dir, 3, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PosixFile.open(dir, 0, 010000)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void bytesOfAnyNameRoundTrip() throws Exception {
        byte[] name = new byte[254];
        for (int i = 0, n = 0; i < 256; i++) {
            if (i != 0 && i != '/') {
                name[n++] = (byte) i;
            }
        }
        Path odd = PathBytes.resolve(dir, name);
        Files.writeString(odd, "x");
        try (var names = Files.list(dir)) {
            byte[] listed = PathBytes.of(names.findFirst().orElseThrow());
            assertThat(listed).endsWith(name);
            assertThat(PathBytes.toPath(listed)).isEqualTo(odd);
        }
        try (Fd fd = PosixFile.open(odd, PosixFile.O_RDONLY, 0)) {
            assertThat(Memfd.size(fd)).isEqualTo(1);
        }
    }

    @Test
    void bytesAreWrittenAtAnOffset() throws Exception {
        MemorySegment from = Arena.ofAuto().allocate(1000, 8);
        from.setString(5, "hello");
        Path file = dir.resolve("written");
        try (Fd fd = PosixFile.open(file, PosixFile.O_RDWR | PosixFile.O_CREAT, 0600)) {
            int number = fd.value();
            assertThat(PosixFile.write(number, 3, from, 5, 5)).isEqualTo(5);
            assertThat(PosixFile.write(number, -1, from, 0, 10)).isEqualTo(-Errno.EINVAL);
            assertThat(PosixFile.write(number, 0, from, 0, 0)).isZero();
            assertThatThrownBy(() -> PosixFile.write(number, 0, from, 995, 6)).isInstanceOf(
                    IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> PosixFile.write(number, 0, MemorySegment.ofArray(new byte[9]), 0, 1))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(Files.readString(file)).isEqualTo("\0\0\0hello");
        try (Fd fd = PosixFile.open(file, PosixFile.O_RDONLY, 0)) {
            assertThat(PosixFile.write(fd.value(), 0, from, 0, 1)).isEqualTo(-Errno.EBADF);
        }
        try (Fd fd = PosixFile.open(Path.of("/dev/full"), PosixFile.O_RDWR, 0)) {
            assertThat(PosixFile.write(fd.value(), 0, from, 0, 1)).isEqualTo(-Errno.ENOSPC);
        }
    }

    @Test
    void pathsAreAbsoluteAndWithoutSlashAtTheEnd() {
        assertThat(PathBytes.of(dir)).isEqualTo(dir.toString().getBytes(StandardCharsets.UTF_8));
        assertThat(PathBytes.of(Path.of("/"))).containsExactly('/');
        assertThat(PathBytes.resolve(Path.of("/"), new byte[] {'x'})).isEqualTo(Path.of("/x"));
        assertThatThrownBy(() -> PathBytes.toPath(new byte[] {'a'})).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PathBytes.toPath(new byte[] {'/', 0})).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PathBytes.resolve(dir, new byte[] {'a', '/', 'b'}))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PathBytes.resolve(dir, new byte[0])).isInstanceOf(IllegalArgumentException.class);
    }
}
