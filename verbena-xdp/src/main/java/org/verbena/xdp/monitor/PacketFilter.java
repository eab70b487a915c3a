// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

import org.verbena.xdp.bpf.Assembler;
import org.verbena.xdp.bpf.Label;

/** Which packets are wanted, in the words of pcap-filter(7). Immutable. */
public final class PacketFilter {
    private final String text;
    private final Term term;

    private PacketFilter(String text, Term term) {
        this.text = text;
        this.term = term;
    }

    /**
     * Reads a filter.
     *
     * @param text for instance {@code host 10.0.0.1 and tcp port 80}; not empty
     * @throws FilterException if it is wrong, and where
     */
    public static PacketFilter of(String text) throws FilterException {
        return new PacketFilter(text, new FilterParser(text).parse());
    }

    /** Jumps to one of both. */
    void append(Assembler a, int key, Label yes, Label no) {
        term.append(a, key, yes, no);
    }

    @Override
    public String toString() {
        return text;
    }
}
