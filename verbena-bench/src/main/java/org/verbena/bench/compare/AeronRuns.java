// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Aeron IPC between two fresh processes, see {@link AeronPeer}. */
final class AeronRuns {
    private final int[] cpus;
    private final boolean percentiles;

    /** @param percentiles whether all percentiles are wanted, not only medians */
    AeronRuns(int[] cpus, boolean percentiles) {
        this.cpus = cpus;
        this.percentiles = percentiles;
    }

    Sample run() throws IOException {
        Path shm = Path.of("/dev/shm");
        Path dir = Files.createTempDirectory(Files.isWritable(shm)
                ? shm
                : Path.of(System.getProperty("java.io.tmpdir")),
                "verbena-aeron-");
        try (Child server = new Child(java("server", dir, cpus[1]))) {
            if (!"READY".equals(server.line())) {
                throw new IOException("Aeron's media driver does not start: " + server.rest());
            }
            try (Child client = new Child(java("client", dir, cpus[0]))) {
                Sample s = new Sample();
                client.rest().lines().filter(l -> l.startsWith("RTT ")).map(l -> l.split(" ", -1)).filter(
                        w -> percentiles || w[1].equals(Sample.RANKS.getFirst()))
                        .forEach(w -> s.put(Sample.percentile("aeron-64", w[1]), Double.parseDouble(w[2])));
                // the last line is the measured one, the first the warm-up
                server.rest().lines().filter(l -> l.startsWith("RATE "))
                        .forEach(l -> s.put("aeron-64-rate", Double.parseDouble(l.substring(5))));
                return s;
            }
        } finally {
            delete(dir);
        }
    }

    private static List<String> java(String role, Path dir, int cpu) {
        return Child.java(AeronPeer.class.getName(), role, dir.toString(), String.valueOf(cpu));
    }

    private static void delete(Path dir) throws IOException {
        if (!Files.exists(dir)) {
            return;
        }
        try (Stream<Path> files = Files.walk(dir)) {
            for (Path p : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(p);
            }
        }
    }
}
