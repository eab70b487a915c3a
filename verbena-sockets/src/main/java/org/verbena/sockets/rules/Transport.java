// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

/** What a rule asks for. */
public enum Transport {
    /** The kernel's own. */
    OS("os"),
    /** Rings in registered memory where both ends can. */
    STREAM("stream"),
    /** A TCP/IP stack of our own on raw packets; there is none yet, and the kernel serves such a socket. */
    STACK("stack"),
    /** Words that libvma.conf inherited and that name no transport any more: such a rule matches nothing. */
    GONE("sdp");

    private final String word;

    Transport(String word) {
        this.word = word;
    }

    @Override
    public String toString() {
        return word;
    }
}
