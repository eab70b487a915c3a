// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.verbena.tests.Repository;

/** This host: its programs run in the namespace of the lab, in the folder of the repository. */
final class Host implements Place {
    private final Path scratch;

    Host(Path scratch) {
        this.scratch = scratch;
    }

    @Override
    public String name() {
        return "host";
    }

    @Override
    public int number() {
        return 1;
    }

    /** Of the device {@code roce_lab}: IPv4 comes first. */
    @Override
    public int gid(int family) {
        return family == 4 ? 0 : 1;
    }

    @Override
    public Task start(String command) throws IOException {
        Path output = Files.createTempFile(scratch, "host", ".out");
        Process p = new ProcessBuilder("bash", "-c", command).directory(Repository.root().toFile()).redirectErrorStream(
                true).redirectOutput(output.toFile()).start();
        p.getOutputStream().close();
        return new Task() {
            @Override
            public Outcome await(Duration limit) throws IOException, InterruptedException {
                boolean ended = p.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
                if (!ended) {
                    Stream.concat(p.descendants().toList().stream(), Stream.of(p.toHandle())).forEach(
                            ProcessHandle::destroyForcibly);
                }
                int code = p.waitFor();
                String text = printed();
                Files.delete(output);
                return new Outcome(code, text, !ended);
            }

            @Override
            public String printed() throws IOException {
                return Files.readString(output);
            }
        };
    }
}
