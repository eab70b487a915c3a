// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.layers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Jvm;
import org.verbena.tests.CommandOptions;
import org.verbena.tests.Repository;

/** What the JDK has to grant Verbena is in one file, {@link CommandOptions}; copies that cannot read it are the same. */
class JvmOptionsTest {
    private static final Pattern PROPERTY = Pattern.compile("<(verbena\\.exports[a-z.]*)>(.*?)</\\1>");
    private static final Pattern ARGUMENT = Pattern.compile("<arg>(java\\.base/[^<]*)</arg>");
    private static final Pattern EXPORTED = Pattern.compile(
            "add-exports[= ]\\\\?\\s*(java\\.base/[a-z.]+)=(?:ALL-UNNAMED|org\\.verbena\\.[a-z]+)\\b");
    private static final Pattern NATIVE = Pattern.compile("--enable-native-access=(org\\.[a-z.,]*[a-z])");

    @Test
    void exportsOfThePomsAreThoseOfTheCommand() throws IOException {
        String pom = read(Repository.root().resolve("pom.xml"));
        assertThat(property(pom, "verbena.exports")).isEqualTo(CommandOptions.exports());
        assertThat(property(pom, "verbena.exports.class.path")).isEqualTo(CommandOptions.exportsOnClassPath());
        assertThat(ARGUMENT.matcher(read(Repository.root().resolve("verbena-sockets/pom.xml"))).results()
                .map(m -> "--add-exports=" + m.group(1))).as("what verbena-sockets is compiled with")
                .containsExactlyElementsOf(CommandOptions.exports());
    }

    private static List<String> property(String pom, String name) {
        String value = PROPERTY.matcher(pom).results().filter(m -> m.group(1).equals(name)).findFirst().orElseThrow()
                .group(2);
        return List.of(value.replace("--add-exports ", "--add-exports=").split(" ", -1));
    }

    @Test
    void optionsOfTheTestkitAreThoseOfTheCommand() {
        assertThat(Jvm.ALL_AS_MODULES.subList(1, Jvm.ALL_AS_MODULES.size())).isEqualTo(CommandOptions.exports());
        // JLine is the command's alone
        assertThat(CommandOptions.nativeAccess()).isEqualTo(Jvm.ALL_AS_MODULES.getFirst() + ",org.jline.terminal.ffm");
        assertThat(Jvm.ALL_AS_MODULES).containsAll(Jvm.CHANNELS_AS_MODULES);
        assertThat(Jvm.CHANNELS_ON_CLASS_PATH.getFirst()).isEqualTo(Jvm.NATIVE_ON_CLASS_PATH);
        assertThat(CommandOptions.exportsOnClassPath()).containsAll(Jvm.CHANNELS_ON_CLASS_PATH.subList(1,
                Jvm.CHANNELS_ON_CLASS_PATH.size()));
    }

    /** Steps, benchmarks, documents and tests need some of them. */
    @Test
    void nothingElseIsGrantedElsewhere() throws IOException {
        Set<String> exports = new TreeSet<>();
        Set<String> modules = new TreeSet<>();
        for (Path file : texts()) {
            String text = read(file).replace("\", \"", " ").replaceAll("</arg>\\s*<arg>", " ");
            EXPORTED.matcher(text).results().filter(m -> !isAgents(file, m.group(1))).forEach(m -> exports.add(
                    "--add-exports=" + m.group(1)));
            NATIVE.matcher(text).results().forEach(m -> modules.addAll(List.of(m.group(1).split(",", -1))));
        }
        assertThat(exports).isNotEmpty().isSubsetOf(CommandOptions.exports().stream()
                .map(o -> o.substring(0, o.lastIndexOf('='))).toList());
        Matcher granted = NATIVE.matcher(CommandOptions.nativeAccess());
        assertThat(granted.matches()).isTrue();
        assertThat(modules).isNotEmpty().isSubsetOf(granted.group(1).split(",", -1));
    }

    /** The agent, which grants the rest, gets at modules themselves. */
    private static boolean isAgents(Path file, String exported) {
        return file.getFileName().toString().equals("pom.xml") && exported.equals("java.base/jdk.internal.module");
    }

    /** Texts of the repository in which options of a JVM may be. */
    private static List<Path> texts() throws IOException {
        return Repository.files().stream().filter(p -> p.toString().matches(".*(\\.(java|md|xml|sh)|/[a-z-]+)")
                && Files.isRegularFile(p)).toList();
    }

    private static String read(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.ISO_8859_1);
    }
}
