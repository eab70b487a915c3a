// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.telemetry;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;
import org.verbena.sockets.SocketState;
import org.verbena.telemetry.EntryView;
import org.verbena.telemetry.KindProvider;
import org.verbena.telemetry.ObjectKind;
import org.verbena.telemetry.SamplePoints;

/** The kinds of what belongs to sockets in a counter file. */
public final class SocketKinds implements KindProvider {
    /** Found by {@link java.util.ServiceLoader}. */
    public SocketKinds() {}

    @Override
    public Collection<? extends ObjectKind> kinds() {
        return List.of(new SocketsKind(), new SocketKind(SocketObjectType.CONNECTION, "CONNECTION") {
            @Override
            public int providerPoints() {
                return 0; // response times have their cells
            }

            @Override
            public boolean isRecorded() {
                return false; // there may be thousands: the event SocketClosed has the figures of each
            }
        }, new SocketKind(SocketObjectType.LISTENER, "LISTENER"), new SocketKind(SocketObjectType.RULE, "RULE"),
                new SocketKind(SocketObjectType.RULE_COUNTER, "RULE_COUNTER"));
    }

    private static class SocketKind extends ObjectKind {
        SocketKind(int type, String name) {
            super(type, name, SamplePoints.named(SocketSamplePoint.class, type, name + "_"));
        }

        @Override
        public String state(int state) {
            return SocketState.toString(state);
        }

        @Override
        public Map<String, Object> attributes(EntryView e) {
            return SocketAttributes.of(e);
        }

        @Override
        public String device(String entryName) {
            return SocketLayout.NO_DEVICE;
        }
    }

    /** All sockets of the process. They belong to no provider, and have the cells of providers' points. */
    private static final class SocketsKind extends SocketKind {
        private final Map<Integer, String> descriptions = descriptions();

        SocketsKind() {
            super(SocketObjectType.SOCKETS, "SOCKETS");
        }

        @Override
        public int providerPoints() {
            return 0;
        }

        @Override
        public boolean isOfProcess() {
            return true;
        }

        @Override
        public String describe(int number, String device) {
            return device;
        }

        @Override
        public @Nullable String describePoint(int point) {
            return descriptions.get(point);
        }

        private static Map<Integer, String> descriptions() {
            Map<Integer, String> d = new TreeMap<>();
            d.put(SocketSamplePoint.SOCKETS_OPENED, "Connections that there were");
            d.put(SocketSamplePoint.SOCKETS_HANDSHAKES,
                    "Of these, those whose handshake has succeeded, so that they have rings");
            d.put(SocketSamplePoint.SOCKETS_TX_RING_BYTES, "Bytes that programs sent and rings carried");
            d.put(SocketSamplePoint.SOCKETS_TX_TCP_BYTES, "Bytes that programs sent and TCP carried");
            d.put(SocketSamplePoint.SOCKETS_RX_RING_BYTES, "Bytes received that rings carried");
            d.put(SocketSamplePoint.SOCKETS_RX_TCP_BYTES, "Bytes received that TCP carried");
            d.put(SocketSamplePoint.SOCKETS_DOORBELLS, "Times peers were woken");
            d.put(SocketSamplePoint.SOCKETS_WAKE_UPS, "Times doorbells of peers were taken");
            d.put(SocketSamplePoint.SOCKETS_STALLS, "Writes that found a ring full");
            d.put(SocketSamplePoint.SOCKETS_GROWTHS, "Times a ring was replaced by a larger one");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_REMOTE_PEER,
                    "Connections that TCP carries to the end, for the other end is not on this host");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_PLAIN_PEER,
                    "Connections that TCP carries to the end, for the other end does not use Verbena");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_OTHER_USER,
                    "Connections that TCP carries to the end, for the other end belongs to another user");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_OTHER_VERSION,
                    "Connections that TCP carries to the end, for the other end has a Verbena of another version");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_NAME_TAKEN,
                    "Connections that TCP carries to the end, for another process holds the connection's name");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_BAD_PEER,
                    "Connections that TCP carries to the end, for the other end breaks the protocol");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_CLOSED_EARLY,
                    "Connections that TCP carries to the end, for they were closed before the handshake was complete");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_UNAVAILABLE,
                    "Connections that TCP carries to the end, for this process cannot have rings");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_NO_MEMORY,
                    "Connections that TCP carries to the end, for there is no memory for rings");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_NO_DESCRIPTORS,
                    "Connections that TCP carries to the end, for there are no descriptors left");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_NO_SESSION,
                    "Connections that TCP carries to the end, for there is no session with the other process");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_RULE,
                    "Connections that TCP carries to the end, for a rule or the program wants it so");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_FOREIGN_SELECTOR,
                    "Connections that TCP carries to the end, for they are registered with a selector that is not Verbena's");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_OTHER_NAMESPACE,
                    "Connections that TCP carries to the end, for the other end may be of another user or PID namespace");
            d.put(SocketSamplePoint.SOCKETS_BY_TCP_NOT_EARNED,
                    "Connections that TCP carries so far, for they have carried too little for rings");
            d.put(SocketSamplePoint.SOCKETS_POLLS_FOUND,
                    "Polls of memory by threads that waited, and did not have to sleep for it");
            d.put(SocketSamplePoint.SOCKETS_POLLS_IN_VAIN,
                    "Polls of memory by threads that waited, and had to sleep after it");
            d.put(SocketSamplePoint.SOCKETS_POLL_NANOS, "How long threads that waited polled memory, in nanoseconds");
            d.put(SocketSamplePoint.SOCKETS_RINGS_REFUSED,
                    "Larger rings that were not granted, for memory was short or the rings had their part of it");
            return d;
        }
    }
}
