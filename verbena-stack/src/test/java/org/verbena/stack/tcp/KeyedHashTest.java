// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** SipHash-2-4 by the vectors of its reference implementation: the key is 00 to 0f, the input 00 to 0f. */
final class KeyedHashTest {
    @Test
    void answersThePublishedVector() {
        KeyedHash h = new KeyedHash(0x0706_0504_0302_0100L, 0x0f0e_0d0c_0b0a_0908L);
        // vectors_sip64[16] is the bytes db 9b c2 57 7f cc 2a 3f
        assertThat(h.of(0x0706_0504_0302_0100L, 0x0f0e_0d0c_0b0a_0908L)).isEqualTo(0x3f2a_cc7f_57c2_9bdbL);
    }
}
