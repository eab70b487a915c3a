// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

import org.junit.jupiter.api.Test;

/** What the doctor says of TAP interfaces. */
class DoctorPacketsTest {
    @Test
    void missingThingsAreNamedWithTheirRemedy() {
        assertThat(DoctorPackets.tap(false, false, List.of(), "ann").remedy()).contains("modprobe tun");
        assertThat(DoctorPackets.tap(true, false, List.of(), "ann").remedy()).contains("chmod 666 /dev/net/tun");
        DoctorFinding none = DoctorPackets.tap(true, true, List.of(), "ann");
        assertThat(none.verdict()).isEqualTo(DoctorVerdict.LIMITED);
        assertThat(none.remedy()).contains("ip tuntap add dev vrb0 mode tap user ann");
        assertThat(DoctorPackets.tap(true, true, List.of("tap_vrb0"), "ann")).isEqualTo(DoctorFinding.ok(
                "this user may open /dev/net/tun; tap_vrb0"));
    }
}
