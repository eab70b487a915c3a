// SPDX-License-Identifier: Apache-2.0
package org.verbena.micrometer;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;

import org.verbena.verbs.ObjectType;
import org.verbena.verbs.RemoteObject;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.VerbsException;

/**
 * The counters of this process as meters: by default those of each device and port and of all sockets together, on
 * request also those of each queue pair, completion queue, shared receive queue and memory region.
 *
 * {@snippet :
 * new VerbsMetrics().bindTo(registry);
 * }
 *
 * <p>A meter has the name of its {@linkplain org.verbena.verbs.SamplePoint sample point}, {@code verbena.port.tx.bytes}
 * for {@code PORT + QP_TX_BYTES}, and the tags {@code device} and {@code port}, or {@code device}, {@code context} and
 * {@code number}; those of sockets, {@code verbena.sockets.tx.ring.bytes} and others, have none. All are
 * {@linkplain io.micrometer.core.instrument.FunctionCounter function counters}; only {@code verbena.objects}, the
 * number of open objects, is a gauge.
 *
 * <p>Devices and ports have the sums of all contexts of the process; a closed context contributes its last counts seen.
 * The meters of an object exist as long as the object.
 *
 * <p>All meters are read from one snapshot of the process, which is taken when a registry reads a meter and the last
 * one is older than {@link Builder#snapshotLifetime}. A new object appears with the next snapshot, which may be after the
 * registry has read its meters: one scrape later. Thread-safe.
 */
public final class VerbsMetrics implements MeterBinder, AutoCloseable {
    private static final Logger LOG = System.getLogger("org.verbena.micrometer");

    private final Set<Integer> types;
    private final Tags tags;
    private final long lifetimeNanos;
    private final RemoteProcess process = RemoteProcess.current();
    private final List<BoundRegistry> registries = new CopyOnWriteArrayList<>();

    private final ReentrantLock snapshotLock = new ReentrantLock();
    private final Totals totals = new Totals();
    private volatile Map<Series, Counted> snapshot = Map.of();
    private volatile Map<Integer, Integer> open = Map.of();
    private volatile long snapshotNanos;
    private volatile boolean hasSnapshot;
    private boolean warned;

    private final ReentrantLock publishLock = new ReentrantLock();

    /** Devices, ports and sockets. */
    public VerbsMetrics() {
        this(new Builder());
    }

    private VerbsMetrics(Builder b) {
        types = Set.copyOf(b.types);
        tags = b.tags;
        lifetimeNanos = b.lifetime.toNanos();
    }

    /** Configures the meters. */
    public static Builder builder() {
        return new Builder();
    }

    /** The configuration of the meters. */
    public static final class Builder {
        private final Set<Integer> types = new HashSet<>(Set.of(ObjectType.DEVICE, ObjectType.PORT));
        private Tags tags = Tags.empty();
        private Duration lifetime = Duration.ofSeconds(1);

        private Builder() {}

        /**
         * Adds meters for each object of these types. A queue pair has some forty meters: a program with thousands of
         * them needs a registry that copes with that.
         *
         * @param objectTypes {@link ObjectType#QP}, {@link ObjectType#CQ}, {@link ObjectType#SRQ},
         *        {@link ObjectType#MR}
         * @throws IllegalArgumentException for a type without sample points
         */
        public Builder objects(int... objectTypes) {
            for (int type : objectTypes) {
                if (type != ObjectType.QP && type != ObjectType.CQ && type != ObjectType.SRQ && type != ObjectType.MR) {
                    throw new IllegalArgumentException("nothing is counted of objects of type "
                            + ObjectType.toString(type) + ": QP, CQ, SRQ and MR can be shown");
                }
                types.add(type);
            }
            return this;
        }

        /** Adds tags to every meter. */
        public Builder tags(Iterable<? extends Tag> more) {
            tags = tags.and(more);
            return this;
        }

        /**
         * How long a snapshot of the process is used, by default one second; shorter than the time between two scrapes,
         * and longer than a scrape takes.
         *
         * @throws IllegalArgumentException if it is negative
         */
        public Builder snapshotLifetime(Duration lifetime) {
            if (lifetime.isNegative()) {
                throw new IllegalArgumentException("the lifetime of a snapshot is negative: " + lifetime);
            }
            this.lifetime = lifetime;
            return this;
        }

        /** Makes the binder. */
        public VerbsMetrics build() {
            return new VerbsMetrics(this);
        }
    }

    /** Adds the meters to a registry, once even if it is called twice. They stay until {@link #close()}. */
    @Override
    public void bindTo(MeterRegistry registry) {
        publishLock.lock();
        try {
            if (registries.stream().noneMatch(r -> r.isFor(registry))) {
                registries.add(new BoundRegistry(this, registry, tags));
            }
        } finally {
            publishLock.unlock();
        }
        refresh();
    }

    /** Takes a snapshot of the process now: new objects have their meters when this returns, closed ones have none. */
    public void refresh() {
        snapshotLock.lock();
        try {
            takeSnapshot();
        } finally {
            snapshotLock.unlock();
        }
        publish();
    }

    /** Removes all meters; a registry that is bound again gets new ones. */
    @Override
    public void close() {
        publishLock.lock();
        try {
            registries.forEach(BoundRegistry::removeAll);
            registries.clear();
        } finally {
            publishLock.unlock();
        }
    }

    /** The value of a meter. */
    double value(Counted counted, int point) {
        keepFresh();
        return counted.value(point);
    }

    /** The number of objects of a type. */
    int open(int type) {
        keepFresh();
        return open.getOrDefault(type, 0);
    }

    private void keepFresh() {
        if (isFresh() || snapshotLock.isHeldByCurrentThread()) {
            return;
        }
        boolean changed;
        snapshotLock.lock();
        try {
            changed = !isFresh();
            if (changed) {
                takeSnapshot();
            }
        } finally {
            snapshotLock.unlock();
        }
        if (changed) {
            tryPublish();
        }
    }

    private boolean isFresh() {
        return hasSnapshot && System.nanoTime() - snapshotNanos < lifetimeNanos;
    }

    private void takeSnapshot() {
        try {
            List<RemoteObject> objects = process.objects(0);
            Map<Series, Counted> newer = new HashMap<>();
            totals.with(objects).forEach((series, values) -> newer.put(series, counted(series, values)));
            Map<Integer, Integer> count = new HashMap<>();
            for (RemoteObject o : objects) {
                count.merge(o.type(), 1, Integer::sum);
                if (types.contains(o.type()) && !Totals.has(o.type())) {
                    Series series = Series.of(o);
                    newer.put(series, counted(series, Counted.values(o)));
                }
            }
            snapshot = Map.copyOf(newer);
            open = Map.copyOf(count);
        } catch (VerbsException e) {
            if (!warned) {
                warned = true;
                LOG.log(Level.WARNING, "the meters keep their last values: {0}", e.getMessage());
            }
        }
        snapshotNanos = System.nanoTime();
        hasSnapshot = true;
    }

    private Counted counted(Series series, Map<Integer, Long> values) {
        Counted c = snapshot.get(series);
        if (c == null) {
            return new Counted(values);
        }
        c.set(values);
        return c;
    }

    /** Adds and removes meters now. */
    private void publish() {
        if (!publishLock.isHeldByCurrentThread()) {
            publishLock.lock();
            try {
                update();
            } finally {
                publishLock.unlock();
            }
        }
    }

    /**
     * Adds and removes meters while a registry reads; a caller that finds another thread doing so leaves it to that
     * thread.
     */
    private void tryPublish() {
        Map<Series, Counted> published = null;
        while (published != snapshot && !publishLock.isHeldByCurrentThread() && publishLock.tryLock()) {
            try {
                published = update();
            } finally {
                publishLock.unlock();
            }
        }
    }

    private Map<Series, Counted> update() {
        Map<Series, Counted> now = snapshot;
        registries.removeIf(BoundRegistry::isClosed);
        registries.forEach(r -> r.update(now));
        return now;
    }
}
