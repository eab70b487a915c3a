// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Assumptions;

/** TAP interfaces in the network namespace of the calling thread, made by ip(8); they go with the namespace. */
public final class TapInterface {
    private TapInterface() {}

    /** Skips the test, with a line on standard output, if the kernel has no such interfaces. */
    public static void require() {
        if (!Files.exists(Path.of("/dev/net/tun"))) {
            System.out.println("SKIPPED: the kernel has no TAP interfaces: /dev/net/tun is missing");
            Assumptions.abort("no TAP interfaces");
        }
    }

    /**
     * Makes one, which is not yet switched on.
     *
     * @param options more words for {@code ip tuntap add}, such as {@code user nobody}
     */
    public static void add(String name, String... options) throws Exception {
        ip(Stream.concat(Stream.of("tuntap", "add", "dev", name, "mode", "tap"), Stream.of(options)).toArray(
                String[]::new));
    }

    /** Makes one, gives the kernel an address on it, such as {@code 10.9.0.1/24}, and switches it on. */
    public static void addUp(String name, String address, String... options) throws Exception {
        add(name, options);
        up(name, address);
    }

    /** Gives the kernel an address on an interface, and switches it on. */
    public static void up(String name, String address) throws Exception {
        ip("address", "add", address, "dev", name);
        ip("link", "set", name, "up");
    }

    /** Runs ip(8), which has to succeed; answers what it said. */
    public static String ip(String... words) throws Exception {
        List<String> command = Stream.concat(Stream.of("ip"), Stream.of(words)).toList();
        Finished done = Finished.run(command);
        if (done.code() != 0) {
            throw new AssertionError(String.join(" ", command) + ": " + done.output());
        }
        return done.output();
    }
}
