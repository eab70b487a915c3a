// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;

import org.verbena.cli.perf.session.PerfClient;
import org.verbena.cli.perf.session.PerfOptions;
import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.OpenDevices;

/** The work of a process that another {@code verbena perf} has started. */
final class PerfWorker {
    private PerfWorker() {}

    /** Ends this JVM at once when standard input ends, that is when the parent does. */
    static void endWithParent() {
        Thread.ofPlatform().daemon().name("perf-parent").start(() -> {
            try {
                while (System.in.read() >= 0) {
                    // no thread writes
                }
            } catch (IOException e) {
                // the same
            }
            Runtime.getRuntime().halt(ExitCode.FAILURE);
        });
    }

    static int measure(PerfOptions options, InetSocketAddress address, PrintWriter out) {
        PerfPair.Reporter reporter = new PerfPair.Reporter(out);
        try (OpenDevices devices = new OpenDevices(); PerfClient client = new PerfClient(options, devices, address)) {
            client.run(reporter);
            return 0;
        } catch (IOException e) {
            reporter.failed(e.getMessage() == null ? e.toString() : e.getMessage());
            return ExitCode.FAILURE;
        }
    }
}
