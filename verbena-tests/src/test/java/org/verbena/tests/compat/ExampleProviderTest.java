// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.tests.Repository;

/**
 * The provider of {@code docs/examples/devnull}: it compiles against the API alone, is found, and works as documented.
 */
class ExampleProviderTest {
    private static final String PRINTS = """
            devices: [null0, shm0] []
            supports: true false
            in RESET: 22
            receive: 0 12
            send: 0
            too much inline: 22
            read: 95
            sender: 5 SUCCESS RDMA_WRITE 8 0
            sender: 6 SUCCESS SEND 8 0
            flushed: 2 WR_FLUSH_ERR RECV 0 0
            allocate: EOPNOTSUPP
            atomic access: EINVAL
            UD: EOPNOTSUPP
            close what is used: EBUSY
            end: closed
            """;

    @TempDir Path folder;

    @Test
    void exampleIsFoundAsAModuleAndOnTheClassPath() throws Exception {
        List<Path> jars = new ArrayList<>();
        for (String module : List.of("verbena-linux", "verbena-telemetry", "verbena-verbs", "verbena-shm")) {
            jars.add(Jars.pack(Jars.onClassPath(module), folder.resolve(module + ".jar")));
        }
        jars.add(Jars.onClassPath("jspecify"));
        Path provider = folder.resolve("devnull.jar");
        Jars.build(Repository.root().resolve("docs/examples/devnull"), jars, provider);
        Path app = folder.resolve("app");
        assertThat(Jars.compile(List.of(Versions.resource("apps/Say.java"), Versions.resource("apps/Traffic.java"),
                Versions.resource("apps/UseNull.java")), List.of(), jars, app)).isEmpty();
        jars.add(provider);
        assertPrints(Run.onModulePath(jars, app, "UseNull", folder));

        Path services = folder.resolve("services");
        Path file = services.resolve("META-INF/services/org.verbena.verbs.spi.VerbsProvider");
        Files.createDirectories(file.getParent());
        Files.writeString(file, "org.example.devnull.NullProvider\norg.verbena.shm.ShmProvider\n");
        jars.addFirst(services);
        assertPrints(Run.onClassPath(jars, app, "UseNull", folder));
    }

    private static void assertPrints(Run r) {
        assertThat(r.err()).isEmpty();
        assertThat(r.out()).isEqualTo(PRINTS);
        assertThat(r.code()).isZero();
    }
}
