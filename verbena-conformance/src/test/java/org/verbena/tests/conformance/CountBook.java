// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.verbena.linux.Errno;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.CounterTarget;
import org.verbena.verbs.Counters;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;

/** All counters of the objects of an end, from the creation of this book. */
final class CountBook {
    /** Counters whose value a test does not determine, unless it asks for them by name. */
    private static final Set<String> VAGUE = Set.of("QP_TX_WAKE_UPS", "QP_TX_PEER_WAITS", "PORT_TX_WAKE_UPS",
            "CQ_EMPTY_POLLS", "DEVICE_WAKE_UPS", "QP_TX_PACKETS", "QP_RX_PACKETS", "QP_RETRANSMITS",
            "QP_DUPLICATE_REQUESTS", "QP_OUT_OF_SEQUENCE", "QP_PACKET_SEQUENCE_ERRORS", "QP_IMPLIED_NAKS",
            "PORT_TX_PACKETS", "PORT_RX_PACKETS", "DEVICE_TX_WIRE_BYTES", "DEVICE_RX_WIRE_BYTES");

    private final Counters counters;
    private final List<String> names = new ArrayList<>();

    private CountBook(Counters counters) {
        this.counters = counters;
    }

    /** Attaches counters to every sample point of the objects of an end. */
    static CountBook of(End end) throws VerbsException {
        CountBook b = new CountBook(end.context.createCounters());
        b.add("", ObjectType.QP, end.qp);
        b.add("SEND_", ObjectType.CQ, end.sendCq);
        if (end.receiveCq != end.sendCq) {
            b.add("RECEIVE_", ObjectType.CQ, end.receiveCq);
        }
        b.add("", ObjectType.MR, end.region);
        if (end.srq != null) {
            b.add("", ObjectType.SRQ, end.srq);
        }
        b.add("", ObjectType.PORT, end.context);
        b.add("", ObjectType.DEVICE, end.context);
        return b;
    }

    /** All sample points of an object, of any kind. */
    static CountBook of(Counters counters, int type, CounterTarget target) throws VerbsException {
        CountBook b = new CountBook(counters);
        b.add("", type, target);
        return b;
    }

    private void add(String label, int type, CounterTarget target) throws VerbsException {
        for (int point : points(type)) {
            try {
                counters.attach(CounterAttachAttributes.of(point, names.size()), target);
                names.add(label + SamplePoint.toString(point));
            } catch (VerbsException e) {
                if (e.errno() != Errno.EOPNOTSUPP) {
                    throw e;
                }
            }
        }
    }

    /** The points of a type of object that this version names. */
    static List<Integer> points(int type) {
        List<Integer> all = new ArrayList<>();
        try {
            for (Field f : SamplePoint.class.getFields()) {
                int p = f.getInt(null) + (type == ObjectType.PORT ? SamplePoint.PORT : 0);
                if (f.getInt(null) != SamplePoint.PROVIDER && !f.getName().equals("PORT")
                        && SamplePoint.objectType(p) == type) {
                    all.add(p);
                }
            }
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
        return all;
    }

    /** What has been counted of objects whose points begin like that and is not zero. */
    Map<String, Long> read(String prefix) throws VerbsException {
        long[] values = new long[names.size()];
        counters.read(values, 0);
        TreeMap<String, Long> found = new TreeMap<>();
        for (int i = 0; i < values.length; i++) {
            String name = names.get(i);
            boolean vague = VAGUE.contains(name.substring(name.startsWith("SEND_")
                    ? 5
                    : name.startsWith("RECEIVE_")
                            ? 8
                            : 0));
            if (values[i] != 0 && (name.equals(prefix) || name.startsWith(prefix) && !vague)) {
                found.put(name, values[i]);
            }
        }
        return found;
    }

    // ---- at either end

    /** Begins to count at the far end. */
    static void begin(Far far) throws VerbsException {
        far.act(end -> end.later = of(end));
    }

    /** The counts at the far end. */
    static Map<String, Long> read(Far far, String prefix) throws VerbsException {
        return far.run(end -> ((CountBook) end.later).read(prefix));
    }

    /** Names of points, each with its value. */
    static Map<String, Long> expected(Object... namesAndValues) {
        TreeMap<String, Long> m = new TreeMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            m.put((String) namesAndValues[i], ((Number) namesAndValues[i + 1]).longValue());
        }
        return m;
    }
}
