// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.time.Instant;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.telemetry.EntryView;
import org.verbena.telemetry.SamplePoints;

/**
 * An object of another process, as it was when {@link RemoteProcess#objects} looked. Immutable; for a later picture
 * look again, for single values attach {@link Counters}.
 */
public final class RemoteObject implements CounterTarget {
    private final RemoteProcess process;
    private final EntryView view;

    RemoteObject(RemoteProcess process, EntryView view) {
        this.process = process;
        this.view = view;
    }

    /** The process that it belongs to. */
    public RemoteProcess process() {
        return process;
    }

    /** What names the object in its process: no other one there has this number as long as it lives. */
    public long id() {
        return view.id();
    }

    /** Kind of the object, see {@link ObjectType}. */
    public int type() {
        return view.type();
    }

    /** Its number: of a queue pair the one that peers know, of a memory region the local key, of a port from 1. */
    public int number() {
        return view.number();
    }

    /** The {@link #id()} of the context that it was made from; its own if it is one. */
    public long context() {
        return view.context();
    }

    /** Name of the device, for instance {@code "shm0"}; for an object of no device, what its kind names in its place. */
    public String device() {
        return view.kind().device(view.name());
    }

    /** Its state, for instance {@code "RTS"} or {@code "LISTEN"}; empty for objects that have none. */
    public String state() {
        return view.kind().state(view.state());
    }

    /**
     * What it was made with and is connected to, by name; those that the process did not say are left out. Numbers of other
     * objects are their {@link #id()}.
     */
    public Map<String, Object> attributes() {
        return view.kind().attributes(view);
    }

    /** When it was made. */
    public Instant created() {
        return Instant.ofEpochSecond(0, view.created());
    }

    /** The points that are counted of it, see {@link SamplePoint}; a provider's own ones too. */
    public int[] samplePoints() {
        return SamplePoints.points(view.type(), view.counted());
    }

    /**
     * What has been counted at a sample point since the object was made, unsigned.
     *
     * @throws IllegalArgumentException if that is not counted of it; see {@link #samplePoints()}
     */
    public long value(int point) {
        long mask = SamplePoints.cells(point, view.counted());
        if (SamplePoint.objectType(point) != view.type() || mask == 0) {
            throw new IllegalArgumentException(SamplePoint.toString(point) + " is not counted of " + describe());
        }
        return EntryView.sum(view.cells(), mask);
    }

    @Override
    public String describe() {
        return view.kind().describe(view.number(), device()) + " in process " + process.pid();
    }

    @Override
    public String toString() {
        return describe();
    }

    /** True for another picture of the same object. */
    boolean isSame(@Nullable CounterTarget other) {
        return other instanceof RemoteObject o && o.process == process && o.view.isSame(view);
    }

    /** Where counters read the object's values. */
    SampledCounters.Sample sample(String verb, CounterAttachAttributes a) throws VerbsException {
        long mask = SampledCounters.check(verb, a, view.type(), view.counted());
        if (a.has(CounterAttachAttributes.PORT)) {
            throw new VerbsException(verb, Errno.EINVAL, "ports of other processes are objects themselves");
        }
        process.requireAlive(verb);
        if (!process.has(view)) {
            throw new VerbsException(verb, Errno.EINVAL, describe() + " is closed");
        }
        return new SampledCounters.Sample() {
            private long latest = EntryView.sum(view.cells(), mask);

            @Override
            public long read() throws VerbsException {
                long now = process.read(view, mask);
                if (now - latest > 0) {
                    latest = now;
                }
                return latest;
            }

            @Override
            public void refresh() throws VerbsException {
                process.refresh();
            }

            @Override
            public Object source() {
                return process;
            }
        };
    }
}
