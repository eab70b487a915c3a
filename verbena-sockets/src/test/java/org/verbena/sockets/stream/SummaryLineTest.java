// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The program that the summary names. */
class SummaryLineTest {
    @ParameterizedTest
    @CsvSource({"App --port 80,App,App --port 80", "app.jar,app.jar,app.jar",
        "jdk.compiler/com.sun.tools.javac.launcher.SourceLauncher a/Echo.java server,a/Echo.java,a/Echo.java server"})
    void programIsThatOfTheCommandLine(String property, String main, String command) {
        assertThat(Summary.line(4711, property, StreamTotals.now())).startsWith("{\"pid\":4711,\"main\":\"" + main
                + "\",\"command\":\"" + command + "\",\"connections\":{");
    }

    @Test
    void unknownProgramHasNoName() {
        assertThat(Summary.line(1, "", StreamTotals.now())).startsWith("{\"pid\":1,\"main\":\"\",\"command\":\"\",");
    }
}
