// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Where counter files are. */
class CounterFolderTest {
    private final Locale before = Locale.getDefault();

    @AfterEach
    void restore() {
        Locale.setDefault(before);
    }

    /** Other processes find the file by its name. */
    @Test
    void nameOfAFileHasAsciiDigitsInEachLocale() throws Exception {
        Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
        assertThat("%d".formatted(7)).as("this locale has digits of its own").isNotEqualTo("7");
        assertThat(CounterFolder.own().fresh(1234).getFileName().toString()).matches("1234-[0-9a-f]{8}");
    }
}
