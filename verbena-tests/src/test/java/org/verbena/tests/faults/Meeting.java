package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import org.verbena.linux.SockDiag;

/** Where the two ends of a connection meet to agree, as the kernel's list of Unix sockets shows it. */
final class Meeting {
    private final String name;

    private Meeting(String name) {
        this.name = name;
    }

    /** Of the connection that has these ports on the loopback. */
    static Meeting of(SockDiag diag, int clientsPort, int serversPort) throws IOException {
        long cookie = diag.find(here(clientsPort), here(serversPort)).orElseThrow().cookie();
        return new Meeting("@verbena-stream-" + Long.toHexString(cookie));
    }

    /** Opens what {@link #of} asks, and asks it once: the first time takes long. */
    static SockDiag open(int port) throws IOException {
        SockDiag diag = SockDiag.open();
        assertThat(diag.find(here(port), here(port))).isEmpty();
        return diag;
    }

    private static InetSocketAddress here(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** Sockets of the name: one where the client listens, one more when the server has come. */
    long sockets() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/net/unix"))) {
            return lines.filter(l -> l.endsWith(" " + name)).count();
        }
    }

    void await(long sockets) {
        Wait.until(Child.LIMIT, () -> sockets() >= sockets, () -> "not " + sockets + " at " + name);
    }
}
