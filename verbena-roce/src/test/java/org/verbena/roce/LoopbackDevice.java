// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/** The device of the loopback interface, on which each context has an address of its own. */
final class LoopbackDevice {
    private LoopbackDevice() {}

    static Context open() throws VerbsException {
        return RoceNetDevice.all().stream().filter(d -> d.name().equals("roce_lo")).findFirst().orElseThrow().open();
    }
}
