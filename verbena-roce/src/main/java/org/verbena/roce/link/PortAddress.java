// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import org.verbena.verbs.Gid;

/**
 * An address of a port.
 *
 * @param gid the address
 * @param interfaceIndex the network interface that has it
 */
public record PortAddress(Gid gid, int interfaceIndex) {
    /** The interface if the address is scoped to it, else 0: the scope id of a socket address. */
    int scope() {
        return Gids.isScoped(gid) ? interfaceIndex : 0;
    }
}
