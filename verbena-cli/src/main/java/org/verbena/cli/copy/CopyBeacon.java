// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HostPort;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.PeerIdentity;
import org.verbena.linux.ProcUnix;
import org.verbena.linux.Sys;
import org.verbena.linux.UnixSocket;

/**
 * Publishes the address of a listener to senders of the same user while it listens: an abstract Unix name made of user,
 * device and address. The kernel lists these names, and removes one when its process has ended, for whatever reason.
 *
 * <p>Anybody may take such a name, so a sender asks the kernel which process owns it. Nothing is sent on the socket.
 */
final class CopyBeacon implements AutoCloseable {
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
     * Publishes an address until it is closed.
     *
     * @throws LinuxException {@code EADDRINUSE} (the name is taken), {@code EMFILE}
     */
    static CopyBeacon light(String device, InetSocketAddress at) throws LinuxException {
        return new CopyBeacon(UnixSocket.listen(prefix(device) + HostPort.text(at), BACKLOG));
    }

    /** Closes connections of searching senders: connections that are not accepted would fill the backlog. */
    private void answer() {
        while (true) {
            try (UnixSocket _ = socket.accept()) {
                // the kernel has reported the listener
            } catch (IllegalStateException closed) {
                return;
            } catch (LinuxException e) {
                if (e.errno() == Errno.EINVAL || e.errno() == Errno.EBADF || !pause()) {
                    return; // closed
                }
            }
        }
    }

    /** Out of descriptors, temporarily. */
    private static boolean pause() {
        try {
            Thread.sleep(PAUSE_MILLIS);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * The addresses of this user's listeners on a device, by port; empty also if the list of the kernel is not
     * readable.
     */
    static List<InetSocketAddress> listeners(String device) {
        String prefix = prefix(device);
        Pattern form = Pattern.compile(Pattern.quote(prefix)
                + "((?:[0-9.]+|\\[[0-9a-f:.]+\\]):[1-9][0-9]{0,4})");
        try {
            // An accepted socket has the name of the listener, too.
            return ProcUnix.abstractNames().stream().map(form::matcher).filter(Matcher::matches).map(m -> m.group(1))
                    .distinct()
                    .filter(address -> isOurs(prefix + address)).map(CopyBeacon::address).filter(Objects::nonNull)
                    .sorted(Comparator.comparingInt(InetSocketAddress::getPort).thenComparing(HostPort::text))
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Null for an invalid address, which only a process of this user can have published. */
    private static @Nullable InetSocketAddress address(String text) {
        try {
            return HostPort.parse(text).resolve();
        } catch (IllegalArgumentException | UnknownHostException e) {
            return null;
        }
    }

    /** Includes processes of another namespace, since the sender is told about that. */
    private static boolean isOurs(String name) {
        try (UnixSocket s = UnixSocket.connect(name)) {
            PeerIdentity listener = PeerIdentity.of(s);
            return listener != PeerIdentity.OTHER_USER && listener != PeerIdentity.UNMAPPED_USER;
        } catch (LinuxException e) {
            // gone meanwhile; a listener that does not answer, for instance because it is stopped, still exists
            return e.errno() != Errno.ECONNREFUSED && e.errno() != Errno.EPROTOTYPE;
        }
    }

    @Override
    public void close() {
        socket.close();
    }
}
