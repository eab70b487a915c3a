// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.util.BitSet;

import org.verbena.linux.Errno;
import org.verbena.verbs.VerbsException;

/** Numbers from 0 on that are taken and given back. Safe for use by several threads. */
public final class Slots {
    private final BitSet taken = new BitSet();
    private final int count;
    private int next;

    /** Numbers less than {@code count}. */
    public Slots(int count) {
        this.count = count;
    }

    /**
     * Takes a number, the one that was free longest first as far as that is cheap.
     *
     * @param verb what is being done, for the message
     * @param what the numbers are those of, in the plural
     * @throws VerbsException {@code ENOMEM} if all are taken
     */
    public synchronized int take(String verb, String what) throws VerbsException {
        int i = taken.nextClearBit(next);
        if (i >= count) {
            i = taken.nextClearBit(0);
        }
        if (i >= count) {
            throw new VerbsException(verb, Errno.ENOMEM, "there are " + count + " " + what
                    + " already, the most there can be");
        }
        taken.set(i);
        next = i + 1;
        return i;
    }

    /** Gives a number back. */
    public synchronized void give(int i) {
        taken.clear(i);
    }
}
