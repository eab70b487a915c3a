// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.telemetry;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.verbena.stack.model.StackObjectType;
import org.verbena.stack.model.StackSamplePoint;
import org.verbena.stack.model.TcpState;
import org.verbena.telemetry.EntryView;
import org.verbena.telemetry.KindProvider;
import org.verbena.telemetry.ObjectKind;
import org.verbena.telemetry.SamplePoints;
import org.verbena.verbs.spi.Ipv6Text;

/** The kinds of what belongs to stacks in a counter file. */
public final class StackKinds implements KindProvider {
    private static final TcpState[] STATES = TcpState.values();
    /** What carries the bytes of a socket, where the sockets of the JDK have a ring or TCP. */
    private static final String CARRIER = "stack";

    /** Found by {@link java.util.ServiceLoader}. */
    public StackKinds() {}

    @Override
    public Collection<? extends ObjectKind> kinds() {
        return List.of(new Kind(StackObjectType.STACK, "STACK") {
            @Override
            public boolean isLarge() {
                return true;
            }
        }, new Kind(StackObjectType.TCP, "TCP") {
            @Override
            public String state(int state) {
                return state >= 0 && state < STATES.length ? STATES[state].name() : Integer.toString(state);
            }
        }, new Kind(StackObjectType.TCP_LISTENER, "TCP_LISTENER") {
            @Override
            public String state(int state) {
                return "LISTEN";
            }
        }, new Kind(StackObjectType.UDP, "UDP"));
    }

    private static class Kind extends ObjectKind {
        Kind(int type, String name) {
            super(type, name, SamplePoints.named(StackSamplePoint.class, type, name + "_"));
        }

        @Override
        public int providerPoints() {
            return 0;
        }

        @Override
        public boolean isRecorded() {
            return false; // there may be thousands of connections
        }

        @Override
        public Map<String, Object> attributes(EntryView e) {
            return StackKinds.attributes(e.type(), e.attributes());
        }
    }

    private static Map<String, Object> attributes(int type, long[] a) {
        Map<String, Object> all = new LinkedHashMap<>();
        long ports = a[StackLayout.PORTS];
        String local = address(a, StackLayout.LOCAL, (ports & StackLayout.LOCAL_IPV4) != 0);
        if (type == StackObjectType.STACK) {
            all.put("address", local);
            all.put("connections", high(a[StackLayout.OPEN]));
            all.put("sockets", low(a[StackLayout.OPEN]));
            all.put("timeWait", high(a[StackLayout.OTHERS]));
            all.put("notShown", low(a[StackLayout.OTHERS]));
            return all;
        }
        all.put("local", socket(local, ports >>> 48));
        if ((ports & StackLayout.HAS_REMOTE) != 0) {
            all.put("remote", socket(address(a, StackLayout.REMOTE, (ports & StackLayout.REMOTE_IPV4) != 0),
                    ports >>> 32
                            & 0xffff));
        }
        all.put("inBy", CARRIER);
        all.put("outBy", CARRIER);
        all.put("inOccupied", high(a[StackLayout.QUEUES]));
        if (type == StackObjectType.TCP) {
            all.put("outOccupied", low(a[StackLayout.QUEUES]));
            all.put("roundTripMicros", high(a[StackLayout.ROUND_TRIP]));
            all.put("roundTripVariationMicros", low(a[StackLayout.ROUND_TRIP]));
            all.put("congestionWindow", high(a[StackLayout.WINDOW]));
            all.put("segment", low(a[StackLayout.WINDOW]));
        }
        return all;
    }

    private static long high(long pair) {
        return pair >>> 32;
    }

    private static long low(long pair) {
        return pair & 0xffff_ffffL;
    }

    private static String address(long[] a, int at, boolean ipv4) {
        return ipv4 ? Ipv6Text.ipv4((int) (a[at] >>> 32)) : Ipv6Text.of(a[at], a[at + 1]);
    }

    private static String socket(String address, long port) {
        return (address.indexOf(':') < 0 ? address : "[" + address + "]") + ":" + port;
    }
}
