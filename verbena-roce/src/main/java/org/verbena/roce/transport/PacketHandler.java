// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

/** Takes what has arrived. */
@FunctionalInterface
public interface PacketHandler {
    /** A packet whose ICRC is right; it is valid until the method returns. Throws nothing. */
    void received(ReceivedPacket packet);
}
