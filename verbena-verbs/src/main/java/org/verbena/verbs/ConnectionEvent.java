// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;

import org.jspecify.annotations.Nullable;

/** What happened to a connection, {@code struct rdma_cm_event}. Immutable. */
public final class ConnectionEvent {
    /** Both sides are connected. */
    public static final int ESTABLISHED = 9;
    /** The peer disconnected or died. */
    public static final int DISCONNECTED = 10;
    /** The device is gone. */
    public static final int DEVICE_REMOVAL = 11;

    private final int type;
    private final String detail;

    private ConnectionEvent(Builder b) {
        type = b.type;
        detail = b.detail;
    }

    /**
     * For providers: a builder for an event.
     *
     * @param type see {@link #type()}
     */
    public static Builder builder(int type) {
        return new Builder(type);
    }

    /**
     * {@link #ESTABLISHED}, {@link #DISCONNECTED} or {@link #DEVICE_REMOVAL}, numbered as
     * {@code enum rdma_cm_event_type}; later versions may add kinds.
     */
    public int type() {
        return type;
    }

    /** A description of the event; empty if the provider has none. */
    public String detail() {
        return detail;
    }

    /** The type's name, or its number. */
    public String typeName() {
        return switch (type) {
            case ESTABLISHED -> "ESTABLISHED";
            case DISCONNECTED -> "DISCONNECTED";
            case DEVICE_REMOVAL -> "DEVICE_REMOVAL";
            default -> Integer.toString(type);
        };
    }

    private List<Object> fields() {
        return List.of(type, detail);
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof ConnectionEvent e && e.fields().equals(fields());
    }

    @Override
    public int hashCode() {
        return fields().hashCode();
    }

    @Override
    public String toString() {
        return typeName() + (detail.isEmpty() ? "" : ": " + detail);
    }

    /** Collects what is known of an event. Not safe for use by several threads. */
    public static final class Builder {
        private final int type;
        private String detail = "";

        private Builder(int type) {
            this.type = type;
        }

        /** What happened in words. */
        public Builder detail(String words) {
            detail = words;
            return this;
        }

        /** Makes the event. */
        public ConnectionEvent build() {
            return new ConnectionEvent(this);
        }
    }
}
