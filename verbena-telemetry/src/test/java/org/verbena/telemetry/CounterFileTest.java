// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Sys;

class CounterFileTest {
    private static final int FILES = 50;
    /** Its length comes first. */
    private static final long BELL = CounterLayout.HEADER_BELL + Integer.BYTES;

    /** Readers find processes that just begin, and ring their bells. */
    @Test
    void fileIsVisibleOnlyWithItsBell(@TempDir Path dir) throws Exception {
        Path folder = Files.createDirectory(dir.resolve("counters"));
        List<String> bells = new ArrayList<>();
        AtomicBoolean done = new AtomicBoolean();
        Thread reader = Thread.ofPlatform().start(() -> {
            Set<String> known = new TreeSet<>();
            boolean last = false;
            while (!last) {
                last = done.get();
                names(folder).stream().filter(known::add).map(name -> bellOf(folder, name)).forEach(bells::add);
            }
        });
        for (int i = 0; i < FILES; i++) {
            CounterFile.createPublished(new CounterFolder(folder, Sys.uid()));
        }
        done.set(true);
        reader.join();
        assertThat(bells).hasSize(FILES).allMatch(CounterLayout.BELL_PREFIX::equals);
    }

    /**
     * Those with a dot are to have a name without one at once, and are watched from then on: a moment is what matters.
     */
    private static List<String> names(Path folder) {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(p -> p.getFileName().toString().replaceFirst("^\\.", "")).toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String bellOf(Path folder, String name) {
        Path seen = folder.resolve(name);
        ByteBuffer b = ByteBuffer.allocate(CounterLayout.BELL_PREFIX.length());
        try (FileChannel file = open(folder.resolve("." + name), seen)) {
            while (!Files.exists(seen)) {
                Thread.onSpinWait();
            }
            file.read(b, BELL);
        } catch (IOException e) {
            return e.toString();
        }
        return new String(b.array(), StandardCharsets.US_ASCII);
    }

    private static FileChannel open(Path fresh, Path seen) throws IOException {
        try {
            return FileChannel.open(fresh);
        } catch (NoSuchFileException e) {
            return FileChannel.open(seen);
        }
    }
}
