// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.verbena.cli.support.HumanText;
import org.verbena.stack.model.StackObjectType;
import org.verbena.stack.model.StackSamplePoint;

/** Stacks in user space and their sockets, for people. */
final class StatStackText {
    /** The object types of stacks and their sockets. */
    static final Set<Integer> TYPES = Set.of(StackObjectType.STACK, StackObjectType.TCP, StackObjectType.TCP_LISTENER,
            StackObjectType.UDP);

    private StatStackText() {}

    /** Whether an object is a socket or connection of a stack. */
    static boolean isSocket(StatObject o) {
        return TYPES.contains(o.type()) && o.type() != StackObjectType.STACK;
    }

    /** What distinguishes a stack, or one of its sockets, in a line. */
    static String about(StatObject o) {
        Map<String, Object> a = o.attributes();
        return switch (o.type()) {
            case StackObjectType.STACK -> a.get("address") + " on " + o.device() + ", " + HumanText.count(number(a,
                    "connections"), "connection") + ", " + HumanText.count(number(a, "sockets"), "other socket")
                    + timeWait(a);
            case StackObjectType.TCP -> a.get("local") + " > " + a.get("remote") + "  queues " + number(a, "inOccupied")
                    + "/" + number(a, "outOccupied") + "  rtt " + (number(a,
                            "roundTripMicros") == 0 ? "-" : number(a, "roundTripMicros") + "us") + "  cwnd " + number(a,
                                    "congestionWindow") + "  mss " + number(a, "segment") + "  retransmitted " + o
                                            .value(
                                                    StackSamplePoint.TCP_RETRANSMITTED);
            case StackObjectType.TCP_LISTENER -> a.get("local") + "  " + number(a, "inOccupied") + " to accept";
            default -> a.get("local") + "  queue " + number(a, "inOccupied") + "  dropped " + o.value(
                    StackSamplePoint.UDP_DROPPED);
        };
    }

    private static String timeWait(Map<String, Object> a) {
        long n = number(a, "timeWait");
        return n == 0 ? "" : ", " + n + " in TIME_WAIT";
    }

    private static long number(Map<String, Object> a, String name) {
        return a.get(name) instanceof Long n ? n : 0;
    }

    /** A line for each stack of a process. */
    static List<String> totals(StatProcess p) {
        List<String> lines = new ArrayList<>();
        for (StatObject o : p.objects()) {
            if (o.type() == StackObjectType.STACK) {
                long hidden = number(o.attributes(), "notShown");
                lines.add("process " + p.pid() + ": stack " + about(o) + "; frames in " + total(o,
                        StackSamplePoint.STACK_FRAMES_IN) + ", out " + total(o, StackSamplePoint.STACK_FRAMES_OUT)
                        + "; segments in " + total(o, StackSamplePoint.STACK_TCP_SEGMENTS_IN) + ", out " + total(o,
                                StackSamplePoint.STACK_TCP_SEGMENTS_OUT) + ", sent again " + total(o,
                                        StackSamplePoint.STACK_TCP_RETRANSMITTED) + (hidden == 0
                                                ? ""
                                                : "; not shown: " + hidden));
            }
        }
        return lines;
    }

    private static String total(StatObject o, int point) {
        return StatText.total(o.value(point));
    }
}
