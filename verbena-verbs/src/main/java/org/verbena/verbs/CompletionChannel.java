// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Where completion queues signal that they are worth polling, {@code struct ibv_comp_channel}.
 *
 * <p>Arm a queue with {@link CompletionQueue#requestNotify}, poll it once more, then wait here; or give
 * {@link #descriptor()} to {@code epoll}. One event is made for each arming. Unlike in C events need no
 * acknowledgement. Safe for use by several threads; virtual threads park while they wait.
 */
public abstract class CompletionChannel extends VerbsObject {
    private final Context context;

    /** For providers. */
    protected CompletionChannel(Context context) throws VerbsException {
        super(List.of(context));
        this.context = context;
    }

    /** The context the channel was created from. */
    public final Context context() {
        return context;
    }

    /** A descriptor that is readable while an event waits; for {@code epoll} or {@code poll}, never to be read. -1 if closed. */
    public abstract int descriptor();

    /**
     * Takes the next event, {@code ibv_get_cq_event}.
     *
     * @param timeout how long to wait at most; zero does not wait
     * @return the queue that has got a completion since it was armed, or null when the time is over or the thread was
     *         interrupted
     * @throws VerbsException {@code EINVAL} if the channel is or gets closed
     */
    public abstract @Nullable CompletionQueue await(Duration timeout) throws VerbsException;

    @Override
    int closeOrder() {
        return 5;
    }
}
