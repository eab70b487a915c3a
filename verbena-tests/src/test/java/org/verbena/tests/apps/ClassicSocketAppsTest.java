// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Thorough;
import org.verbena.tests.AppsLane;
import org.verbena.tests.apps.App.By;
import org.verbena.tests.cli.CopyFiles;

/**
 * Two processes that communicate through {@code java.net.Socket}: RMI at both ends, {@code HttpURLConnection} at one of
 * them. Hashes of all received data are compared. Both libraries open connections on their own, which therefore wait
 * for rings themselves.
 */
@AppsLane
class ClassicSocketAppsTest {
    private static final int PARALLEL = 4;

    @TempDir Path dir;

    private App start(String main, Object... arguments) throws Exception {
        return App.java(dir, By.VERBENA).fromTheFirstByte().start("org.verbena.apps." + main, arguments);
    }

    @Test
    void rmi() throws Exception {
        int bytes = 2_000_000;
        int calls = Thorough.ON ? 24 : 8;
        try (App server = start("rmi.RmiServer")) {
            int port = server.awaitInt("port");
            server.await("bound");
            try (App client = start("rmi.RmiLoad", port, PARALLEL, bytes, calls)) {
                assertThat(client.rest()).containsExactly("done " + calls + " " + 2L * calls * bytes);
                assertCarried(client.summary().byRing(), 2L * calls * bytes);
            }
            server.end();
            assertCarried(server.summary().byRing(), 2L * calls * bytes);
        }
    }

    @Test
    void httpUrlConnection() throws Exception {
        Path folder = Files.createDirectory(dir.resolve("files"));
        Files.writeString(folder.resolve("hello"), "hello");
        int size = Thorough.ON ? 20_000_000 : 5_000_000;
        String hash = CopyFiles.sha256(CopyFiles.write(folder.resolve("file"), size, 9));
        int count = 8;
        try (App server = start("http.JdkServer", folder)) {
            String url = "http://127.0.0.1:" + server.awaitInt("port");
            try (App down = start("http.HttpLoad", "url", url, PARALLEL, "get", "file", hash, size, count);
                    App up = start("http.HttpLoad", "url", url, PARALLEL, "post", size, count)) {
                for (App client : new App[] {down, up}) {
                    client.await("paused");
                    client.tell("go");
                }
                for (App client : new App[] {down, up}) {
                    assertThat(client.await("done")).isEqualTo(count + " " + (long) count * size);
                    client.awaitExit(0);
                    assertCarried(client.summary().byRing(), (long) count * size);
                }
            }
            server.end();
            assertCarried(server.summary().byRing(), 2L * count * size);
        }
    }

    /** All that was sent and received, by rings: the rest is for the protocol. */
    private static void assertCarried(Summary summary, long bytes) {
        assertThat(summary.ring()).as("%s", summary).isGreaterThanOrEqualTo(bytes);
    }
}
