// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HostPort;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.PeerIdentity;
import org.verbena.linux.Sys;
import org.verbena.linux.UnixSocket;

/**
 * Shows senders of the same user where a listener is, while it listens: an abstract Unix name made of user,
 * device and address. The kernel lists these names, and takes one back when its process has gone, however that ended.
 *
 * <p>Anybody may take such a name, so a sender asks the kernel whose process it is. Nothing is said on the socket.
 */
final class CopyBeacon implements AutoCloseable {
    private static final Path NAMES = Path.of("/proc/net/unix");
    private static final int BACKLOG = 1024;
    private static final int PAUSE_MILLIS = 100;

    private final UnixSocket socket;

    private CopyBeacon(UnixSocket socket) {
        this.socket = socket;
        Thread.ofPlatform().daemon().name("verbena-copy-beacon").start(this::answer);
    }

    private static String prefix(String device) {
        return "verbena-copy/" + Integer.toUnsignedString(Sys.uid()) + "/" + device + "/";
    }

    /**
     * Shows an address until it is closed.
     *
     * @throws LinuxException {@code EADDRINUSE} (somebody else has taken the name), {@code EMFILE}
     */
    static CopyBeacon light(String device, InetSocketAddress at) throws LinuxException {
        return new CopyBeacon(UnixSocket.listen(prefix(device) + HostPort.text(at), BACKLOG));
    }

    /** Takes those who look away again: connections that nobody takes would fill the backlog. */
    private void answer() {
        while (true) {
            try (UnixSocket _ = socket.accept()) {
                // who listens is what the kernel has told
            } catch (IllegalStateException closed) {
                return;
            } catch (LinuxException e) {
                if (e.errno() == Errno.EINVAL || e.errno() == Errno.EBADF || !pause()) {
                    return; // closed
                }
            }
        }
    }

    /** Out of descriptors, for a while. */
    private static boolean pause() {
        try {
            Thread.sleep(PAUSE_MILLIS);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Where this user's listeners on a device are, by port; empty also where the kernel's list is not readable. */
    static List<InetSocketAddress> listeners(String device) {
        String prefix = prefix(device);
        Pattern form = Pattern.compile(" @" + Pattern.quote(prefix)
                + "((?:[0-9.]+|\\[[0-9a-f:.]+\\]):[1-9][0-9]{0,4})$");
        try (Stream<String> names = Files.lines(NAMES, StandardCharsets.ISO_8859_1)) {
            // A socket that was accepted has the listener's name, too.
            return names.map(form::matcher).filter(Matcher::find).map(m -> m.group(1)).distinct()
                    .filter(address -> isOurs(prefix + address)).map(CopyBeacon::address).filter(Objects::nonNull)
                    .sorted(Comparator.comparingInt(InetSocketAddress::getPort).thenComparing(HostPort::text))
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            return List.of();
        }
    }

    /** Null for one that is none, which only a process of this user can have shown. */
    private static @Nullable InetSocketAddress address(String text) {
        try {
            return HostPort.parse(text).resolve();
        } catch (IllegalArgumentException | UnknownHostException e) {
            return null;
        }
    }

    /** Also one of another namespace, for the sender is told of that. */
    private static boolean isOurs(String name) {
        try (UnixSocket s = UnixSocket.connect(name)) {
            PeerIdentity listener = PeerIdentity.of(s);
            return listener != PeerIdentity.OTHER_USER && listener != PeerIdentity.UNMAPPED_USER;
        } catch (LinuxException e) {
            // gone meanwhile; one that does not answer, as when it is stopped, is there
            return e.errno() != Errno.ECONNREFUSED && e.errno() != Errno.EPROTOTYPE;
        }
    }

    @Override
    public void close() {
        socket.close();
    }
}
