// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;

import org.junit.jupiter.api.Test;

/** This module alone, without a provider of kinds. */
class ObjectKindsTest {
    /** Constants of two kinds, one of which has the other's number. */
    public static final class Constants {
        public static final int LAMP_ON = 0x2100;
        public static final int LAMP_OFF = 0x2101;
        public static final int ROOM = 0x2100;
        public static final int DOOR_OPENED = 0x2200;
        public static final int PROVIDER = SamplePoints.PROVIDER;

        private Constants() {}
    }

    @Test
    void kindThatNobodyProvidesHasItsNumberAsName() {
        ObjectKind kind = ObjectKinds.of(0x21);
        assertThat(kind.type()).isEqualTo(0x21);
        assertThat(kind.name()).isEqualTo("33");
        assertThat(kind.state(4)).isEmpty();
        assertThat(kind.describe(0x11, "lamp0")).isEqualTo("33 0x11 of lamp0");
        assertThat(kind.partType()).isNegative();
        assertThat(SamplePoints.toString(Constants.LAMP_ON)).isEqualTo("0x2100");
        assertThat(SamplePoints.cells(Constants.LAMP_ON)).isZero();
        assertThat(SamplePoints.toString(-1)).isEqualTo("0xffffffff");
        assertThat(SamplePoints.cells(-1)).isZero();
    }

    @Test
    void namesAreThoseOfTheConstantsOfOneKind() {
        assertThat(SamplePoints.named(Constants.class, 0x21, "LAMP_")).isEqualTo(Map.of(0x2100, "LAMP_ON", 0x2101,
                "LAMP_OFF"));
        assertThat(SamplePoints.named(Constants.class, 0x22, "")).isEqualTo(Map.of(0x2200, "DOOR_OPENED"));
    }

    @Test
    void pointOfAProviderIsKnownForEachKind() {
        int point = SamplePoints.ofProvider(0x21, 7);
        assertThat(SamplePoints.objectType(point)).isEqualTo(0x21);
        assertThat(SamplePoints.points(0x21, SamplePoints.cells(point))).containsExactly(point);
        assertThatThrownBy(() -> SamplePoints.ofProvider(0x21, 8)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(SamplePoints.points(256, -1)).isEmpty();
    }
}
