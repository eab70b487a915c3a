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
 * The counters of this process as meters: by default those of each device and port and of all
 * sockets together, on request also those of each queue
 * pair, completion queue, shared receive queue and memory region.
 *
 * {@snippet :
 * new VerbsMetrics().bindTo(registry);
 * }
 *
 * <p>A meter has the name of its {@linkplain org.verbena.verbs.SamplePoint sample point}, {@code verbena.port.tx.bytes} for
 * {@code PORT + QP_TX_BYTES}, and the tags {@code device} and {@code port}, or {@code device}, {@code context} and
 * {@code number}; those of sockets, {@code verbena.sockets.tx.ring.bytes} and others, have none. All are {@linkplain io.micrometer.core.instrument.FunctionCounter function counters}; only
 * {@code verbena.objects}, how many objects are open, is a gauge.
 *
 * <p>Devices and ports are what all contexts of the process together have counted; of one that was closed, what was seen
 * of it goes on to count. The meters of an object begin and end with it.
 *
 * <p>All meters are read from one picture of the process, which is taken when a registry asks and the last one is older
 * than {@link Builder#pictureLife}. What was opened appears when a picture has been taken, which may be after the registry
 * has gone through its meters: one scrape later. Safe for use by several threads.
 */
public final class VerbsMetrics implements MeterBinder, AutoCloseable {
    private static final Logger LOG = System.getLogger("org.verbena.micrometer");

    private final Set<Integer> types;
    private final Tags tags;
    private final long lifeNanos;
    private final RemoteProcess process = RemoteProcess.current();
    private final List<BoundRegistry> registries = new CopyOnWriteArrayList<>();

    private final ReentrantLock looking = new ReentrantLock();
    private final Totals totals = new Totals();
    private volatile Map<Series, Counted> picture = Map.of();
    private volatile Map<Integer, Integer> open = Map.of();
    private volatile long lookedAt;
    private volatile boolean looked;
    private boolean warned;

    private final ReentrantLock publishing = new ReentrantLock();

    /** Devices, ports and sockets. */
    public VerbsMetrics() {
        this(new Builder());
    }

    private VerbsMetrics(Builder b) {
        types = Set.copyOf(b.types);
        tags = b.tags;
        lifeNanos = b.life.toNanos();
    }

    /** Says what is to be shown. */
    public static Builder builder() {
        return new Builder();
    }

    /** What is to be shown, and how. */
    public static final class Builder {
        private final Set<Integer> types = new HashSet<>(Set.of(ObjectType.DEVICE, ObjectType.PORT));
        private Tags tags = Tags.empty();
        private Duration life = Duration.ofSeconds(1);

        private Builder() {}

        /**
         * Shows each object of these types too. A queue pair has some forty meters: a program with thousands of them wants
         * a registry that bears that.
         *
         * @param objectTypes {@link ObjectType#QP}, {@link ObjectType#CQ}, {@link ObjectType#SRQ}, {@link ObjectType#MR}
         * @throws IllegalArgumentException for a type of which nothing is counted
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

        /** More tags for every meter. */
        public Builder tags(Iterable<? extends Tag> more) {
            tags = tags.and(more);
            return this;
        }

        /**
         * How long a picture of the process is good for, by default one second; shorter than the time between two scrapes,
         * and longer than a scrape takes.
         *
         * @throws IllegalArgumentException if it is negative
         */
        public Builder pictureLife(Duration life) {
            if (life.isNegative()) {
                throw new IllegalArgumentException("a picture lives for some time: " + life);
            }
            this.life = life;
            return this;
        }

        /** Makes the binder. */
        public VerbsMetrics build() {
            return new VerbsMetrics(this);
        }
    }

    /** Adds the meters to a registry; once, if it is asked to twice. They stay until {@link #close()}. */
    @Override
    public void bindTo(MeterRegistry registry) {
        publishing.lock();
        try {
            if (registries.stream().noneMatch(r -> r.isFor(registry))) {
                registries.add(new BoundRegistry(this, registry, tags));
            }
        } finally {
            publishing.unlock();
        }
        refresh();
    }

    /** Takes a picture of the process now: what was opened has its meters when this returns, what was closed has none. */
    public void refresh() {
        looking.lock();
        try {
            look();
        } finally {
            looking.unlock();
        }
        publish();
    }

    /** Takes all meters away; those of the registries that are asked again are new ones. */
    @Override
    public void close() {
        publishing.lock();
        try {
            registries.forEach(BoundRegistry::removeAll);
            registries.clear();
        } finally {
            publishing.unlock();
        }
    }

    /** What a meter shows. */
    double value(Counted counted, int point) {
        keepFresh();
        return counted.value(point);
    }

    /** How many objects of a type there are. */
    int open(int type) {
        keepFresh();
        return open.getOrDefault(type, 0);
    }

    private void keepFresh() {
        if (isFresh() || looking.isHeldByCurrentThread()) {
            return;
        }
        boolean changed;
        looking.lock();
        try {
            changed = !isFresh();
            if (changed) {
                look();
            }
        } finally {
            looking.unlock();
        }
        if (changed) {
            tryPublish();
        }
    }

    private boolean isFresh() {
        return looked && System.nanoTime() - lookedAt < lifeNanos;
    }

    private void look() {
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
            picture = Map.copyOf(newer);
            open = Map.copyOf(count);
        } catch (VerbsException e) {
            if (!warned) {
                warned = true;
                LOG.log(Level.WARNING, "the meters keep what they had: {0}", e.getMessage());
            }
        }
        lookedAt = System.nanoTime();
        looked = true;
    }

    private Counted counted(Series series, Map<Integer, Long> values) {
        Counted c = picture.get(series);
        if (c == null) {
            return new Counted(values);
        }
        c.set(values);
        return c;
    }

    /** Adds and removes meters, now. */
    private void publish() {
        if (!publishing.isHeldByCurrentThread()) {
            publishing.lock();
            try {
                update();
            } finally {
                publishing.unlock();
            }
        }
    }

    /** Adds and removes meters while a registry reads; who comes while another thread does that leaves it to that one. */
    private void tryPublish() {
        Map<Series, Counted> published = null;
        while (published != picture && !publishing.isHeldByCurrentThread() && publishing.tryLock()) {
            try {
                published = update();
            } finally {
                publishing.unlock();
            }
        }
    }

    private Map<Series, Counted> update() {
        Map<Series, Counted> now = picture;
        registries.removeIf(BoundRegistry::isClosed);
        registries.forEach(r -> r.update(now));
        return now;
    }
}
