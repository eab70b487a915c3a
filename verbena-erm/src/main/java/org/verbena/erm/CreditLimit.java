// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

/**
 * How many notices this end's program may leave unseen, so that there are receives for so many.
 *
 * @param notices of copies of the other end's {@link CopyQueue}
 * @param asyncNotices of its asynchronous copies
 */
record CreditLimit(int completions, int asyncCompletions) {
    /** What each connection has. */
    static final CreditLimit DEFAULT = new CreditLimit(256, 256);
}
