package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;

/**
 * The transport's half of a queue pair; made by {@link Transport#create}. Used under the context's lock only.
 */
public abstract class TransportQueuePair {
    final Transport transport;
    final QueuePairOwner owner;
    final SendRing sends;
    private final int number;
    private final int type;
    QueuePairState state = QueuePairState.RESET;

    TransportQueuePair(Transport transport, int number, int type, QueuePairOwner owner, SendRing sends) {
        this.transport = transport;
        this.number = number;
        this.type = type;
        this.owner = owner;
        this.sends = sends;
    }

    /** 24 bits. */
    public final int number() {
        return number;
    }

    /** {@link org.verbena.verbs.QueuePairType}. */
    public final int type() {
        return type;
    }

    /** The state now. */
    public final QueuePairState state() {
        return state;
    }

    /** The send queue's entries. */
    public final SendRing sends() {
        return sends;
    }

    /**
     * Changes state or attributes; the provider has checked that the transition exists and the values are in range.
     *
     * @param to the state afterwards; ERR flushes what is posted before the call returns, RESET forgets it
     * @param attributes what is set now
     * @param path for {@link QueuePairAttributes#AV}; becomes the queue pair's, which closes the one it had
     */
    public abstract void modify(QueuePairState to, QueuePairAttributes attributes, @Nullable Path path);

    /** Takes over {@code count} filled entries of the ring and sends what may be sent now. The batch is not flushed. */
    public abstract void post(int count);

    /** A receive was posted to a queue that had none: what is posted in state ERR is flushed here. */
    public abstract void receivePosted();

    /** Fails the queue pair, for instance because its completion queue has overrun. */
    public abstract void fail(String reason, int event);

    /** Ends it; no callback afterwards. Packets that come for it are dropped. */
    public abstract void close();
}
