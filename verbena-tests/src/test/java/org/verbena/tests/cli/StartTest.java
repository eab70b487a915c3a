package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.tests.BesideOthers;
import org.verbena.tests.cli.CommandProcess.Result;

/** What a start of the command does not spend its time on. */
@BesideOthers
class StartTest {
    private static final List<String> LOADED = List.of("-Xlog:class+load:stderr");

    private static String loaded(List<String> options, String... arguments) throws Exception {
        try (CommandProcess p = CommandProcess.startWith(options, List.of(), arguments)) {
            Result r = p.end();
            assertThat(r.code()).as(r.err()).isZero();
            return r.out() + r.err();
        }
    }

    /** Its registry of types alone is a tenth of what a short command takes. */
    @Test
    void theFlightRecorderIsNotStartedWhileNobodyRecords() throws Exception {
        String registry = "jdk.jfr.internal.TypeLibrary ";
        assertThat(loaded(LOADED, "devices")).contains("org.verbena.shm.ShmContext ").contains(
                "jdk.jfr.FlightRecorder ")
                .doesNotContain(registry);
    }
}
