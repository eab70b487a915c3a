// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

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
