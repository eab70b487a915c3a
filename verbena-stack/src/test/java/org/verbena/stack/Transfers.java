// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/** Random bytes that one end sends and another receives, compared by their hashes, on threads of their own. */
final class Transfers {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private Transfers() {}

    /** Where bytes are written to. */
    interface Sink {
        void write(byte[] b, int n) throws IOException;
    }

    /** Writes the bytes of a seed, and returns their hash. */
    static byte[] send(long seed, int bytes, Sink to) throws Exception {
        MessageDigest d = MessageDigest.getInstance("SHA-256");
        Random r = new Random(seed);
        byte[] b = new byte[70_000];
        for (int left = bytes; left > 0;) {
            r.nextBytes(b);
            int n = Math.min(left, 1 + r.nextInt(b.length));
            d.update(b, 0, n);
            to.write(b, n);
            left -= n;
        }
        return d.digest();
    }

    /** Writes the bytes of a seed to a socket of a stack, and the end of the stream. */
    static byte[] send(long seed, int bytes, TcpSocket to) throws Exception {
        byte[] hash = send(seed, bytes, (b, n) -> to.write(ByteBuffer.wrap(b, 0, n)));
        to.shutdownOutput();
        return hash;
    }

    /** Reads up to the end of the stream, and returns the hash. */
    static byte[] hash(InputStream in) throws Exception {
        MessageDigest d = MessageDigest.getInstance("SHA-256");
        byte[] b = new byte[100_000];
        for (int n = in.read(b); n >= 0; n = in.read(b)) {
            d.update(b, 0, n);
        }
        return d.digest();
    }

    /** Reads up to the end of the stream, and returns the hash. */
    static byte[] hash(TcpSocket s) throws Exception {
        MessageDigest d = MessageDigest.getInstance("SHA-256");
        ByteBuffer b = ByteBuffer.allocateDirect(100_000);
        while (s.read(b.clear(), PATIENCE) >= 0) {
            d.update(b.flip());
        }
        return d.digest();
    }

    /** Starts a thread. */
    static <T> FutureTask<T> start(Callable<T> c) {
        FutureTask<T> t = new FutureTask<>(c);
        Thread.ofPlatform().daemon().start(t);
        return t;
    }
}
