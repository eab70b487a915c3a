// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The values that system properties may have. */
@Isolated
class DropInPropertyTest {
    @ParameterizedTest
    @CsvSource({"spin,fast", "spin,-1", "spin,1000001", "spin,1.5", "spin,20us", "spin,99999999999999999999",
        "offload,OFF",
        "counters,false", "counters.sockets,262145", "classic,yes", "stream.ring,4M", "stream.ring,4095",
        "stream.ring,67108865", "stream.memory,1g", "stream.memory,0", "stream.patience,0", "stream.patience,600001",
        "stream.delay,-1", "stream.delay,60000001", "stream.delay,2ms", "stream.wait,600001", "shm.trusted-uids,me"})
    void invalidValuesAreRefused(String name, String value) {
        assertThat(DropInProperty.refusal("verbena." + name, value)).startsWith("takes ").endsWith(", not '" + value
                + "'");
        System.setProperty("verbena." + name, value);
        try {
            assertThat(DropInProperty.wrong()).startsWith("the system property verbena." + name + " takes ");
        } finally {
            System.clearProperty("verbena." + name);
        }
    }

    @ParameterizedTest
    @CsvSource({"spin,0", "spin,1000000", "offload,off", "counters,on", "counters.sockets,0", "stream.ring,4096",
        "stream.ring,67108864", "stream.memory,9223372036854775807", "stream.patience,600000", "stream.device,shm0",
        "stream.delay,0", "stream.delay,60000000", "stream.wait,0", "rules,use os *:*", "application.id,B1"})
    void validValuesAreAccepted(String name, String value) {
        assertThat(DropInProperty.refusal("verbena." + name, value)).isNull();
    }

    @ParameterizedTest
    @CsvSource({"spim", "stream.rings", "Spin"})
    void unknownNameIsReported(String name) {
        assertThat(DropInProperty.refusal("verbena." + name, "1")).startsWith("is not known; there are classic, ");
        System.setProperty("verbena." + name, "1");
        try {
            assertThat(DropInProperty.unknown()).startsWith("the system property verbena." + name + " is not known");
        } finally {
            System.clearProperty("verbena." + name);
        }
    }

    @Test
    void propertiesOfAllModulesAreKnown() throws IOException {
        Pattern literal = Pattern.compile("\"(verbena\\.[a-z][a-z.-]*[a-z])\"");
        Set<String> names = new TreeSet<>();
        try (DirectoryStream<Path> modules = Files.newDirectoryStream(Path.of(".."), "verbena-*")) {
            for (Path module : modules) {
                Path sources = module.resolve("src/main/java");
                if (Files.isDirectory(sources)) {
                    try (Stream<Path> files = Files.walk(sources)) {
                        for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                            literal.matcher(Files.readString(file)).results().forEach(r -> names.add(r.group(1)));
                        }
                    }
                }
            }
        }
        names.remove("verbena.rules.no-stack"); // a counter
        assertThat(names).contains("verbena.ibverbs", "verbena.stream.ring").allMatch(DropInProperty::isKnown);
    }
}
