// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

import org.junit.jupiter.api.Assumptions;

/** A control group with a limit of its memory, of version 1 or 2, whichever this machine has. */
final class MemoryGroup implements AutoCloseable {
    private static final Path ROOT = Path.of("/sys/fs/cgroup");
    private static final String PROCESSES = "cgroup.procs";

    private final Path directory;

    private MemoryGroup(Path directory) {
        this.directory = directory;
    }

    /** Makes one, or skips the test with a line. */
    static MemoryGroup of(long bytes) throws IOException {
        Users.needsRoot("make a control group");
        Optional<MemoryGroup> made = make(bytes);
        if (made.isEmpty()) {
            System.out.println("SKIPPED: no control group with a limit of memory can be made here");
            Assumptions.abort("no control group");
        }
        return made.get();
    }

    private static Optional<MemoryGroup> make(long bytes) throws IOException {
        boolean old = Files.exists(ROOT.resolve("memory/memory.limit_in_bytes"));
        Path parent = old ? ROOT.resolve("memory") : ROOT;
        String limit = old ? "memory.limit_in_bytes" : "memory.max";
        Path directory = parent.resolve("verbena-test-" + ProcessHandle.current().pid() + "-" + System.nanoTime());
        try {
            if (!old) {
                Files.writeString(ROOT.resolve("cgroup.subtree_control"), "+memory");
            }
            Files.createDirectory(directory);
            Files.writeString(directory.resolve(limit), Long.toString(bytes));
            return Optional.of(new MemoryGroup(directory));
        } catch (IOException e) { // read-only, or another program's
            Files.deleteIfExists(directory);
            return Optional.empty();
        }
    }

    Path directory() {
        return directory;
    }

    /** Has a command run in it, see {@link Child.Builder#under}. */
    String[] enter() {
        return new String[] {"sh", "-c", "echo $$ > " + directory.resolve(PROCESSES) + " && exec \"$@\"", "sh"};
    }

    /** Takes it away, after its last process. */
    @Override
    public void close() throws IOException, InterruptedException {
        long end = System.nanoTime() + Child.LIMIT.toNanos();
        while (!Files.readString(directory.resolve(PROCESSES)).isEmpty() && System.nanoTime() < end) {
            Thread.sleep(10);
        }
        Files.delete(directory);
    }
}
