// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

/**
 * Whether this copy of Verbena carries the process: apart from what extends classes of the JDK that a process without Verbena does not show.
 * Thread-safe.
 */
final class CarriedProcess {
    private static volatile boolean ours;

    private CarriedProcess() {}

    /** A provider of this copy's was made. */
    static void made() {
        ours = true;
    }

    static boolean isOurs() {
        return ours;
    }
}
