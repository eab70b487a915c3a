// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;

class MappingTest {
    private static final int PAGE = Sys.pageSize();

    @Test
    void twoMappingsShareTheFile() throws Exception {
        try (Fd fd = Memfd.create("share", 4L * PAGE)) {
            Mapping one = Mapping.map(fd, 0, 4L * PAGE, true);
            Mapping two = Mapping.map(fd, PAGE, PAGE, true);
            assertThat(one.address()).isNotEqualTo(two.address()).isEqualTo(one.segment().address());
            assertThat(two.length()).isEqualTo(PAGE).isEqualTo(two.segment().byteSize());
            one.segment().set(ValueLayout.JAVA_LONG, PAGE + 8, 42);
            assertThat(two.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(42);
            assertThat(two).hasToString("Mapping[0x" + Long.toHexString(two.address()) + ", " + PAGE + " bytes]");
        }
    }

    @Test
    void readOnlyIsReadOnly() throws Exception {
        try (Fd fd = Memfd.create("ro", PAGE)) {
            MemorySegment segment = Mapping.map(fd, 0, PAGE, false).segment();
            assertThat(segment.isReadOnly()).isTrue();
            assertThatThrownBy(() -> segment.set(ValueLayout.JAVA_INT, 0, 1)).isInstanceOf(
                    IllegalArgumentException.class);
        }
    }

    @Test
    void lengthNeedNotBeMultipleOfPageSize() throws Exception {
        try (Fd fd = Memfd.create("odd", 100)) {
            Mapping mapping = Mapping.map(fd, 0, 100, true);
            assertThat(mapping.segment().byteSize()).isEqualTo(100);
            mapping.discard();
            assertThat(mapping.segment().get(ValueLayout.JAVA_BYTE, 99)).isZero();
        }
    }

    @Test
    void refusesWrongRanges() throws Exception {
        try (Fd fd = Memfd.create("ranges", 2L * PAGE);
                Fd empty = Memfd.create("empty", 0)) {
            long[][] wrong = {{-1, 1}, {-PAGE, PAGE}, {0, 0}, {0, -1}, {1, 10}, {PAGE - 1, 1},
                {Long.MAX_VALUE - PAGE + 1, PAGE}, {Long.MIN_VALUE, Long.MAX_VALUE}};
            for (long[] range : wrong) {
                assertThatThrownBy(() -> Mapping.map(fd, range[0], range[1], true))
                        .as("offset %s length %s", range[0], range[1])
                        .isInstanceOf(IllegalArgumentException.class);
            }
            long[][] behind = {{0, 2L * PAGE + 1}, {PAGE, PAGE + 1}, {2L * PAGE, 1}, {0, 1L << 50}, {1L << 50, PAGE}};
            for (long[] range : behind) {
                MemfdTest.assertErrno(Errno.EINVAL, () -> Mapping.map(fd, range[0], range[1], true));
            }
            MemfdTest.assertErrno(Errno.EINVAL, () -> Mapping.map(empty, 0, 1, true));
            assertThatThrownBy(() -> Mapping.map(fd, 0, 2L * PAGE + 1, true)).hasMessageContaining("would fault");
            assertThatThrownBy(() -> Mapping.anonymous(0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> Mapping.anonymous(-5)).isInstanceOf(IllegalArgumentException.class);
            MemfdTest.assertErrno(Errno.ENOMEM, () -> Mapping.anonymous(1L << 60));
            MemfdTest.assertErrno(Errno.ENOMEM, () -> Mapping.anonymous(Long.MAX_VALUE));
        }
    }

    @Test
    void invalidDescriptorsThrow() throws Exception {
        Fd closed = Memfd.create("closed", PAGE);
        closed.close();
        assertThatThrownBy(() -> Mapping.map(closed, 0, PAGE, true)).isInstanceOf(IllegalStateException.class);
        try (Fd event = Eventfd.create()) {
            MemfdTest.assertErrno(Errno.ENODEV, () -> Mapping.map(event, 0, PAGE, true));
        }
    }

    @Test
    void mappingOutlivesItsDescriptor() throws Exception {
        Fd fd = Memfd.create("outlive", PAGE);
        Mapping mapping = Mapping.map(fd, 0, PAGE, true);
        fd.close();
        mapping.segment().set(ValueLayout.JAVA_LONG, 0, 5);
        assertThat(mapping.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(5);
    }

    @Test
    void anonymousIsZeroAndWritable() throws Exception {
        Mapping mapping = Mapping.anonymous(3L * PAGE + 1);
        assertThat(mapping.segment().get(ValueLayout.JAVA_BYTE, 3L * PAGE)).isZero();
        mapping.segment().fill((byte) 9);
        mapping.discard();
        assertThat(mapping.segment().get(ValueLayout.JAVA_BYTE, 3L * PAGE)).isZero();
    }

    @Test
    void discardDropsTheFileAndReadsZero() throws Exception {
        long size = 1L << 20;
        try (Fd fd = Memfd.create("discard-me", size)) {
            Mapping mapping = Mapping.map(fd, 0, size, true);
            Mapping witness = Mapping.map(fd, 0, size, true);
            MemorySegment slice = mapping.segment().asSlice(PAGE, 16);
            mapping.segment().fill((byte) 7);
            assertThat(Proc.mappings("discard-me")).isEqualTo(2);
            assertThat(mapping.isDiscarded()).isFalse();
            mapping.discard();
            mapping.discard();
            assertThat(mapping.isDiscarded()).isTrue();
            assertThat(Proc.mappings("discard-me")).isEqualTo(1);
            assertThat(slice.get(ValueLayout.JAVA_LONG, 0)).isZero();
            slice.set(ValueLayout.JAVA_LONG, 0, 1);
            assertThat(witness.segment().get(ValueLayout.JAVA_LONG, PAGE)).isEqualTo(0x0707070707070707L);
            Mapping readOnly = Mapping.map(fd, 0, size, false);
            readOnly.discard();
            assertThat(readOnly.segment().get(ValueLayout.JAVA_LONG, 0)).isZero();
            assertThat(readOnly.segment().isReadOnly()).isTrue();
        }
    }

    @Test
    void discardReleasesThePagesOfADroppedFile() throws Exception {
        long size = 64L << 20;
        Fd fd = Memfd.create("release", size);
        Mapping mapping = Mapping.map(fd, 0, size, true);
        mapping.segment().fill((byte) 1);
        fd.close();
        long full = rss("RssShmem:");
        mapping.discard();
        assertThat(full - rss("RssShmem:")).isGreaterThan(size / 1024 * 9 / 10);
    }

    private static long rss(String field) throws Exception {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(field))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D+", "")))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void sliceKeepsRangeUntilCollected() throws Exception {
        MemorySegment[] slice = new MemorySegment[1];
        try (Fd fd = Memfd.create("collected", PAGE)) {
            slice[0] = Mapping.map(fd, 0, PAGE, true).segment().asSlice(64, 64);
        }
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(20);
        }
        slice[0].set(ValueLayout.JAVA_LONG, 0, 3);
        assertThat(Proc.mappings("memfd:collected")).isEqualTo(1);
        slice[0] = MemorySegment.NULL;
        assertThat(Proc.afterGc(() -> Proc.mappings("memfd:collected") == 0)).isTrue();
    }
}
