// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;

/**
 * A completion queue, {@code struct ibv_cq_ex}. Completions are polled with a cursor:
 *
 * {@snippet :
 * if (cq.startPoll() == 0) {
 *     do {
 *         consume(cq.wrId(), cq.status(), cq.byteLength());
 *     } while (cq.nextPoll() == 0);
 *     cq.endPoll();
 * }
 * }
 *
 * <p>The fields of a plain queue can be read always, and so can {@link #status()}, {@link #opcode()}, {@link #flags()}
 * and {@link #vendorError()}. Every other field is asked for when the queue is created; if it was not, it reads 0.
 *
 * <p>Polling allocates nothing and throws nothing. A queue is polled by one thread at a time; the application sees to
 * that. Work requests of one queue pair complete in the order in which they were posted; between queue pairs there is
 * no order.
 */
public abstract class CompletionQueue extends VerbsObject {
    private final Context context;
    private final CompletionQueueAttributes attributes;

    /** For providers. */
    protected CompletionQueue(Context context, CompletionQueueAttributes attributes) throws VerbsException {
        super(usedBy(context, attributes));
        this.context = context;
        this.attributes = attributes;
    }

    private static List<VerbsObject> usedBy(Context context, CompletionQueueAttributes attributes) {
        List<VerbsObject> used = new ArrayList<>(List.of(context));
        CompletionChannel channel = attributes.channel();
        if (channel != null) {
            used.add(channel);
        }
        ProtectionDomain parentDomain = attributes.parentDomain();
        if (parentDomain != null) {
            used.add(parentDomain);
        }
        return used;
    }

    /** The context the queue was created from. */
    public final Context context() {
        return context;
    }

    /** The channel for events; null if there is none. */
    public final @Nullable CompletionChannel channel() {
        return attributes.channel();
    }

    /** Which fields completions carry, see {@link CompletionQueueAttributes}. */
    public final int fields() {
        return attributes.fields();
    }

    /** What the application has attached to the queue, {@code cq_context}; null if nothing. */
    public final @Nullable Object userContext() {
        return attributes.userContext();
    }

    /** The number of entries, at least what was asked for. */
    public abstract int cqe();

    /**
     * Opens the cursor on the oldest completion, {@code ibv_start_poll}.
     *
     * @return 0, or {@code ENOENT} if there is none: then the cursor is not open; {@code EINVAL} if the queue is closed
     */
    public abstract int startPoll();

    /**
     * Moves the cursor on, {@code ibv_next_poll}.
     *
     * @return 0, or {@code ENOENT} if there is no further completion; the cursor stays open either way
     */
    public abstract int nextPoll();

    /** Closes the cursor, {@code ibv_end_poll}; to be called after every {@link #startPoll()} that answered 0. */
    public abstract void endPoll();

    /** The number that the application gave to the work request. */
    public abstract long wrId();

    /**
     * See {@link WcStatus}. As all that the cursor names it means something between a {@link #startPoll()} that
     * answered 0 and {@link #endPoll()}; at other times its value, for instance 0, has no meaning.
     */
    public abstract int status();

    /** See {@link WcOpcode}; valid on success. */
    public abstract int opcode();

    /** The provider's own error number; shm gives an errno. */
    public abstract int vendorError();

    /** Bytes received or read; valid on success. */
    public abstract long byteLength();

    /** The immediate value, if {@link #flags()} has {@link WcFlags#WITH_IMM}. */
    public abstract int immediate();

    /** The key that the message invalidated, if {@link #flags()} has {@link WcFlags#WITH_INV}. */
    public int invalidatedRkey() {
        return 0;
    }

    /** The local queue pair. */
    public abstract int queuePairNumber();

    /** The peer's queue pair; that of a connected queue pair is 0 on devices that name it for datagrams alone. */
    public int sourceQueuePair() {
        return 0;
    }

    /** See {@link WcFlags}; valid on success. */
    public abstract int flags();

    /** The source's local identifier, {@code ibv_wc_read_slid}; 0 where there is none, as on Ethernet. */
    public int slid() {
        return 0;
    }

    /** The service level, {@code ibv_wc_read_sl}. */
    public int serviceLevel() {
        return 0;
    }

    /** The path bits of the destination's local identifier, {@code ibv_wc_read_dlid_path_bits}. */
    public int dlidPathBits() {
        return 0;
    }

    /**
     * When the work was completed, in ticks of {@link DeviceAttributes#coreClockKilohertz()};
     * {@code ibv_wc_read_completion_ts}. 0 if the queue was created without
     * {@link CompletionQueueAttributes#WITH_COMPLETION_TIMESTAMP}.
     */
    public long timestamp() {
        return 0;
    }

    /**
     * When the work was completed, in nanoseconds since the epoch; {@code ibv_wc_read_completion_wallclock_ns}. 0 if
     * the queue was created without {@link CompletionQueueAttributes#WITH_COMPLETION_TIMESTAMP_WALLCLOCK}.
     */
    public long wallClockTimestamp() {
        return 0;
    }

    /**
     * The VLAN tag that was stripped from the packet, {@code ibv_wc_read_cvlan}; asked for by
     * {@link CompletionQueueAttributes#WITH_CVLAN}.
     */
    public int cvlan() {
        return 0;
    }

    /**
     * The tag of the flow that the packet came by, {@code ibv_wc_read_flow_tag}; asked for by
     * {@link CompletionQueueAttributes#WITH_FLOW_TAG}.
     */
    public int flowTag() {
        return 0;
    }

    /**
     * The tag of a matched message, {@code ibv_wc_read_tm_info}; asked for by
     * {@link CompletionQueueAttributes#WITH_TM_INFO}.
     */
    public long tmTag() {
        return 0;
    }

    /** The private part of a matched message's tag header, as {@link #tmTag()}. */
    public int tmPrivate() {
        return 0;
    }

    /**
     * Arms the queue, {@code ibv_req_notify_cq}: the next completion makes one event on the channel. Poll once more
     * after arming, for completions that came before it make none.
     *
     * @param solicitedOnly only completions with {@link SendFlags#SOLICITED} and errors count
     * @return 0, or {@code EINVAL} if the queue has no channel or is closed
     */
    public abstract int requestNotify(boolean solicitedOnly);

    /**
     * Changes the number of entries, {@code ibv_resize_cq}; also while completions come and are polled. {@link #cqe()}
     * tells what it became.
     *
     * @param newCqe the least number of entries
     * @throws VerbsException {@code EINVAL} if it is less than 1, more than the device allows, or less than the
     *        completions that wait to be polled, {@code EOPNOTSUPP} if the provider cannot
     */
    public final void resize(int newCqe) throws VerbsException {
        String verb = "resize " + describe();
        checkOpen(verb);
        int max = context.queryDevice().maxCqe();
        if (newCqe < 1 || newCqe > max) {
            throw new VerbsException(verb, Errno.EINVAL, "cqe is " + newCqe + ", must be 1 to " + max);
        }
        implResize(newCqe);
    }

    /** Resizes; the argument is within the device's limits. */
    protected void implResize(int newCqe) throws VerbsException {
        throw new VerbsException("resize " + describe(), Errno.EOPNOTSUPP, "the provider cannot resize queues");
    }

    /**
     * Changes attributes, {@code ibv_modify_cq}; also while the queue is armed.
     *
     * @throws VerbsException {@code EINVAL} for a count or period that the device does not allow, {@code EOPNOTSUPP} if
     *        the provider cannot
     */
    public final void modify(CompletionQueueModification change) throws VerbsException {
        String verb = "modify " + describe();
        checkOpen(verb);
        DeviceAttributes device = context.queryDevice();
        if ((change.mask() & CompletionQueueModification.MODERATE) != 0 && device.maxCqModerationCount().isPresent()) {
            check(verb, "the count", change.moderationCount(), device.maxCqModerationCount().orElse(0));
            check(verb, "the period", change.moderationPeriodMicros(),
                    device.maxCqModerationPeriodMicros().orElse(0));
        }
        implModify(change);
    }

    private static void check(String verb, String what, int value, int max) throws VerbsException {
        if (value < 0 || value > max) {
            throw new VerbsException(verb, Errno.EINVAL, what + " is " + value + ", must be 0 to " + max);
        }
    }

    /** Changes attributes; they are within the device's limits. */
    protected void implModify(CompletionQueueModification change) throws VerbsException {
        throw new VerbsException("modify " + describe(), Errno.EOPNOTSUPP, "the provider cannot moderate events");
    }

    /**
     * Takes up to {@code into.length} completions, {@code ibv_poll_cq}.
     *
     * @return how many elements of {@code into} were filled; 0 also if the queue is closed, which {@link #isClosed()}
     *        and {@link #startPoll()} tell
     */
    public final int poll(WorkCompletion[] into) {
        if (into.length == 0 || startPoll() != 0) {
            return 0;
        }
        int n = 0;
        do {
            into[n++].set(this);
        } while (n < into.length && nextPoll() == 0);
        endPoll();
        return n;
    }

    @Override
    int closeOrder() {
        return 4;
    }
}
