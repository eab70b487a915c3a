// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.telemetry.CounterEntry;
import org.verbena.telemetry.CounterFile;
import org.verbena.telemetry.SamplePoints;

/** Counters over cells that objects count in anyway: a slot is the sum of what has been added since the attachment. */
final class SampledCounters extends Counters {
    private final List<Attachment> attachments = new ArrayList<>();
    /** By index: what attachments that have ended counted, and what was read last. */
    private long[] kept = {};
    private long[] last = {};

    /** With room for one more slot, if it is not there. */
    private static long[] grown(long[] slots, int index) {
        return index < slots.length ? slots : Arrays.copyOf(slots, index + 1);
    }

    /** Where a value is read. */
    interface Sample {
        long read() throws VerbsException;

        /** Makes what is read next of this sample, and of others with the same source, exact. */
        void refresh() throws VerbsException;

        /** The process or provider that {@link #refresh} asks. */
        Object source();
    }

    private static final class Attachment {
        final CounterAttachAttributes attributes;
        final CounterTarget target;
        final Sample sample;
        final long start;
        private long latest;

        Attachment(CounterAttachAttributes attributes, CounterTarget target, Sample sample, long start) {
            this.attributes = attributes;
            this.target = target;
            this.sample = sample;
            this.start = start;
            latest = start;
        }

        long read() throws VerbsException {
            latest = sample.read();
            return latest;
        }

        /** The value now or, of another process that cannot be read any more, the last. */
        long latest() {
            try {
                return read();
            } catch (VerbsException e) {
                return latest;
            }
        }
    }

    SampledCounters(@Nullable Context context) throws VerbsException {
        super(context);
        opened();
    }

    @Override
    protected void implAttach(String verb, CounterAttachAttributes a, CounterTarget target) throws VerbsException {
        attach(verb, a, target, false);
    }

    @Override
    protected void implBind(String verb, CounterAttachAttributes a, CounterTarget created) throws VerbsException {
        attach(verb, a, created, true);
    }

    /** Counts what happens from now on, or from the object's beginning. */
    private void attach(String verb, CounterAttachAttributes a, CounterTarget target, boolean fromBeginning)
            throws VerbsException {
        Sample sample = switch (target) {
            case RemoteObject r -> r.sample(verb, a);
            case VerbsObject o -> sample(verb, a, o);
        };
        sample.refresh();
        VerbsObject own = target instanceof VerbsObject o ? o : null;
        if (own != null) {
            own.countedBy(this);
        }
        synchronized (this) {
            long start = fromBeginning ? 0 : sample.read();
            VerbsObject closed = isClosed() ? this : own != null && own.isClosed() ? own : null;
            if (closed != null) {
                forget(own);
                throw new VerbsException(verb, Errno.EINVAL, closed.describe() + " is closed");
            }
            kept = grown(kept, a.index());
            last = grown(last, a.index());
            attachments.add(new Attachment(a, target, sample, start));
        }
    }

    /** The object need not tell when it is closed, unless it is attached otherwise. */
    private void forget(@Nullable VerbsObject o) {
        if (o != null && attachments.stream().noneMatch(a -> a.target == o)) {
            o.notCountedBy(this);
        }
    }

    private Sample sample(String verb, CounterAttachAttributes a, VerbsObject o) throws VerbsException {
        Context c = context();
        int type = SamplePoint.objectType(a.samplePoint());
        CounterEntry e = o instanceof Context owner && type == ObjectType.PORT
                ? owner.portEntry(verb, a.port())
                : o.entry();
        if (o.isClosed()) {
            throw new VerbsException(verb, Errno.EINVAL, o.describe() + " is closed");
        }
        CounterEntry own = c == null ? null : c.entry();
        if (e == null || own == null) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "nothing is counted of " + o.describe());
        }
        if (e.context() != own.context()) {
            throw new VerbsException(verb, Errno.EINVAL, o.describe() + " belongs to another context");
        }
        long cells = check(verb, a, e.type(), e.counted());
        CounterFile file = CounterFile.own();
        return new Sample() {
            @Override
            public long read() {
                return e.type() == ObjectType.PORT ? file.sumWithParts(e, cells) : e.sum(cells);
            }

            @Override
            public void refresh() {
                file.gather();
            }

            @Override
            public Object source() {
                return file;
            }
        };
    }

    /** Refuses a sample point that an object does not have; answers the cells that make it up. */
    static long check(String verb, CounterAttachAttributes a, int objectType, long counted)
            throws VerbsException {
        int type = SamplePoint.objectType(a.samplePoint());
        if (type != objectType && type != ObjectType.FLOW) {
            throw new VerbsException(verb, Errno.EINVAL, "it is a sample point of objects of type "
                    + ObjectType.toString(type) + ", not " + ObjectType.toString(objectType));
        }
        long cells = SamplePoints.cells(a.samplePoint(), counted);
        if (type != objectType || cells == 0) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "it is not counted there");
        }
        if (a.has(CounterAttachAttributes.PORT) && objectType != ObjectType.PORT) {
            throw new VerbsException(verb, Errno.EINVAL, "it has no ports");
        }
        return cells;
    }

    @Override
    protected void implDetach(@Nullable CounterAttachAttributes attributes, @Nullable CounterTarget target)
            throws VerbsException {
        try {
            refresh(a -> matches(a, attributes, target));
        } catch (VerbsException e) {
            // another process does not answer: what was read of it last is kept
        }
        synchronized (this) {
            if (!end(attributes, target) && target != null) {
                throw new VerbsException("detach " + target.describe(), Errno.EINVAL, "it is not attached"
                        + (attributes == null ? "" : " as " + attributes));
            }
        }
    }

    /** An object of this process is about to be gone, and has gathered all that there is to count. */
    synchronized void settle(VerbsObject closed) {
        end(null, closed);
    }

    /** Not under the lock, which objects that are being closed need: another process may take its time. */
    private void refresh(Predicate<Attachment> which) throws VerbsException {
        List<Attachment> some;
        synchronized (this) {
            some = attachments.stream().filter(which).toList();
        }
        Set<Object> done = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Attachment a : some) {
            if (done.add(a.sample.source())) {
                a.sample.refresh();
            }
        }
    }

    private boolean end(@Nullable CounterAttachAttributes attributes, @Nullable CounterTarget target) {
        boolean any = false;
        for (Iterator<Attachment> it = attachments.iterator(); it.hasNext();) {
            Attachment a = it.next();
            if (matches(a, attributes, target)) {
                kept[a.attributes.index()] += a.latest() - a.start;
                it.remove();
                any = true;
                forget(a.target instanceof VerbsObject o ? o : null);
                if (attributes != null) {
                    break;
                }
            }
        }
        return any;
    }

    private static boolean matches(Attachment a, @Nullable CounterAttachAttributes attributes,
            @Nullable CounterTarget target) {
        return (target == null || a.target == target || a.target instanceof RemoteObject r && r.isSame(target))
                && (attributes == null || a.attributes.index() == attributes.index()
                        && a.attributes.samplePoint() == attributes.samplePoint()
                        && a.attributes.port() == attributes.port());
    }

    @Override
    protected void implRead(String verb, long[] values, int flags) throws VerbsException {
        if ((flags & ReadCountersFlags.PREFER_CACHED) == 0) {
            refresh(a -> true);
        }
        synchronized (this) {
            if (values.length < kept.length) {
                throw new VerbsException(verb, Errno.EINVAL, "there are " + kept.length + " slots, and room for "
                        + values.length + " values");
            }
            long[] now = kept.clone();
            for (Attachment a : attachments) {
                now[a.attributes.index()] += a.read() - a.start;
            }
            for (int i = 0; i < now.length; i++) {
                if (now[i] - last[i] > 0) { // a number that was caught half-way is not passed on
                    last[i] = now[i];
                }
            }
            Arrays.fill(values, 0);
            System.arraycopy(last, 0, values, 0, last.length);
        }
    }

    @Override
    protected synchronized void implClose() throws VerbsException {
        if (!attachments.isEmpty()) {
            Attachment a = attachments.getFirst();
            throw new VerbsException("close " + describe(), Errno.EBUSY, "attached to " + a.target.describe()
                    + (attachments.size() == 1 ? "" : " and " + (attachments.size() - 1) + " more")
                    + ": detach it first");
        }
    }
}
