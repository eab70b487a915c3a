// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.TreeMap;

/** Names for the bits of a flag word. */
final class Flags {
    private final TreeMap<Integer, String> names = new TreeMap<>();

    /** Names the bits from 0 on. */
    Flags(String... fromBit0) {
        for (int i = 0; i < fromBit0.length; i++) {
            names.put(1 << i, fromBit0[i]);
        }
    }

    Flags and(int bit, String name) {
        names.put(bit, name);
        return this;
    }

    String toString(int flags) {
        StringBuilder b = new StringBuilder();
        int rest = flags;
        for (var e : names.entrySet()) {
            if ((flags & e.getKey()) != 0) {
                b.append(b.isEmpty() ? "" : "|").append(e.getValue());
                rest &= ~e.getKey();
            }
        }
        if (rest != 0 || b.isEmpty()) {
            b.append(b.isEmpty() ? "" : "|").append(rest == 0 ? "0" : "0x" + Integer.toHexString(rest));
        }
        return b.toString();
    }
}
