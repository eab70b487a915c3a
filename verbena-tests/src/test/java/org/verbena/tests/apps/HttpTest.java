// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.OutputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Thorough;
import org.verbena.tests.AppsLane;
import org.verbena.tests.apps.App.By;
import org.verbena.tests.cli.CopyFiles;

/** Servers of HTTP (the JDK's, Jetty, Netty, Tomcat, nginx) and clients of it (the JDK's, Jetty's, curl). */
@AppsLane
class HttpTest {
    private static final String LOAD = "org.verbena.apps.http.HttpLoad";
    private static final String LARGE = "large";
    /** For transfers over TCP, where a small amount suffices. */
    private static final String MEDIUM = "medium";

    @TempDir static Path dir;
    private static Path folder;
    private static final Map<String, String> HASHES = new HashMap<>();
    private static Keys keys;

    @BeforeAll
    static void makeFiles() throws Exception {
        folder = Files.createDirectory(dir.resolve("files"));
        Files.writeString(folder.resolve("hello"), "hello");
        HASHES.put(LARGE, CopyFiles.sha256(CopyFiles.write(folder.resolve(LARGE), Thorough.ON ? 60_000_000 : 4_000_000,
                7)));
        HASHES.put(MEDIUM, CopyFiles.sha256(CopyFiles.write(folder.resolve(MEDIUM), Thorough.ON
                ? 20_000_000
                : 2_000_000,
                8)));
        keys = Keys.make(dir);
    }

    private static App server(By by, String kind, Object... more) throws Exception {
        return server(App.java(dir, by), kind, more);
    }

    /** A server with plain clients, or a plain server. */
    private static App serverByTcp(By by, String kind, Object... more) throws Exception {
        return server(App.java(dir, by).withPlainPeers(), kind, more);
    }

    private static App server(App.Java how, String kind, Object... more) throws Exception {
        List<Object> arguments = new ArrayList<>(List.of(folder));
        arguments.addAll(List.of(more));
        return how.start("org.verbena.apps.http." + kind + "Server", arguments.toArray());
    }

    private static App get(By by, String client, String url, int parallel, int count, Object... more) throws Exception {
        return get(App.java(dir, by), client, url, parallel, LARGE, count, more);
    }

    /** Transfers over TCP: a smaller file, and a shorter client. */
    private static App getByTcp(By by, String client, String url, int parallel, int count) throws Exception {
        return get(App.java(dir, by).quickStart().withPlainPeers(), client, url, parallel, MEDIUM, count);
    }

    private static App get(App.Java how, String client, String url, int parallel, String file, int count,
            Object... more) throws Exception {
        List<Object> arguments = new ArrayList<>(List.of(client, url, parallel, "get", file, HASHES.get(file), Files
                .size(folder.resolve(file)), count));
        arguments.addAll(List.of(more));
        return how.start(LOAD, arguments.toArray());
    }

    private static App post(By by, String client, String url, int parallel, int bytes, int count) throws Exception {
        return App.java(dir, by).start(LOAD, client, url, parallel, "post", bytes, count);
    }

    private static String url(App server) throws Exception {
        return "http://127.0.0.1:" + server.awaitInt("port");
    }

    /** Lets a client continue when its connections are decided. */
    private static App done(App client, App server) throws Exception {
        return done(client.go(client, server));
    }

    private static App done(App client) throws Exception {
        client.await("done");
        client.awaitExit(0);
        return client;
    }

    @ParameterizedTest
    @CsvSource({"Jdk, jdk", "Jetty, jetty"})
    void bothEndsUseRings(String kind, String client) throws Exception {
        useRings(kind, client);
    }

    /** By default its server has a hundred connections, and that of TLS. */
    @Thorough
    @Test
    void nettyUsesRings() throws Exception {
        useRings("Netty", "jdk");
    }

    /** When it ends, it connects to itself once, to wake the thread that accepts: a connection with two ends. */
    @Test
    void tomcatUsesRings() throws Exception {
        useRings("Tomcat", "jetty", Reason.closedEarly(2));
    }

    private static void useRings(String kind, String client, Reason... ofServer) throws Exception {
        try (App server = server(By.VERBENA, kind)) {
            String url = url(server);
            try (App down = get(By.VERBENA, client, url, 2, 4);
                    App up = post(By.VERBENA, client, url, 4, Thorough.ON ? 10_000_000 : 3_000_000, Thorough.ON
                            ? 12
                            : 4)) {
                down.go(down, server);
                up.go(up, server);
                done(down).summary().byRing();
                done(up).summary().byRing();
            }
            server.end();
            server.summary().byRing(ofServer);
        }
    }

    @Test
    void hundredConnectionsUseRings() throws Exception {
        try (App server = server(By.VERBENA, "Netty");
                App up = post(By.VERBENA, "jdk", url(server), 100, Thorough.ON ? 200_000 : 100_000, Thorough.ON
                        ? 1000
                        : 200)) {
            done(up, server).summary().byRing();
            server.end();
            server.summary().byRing();
        }
    }

    @Test
    void plainJavaEndIsServed() throws Exception {
        oneEndPlain("Jdk", "jdk");
    }

    @Thorough
    @ParameterizedTest
    @CsvSource({"Jetty, jdk", "Jdk, jetty", "Netty, jdk"})
    void plainJavaEndIsServedByOtherServers(String kind, String client) throws Exception {
        oneEndPlain(kind, client);
    }

    private static void oneEndPlain(String kind, String client) throws Exception {
        try (App server = serverByTcp(By.VERBENA, kind); App down = getByTcp(By.PLAIN, client, url(server), 2, 2)) {
            done(down, server);
            server.end();
            server.summary().byTcp(1, 2);
        }
        try (App server = serverByTcp(By.PLAIN, kind); App down = getByTcp(By.VERBENA, client, url(server), 2, 2)) {
            done(down, server).summary().byTcp(1, 2);
            server.end();
        }
    }

    @Test
    void tlsUsesRings() throws Exception {
        tls("Jdk", "jdk");
    }

    @Thorough
    @ParameterizedTest
    @CsvSource({"Jetty, jetty", "Netty, jdk"})
    void tlsOfOtherServersUsesRings(String kind, String client) throws Exception {
        tls(kind, client);
    }

    private static void tls(String kind, String client) throws Exception {
        try (App server = server(By.VERBENA, kind, keys.store());
                App down = get(By.VERBENA, client, url(server).replace("http:", "https:"), 2, 2, keys.store())) {
            done(down, server).summary().byRing();
            server.end();
            server.summary().byRing();
        }
    }

    @Test
    void curl() throws Exception {
        curl("Jetty");
    }

    @Thorough
    @ParameterizedTest
    @ValueSource(strings = {"Jdk", "Netty"})
    void curlOfOtherServers(String kind) throws Exception {
        curl(kind);
    }

    private static void curl(String kind) throws Exception {
        Optional<Path> curl = Machine.need("HttpTest.curl", "curl", "curl");
        assumeTrue(curl.isPresent());
        try (App server = serverByTcp(By.VERBENA, kind)) {
            downAndUp(server, url(server), List.of(curl.get().toString(), "-sSf"));
        }
    }

    /** Sent data wait until the server knows that the other end is plain. */
    private static void downAndUp(App server, String url, List<String> curl) throws Exception {
        Path copy = dir.resolve("copy");
        try (App down = App.command(dir, with(curl, "-o", copy.toString(), url + "/" + MEDIUM))) {
            down.awaitExit(0);
            assertThat(CopyFiles.sha256(copy)).isEqualTo(HASHES.get(MEDIUM));
        }
        byte[] bytes = Files.readAllBytes(folder.resolve(MEDIUM));
        try (App up = App.command(dir, with(curl, "-X", "POST", "-T", "-", url + "/up"))) {
            try (OutputStream to = up.input()) {
                to.write(bytes, 0, bytes.length / 2);
                to.flush();
                server.awaitDecided();
                to.write(bytes, bytes.length / 2, bytes.length - bytes.length / 2);
            }
            assertThat(up.rest()).containsExactly(HASHES.get(MEDIUM));
        }
        server.end();
        server.summary().byTcp(1, 2);
    }

    private static String[] with(List<String> command, String... more) {
        return Stream.concat(command.stream(), Stream.of(more)).toArray(String[]::new);
    }

    @Test
    void curlByTls() throws Exception {
        Optional<Path> curl = Machine.need("HttpTest.curlByTls", "curl", "curl");
        assumeTrue(curl.isPresent());
        try (App server = serverByTcp(By.VERBENA, "Netty", keys.store())) {
            downAndUp(server, url(server).replace("http:", "https:"), List.of(curl.get().toString(), "-sSf", "--cacert",
                    keys.certificate().toString()));
        }
    }

    /** Files by the kernel's sendfile. */
    @Test
    void nginx() throws Exception {
        Optional<Path> nginx = Machine.need("HttpTest.nginx", "nginx", "nginx-light");
        assumeTrue(nginx.isPresent());
        Path work = Files.createDirectory(dir.resolve("nginx"));
        try (Socket held = Machine.holdPort()) {
            nginx(nginx.get(), work, held.getLocalPort());
        }
    }

    private static void nginx(Path nginx, Path work, int port) throws Exception {
        // The worker belongs to the user that runs this, so that it can read the files.
        Path config = Files.writeString(work.resolve("nginx.conf"), """
                daemon off; pid nginx.pid; error_log stderr error; user %s;
                events { worker_connections 512; }
                http {
                  sendfile on; access_log off; client_body_temp_path body;
                  proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
                  server { listen 127.0.0.1:%d; root %s; }
                }
                """.formatted(System.getProperty("user.name"), port, folder));
        try (App server = App.command(dir, nginx.toString(), "-p", work.toString(), "-c", config.toString(), "-e",
                "stderr")) {
            Machine.awaitPort(port, server);
            for (String client : Thorough.ON ? List.of("jdk", "jetty") : List.of("jetty")) {
                try (App down = getByTcp(By.VERBENA, client, "http://127.0.0.1:" + port, 4, 8)) {
                    done(down, server).summary().byTcp(1, 2);
                }
            }
            server.terminate(0);
        }
    }
}
