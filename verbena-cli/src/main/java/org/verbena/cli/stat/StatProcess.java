// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.verbena.erm.RemoteMemorySamplePoint;
import org.verbena.sockets.SocketObjectType;
import org.verbena.stack.model.StackObjectType;
import org.verbena.verbs.ObjectType;

/**
 * A process of a sample. Immutable.
 *
 * @param nanos when it was sampled, by {@link System#nanoTime}
 * @param cached true if the values are those of its file
 * @param silent true if it was asked for exact values and did not answer
 * @param kinds the number of its objects, by type
 * @param objects all of them, or the devices and ports, and the sockets if these are wanted
 */
public record StatProcess(long pid, String command, Instant created, long nanos, boolean cached, boolean silent,
        Map<Integer, Integer> kinds, List<StatObject> objects) {

    /** Identifies the same process in another sample. */
    record Key(long pid, Instant created) {}

    /** Objects in display order: parents before children. */
    static final Comparator<StatObject> ORDER = Comparator.comparingInt((StatObject o) -> rank(o.type()))
            .thenComparingInt(StatObject::type).thenComparingLong(o -> Integer.toUnsignedLong(o.number()))
            .thenComparingLong(StatObject::id);

    private static int rank(int type) {
        return switch (type) {
            case ObjectType.DEVICE -> 0;
            case ObjectType.PORT -> 1;
            case ObjectType.QP -> 2;
            case ObjectType.CQ -> 3;
            case ObjectType.SRQ, ObjectType.WQ -> 4;
            case ObjectType.MR -> 5;
            case SocketObjectType.SOCKETS -> 7;
            case SocketObjectType.LISTENER -> 8;
            case SocketObjectType.CONNECTION -> 9;
            case RemoteMemorySamplePoint.OBJECT_TYPE -> 10;
            case SocketObjectType.RULE, SocketObjectType.RULE_COUNTER -> 11;
            case StackObjectType.STACK, StackObjectType.TCP, StackObjectType.TCP_LISTENER, StackObjectType.UDP -> 12;
            default -> 6;
        };
    }

    Key key() {
        return new Key(pid, created);
    }

    /** The same values, of a look at which it did not answer. */
    StatProcess asSilent() {
        return new StatProcess(pid, command, created, nanos, true, true, kinds, objects);
    }

    /** A remark about its figures; empty if there is none. */
    public String remark() {
        return silent
                ? "process " + pid
                        + " does not answer (stopped? another network namespace?): these are the values at hand"
                : "";
    }

    /** How many objects of a type it has. */
    int count(int type) {
        return kinds.getOrDefault(type, 0);
    }

    /** The ports of its contexts, each of which sums all past and present queue pairs of its context. */
    Stream<StatObject> ports() {
        return objects.stream().filter(o -> o.type() == ObjectType.PORT);
    }

    /**
     * What a figure of the process is the sum of: its ports, and for errors its devices, where lost peers and broken
     * queue pairs are counted.
     */
    Stream<StatObject> counted(StatFigure figure) {
        return figure != StatFigure.ERRORS
                ? ports()
                : objects.stream().filter(o -> o.type() == ObjectType.PORT || o.type() == ObjectType.DEVICE);
    }

    /** The sum of a figure over what is there. */
    long figure(StatFigure figure) {
        return counted(figure).mapToLong(o -> o.figure(figure)).sum();
    }
}
