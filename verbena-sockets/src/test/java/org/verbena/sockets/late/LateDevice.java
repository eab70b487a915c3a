// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.late;

import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** {@code late0}. */
final class LateDevice extends Device {
    static final String NAME = "late0";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String provider() {
        return "late";
    }

    @Override
    public String transport() {
        return "shared memory, late";
    }

    @Override
    public long guid() {
        return 0x6c61_7465;
    }

    @Override
    protected Context implOpen() throws VerbsException {
        return new LateContext(this, Verbs.open("shm0"));
    }
}
