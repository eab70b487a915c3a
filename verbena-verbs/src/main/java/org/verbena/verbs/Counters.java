// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;

/**
 * A set of counters, {@code struct ibv_counters}: slots, each of which counts what happens at the sample points that were
 * attached to it. Made by {@link Context#createCounters()}, or by {@link RemoteProcess#createCounters()} for objects of
 * another process.
 *
 * <p>A slot begins with 0, counts from the attachment on, and keeps what it has counted when the object is detached or
 * closed. Values are unsigned 64-bit numbers that never fall and never stop at a limit. Counting costs the object nothing,
 * for it counts in any case; a slot remembers where its part began.
 *
 * {@snippet :
 * try (Counters counters = context.createCounters()) {
 *     counters.attach(CounterAttachAttributes.of(SamplePoint.QP_TX_BYTES, 0), qp);
 *     counters.attach(CounterAttachAttributes.of(SamplePoint.QP_RX_BYTES, 1), qp);
 *     long[] values = new long[2];
 *     counters.read(values, 0);
 *     counters.detach(qp);
 * }
 * }
 *
 * <p>Two ways to attach: to an object that is there (<em>dynamic</em>), or to none (<em>static</em>), which describes what
 * is to be counted of the objects that will be created with these counters among their attributes, from their first
 * moment on. Safe for use by several threads.
 */
public abstract class Counters extends VerbsObject {
    /** Slots have numbers from 0 to this one. */
    public static final int MAX_INDEX = 65535;

    private final @Nullable Context context;
    private final List<CounterAttachAttributes> described = new ArrayList<>();
    /** Objects that were created with these counters and are not closed. */
    private int bound;

    /**
     * For providers.
     *
     * @param context whose objects are counted; null for those of other processes
     */
    protected Counters(@Nullable Context context) throws VerbsException {
        super(List.of());
        this.context = context;
    }

    /** Whose objects are counted; null for counters of {@link RemoteProcess#createCounters()}. */
    public final @Nullable Context context() {
        return context;
    }

    @Override
    public String describe() {
        return "counters";
    }

    /**
     * Counts what happens at a sample point of an object from now on, {@code ibv_attach_counters_point_flow} with an object.
     * Attached to one index several times, sample points and objects add up.
     *
     * @param target the object; the {@link Context} for sample points of ports and devices
     * @throws VerbsException {@code EINVAL} for an index that is too large, a sample point that is not one of this kind of
     *         object, an object that is closed or belongs to another context; {@code EOPNOTSUPP} for a sample point that
     *         the object does not have, or an attribute that is not known; {@code ESRCH} if the object's process has ended
     */
    public final void attach(CounterAttachAttributes attributes, CounterTarget target) throws VerbsException {
        String verb = "attach " + attributes + " to " + target.describe();
        check(verb, attributes);
        if (target == this) {
            throw new VerbsException(verb, Errno.EINVAL, "counters are not counted");
        }
        implAttach(verb, attributes, target);
    }

    /**
     * Describes what is to be counted of objects that will be created with these counters,
     * {@code ibv_attach_counters_point_flow} without an object.
     *
     * @throws VerbsException {@code EINVAL} for an index that is too large, {@code EOPNOTSUPP} for a sample point that the
     *         device does not have, {@code EBUSY} while an object that was created with them is there
     */
    public final void attach(CounterAttachAttributes attributes) throws VerbsException {
        String verb = "attach " + attributes;
        check(verb, attributes);
        Context c = context;
        if (c == null) {
            throw new VerbsException(verb, Errno.EINVAL, "objects of another process are not created here");
        }
        if (!c.supportsSamplePoint(attributes.samplePoint())) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, c.describe() + " does not count that");
        }
        synchronized (this) {
            if (bound > 0) {
                throw new VerbsException(verb, Errno.EBUSY, bound + (bound == 1 ? " object is" : " objects are")
                        + " counted by them: close what was created with them first");
            }
            implDescribe(verb, attributes);
            described.add(attributes);
        }
    }

    private void check(String verb, CounterAttachAttributes attributes) throws VerbsException {
        checkOpen(verb);
        CompMask.check(verb, attributes.compMask(), CounterAttachAttributes.PORT, CounterAttachAttributes::names,
                "this version");
        if (attributes.index() < 0 || attributes.index() > MAX_INDEX) {
            throw new VerbsException(verb, Errno.EINVAL, "the index must be 0 to " + MAX_INDEX);
        }
    }

    /**
     * Ends what {@link #attach(CounterAttachAttributes, CounterTarget)} began; an object that is closed detaches itself. The
     * slot keeps what it has counted.
     *
     * @throws VerbsException {@code EINVAL} if the object is not attached like that
     */
    public final void detach(CounterAttachAttributes attributes, CounterTarget target) throws VerbsException {
        checkOpen("detach " + attributes + " from " + target.describe());
        implDetach(attributes, target);
    }

    /**
     * Detaches an object from all slots.
     *
     * @throws VerbsException {@code EINVAL} if it is attached to none
     */
    public final void detach(CounterTarget target) throws VerbsException {
        checkOpen("detach " + target.describe());
        implDetach(null, target);
    }

    /**
     * Reads all slots at once, {@code ibv_read_counters}. Not a snapshot: other threads count meanwhile.
     *
     * @param values gets the value of slot i at index i, unsigned; 0 for a slot that nothing was attached to
     * @param flags see {@link ReadCountersFlags}
     * @throws VerbsException {@code EINVAL} if {@code values} is shorter than the slots in use, or for an unknown flag;
     *         {@code ETIMEDOUT} if another process is asked for exact values and does not answer, as one that is stopped
     */
    public final void read(long[] values, int flags) throws VerbsException {
        String verb = "read " + describe();
        checkOpen(verb);
        if ((flags & ~ReadCountersFlags.KNOWN) != 0) {
            throw new VerbsException(verb, Errno.EINVAL,
                    "unknown flags " + ReadCountersFlags.toString(flags & ~ReadCountersFlags.KNOWN));
        }
        implRead(verb, values, flags);
    }

    /**
     * Told what is to be counted of objects that will be created with these counters; nothing that was is there. By default
     * nothing is done: each object is attached when it has been created.
     *
     * @param verb for exceptions
     */
    protected void implDescribe(String verb, CounterAttachAttributes attributes) throws VerbsException {}

    /**
     * Attaches to an object; it may be closed, foreign or of a wrong kind.
     *
     * @param verb for exceptions
     */
    protected abstract void implAttach(String verb, CounterAttachAttributes attributes, CounterTarget target)
            throws VerbsException;

    /**
     * Attaches to an object that was created with these counters a moment ago: what it has counted since then is part of the
     * slot.
     *
     * @param verb for exceptions
     */
    protected void implBind(String verb, CounterAttachAttributes attributes, CounterTarget created)
            throws VerbsException {
        implAttach(verb, attributes, created);
    }

    /** Detaches from an object, or from all if that is null, what was attached with these attributes, or all if null. */
    protected abstract void implDetach(@Nullable CounterAttachAttributes attributes, @Nullable CounterTarget target)
            throws VerbsException;

    /** Reads all slots; the flags are known. */
    protected abstract void implRead(String verb, long[] values, int flags) throws VerbsException;

    // ---- objects that are created with counters

    /** Makes sure that an object of that kind can be created with these counters. */
    final void checkBindable(String verb, int objectType, Context creator) throws VerbsException {
        checkOpen(verb);
        if (context != creator) {
            throw new VerbsException(verb, Errno.EINVAL, "the counters belong to another context");
        }
        synchronized (this) {
            if (described.isEmpty()) {
                throw new VerbsException(verb, Errno.EINVAL,
                        "nothing was attached to the counters: say first what they are to count");
            }
            for (CounterAttachAttributes a : described) {
                if (SamplePoint.objectType(a.samplePoint()) != objectType) {
                    throw new VerbsException(verb, Errno.EINVAL, a + " cannot be counted of an object of type "
                            + ObjectType.toString(objectType));
                }
            }
        }
    }

    /** Counts a new object, until it is closed. */
    final void bind(VerbsObject created) throws VerbsException {
        List<CounterAttachAttributes> points;
        synchronized (this) {
            if (isClosed()) {
                throw new VerbsException("count " + created.describe(), Errno.EINVAL, describe() + " is closed");
            }
            points = List.copyOf(described);
            bound++;
        }
        created.boundTo(this);
        for (CounterAttachAttributes a : points) {
            implBind("count " + created.describe(), a, created);
        }
    }

    /** An object that was created with these counters is closed. */
    final synchronized void unbind() {
        bound--;
    }

    /** The context is closed, and whatever these count. */
    final void detachAll() throws VerbsException {
        implDetach(null, null);
    }

    @Override
    int closeOrder() {
        return -1;
    }
}
