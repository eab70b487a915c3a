// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;

/** Samples for tests. */
final class StatSamples {
    static final Instant CREATED = Instant.parse("2026-01-02T03:04:05Z");
    static final long SECOND = 1_000_000_000;

    private StatSamples() {}

    /** An object with points and values in turn. */
    static StatObject object(long id, int type, int number, long... pointsAndValues) {
        int n = pointsAndValues.length / 2;
        int[] points = new int[n];
        long[] values = new long[n];
        for (int i = 0; i < n; i++) {
            points[i] = (int) pointsAndValues[2 * i];
            values[i] = pointsAndValues[2 * i + 1];
        }
        Map<String, Object> attributes = new LinkedHashMap<>();
        if (type == ObjectType.QP) {
            attributes.put("type", "RC");
            attributes.put("sendCq", 7L);
            attributes.put("peerQp", 0x12L);
            attributes.put("peerProcess", 4712L);
        }
        return new StatObject(id, StatNames.plain(type, number, "shm0"), type, number, 1, "shm0",
                type == ObjectType.QP ? "RTS" : "", CREATED, attributes, points, values);
    }

    static StatObject queuePair(int number, long sends, long bytes) {
        return object(100 + number, ObjectType.QP, number, SamplePoint.QP_TX_SENDS, sends,
                SamplePoint.QP_TX_SEND_BYTES, bytes, SamplePoint.QP_TX_RNR_WAITS, 0,
                SamplePoint.QP_REQ_RETRIES_EXCEEDED, 0);
    }

    static StatObject port(long sends, long bytes) {
        return object(2, ObjectType.PORT, 1, SamplePoint.PORT + SamplePoint.QP_TX_SENDS, sends,
                SamplePoint.PORT + SamplePoint.QP_TX_SEND_BYTES, bytes);
    }

    static StatObject device() {
        return object(1, ObjectType.DEVICE, 0, SamplePoint.DEVICE_PEERS, 1);
    }

    static StatObject completionQueue(int number) {
        return object(number, ObjectType.CQ, number, SamplePoint.CQ_COMPLETIONS, 5);
    }

    /** A connection; carried by rings unless there is a reason for TCP. */
    static StatObject connection(int number, String local, String remote, String why, long bytes) {
        StatObject o = object(1000 + number, SocketObjectType.CONNECTION, number,
                SocketSamplePoint.CONNECTION_TX_RING_BYTES, bytes, SocketSamplePoint.CONNECTION_TX_TCP_BYTES, 0,
                SocketSamplePoint.CONNECTION_RX_RING_BYTES, 2 * bytes, SocketSamplePoint.CONNECTION_RX_TCP_BYTES, 0,
                SocketSamplePoint.CONNECTION_DOORBELLS, bytes, SocketSamplePoint.CONNECTION_WAKE_UPS, bytes,
                SocketSamplePoint.CONNECTION_STALLS, 1, SocketSamplePoint.CONNECTION_GROWTHS, 0);
        String by = why.isEmpty() ? "ring" : "tcp";
        Map<String, Object> a = new LinkedHashMap<>(Map.of("local", local, "remote", remote, "role", "server", "inBy",
                by, "outBy", by));
        if (why.isEmpty()) {
            a.putAll(Map.of("inRing", 65536L, "inOccupied", 1536L, "outRing", 4096L, "outOccupied", 4096L));
        } else if (!why.equals("undecided")) {
            a.put("byTcpFor", why);
        }
        return new StatObject(o.id(), o.name(), o.type(), number, 1, "sockets", why.equals("undecided")
                ? "HANDSHAKE"
                : "OPEN", CREATED, a, o.points(), o.values());
    }

    static StatProcess process(long pid, long nanos, StatObject... objects) {
        Map<Integer, Integer> kinds = new TreeMap<>();
        Arrays.stream(objects).forEach(o -> kinds.merge(o.type(), 1, Integer::sum));
        List<StatObject> sorted = new ArrayList<>(List.of(objects));
        sorted.sort(StatProcess.ORDER);
        return new StatProcess(pid, "/usr/bin/java -Xmx1g -cp a:b org.example.Main" + pid + " x y", CREATED, nanos,
                false,
                false, kinds, sorted);
    }

    static StatSnapshot snapshot(StatProcess... processes) {
        return new StatSnapshot(CREATED, List.of(processes), List.of());
    }
}
