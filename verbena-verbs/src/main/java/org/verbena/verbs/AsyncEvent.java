package org.verbena.verbs;

/**
 * Something happened to an object outside any call, {@code struct ibv_async_event}.
 *
 * @param type the kind, see {@link AsyncEventType}; later versions may add kinds
 * @param element what it happened to: a queue pair, a completion queue or the context
 * @param detail what happened in words, possibly empty
 */
public record AsyncEvent(int type, VerbsObject element, String detail) {
    @Override
    public String toString() {
        return AsyncEventType.toString(type) + " on " + element.describe() + (detail.isEmpty() ? "" : ": " + detail);
    }
}
