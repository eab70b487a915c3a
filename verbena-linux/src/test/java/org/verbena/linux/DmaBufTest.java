// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class DmaBufTest {
    @Test
    void memoryFileIsNoDmaBuf() throws Exception {
        try (Fd fd = Memfd.create("no-dmabuf", 8192)) {
            assertThat(DmaBuf.isDmaBuf(fd)).isFalse();
            assertThat(DmaBuf.size(fd)).isEqualTo(8192);
            assertThatThrownBy(() -> DmaBuf.beginAccess(fd)).isInstanceOfSatisfying(LinuxException.class,
                    e -> assertThat(e.errno()).isEqualTo(Errno.ENOTTY));
        }
    }

    @Test
    void duplicateIsClosedSeparately() throws Exception {
        Fd two;
        try (Fd fd = Memfd.create("twice", 8192)) {
            two = Fd.duplicate(fd.value());
            assertThat(two.value()).isNotEqualTo(fd.value());
        }
        assertThat(Memfd.size(two)).isEqualTo(8192);
        two.close();
        assertThatThrownBy(() -> Fd.duplicate(1_000_000)).isInstanceOfSatisfying(LinuxException.class,
                e -> assertThat(e.errno()).isEqualTo(Errno.EBADF));
    }
}
