// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.EOFException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.NetworkNamespace;
import org.verbena.stack.Stack;
import org.verbena.stack.StackConfig;
import org.verbena.stack.TcpServer;
import org.verbena.stack.TcpSocket;
import org.verbena.testkit.Finished;
import org.verbena.testkit.LinkState;
import org.verbena.testkit.TapInterface;
import org.verbena.testkit.Thorough;
import org.verbena.tests.AppsLane;
import org.verbena.tests.cli.CopyFiles;
import org.verbena.tests.faults.Users;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;

/** The stack in user space, and programs that know nothing of it: nginx, curl and redis on the kernel's TCP. */
@AppsLane
class StackTest {
    private static final String KERNEL = "10.82.0.1";
    private static final String OURS = "10.82.0.2";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int FILE = Thorough.ON ? 1_000_000_000 : 30_000_000;
    private static final int PARALLEL = 4;

    @TempDir Path dir;

    private interface Action {
        void run(Stack stack) throws Exception;
    }

    private static void inNamespace(Action action) throws Exception {
        Users.needsRoot("make network interfaces");
        TapInterface.require();
        NetworkNamespace.callInNew(() -> {
            TapInterface.addUp("vrb0", KERNEL + "/24");
            try (Context context = Verbs.open("tap_vrb0");
                    Stack stack = Stack.open(context, StackConfig.of(OURS + "/24"))) {
                LinkState.awaitUp("vrb0");
                action.run(stack);
            }
            return true;
        });
    }

    private static <T> FutureTask<T> start(Callable<T> c) {
        FutureTask<T> t = new FutureTask<>(c);
        Thread.ofPlatform().daemon().start(t);
        return t;
    }

    private static ByteBuffer ascii(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Connects as soon as a server listens. */
    private static TcpSocket connect(Stack stack, int port) throws Exception {
        for (long end = System.nanoTime() + PATIENCE.toNanos();; Thread.sleep(5)) {
            try {
                return stack.connectTcp(new InetSocketAddress(KERNEL, port), PATIENCE);
            } catch (ConnectException e) {
                if (System.nanoTime() - end > 0) {
                    throw e;
                }
            }
        }
    }

    /** Reads up to the blank line of HTTP, byte by byte. */
    private static String head(TcpSocket s) throws Exception {
        StringBuilder head = new StringBuilder();
        ByteBuffer one = ByteBuffer.allocate(1);
        while (head.indexOf("\r\n\r\n") < 0) {
            if (s.read(one.clear()) < 0) {
                throw new EOFException("after: " + head);
            }
            head.append((char) one.get(0));
        }
        return head.toString();
    }

    /** The hash of so many bytes, or of all that come. */
    private static String hash(TcpSocket s, long most) throws Exception {
        MessageDigest d = MessageDigest.getInstance("SHA-256");
        ByteBuffer b = ByteBuffer.allocateDirect(1 << 16);
        for (long left = most; left > 0;) {
            int n = s.read(b.clear().limit((int) Math.min(b.capacity(), left)));
            if (n < 0) {
                break;
            }
            left -= n;
            d.update(b.flip());
        }
        return HexFormat.of().formatHex(d.digest());
    }

    @Test
    void nginxIsRead() throws Exception {
        Optional<Path> nginx = Machine.need("StackTest.nginxIsRead", "nginx", "nginx-light");
        assumeTrue(nginx.isPresent());
        Path folder = Files.createDirectory(dir.resolve("files"));
        String expected = CopyFiles.sha256(CopyFiles.write(folder.resolve("large"), FILE, 7));
        Path work = Files.createDirectory(dir.resolve("nginx"));
        Path config = Files.writeString(work.resolve("nginx.conf"), """
                daemon off; pid nginx.pid; error_log stderr error; user %s;
                events { worker_connections 512; }
                http {
                  sendfile on; access_log off; client_body_temp_path body;
                  proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
                  server { listen %s:80; root %s; }
                }
                """.formatted(System.getProperty("user.name"), KERNEL, folder));
        inNamespace(stack -> {
            try (App server = App.command(dir, nginx.get().toString(), "-p", work.toString(), "-c", config.toString(),
                    "-e", "stderr")) {
                List<FutureTask<String>> all = new ArrayList<>();
                for (int i = 0; i < PARALLEL; i++) {
                    all.add(start(() -> {
                        try (TcpSocket s = connect(stack, 80)) {
                            s.write(ascii("GET /large HTTP/1.0\r\n\r\n"));
                            assertThat(head(s)).startsWith("HTTP/1.1 200");
                            return hash(s, Long.MAX_VALUE);
                        }
                    }));
                }
                for (FutureTask<String> t : all) {
                    assertThat(t.get()).isEqualTo(expected);
                }
                server.terminate(0);
            }
        });
    }

    /** A server of HTTP that answers each upload with its hash. */
    private static Void hashUploads(TcpServer server, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            try (TcpSocket s = server.accept(PATIENCE)) {
                if (s == null) {
                    throw new AssertionError("curl does not come");
                }
                String head = head(s);
                long n = Long.parseLong(head.replaceAll("(?s).*Content-Length: ([0-9]+).*", "$1"));
                if (head.contains("Expect: 100-continue")) {
                    s.write(ascii("HTTP/1.1 100 Continue\r\n\r\n"));
                }
                String hash = hash(s, n);
                s.write(ascii("HTTP/1.1 200 OK\r\nContent-Length: " + hash.length() + "\r\nConnection: close\r\n\r\n"
                        + hash));
            }
        }
        return null;
    }

    @Test
    void curlUploads() throws Exception {
        Path file = dir.resolve("large");
        String expected = CopyFiles.sha256(CopyFiles.write(file, FILE, 9));
        inNamespace(stack -> {
            try (TcpServer server = stack.listenTcp(80, 16)) {
                FutureTask<Void> serving = start(() -> hashUploads(server, 3));
                for (int i = 0; i < 3; i++) {
                    Finished f = Finished.run("curl", "-sS", "--max-time", "300", "-T", file.toString(), "http://"
                            + OURS + "/up");
                    assertThat(f.output()).isEqualTo(expected);
                    assertThat(f.code()).isZero();
                }
                serving.get();
            }
            Finished refused = Finished.run("curl", "-sS", "--max-time", "20", "http://" + OURS + "/up");
            assertThat(refused.code()).as("connection refused: " + refused.output()).isEqualTo(7);
        });
    }

    private static String line(TcpSocket s, ByteBuffer in) throws Exception {
        StringBuilder b = new StringBuilder();
        while (true) {
            while (in.hasRemaining()) {
                char c = (char) in.get();
                if (c == '\n') {
                    return b.substring(0, b.length() - 1);
                }
                b.append(c);
            }
            if (s.read(in.clear()) < 0) {
                throw new EOFException("after: " + b);
            }
            in.flip();
        }
    }

    @Test
    void redisCounts() throws Exception {
        Optional<Path> redis = Machine.need("StackTest.redisCounts", "redis-server", "redis-server");
        assumeTrue(redis.isPresent());
        inNamespace(stack -> {
            try (App server = App.command(dir, redis.get().toString(), "--bind", KERNEL, "--port", "6379", "--save", "",
                    "--protected-mode", "no", "--dir", dir.toString());
                    TcpSocket s = connect(stack, 6379)) {
                ByteBuffer in = ByteBuffer.allocate(1 << 16).flip();
                s.setNoDelay(true);
                int number = 0;
                for (int batch : new int[] {1, 1, 1, 10, 1000, 1, 5000, 1, 1}) {
                    s.write(ascii("INCR n\r\n".repeat(batch)));
                    for (int i = 0; i < batch; i++) {
                        assertThat(line(s, in)).isEqualTo(":" + ++number);
                    }
                }
                String value = "x".repeat(10_000_000);
                FutureTask<Void> sending = start(() -> {
                    s.write(ascii("*3\r\n$3\r\nSET\r\n$1\r\nv\r\n$" + value.length() + "\r\n" + value
                            + "\r\nGET v\r\n"));
                    return null;
                });
                assertThat(line(s, in)).isEqualTo("+OK");
                assertThat(line(s, in)).isEqualTo("$" + value.length());
                assertThat(line(s, in)).isEqualTo(value);
                sending.get();
                s.write(ascii("SHUTDOWN NOSAVE\r\n"));
                assertThat(s.read(ByteBuffer.allocate(1), PATIENCE)).as("the end").isEqualTo(-1);
                server.awaitExit(0);
            }
        });
    }
}
