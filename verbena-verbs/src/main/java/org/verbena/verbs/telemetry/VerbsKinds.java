// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.telemetry;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.verbena.telemetry.EntryView;
import org.verbena.telemetry.KindProvider;
import org.verbena.telemetry.ObjectKind;
import org.verbena.telemetry.SamplePoints;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.FlowType;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SharedReceiveQueueType;
import org.verbena.verbs.WorkQueueState;

/** The kinds of verbs objects in a counter file. */
public final class VerbsKinds implements KindProvider {
    private static final List<QueuePairState> STATES = List.of(QueuePairState.values());
    private static final int NUMBER_MASK = 0xff;

    /** Found by {@link java.util.ServiceLoader}. */
    public VerbsKinds() {}

    @Override
    public Collection<? extends ObjectKind> kinds() {
        return List.of(new Kind(ObjectType.FLOW, "FLOW", "", "qp", "type", "priority", "flags") {
            @Override
            String typeName(int value) {
                return FlowType.toString(value);
            }
        }, new QueuePairKind(), new Kind(ObjectType.CQ, "CQ", "CQ_",
                "cqe"),
                new Kind(ObjectType.SRQ, "SRQ", "SRQ_", "type", "maxWr", "maxSge") {
                    @Override
                    String typeName(int value) {
                        return SharedReceiveQueueType.toString(value);
                    }
                }, new Kind(ObjectType.MR, "MR", "MR_", "pd", "address", "length", "access", "rkey"), new PortKind(),
                new Kind(ObjectType.DEVICE, "DEVICE", "DEVICE_") {
                    @Override
                    public String describe(int number, String device) {
                        return device;
                    }
                }, new Kind(ObjectType.PD, "PD", "PD_"), new WorkQueueKind());
    }

    private static Map<Integer, String> points(int type, String prefix) {
        return SamplePoints.named(SamplePoint.class, type, prefix);
    }

    /** The sums over cells of a queue pair, and over those of a port. */
    private static long sum(int number) {
        return switch (number) {
            case SamplePoint.QP_TX_WORK_REQUESTS & NUMBER_MASK -> SamplePoints.bits(SamplePoint.QP_TX_SENDS,
                    SamplePoint.QP_TX_WRITES, SamplePoint.QP_TX_READS, SamplePoint.QP_TX_ATOMICS,
                    SamplePoint.QP_TX_OTHERS);
            case SamplePoint.QP_TX_BYTES & NUMBER_MASK -> SamplePoints.bits(SamplePoint.QP_TX_SEND_BYTES,
                    SamplePoint.QP_TX_WRITE_BYTES, SamplePoint.QP_RX_READ_BYTES);
            case SamplePoint.QP_RX_BYTES & NUMBER_MASK -> SamplePoints.bits(SamplePoint.QP_RX_RECEIVE_BYTES,
                    SamplePoint.QP_RX_WRITE_BYTES, SamplePoint.QP_TX_READ_BYTES);
            case SamplePoint.QP_REQ_ERRORS & NUMBER_MASK -> SamplePoints.range(SamplePoint.QP_REQ_LOCAL_LENGTH_ERRORS,
                    SamplePoint.QP_REQ_OTHER_ERRORS) & ~SamplePoints.bits(SamplePoint.QP_REQ_FLUSHED);
            case SamplePoint.QP_RESP_ERRORS & NUMBER_MASK -> SamplePoints.range(SamplePoint.QP_RESP_LOCAL_LENGTH_ERRORS,
                    SamplePoint.QP_RESP_OTHER_ERRORS) & ~SamplePoints.bits(SamplePoint.QP_RESP_FLUSHED);
            default -> 0;
        };
    }

    /** A kind whose attributes are numbers with these names. */
    private static class Kind extends ObjectKind {
        private final String[] attributes;

        Kind(int type, String name, Map<Integer, String> points, String... attributes) {
            super(type, name, points);
            this.attributes = attributes;
        }

        Kind(int type, String name, String prefix, String... attributes) {
            this(type, name, VerbsKinds.points(type, prefix), attributes);
        }

        @Override
        public Map<String, Object> attributes(EntryView e) {
            Map<String, Object> all = new LinkedHashMap<>();
            for (int i = 0; i < attributes.length; i++) {
                long v = e.attributes()[i];
                if (v != 0 || attributes[i].equals("type") || attributes[i].equals("access")) {
                    all.put(attributes[i], value(attributes[i], v));
                }
            }
            return all;
        }

        private Object value(String attribute, long v) {
            return switch (attribute) {
                case "type" -> typeName((int) v);
                case "access" -> AccessFlags.toString((int) v);
                default -> v;
            };
        }

        /** The value of the attribute {@code type}. */
        String typeName(int value) {
            return Integer.toString(value);
        }
    }

    private static final class QueuePairKind extends Kind {
        QueuePairKind() {
            super(ObjectType.QP, "QP", "QP_", "type", "sendCq", "receiveCq", "srq", "maxSendWr", "maxReceiveWr",
                    "peerQp",
                    "peerProcess");
        }

        @Override
        String typeName(int value) {
            return QueuePairType.toString(value);
        }

        @Override
        public String state(int state) {
            return state >= 0 && state < STATES.size() ? STATES.get(state).name() : "";
        }

        @Override
        public boolean isLarge() {
            return true;
        }

        @Override
        public int providerPoints() {
            return 16;
        }

        @Override
        protected long cellsOfSum(int number) {
            return sum(number);
        }
    }

    /** Its points have the cells of those of a queue pair, so that both add up in the port. */
    private static final class WorkQueueKind extends Kind {
        WorkQueueKind() {
            super(ObjectType.WQ, "WQ", "WQ_", "cq", "maxWr");
        }

        @Override
        public String state(int state) {
            return WorkQueueState.toString(state);
        }

        @Override
        public boolean isLarge() {
            return true;
        }
    }

    /** The points of its queue pairs, with what its work queues have received. */
    private static final class PortKind extends Kind {
        PortKind() {
            super(ObjectType.PORT, "PORT", ofQueuePairs());
        }

        private static Map<Integer, String> ofQueuePairs() {
            Map<Integer, String> all = new TreeMap<>();
            VerbsKinds.points(ObjectType.QP, "QP_").forEach((point, name) -> all.put(point + SamplePoint.PORT, "PORT"
                    + name.substring("QP".length())));
            return all;
        }

        @Override
        public int partType() {
            return ObjectType.QP;
        }

        @Override
        public boolean isPart(int type) {
            return type == ObjectType.QP || type == ObjectType.WQ;
        }

        @Override
        public boolean isLarge() {
            return true;
        }

        @Override
        public int providerPoints() {
            return 16;
        }

        @Override
        protected long cellsOfSum(int number) {
            return sum(number);
        }

        @Override
        public String describe(int number, String device) {
            return "port " + number + " of " + device;
        }
    }
}
