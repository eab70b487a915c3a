// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.http;

import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;

import org.verbena.apps.Rate;

/**
 * GET requests a second, one at a time on each connection: {@code HttpBench jdk|url|jetty URL PARALLEL BYTES
 * WARM-UP-MILLIS MILLIS PACE}, see {@link Rate}. The bytes are the length of each response.
 */
public final class HttpBench {
    private static final int PIECE = 64 << 10;

    private HttpBench() {}

    /** Runs for the time given. */
    public static void main(String[] args) throws Exception {
        String url = args[1];
        int parallel = Integer.parseInt(args[2]);
        long bytes = Long.parseLong(args[3]);
        try (HttpLoad.Client client = HttpLoad.client(args[0], "", parallel)) {
            new Rate(args).of(Collections.nCopies(parallel, () -> get(client, url, bytes)));
        }
    }

    private static long get(HttpLoad.Client client, String url, long bytes) throws Exception {
        byte[] piece = new byte[(int) Math.min(PIECE, bytes)];
        long came = 0;
        try (InputStream in = client.open(url)) {
            int n;
            while ((n = in.read(piece)) >= 0) {
                came += n;
            }
        }
        if (came != bytes) {
            throw new IOException(url + ": " + came + " bytes instead of " + bytes);
        }
        return 1;
    }
}
