// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.verbs.Beacon;
import org.verbena.verbs.BeaconAttributes;
import org.verbena.verbs.VerbsException;

/** The provider's object of the next version. Only this class extends a class that an older API does not have. */
final class ShmBeacon extends Beacon {
    private final int light;

    private ShmBeacon(ShmContext context, int light) throws VerbsException {
        super(context);
        this.light = light;
        opened();
    }

    /**
     * Declared to return the API's class, and all there is to do with it done here: then the JVM can check the class that
     * calls this without loading one that an older API does not have.
     */
    static Beacon create(ShmContext context, BeaconAttributes a) throws VerbsException {
        ShmBeacon b = new ShmBeacon(context, a.light());
        context.adopt(b);
        return b;
    }

    @Override
    public int light() {
        return light;
    }

    @Override
    public String describe() {
        return "beacon of shm0";
    }

    @Override
    protected void implClose() {}
}
