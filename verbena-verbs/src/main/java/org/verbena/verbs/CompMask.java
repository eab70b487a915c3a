// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.function.IntFunction;

import org.verbena.linux.Errno;

/**
 * The scheme by which attribute objects grow, {@code comp_mask} of the C API: an object remembers which of its optional
 * fields the caller set, one bit each, and a call with a bit that the provider does not know is refused with
 * {@code EOPNOTSUPP}. So a field that comes with a later version is never ignored by an older provider, and a call that
 * sets old fields only works on every one.
 *
 * <p>A provider declares the bits it knows by overriding a {@code supported…Mask()} method. What it inherits is the set
 * of the version that the method came with, which never grows.
 */
public final class CompMask {
    /** Reserved to announce a second word of bits, should the first ever be full. No field has this bit. */
    public static final int SECOND_WORD = 1 << 31;

    private CompMask() {}

    /**
     * Refuses bits that a provider does not know.
     *
     * @param names what the attribute object calls its bits
     * @throws VerbsException {@code EOPNOTSUPP}, naming the bits
     */
    static void check(String verb, int mask, int supported, IntFunction<String> names, String provider)
            throws VerbsException {
        int unknown = mask & ~supported;
        if (unknown != 0) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, names.apply(unknown) + " is not known to " + provider);
        }
    }
}
