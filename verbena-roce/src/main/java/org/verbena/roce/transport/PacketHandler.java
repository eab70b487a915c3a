// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

/** Receives packets. */
@FunctionalInterface
public interface PacketHandler {
    /** Handles a packet with a correct ICRC; the packet is valid until the method returns. Throws nothing. */
    void received(ReceivedPacket packet);
}
