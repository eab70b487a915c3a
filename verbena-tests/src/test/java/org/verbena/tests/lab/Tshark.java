// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The verdict of Wireshark on captures: another implementation parses all packets. It does not check the ICRC (version
 * 4.0), which {@link RocePacket} does.
 */
final class Tshark {
    private static final Path PROGRAM = Path.of("/usr/bin/tshark");
    private static final int SHOWN = 10;
    /** It takes any payload for RPC over RDMA, and calls those of less than four bytes malformed. */
    private static final String GUESS = "rpcordma";
    /** It takes payloads that begin with some numbers for Ethernet's, and calls them malformed if they make no sense as such. */
    private static final String NO_ETHERNET = "infiniband.identify_payload:FALSE";

    private Tshark() {}

    static boolean isThere() {
        return Files.isExecutable(PROGRAM);
    }

    /**
     * The findings.
     *
     * @param packets of RoCEv2
     * @param malformed numbers of frames that it calls malformed
     */
    record Opinion(long packets, List<String> malformed) {
        /** For people. */
        String of(Path capture) {
            return "tshark: " + capture.getFileName() + ": " + packets + " packets of RoCEv2, " + (malformed.isEmpty()
                    ? "none malformed"
                    : malformed.size() + " malformed, frames " + String.join(", ", malformed.subList(0, Math.min(SHOWN,
                            malformed.size()))));
        }
    }

    static Opinion on(Path capture) throws IOException, InterruptedException {
        Process p = new ProcessBuilder(PROGRAM.toString(), "-n", "-r", capture.toString(), "--disable-protocol", GUESS,
                "-o", NO_ETHERNET, "-Y", "infiniband", "-T", "fields", "-e", "frame.number", "-e", "_ws.malformed")
                .redirectError(
                        ProcessBuilder.Redirect.DISCARD)
                .start();
        long packets = 0;
        List<String> malformed = new ArrayList<>();
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(p.getInputStream(),
                StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] fields = line.split("\t", -1);
                packets++;
                if (fields.length > 1 && !fields[1].isEmpty()) {
                    malformed.add(fields[0]);
                }
            }
        }
        int code = p.waitFor();
        if (code != 0) {
            throw new IOException("tshark ended with " + code + " on " + capture);
        }
        return new Opinion(packets, malformed);
    }
}
