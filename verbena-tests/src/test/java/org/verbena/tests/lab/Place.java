// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.io.IOException;
import java.time.Duration;

/** Where commands run: this host, in the namespace of the lab, or a virtual machine. Any thread may start commands. */
interface Place {
    /** A command that runs. */
    interface Task {
        /** Waits for its end, and kills it with all it has started when the limit is over. */
        Outcome await(Duration limit) throws IOException, InterruptedException;

        /** What it has printed so far, as far as that can be known. */
        String printed() throws IOException, InterruptedException;
    }

    String name();

    /** The last part of its addresses. */
    int number();

    /** The index, in the table of its RDMA device, of the GID that is its address in a family, 4 or 6. */
    int gid(int family);

    Task start(String command) throws IOException;

    default Outcome run(String command, Duration limit) throws IOException, InterruptedException {
        return start(command).await(limit);
    }

    /** For what has to work. */
    default String must(String command) throws IOException, InterruptedException {
        Outcome o = run(command, Duration.ofSeconds(20));
        if (o.code() != 0) {
            throw new IOException(name() + ": " + command + ": " + o.end() + ": " + o.output().strip());
        }
        return o.output();
    }
}
