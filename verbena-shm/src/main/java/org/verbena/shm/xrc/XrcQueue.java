// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.xrc;

import org.verbena.shm.pool.OwnPool;

/** A shared receive queue of type XRC of this context, as senders find it by its number. For any thread. */
public interface XrcQueue {
    OwnPool pool();

    boolean isOfDomain(XrcDomains.Key domain);
}
