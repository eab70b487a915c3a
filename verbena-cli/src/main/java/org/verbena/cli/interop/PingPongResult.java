// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.verbena.cli.support.Json;

/** The measured speed. Bytes are those of both directions, as in C. */
record PingPongResult(PingPongOptions options, boolean client, long nanos, long events, List<PingPongAddress> local,
        List<PingPongAddress> remote) {
    private static final ObjectMapper JSON = new ObjectMapper();

    private long bytes() {
        return 2L * options.size() * options.iterations();
    }

    private double microseconds() {
        return Math.max(nanos, 1) / 1e3;
    }

    /** Prints the two lines that the programs in C print. */
    void print(PrintWriter out) {
        double seconds = microseconds() / 1e6;
        out.println(String.format(Locale.ROOT, "%d bytes in %.2f seconds = %.2f Mbit/sec", bytes(), seconds,
                bytes() * 8 / microseconds()));
        out.println(String.format(Locale.ROOT, "%d iters in %.2f seconds = %.2f usec/iter", options.iterations(),
                seconds, microseconds() / options.iterations()));
        out.flush();
    }

    /** Prints one object. */
    void printJson(PrintWriter out) {
        ObjectNode n = JSON.createObjectNode().put("device", options.device()).put("type", options.type().toString())
                .put("role", client ? "client" : "server").put("size", options.size());
        if (options.type() != PingPongType.UD) {
            n.put("mtu", options.mtu());
        }
        n.put("queue_pairs", options.queuePairs()).put("iterations", options.iterations()).put("bytes", bytes())
                .put("seconds", Json.seconds(microseconds() / 1e6))
                .put("bits_per_second", Json.rate(bytes() * 8 / microseconds() * 1e6))
                .put("usec_per_iteration", Json.rate(microseconds() / options.iterations())).put("events", events)
                .put("checked", options.check());
        put(n.putArray("local"), local);
        put(n.putArray("remote"), remote);
        out.println(Json.text(n));
        out.flush();
    }

    private static void put(ArrayNode array, List<PingPongAddress> addresses) {
        addresses.forEach(a -> a.put(array.addObject()));
    }
}
