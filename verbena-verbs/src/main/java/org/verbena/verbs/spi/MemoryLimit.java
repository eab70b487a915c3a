// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import org.verbena.linux.Errno;
import org.verbena.linux.Sys;
import org.verbena.verbs.VerbsException;

/** What a provider asks before it takes memory. Thread-safe. */
public final class MemoryLimit {
    private MemoryLimit() {}

    /**
     * Refuses what is not {@linkplain Sys#availableMemory() available}: asking the kernel for it would first take all
     * memory there is from everybody.
     *
     * @param verb what is done, for the message
     * @param bytes 0 or more
     * @throws VerbsException {@code ENOMEM}
     */
    public static void require(String verb, long bytes) throws VerbsException {
        long available = Sys.availableMemory(bytes);
        if (bytes > available) {
            throw new VerbsException(verb, Errno.ENOMEM, "only " + available + " bytes of memory are available");
        }
    }
}
