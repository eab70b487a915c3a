// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import java.util.Locale;
import java.util.Objects;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.CommandException;

/** The implementation of the channels or of TCP at the two ends of a test: at the measuring side, and at its peer. */
public enum PerfEnds {
    /** Verbena at both ends: rings carry the bytes. */
    VERBENA("stream", "verbena"),
    /** Verbena here, and the JDK at the peer: TCP carries the bytes. */
    VERBENA_TO_PLAIN("stream", "plain"),
    /** A stack in user space at both ends. */
    STACK("stack", "stack"),
    /** A stack here, and the kernel's TCP at the peer. */
    STACK_TO_PLAIN("stack", "plain"),
    /** The kernel's TCP here, and a stack at the peer. */
    PLAIN_TO_STACK("kernel", "stack"),
    /** The JDK at both ends. */
    PLAIN("kernel", "plain"),
    /** Not a test of channels. */
    NONE(null, null);

    private final @Nullable String transport;
    private final @Nullable String peer;

    PerfEnds(@Nullable String transport, @Nullable String peer) {
        this.transport = transport;
        this.peer = peer;
    }

    /** The name on the control connection. */
    public String title() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static PerfEnds of(String title) throws CommandException {
        for (PerfEnds e : values()) {
            if (e.title().equals(title)) {
                return e;
            }
        }
        throw new CommandException("the peer asks for channels '" + title
                + "': it is not a verbena perf of this version");
    }

    /** Whether Verbena implements the channels of a side. */
    public boolean isVerbena(boolean initiator) {
        return this == VERBENA || this == VERBENA_TO_PLAIN && initiator;
    }

    /** Whether a side is a stack in user space. */
    public boolean isStack(boolean initiator) {
        return this == STACK || this == (initiator ? STACK_TO_PLAIN : PLAIN_TO_STACK);
    }

    /** Two fields, null where there are no channels. */
    public void put(ObjectNode row) {
        row.put("transport", transport).put("peer", peer);
    }

    /** Reads the fields of {@link #put}. */
    public static PerfEnds of(JsonNode row) {
        for (PerfEnds e : values()) {
            if (Objects.equals(e.transport, row.path("transport").textValue())
                    && Objects.equals(e.peer, row.path("peer").textValue())) {
                return e;
            }
        }
        return NONE;
    }

    /** As a word in a sentence. */
    @Override
    public String toString() {
        return transport + switch (this) {
            case VERBENA_TO_PLAIN, STACK_TO_PLAIN -> " to a plain peer";
            case PLAIN_TO_STACK -> " to a stack";
            default -> "";
        };
    }
}
