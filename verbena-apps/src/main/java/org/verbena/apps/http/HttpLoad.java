// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.http;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

import org.verbena.apps.Data;
import org.verbena.apps.Lines;

/**
 * Sends requests to a server, several at a time: {@code HttpLoad jdk|url|jetty BASE-URL PARALLEL get FILE HASH BYTES
 * COUNT [KEYSTORE]} or {@code … post BYTES COUNT [KEYSTORE]}. Each hash is compared. First each connection requests the
 * file {@code hello} alone, and the program pauses. Prints {@code done REQUESTS BYTES}.
 */
public final class HttpLoad {
    /** A client of HTTP. */
    interface Client extends AutoCloseable {
        /** The response to a GET; the connection is free for the next request when it was read to its end. */
        InputStream open(String url) throws Exception;

        /** The hash and the length of the response to a GET. */
        default Answer get(String url) throws Exception {
            try (InputStream in = open(url)) {
                return Answer.of(in);
            }
        }

        /** The response to a POST. */
        String post(String url, byte[] body) throws Exception;

        @Override
        void close() throws IOException;
    }

    /** @param bytes the length of the response */
    record Answer(String hash, long bytes) {
        /** Reads the whole response. */
        static Answer of(InputStream in) throws IOException {
            MessageDigest digest = Data.digest();
            long bytes = 0;
            byte[] piece = new byte[64 << 10];
            int n;
            while ((n = in.read(piece)) >= 0) {
                digest.update(piece, 0, n);
                bytes += n;
            }
            return new Answer(Data.hex(digest), bytes);
        }
    }

    /** A request. */
    @FunctionalInterface
    private interface Request {
        long ask(Client client, int number) throws Exception;
    }

    private HttpLoad() {}

    /** Runs until all requests are answered, and fails with the first wrong response. */
    public static void main(String[] args) throws Exception {
        String url = args[1];
        int parallel = Integer.parseInt(args[2]);
        boolean get = args[3].equals("get");
        int count = Integer.parseInt(args[get ? 7 : 5]);
        int optional = get ? 8 : 6;
        String keys = args.length > optional ? args[optional] : "";
        try (Client client = client(args[0], keys, parallel)) {
            run(client, parallel, parallel, (c, i) -> c.get(url + "/hello").bytes());
            Lines.pause();
            long bytes;
            if (get) {
                long size = Long.parseLong(args[6]);
                bytes = run(client, parallel, count, (c, i) -> get(c, url + "/" + args[4], args[5], size));
            } else {
                int size = Integer.parseInt(args[4]);
                bytes = run(client, parallel, count, (c, i) -> post(c, url + "/", Data.bytes(i, size)));
            }
            Lines.say("done", count, bytes);
        }
    }

    /** The client of that name. */
    static Client client(String kind, String keys, int parallel) throws Exception {
        return switch (kind) {
            case "jdk" -> new JdkClient(keys);
            case "url" -> new UrlClient();
            default -> new JettyClient(keys, parallel);
        };
    }

    private static long get(Client client, String url, String hash, long size) throws Exception {
        Answer a = client.get(url);
        if (!a.hash().equals(hash) || a.bytes() != size) {
            throw new IllegalStateException(url + ": " + a + " instead of " + hash + ", " + size);
        }
        return size;
    }

    private static long post(Client client, String url, byte[] body) throws Exception {
        String said = client.post(url, body);
        if (!said.equals(Data.hash(body))) {
            throw new IllegalStateException(url + ": " + said + " instead of " + Data.hash(body));
        }
        return body.length;
    }

    private static long run(Client client, int parallel, int count, Request request) throws Exception {
        AtomicLong bytes = new AtomicLong();
        try (ExecutorService threads = Executors.newFixedThreadPool(parallel)) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int number = i;
                all.add(threads.submit(() -> bytes.addAndGet(request.ask(client, number))));
            }
            for (Future<?> f : all) {
                f.get();
            }
        }
        return bytes.get();
    }
}
