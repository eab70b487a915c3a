// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.tests.compat.Versions.Version.NEW;
import static org.verbena.tests.compat.Versions.Version.OLD;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Providers that were built for the next version, or built incorrectly, beside one that works: each is named with its
 * fault, and nothing of it reaches the application, which continues with the one that works.
 */
class ProviderVersionsTest {
    private static final String PROVIDER = """
            package broken.NAME;

            import java.util.List;

            import org.verbena.verbs.*;
            import org.verbena.verbs.spi.*;

            public class Provider SUPERCLASS implements VerbsProvider {
                MEMBER
                public String name() { return "NAME"; }
                public ApiRange apiRange() { return ApiRange.RANGE; }
                public List<Device> devices() throws VerbsException { DEVICES }
                static Device device() {
                    return new Device() {
                        public String name() { return "lazy0"; }
                        public String provider() { return "lazy"; }
                        public String transport() { return "none"; }
                        public long guid() { return 1; }
                        protected Context implOpen() throws VerbsException {
                            throw new VerbsException("open", DeviceAttributes.builder().beacons(3).hashCode(), "");
                        }
                    };
                }
            }
            """;

    @TempDir static Path folder;

    private static Versions versions;
    private static final List<Path> broken = new ArrayList<>();

    @BeforeAll
    static void build() throws IOException {
        versions = new Versions(folder);
        assertThat(versions.compile(OLD, folder.resolve("app"), "Say", "Traffic", "OldApp", "Lazy")).isEmpty();
        // built for the next version, and says so
        provider("later", "", "", "of(2, 9)", "return List.of(device());");
        // built for the next version, says that this one will do, and calls what is not there
        provider("boaster", "", "", "from(1)", "DeviceAttributes.builder().beacons(3).build(); return List.of();");
        // the same, but only when its device is opened
        provider("lazy", "", "", "from(1)", "return List.of(device());");
        provider("thrower", "", "static final int NUMBER = Integer.parseInt(\"no number\");", "from(1)",
                "return List.of();");
        provider("orphan", " extends Missing", "", "from(1)", "return List.of();");
        provider("hollow", "", "", "from(1)", "return List.of(Missing.device());");
    }

    /** Compiles a provider against the next version, and takes its class {@code Missing} away. */
    private static void provider(String name, String superclass, String member, String range, String devices)
            throws IOException {
        String moduleInfo = "module broken." + name + " { requires org.verbena.verbs; provides "
                + "org.verbena.verbs.spi.VerbsProvider with broken." + name + ".Provider; }";
        String source = PROVIDER.replace("NAME", name).replace("SUPERCLASS", superclass).replace("MEMBER", member)
                .replace("RANGE", range).replace("DEVICES", devices)
                + "class Missing { static org.verbena.verbs.Device device() { return null; } }\n";
        broken.add(versions.provider(name, NEW, moduleInfo, source));
    }

    private static List<Path> all() {
        List<Path> all = new ArrayList<>(versions.runtime(OLD, OLD));
        all.addAll(broken);
        return all;
    }

    private static void assertAllNamed(Run r) {
        assertThat(r.err()).isEmpty();
        assertThat(r.code()).as(r.out()).isZero();
        List<String> problems = r.out().lines().filter(l -> l.startsWith("problem: ")).toList();
        assertThat(problems).as("later").anySatisfy(p -> assertThat(p)
                .isEqualTo("problem: provider later was built for API levels 2 to 9, this is 1: it is skipped"));
        assertThat(problems).as("boaster").anySatisfy(p -> assertThat(p)
                .contains("provider boaster is broken and skipped", "NoSuchMethodError", "beacons"));
        assertThat(problems).as("thrower").anySatisfy(p -> assertThat(p).contains("broken.thrower.Provider",
                "no number"));
        assertThat(problems).as("orphan").anySatisfy(p -> assertThat(p).contains("broken.orphan.Provider",
                "Missing"));
        assertThat(problems).as("hollow").anySatisfy(p -> assertThat(p).contains("provider hollow",
                "Missing"));
        assertThat(problems).hasSize(5);
        assertThat(r.out()).contains("device: lazy0, lazy, none\n", "device: shm0, shm, shared memory\n",
                "received: 4711\n", "end: closed\n");
    }

    @Test
    void versionsWorkAsModules() {
        assertAllNamed(Run.onModulePath(all(), folder.resolve("app"), "OldApp", folder));
    }

    @Test
    void versionsWorkOnTheClassPath() throws IOException {
        List<Path> all = new ArrayList<>(all());
        StringBuilder names = new StringBuilder("org.verbena.shm.ShmProvider\n");
        for (Path jar : broken) {
            names.append("broken.").append(jar.getFileName().toString().replace(".jar", "")).append(".Provider\n");
        }
        Path services = folder.resolve("services");
        Path file = services.resolve("META-INF/services/org.verbena.verbs.spi.VerbsProvider");
        Files.createDirectories(file.getParent());
        Files.writeString(file, names);
        all.addFirst(services);
        assertAllNamed(Run.onClassPath(all, folder.resolve("app"), "OldApp", folder));
    }

    @Test
    void deviceOfAnUnlinkableProviderIsRefusedAtOpen() {
        Run r = Run.onModulePath(all(), folder.resolve("app"), "Lazy", folder);
        assertThat(r.err()).isEmpty();
        assertThat(r.out()).startsWith("open lazy0: EOPNOTSUPP: the provider lazy does not fit this verbena-verbs, "
                + "API level 1: java.lang.NoSuchMethodError: ").contains("beacons");
    }
}
