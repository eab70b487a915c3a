// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

/** Makes a stack for each script. */
@FunctionalInterface
public interface TargetFactory {
    /**
     * A stack with one network interface.
     *
     * @param local its address
     * @param mtu the MTU of the interface
     */
    Target open(int local, int mtu);
}
