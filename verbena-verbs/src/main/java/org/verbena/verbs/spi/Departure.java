// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

/**
 * A context that can tell its peers that its process is about to end in order, connections and all. What ends with it then
 * counts as an error nowhere.
 */
public interface Departure {
    /** The process is about to end. Nothing else changes: until it does, everything goes on. Any thread; idempotent. */
    void announce();
}
