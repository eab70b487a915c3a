// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.datagram;

import org.jspecify.annotations.Nullable;

/** The queue pairs of a context that receive datagrams. For any thread. */
public interface DatagramReceivers {
    /** The receive side of the queue pair of that number; null if there is none, or if it is not of type UD. */
    @Nullable
    DatagramReceiver receiver(int number);
}
