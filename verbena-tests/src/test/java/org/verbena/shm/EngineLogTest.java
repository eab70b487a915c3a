// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import org.junit.jupiter.api.Test;

import org.verbena.shm.layout.EngineLog;
import org.verbena.testkit.Await;
import org.verbena.tests.faults.Logged;

/** Messages of the engine reach the documented logger, and a failing logger does no harm. */
class EngineLogTest {
    private static final String NAME = "org.verbena.shm";
    private static final Duration INTERVAL = Duration.ofMillis(1100);

    @Test
    void warningsReachTheLogger() {
        IOException cause = new IOException("for a test");
        try (Logged log = new Logged(NAME)) {
            EngineLog.log(Level.WARNING, "something happened", cause);
            assertThat(log.messages()).containsExactly("something happened");
            assertThat(log.records().getFirst().getLevel()).isEqualTo(java.util.logging.Level.WARNING);
            assertThat(log.records().getFirst().getThrown()).isSameAs(cause);
        }
    }

    @Test
    void repeatedWarningIsLoggedOnceASecond() {
        IOException cause = new IOException("for a test");
        Await.during(INTERVAL);
        try (Logged log = new Logged(NAME)) {
            long start = System.nanoTime();
            for (int i = 0; i < 1000; i++) {
                EngineLog.logSometimes(Level.WARNING, "again", cause);
            }
            long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds(); // usually none
            assertThat(log.messages()).hasSizeBetween(1, 1 + (int) seconds).containsOnly("again");
            Await.during(INTERVAL);
            EngineLog.logSometimes(Level.WARNING, "and again", cause);
            assertThat(log.messages()).startsWith("again").endsWith("again", "and again");
        }
    }

    @Test
    void failingLoggerDoesNotStopTheEngine() {
        Handler failing = new Handler() {
            @Override
            public void publish(LogRecord r) {
                throw new NoClassDefFoundError("no descriptor left to load it");
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger(NAME);
        logger.addHandler(failing);
        logger.setUseParentHandlers(false);
        try {
            EngineLog.log(Level.ERROR, "nobody hears this", new IOException("for a test"));
        } finally {
            logger.removeHandler(failing);
            logger.setUseParentHandlers(true);
        }
    }
}
