// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.module.ModuleFinder;
import java.nio.file.Path;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InnerModulesTest {
    /** A package that is not named is not found under the agent. */
    @ParameterizedTest
    @CsvSource({"org.verbena.linux,Sys", "org.verbena.telemetry,CounterFile", "org.verbena.verbs,Verbs",
        "org.verbena.shm,ShmProvider",
        "org.verbena.roce,RoceProvider",
        "org.verbena.sockets,DropIn"})
    void packageListMatchesModule(String module, String sample) throws Exception {
        Path where = Path.of(Class.forName(module + "." + sample, false, getClass().getClassLoader())
                .getProtectionDomain().getCodeSource().getLocation().toURI());
        assertThat(ModuleFinder.of(where).find(module).orElseThrow().descriptor().packages())
                .isEqualTo(InnerModules.PACKAGES.get(module));
    }
}
