// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import org.verbena.stack.ip.IpAddress;

/** Makes a stack for each script. */
@FunctionalInterface
public interface TargetFactory {
    /**
     * A stack with one network interface.
     *
     * @param local its address, whose version of IP is that of packets
     * @param mtu the MTU of the interface
     */
    Target open(IpAddress local, int mtu);
}
