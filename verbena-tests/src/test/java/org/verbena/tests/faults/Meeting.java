// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.verbena.linux.SockDiag;
import org.verbena.testkit.Await;

/** Where the two ends of a connection meet to agree, as the kernel's list of Unix sockets shows it. */
final class Meeting {
    /** A column of {@code /proc/net/unix}, and the kernel's __SO_ACCEPTCON in it. */
    private static final int FLAGS = 3;
    private static final String LISTENS = "00010000";

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

    /** Sockets of the name: one of the client, one more when the server has come. */
    long sockets() throws IOException {
        return lines().size();
    }

    /** Until the client listens: who is stopped between bind and listen cannot be met. */
    void awaitListener() throws IOException {
        Await.until(Child.LIMIT, this::isListening, () -> "nobody listens at " + name);
    }

    /** Until the server has come, whether the client sees that or not. */
    void awaitBoth() throws IOException {
        Await.until(Child.LIMIT, () -> sockets() > 1, () -> "nobody comes to " + name);
    }

    private boolean isListening() throws IOException {
        return lines().stream().anyMatch(l -> l.split(" +", -1)[FLAGS].equals(LISTENS));
    }

    private List<String> lines() throws IOException {
        return Files.readAllLines(Path.of("/proc/net/unix")).stream().filter(l -> l.endsWith(" " + name)).toList();
    }
}
