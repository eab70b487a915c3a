// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;

import org.verbena.linux.ProcUnix;
import org.verbena.linux.SockDiag;
import org.verbena.testkit.Await;

/** The rendezvous of the two ends of a connection, observed through the list of Unix sockets in the kernel. */
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

    /** Opens the resources of {@link #of}, and uses them once: the first use takes long. */
    static SockDiag open(int port) throws IOException {
        SockDiag diag = SockDiag.open();
        assertThat(diag.find(here(port), here(port))).isEmpty();
        return diag;
    }

    private static InetSocketAddress here(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** Sockets of the name: one of the client, one more when the server has connected. */
    long sockets() throws IOException {
        return named().size();
    }

    /** Waits until the client listens: a client that is stopped between bind and listen cannot be reached. */
    void awaitListener() throws IOException {
        Await.until(Child.LIMIT, this::isListening, () -> "no listener at " + name);
    }

    /** Waits until the server has connected, whether the client has noticed or not. */
    void awaitBoth() throws IOException {
        Await.until(Child.LIMIT, () -> sockets() > 1, () -> "no connection at " + name);
    }

    private boolean isListening() throws IOException {
        return named().stream().anyMatch(ProcUnix::isListener);
    }

    private List<ProcUnix> named() throws IOException {
        return ProcUnix.all(Path.of("/proc/self")).stream().filter(u -> u.path().equals(name)).toList();
    }
}
