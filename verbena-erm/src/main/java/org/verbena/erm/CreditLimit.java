// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

/**
 * Receive window: the remote completions that this end's program may leave unpolled, each of which needs a posted
 * receive.
 *
 * @param completions limit for copies of the other end's {@link CopyQueue}
 * @param asyncCompletions limit for its asynchronous copies
 */
record CreditLimit(int completions, int asyncCompletions) {
    /** The limit of each connection. */
    static final CreditLimit DEFAULT = new CreditLimit(256, 256);
}
