// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;

class NoReceivesTest {
    @Test
    void batchWithAndWithoutReceivesIsRefused() {
        NoReceives receives = new NoReceives();
        assertThat(receives.start().receive(1).sge(2, 3, 4).complete()).isEqualTo(Errno.EINVAL);
        assertThat(receives.start().complete()).isEqualTo(Errno.EINVAL);
    }
}
