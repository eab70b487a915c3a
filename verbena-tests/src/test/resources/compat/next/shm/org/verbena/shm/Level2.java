// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.Values;
import org.verbena.verbs.Verbs;

/** What the provider calls of the next version of the API; only if that is what runs. */
final class Level2 {
    static final int IMMEDIATE = 0xbeac04;

    private static final boolean HERE = Verbs.apiLevel() >= 2;

    private Level2() {}

    static DeviceAttributes.Builder device() {
        DeviceAttributes.Builder b = DeviceAttributes.builder();
        return HERE ? b.beacons(3) : b;
    }

    static PortAttributes.Builder port() {
        PortAttributes.Builder b = PortAttributes.builder();
        return HERE ? b.beacons(2) : b;
    }

    static Values values(Values old) {
        Values.Builder b = Values.builder().beacons(1);
        old.rawClock().ifPresent(b::rawClock);
        return b.build();
    }
}
