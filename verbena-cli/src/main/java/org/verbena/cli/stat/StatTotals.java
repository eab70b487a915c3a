// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.DoubleStream;

import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;

/** Sums over processes, of one sample: the figures, and the connections by what carries them. Immutable. */
final class StatTotals {
    private static final String RING = "ring";
    private static final String TCP = "tcp";

    private final List<StatDelta> processes;

    StatTotals(List<StatDelta> processes) {
        this.processes = List.copyOf(processes);
    }

    /** Whether there are rates of any process. */
    boolean isKnown() {
        return processes.stream().anyMatch(StatDelta::isKnown);
    }

    /** The sum of a figure, unsigned. */
    long figure(StatFigure f) {
        return processes.stream().mapToLong(d -> d.process().figure(f)).sum();
    }

    /** The sum of a rate, over the processes of which it is known; not a number if there is none. */
    double rate(StatFigure f) {
        return sum(processes.stream().mapToDouble(d -> d.rate(f)));
    }

    private static double sum(DoubleStream rates) {
        double[] known = rates.filter(r -> !Double.isNaN(r)).toArray();
        return known.length == 0 ? Double.NaN : DoubleStream.of(known).sum();
    }

    /** The objects of a kind, of all processes. */
    int count(int kind) {
        return processes.stream().mapToInt(d -> d.process().count(kind)).sum();
    }

    /**
     * The sum over present connections, of a figure or a sample point.
     *
     * @param rate true for what they have added a second, which is not a number if that is unknown; false for what they have counted
     */
    double connections(boolean rate, ToLongFunction<StatObject> what) {
        return sum(processes.stream().filter(d -> !rate || d.isKnown()).mapToDouble(d -> {
            double sum = 0;
            for (StatObject o : d.process().objects()) {
                if (StatConnectionTable.isConnection(o)) {
                    sum += rate ? d.rate(o, what) : StatText.unsigned(what.applyAsLong(o));
                }
            }
            return sum;
        }));
    }

    /** How many connections there are by {@code ring} (in one direction or both), {@code tcp}, and {@code undecided} ones. */
    Map<String, Integer> carriers() {
        Map<String, Integer> n = new LinkedHashMap<>();
        for (String carrier : List.of(RING, TCP, StatConnectionTable.UNDECIDED)) {
            n.put(carrier, 0);
        }
        for (StatDelta d : processes) {
            for (StatObject o : d.process().objects()) {
                if (StatConnectionTable.isConnection(o)) {
                    String by = StatConnectionTable.carrier(o);
                    n.merge(by.equals(StatConnectionTable.UNDECIDED) ? by : by.contains(RING) ? RING : TCP, 1,
                            Integer::sum);
                }
            }
        }
        return n;
    }

    /** The number of polls by waiting threads, with that of polls in vain; empty if there were none. */
    String polls(boolean rates) {
        double found = 0;
        double inVain = 0;
        for (StatDelta d : processes) {
            for (StatObject o : d.process().objects()) {
                if (o.type() == SocketObjectType.SOCKETS && (!rates || d.isKnown())) {
                    found += rates
                            ? d.rate(o, SocketSamplePoint.SOCKETS_POLLS_FOUND)
                            : o.value(SocketSamplePoint.SOCKETS_POLLS_FOUND);
                    inVain += rates
                            ? d.rate(o, SocketSamplePoint.SOCKETS_POLLS_IN_VAIN)
                            : o.value(SocketSamplePoint.SOCKETS_POLLS_IN_VAIN);
                }
            }
        }
        String second = rates ? "/s" : "";
        return found + inVain == 0
                ? ""
                : "polls " + figure(found + inVain, rates) + second + ", " + figure(inVain, rates) + second
                        + " in vain";
    }

    private static String figure(double v, boolean rate) {
        return rate ? StatText.rate(v) : StatText.total(v);
    }

    /** For people: {@code 200 ring, 10 tcp, 2 undecided}, without what there is none of. */
    String carriersText() {
        List<String> parts = new ArrayList<>();
        carriers().forEach((carrier, n) -> {
            if (n > 0) {
                parts.add(n + " " + carrier);
            }
        });
        return String.join(", ", parts);
    }
}
