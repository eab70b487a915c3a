// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.flight;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** A recording of this JVM with our events only. */
public final class Recorded implements AutoCloseable {
    private static final List<String> NAMES = List.of("Connection", "Counter", "Error", "Retry", "WakeUp");

    private final Recording recording = new Recording();

    Recorded() {
        for (String name : NAMES) {
            recording.enable("org.verbena." + name).withThreshold(Duration.ZERO).with("period", "endChunk");
        }
        recording.start();
    }

    /** Ends the recording; returns its events, in order of time. */
    List<RecordedEvent> end(Path folder) throws IOException {
        recording.stop();
        Path file = folder.resolve("recording.jfr");
        recording.dump(file);
        return of(file);
    }

    /** Our events of a recording, in the order of their time. */
    public static List<RecordedEvent> of(Path file) throws IOException {
        return RecordingFile.readAllEvents(file).stream()
                .filter(e -> e.getEventType().getName().startsWith("org.verbena."))
                .sorted(Comparator.comparing(RecordedEvent::getStartTime)).toList();
    }

    @Override
    public void close() {
        recording.close();
    }
}
