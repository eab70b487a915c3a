// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.Locale;

/** Why TCP carries a connection to its end. */
public enum FallbackReason {
    /** Not decided yet, or the rings carry it. */
    NONE("-"),
    /**
     * The kernel finds no socket here for the other end: another machine, namespace, a proxy or translated addresses.
     */
    REMOTE_PEER("the other end is not on this host"),
    /** The other end is here and does not begin a handshake in time. */
    PLAIN_PEER("the other end does not use Verbena"),
    /** The other end belongs to another user. */
    OTHER_USER("the other end belongs to another user"),
    /** The other end has other versions of the handshake. */
    OTHER_VERSION("the other end has a Verbena of another version"),
    /** Another process listens at the name at which the other end would connect. */
    NAME_TAKEN("another process holds this connection's name"),
    /** The other end sent something that is no handshake. */
    BAD_PEER("the other end breaks the protocol"),
    /** The connection ended before the handshake was complete. */
    CLOSED_EARLY("closed before the handshake was complete"),
    /** This process cannot ask the kernel about sockets, has no provider, no native access. */
    UNAVAILABLE("not available in this process"),
    /** No memory for rings. */
    NO_MEMORY("no memory for rings"),
    /** No descriptor left. */
    NO_DESCRIPTORS("no descriptors left"),
    /** The queue pairs of the two processes could not be connected. */
    NO_SESSION("no session with the other process"),
    /** The program or a rule wants the kernel. */
    RULE("by rule"),
    /** The program has registered it with a selector of the JDK, from before Verbena came into the process. */
    FOREIGN_SELECTOR("registered with a selector that is not Verbena's"),
    /** The other end is in another user or PID namespace, or nothing proves that it is not. */
    OTHER_NAMESPACE("the other end may be of another user or PID namespace"),
    /** Not yet: it has not carried what makes rings worth their price, and may do so any moment. */
    NOT_EARNED("it has carried too little for rings so far");

    private final String sentence;

    FallbackReason(String sentence) {
        this.sentence = sentence;
    }

    /** For programs: its name in lower case, as JSON has it. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** For people. */
    @Override
    public String toString() {
        return sentence;
    }
}
