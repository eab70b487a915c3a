// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.junit.jupiter.api.Test;

class MadviseTest {
    private static final long SIZE = 1 << 20;

    @Test
    void populatedPagesAreResidentAndUnchanged() throws Exception {
        try (Fd fd = Memfd.create("madvise", SIZE)) {
            Mapping m = Mapping.map(fd, 0, SIZE, true);
            m.segment().set(ValueLayout.JAVA_LONG, 4096, 77);
            long before = Statx.of(fd).allocated();
            Madvise.populate(m.segment().asSlice(5000, SIZE - 5000), true);
            assertThat(Statx.of(fd).allocated()).isGreaterThan(before);
            assertThat(m.segment().get(ValueLayout.JAVA_LONG, 4096)).isEqualTo(77);
            Madvise.populate(m.segment(), false);
            Madvise.willNeed(m.segment());
            Madvise.preferHugePages(m.segment());
            assertThat(m.segment().get(ValueLayout.JAVA_LONG, 4096)).isEqualTo(77);
        }
    }

    @Test
    void unmappedRangeThrows() {
        MemorySegment nowhere = MemorySegment.ofAddress(4096).reinterpret(8192);
        assertThatThrownBy(() -> Madvise.populate(nowhere, false)).isInstanceOfSatisfying(LinuxException.class,
                e -> assertThat(e.errno()).isIn(Errno.ENOMEM, Errno.EFAULT));
        assertThatThrownBy(() -> Madvise.willNeed(nowhere)).isInstanceOf(LinuxException.class);
    }

    @Test
    void heapMemoryIsRejected() {
        MemorySegment heap = MemorySegment.ofArray(new byte[10]);
        assertThatThrownBy(() -> Madvise.populate(heap, true)).isInstanceOf(IllegalArgumentException.class);
    }
}
