// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Set;

import org.junit.jupiter.api.Test;

class ErrnoTest {
    @Test
    void describesKnownAndUnknownNumbers() {
        assertThat(Errno.name(Errno.ENOMEM)).isEqualTo("ENOMEM");
        assertThat(Errno.text(Errno.ENOMEM)).isEqualTo("Cannot allocate memory");
        assertThat(Errno.describe(12)).isEqualTo("ENOMEM (Cannot allocate memory)");
        assertThat(Errno.describe(1234)).isEqualTo("errno 1234 (Unknown error 1234)");
        for (int odd : new int[] {0, -1, 41, 58, 134, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            assertThat(Errno.name(odd)).isEqualTo("errno " + odd);
            assertThat(Errno.text(odd)).isEqualTo("Unknown error " + odd);
        }
        assertThat(Errno.ENOTSUP).isEqualTo(95).isEqualTo(Errno.EOPNOTSUPP);
        assertThat(Errno.name(95)).isEqualTo("EOPNOTSUPP");
    }

    @Test
    void everyConstantHasItsOwnName() throws IllegalAccessException {
        Set<String> aliases = Set.of("EWOULDBLOCK", "EDEADLOCK", "ENOTSUP");
        int count = 0;
        for (Field field : Errno.class.getDeclaredFields()) {
            if (Modifier.isPublic(field.getModifiers()) && !aliases.contains(field.getName())) {
                assertThat(Errno.name(field.getInt(null))).isEqualTo(field.getName());
                count++;
            }
        }
        assertThat(count).isEqualTo(131);
    }

    @Test
    void exceptionsNameCallErrnoAndHint() {
        LinuxException plain = new LinuxException("mmap(length=4096, MAP_SHARED)", Errno.ENOMEM);
        assertThat(plain).hasMessage("mmap(length=4096, MAP_SHARED): ENOMEM (Cannot allocate memory)");
        assertThat(plain.call()).isEqualTo("mmap(length=4096, MAP_SHARED)");
        assertThat(plain.errno()).isEqualTo(12);
        assertThat(new LinuxException("socket()", Errno.EMFILE, "raise the limit"))
                .hasMessage("socket(): EMFILE (Too many open files); raise the limit");
    }
}
