// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Sys;
import org.verbena.telemetry.CounterFile;
import org.verbena.telemetry.CounterLayout;

/** The entries of this process. */
final class OwnCounters implements CounterSource {
    private final CounterFile file;
    private final long created;

    OwnCounters(CounterFile file) {
        this.file = file;
        created = file.created();
    }

    @Override
    public long pid() {
        return Sys.pid();
    }

    @Override
    public String command() {
        return ProcessHandle.current().info().commandLine().orElse("");
    }

    @Override
    public long created() {
        return created;
    }

    @Override
    public boolean isAlive() {
        return true;
    }

    @Override
    public List<EntryView> entries() throws CounterFileException {
        List<EntryView> all = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment chunk = arena.allocate(CounterLayout.CHUNK, 8);
            int n = file.chunks();
            for (int i = 0; i < n; i++) {
                long id = file.chunk(i);
                file.read(id, chunk);
                all.addAll(EntryView.ofChunk(chunk, id));
            }
        } catch (CounterFormatException e) {
            throw new CounterFileException("look at this process", Errno.EBADMSG, String.valueOf(e.getMessage()));
        }
        return all;
    }

    @Override
    public @Nullable EntryView entry(EntryView earlier) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entry = arena.allocate(CounterFileReader.bytes(earlier), 8);
            file.read(earlier.id(), entry);
            EntryView now = EntryView.again(entry, earlier);
            file.read(earlier.id(), entry.asSlice(0, Long.BYTES)); // whose are the cells that came last?
            return EntryView.isStill(entry, earlier) ? now : null;
        }
    }

    @Override
    public void refresh() {
        file.gather();
    }

    @Override
    public void close() {
        // nothing was opened
    }
}
