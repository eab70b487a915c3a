// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;

import org.jspecify.annotations.Nullable;

/** Something happened to an object outside any call, {@code struct ibv_async_event}. Immutable. */
public final class AsyncEvent {
    private final int type;
    private final VerbsObject element;
    private final String detail;

    private AsyncEvent(Builder b) {
        type = b.type;
        element = b.element;
        detail = b.detail;
    }

    /**
     * For providers: a builder for an event.
     *
     * @param type the kind, see {@link AsyncEventType}
     * @param element what it happened to
     */
    public static Builder builder(int type, VerbsObject element) {
        return new Builder(type, element);
    }

    /** The kind, see {@link AsyncEventType}; later versions may add kinds. */
    public int type() {
        return type;
    }

    /** What it happened to: a queue, a queue pair or the context; later versions may add kinds of objects. */
    public VerbsObject element() {
        return element;
    }

    /** A description of the event; empty if the provider has none. */
    public String detail() {
        return detail;
    }

    private List<Object> fields() {
        return List.of(type, element, detail);
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof AsyncEvent e && e.fields().equals(fields());
    }

    @Override
    public int hashCode() {
        return fields().hashCode();
    }

    @Override
    public String toString() {
        return AsyncEventType.toString(type) + " on " + element.describe() + (detail.isEmpty() ? "" : ": " + detail);
    }

    /** Collects what is known of an event. Not safe for use by several threads. */
    public static final class Builder {
        private final int type;
        private final VerbsObject element;
        private String detail = "";

        private Builder(int type, VerbsObject element) {
            this.type = type;
            this.element = element;
        }

        /** What happened in words. */
        public Builder detail(String words) {
            detail = words;
            return this;
        }

        /** Makes the event. */
        public AsyncEvent build() {
            return new AsyncEvent(this);
        }
    }
}
