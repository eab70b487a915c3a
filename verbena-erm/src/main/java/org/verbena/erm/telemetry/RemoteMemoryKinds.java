// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm.telemetry;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import org.verbena.erm.RemoteMemorySamplePoint;
import org.verbena.sockets.SocketState;
import org.verbena.sockets.telemetry.SocketAttributes;
import org.verbena.sockets.telemetry.SocketLayout;
import org.verbena.telemetry.EntryView;
import org.verbena.telemetry.KindProvider;
import org.verbena.telemetry.ObjectKind;
import org.verbena.telemetry.SamplePoints;

/** The kind of the remote memory of a connection in a counter file. */
public final class RemoteMemoryKinds implements KindProvider {
    /** Found by {@link java.util.ServiceLoader}. */
    public RemoteMemoryKinds() {}

    @Override
    public Collection<? extends ObjectKind> kinds() {
        return List.of(new RemoteMemoryKind());
    }

    private static final class RemoteMemoryKind extends ObjectKind {
        private final Map<Integer, String> descriptions = descriptions();

        RemoteMemoryKind() {
            super(RemoteMemorySamplePoint.OBJECT_TYPE, "REMOTE_MEMORY", SamplePoints.named(
                    RemoteMemorySamplePoint.class,
                    RemoteMemorySamplePoint.OBJECT_TYPE, "REMOTE_MEMORY_"));
        }

        @Override
        public String state(int state) {
            return SocketState.toString(state);
        }

        @Override
        public Map<String, Object> attributes(EntryView e) {
            Map<String, Object> all = new LinkedHashMap<>();
            long[] a = e.attributes();
            SocketAttributes.ends(all, a);
            all.put("localRegions", a[SocketLayout.REGIONS] >>> 32);
            all.put("localBytes", a[SocketLayout.LOCAL_BYTES]);
            all.put("remoteRegions", a[SocketLayout.REGIONS] & 0xffff_ffffL);
            all.put("remoteBytes", a[SocketLayout.REMOTE_BYTES]);
            return all;
        }

        @Override
        public @Nullable String describePoint(int point) {
            return descriptions.get(point);
        }

        private static Map<Integer, String> descriptions() {
            Map<Integer, String> d = new TreeMap<>();
            d.put(RemoteMemorySamplePoint.REMOTE_MEMORY_COPIES,
                    "Copies started, to the other end's memory and from it");
            d.put(RemoteMemorySamplePoint.REMOTE_MEMORY_WRITE_BYTES, "Bytes of copies to the other end's memory");
            d.put(RemoteMemorySamplePoint.REMOTE_MEMORY_READ_BYTES, "Bytes of copies from the other end's memory");
            d.put(RemoteMemorySamplePoint.REMOTE_MEMORY_FAILED, "Copies that have failed after they were started");
            d.put(RemoteMemorySamplePoint.REMOTE_MEMORY_REMOTE_COMPLETIONS,
                    "Copies with remote completion, of which the other end is notified");
            d.put(RemoteMemorySamplePoint.REMOTE_MEMORY_EVENTS, "Events that the program has taken");
            d.put(RemoteMemorySamplePoint.REMOTE_MEMORY_STALLS,
                    "Copies that were refused because the other end's program had not taken its events");
            d.put(RemoteMemorySamplePoint.REMOTE_MEMORY_LATE_EVENTS,
                    "Events that came for memory that had been revoked, and were dropped");
            return d;
        }
    }
}
