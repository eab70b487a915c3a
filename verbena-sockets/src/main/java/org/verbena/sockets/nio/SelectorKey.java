// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectionKey;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.Stream;

/**
 * A channel at one of our selectors. Beside it the inner selector has a key of the same channel, or of the inner
 * channel, whose interest is what the kernel has to be asked for.
 */
final class SelectorKey extends AbstractSelectionKey implements Stream.Listener, ConnectionListener {
    static final int BYTES = OP_READ | OP_WRITE;

    private static final VarHandle INTEREST;
    private static final VarHandle QUEUED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            INTEREST = lookup.findVarHandle(SelectorKey.class, "interest", int.class);
            QUEUED = lookup.findVarHandle(SelectorKey.class, "queued", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final VerbenaSelector selector;
    private final SelectableChannel channel;

    private volatile int interest;
    private volatile int ready;
    private volatile @Nullable SelectionKey innerKey;

    /** In the list of updates. */
    private volatile boolean queued;
    /** The next in the list of updates; written before the key is put there. */
    @Nullable SelectorKey next;

    // What follows belongs to the thread that selects.

    /** What carries the bytes, once the channel is connected and this key was refreshed. */
    @Nullable Stream stream;
    /** Whether the stream notifies this key of changes; keys of the channel at other selectors are not notified. */
    boolean listening;
    /** Whether a ring carried a direction when the key was refreshed last. */
    boolean byRing;
    /** Whether what is wanted can come from the kernel alone. */
    boolean byKernel;
    /** A ring carries a direction, and what happens there does not wake a thread at the bell. */
    boolean deaf;
    /** What the inner key was asked for. */
    int kernelOps;
    /** Readiness that the kernel reported in this selection, until it is processed. */
    int kernelReady;
    /** What was found ready in this selection. */
    int found;
    /** In the list of keys to poll. */
    boolean active;
    /** Place in the set of selected keys; -1 if not there. */
    int selectedAt = -1;

    SelectorKey(VerbenaSelector selector, SelectableChannel channel) {
        this.selector = selector;
        this.channel = channel;
    }

    @Override
    public SelectableChannel channel() {
        return channel;
    }

    /** As the interface demands; {@link #cancel} calls it as well, which is how this key is informed of its end at once. */
    @Override
    public Selector selector() {
        if (!isValid()) {
            // A channel whose keys are all cancelled may be made blocking, before anyone selects again.
            cancelInner();
        }
        return selector;
    }

    void cancelInner() {
        SelectionKey k = innerKey;
        if (k != null) {
            k.cancel();
        }
    }

    void innerKey(SelectionKey key) {
        innerKey = key;
    }

    private void ensureValid() {
        if (!isValid()) {
            throw new CancelledKeyException();
        }
    }

    private void check(int ops) {
        if ((ops & ~channel.validOps()) != 0) {
            throw new IllegalArgumentException("operations " + ops + ": the channel supports " + channel.validOps());
        }
    }

    @Override
    public int interestOps() {
        ensureValid();
        return interest;
    }

    @Override
    public SelectionKey interestOps(int ops) {
        ensureValid();
        check(ops);
        if ((int) INTEREST.getAndSet(this, ops) != ops) {
            selector.update(this);
        }
        return this;
    }

    @Override
    public int interestOpsOr(int ops) {
        ensureValid();
        check(ops);
        int before = (int) INTEREST.getAndBitwiseOr(this, ops);
        if ((before | ops) != before) {
            selector.update(this);
        }
        return before;
    }

    @Override
    public int interestOpsAnd(int ops) {
        ensureValid();
        int before = (int) INTEREST.getAndBitwiseAnd(this, ops);
        if ((before & ops) != before) {
            selector.update(this);
        }
        return before;
    }

    @Override
    public int readyOps() {
        ensureValid();
        return ready;
    }

    /** The first interest, which the channel has checked. */
    void interest(int ops) {
        interest = ops;
    }

    /** The interest of a key that may be cancelled. */
    int interest() {
        return interest;
    }

    /** The ready set of a key that may be cancelled. */
    int ready() {
        return ready;
    }

    void ready(int ops) {
        ready = ops;
    }

    /** Whether the caller is the one to put it into the list of updates. */
    boolean enqueue() {
        return !queued && (boolean) QUEUED.compareAndSet(this, false, true);
    }

    /** It was taken from the list of updates; what changes from now on puts it there again. */
    void dequeued() {
        queued = false;
    }

    /** Asks the kernel for what is wanted of it, from the next time on that the inner selector selects. */
    void askKernel(int ops) {
        SelectionKey k = innerKey;
        if (k != null && ops != kernelOps) {
            kernelOps = ops;
            selector.kernelAsked();
            try {
                k.interestOps(ops);
            } catch (CancelledKeyException _) {
                // the inner channel was closed: this key will be cancelled too
            }
        }
    }

    /** Asks the kernel for what the stream needs of it now: the doorbell is for the key that listens. */
    void askKernel(Stream s) {
        int ops = interest & BYTES;
        askKernel(s.kernelOps(listening ? ops : ops & ~byRing(s)));
    }

    /** The directions of a stream that rings carry. */
    static int byRing(Stream s) {
        return (s.isInputByRing() ? OP_READ : 0) | (s.isOutputByRing() ? OP_WRITE : 0);
    }

    @Override
    public void changed() {
        selector.updateSoon(this);
    }

    @Override
    public void connected() {
        selector.updateSoon(this);
    }

    @Override
    public String toString() {
        return "key of " + channel + (isValid() ? ", interestOps=" + interest + ", readyOps=" + ready : ", cancelled");
    }
}
