// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.ProcUnix;
import org.verbena.linux.Sys;
import org.verbena.linux.UnixSocket;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.Engine;

/**
 * The listeners of ports. A port is an abstract Unix name: the kernel gives it to one process of the network
 * namespace and removes it when that process ends. Each user has ports of its own. A client that connects to one receives the
 * listening context's instance.
 */
public final class PortDirectory {
    private static final Pattern OTHER_USER = Pattern.compile("verbena-port/([0-9]+)/([0-9]+)");

    private final Engine engine;
    private final long instance;

    public PortDirectory(Engine engine, long instance) {
        this.engine = engine;
        this.instance = instance;
    }

    private static String name(int user, int port) {
        return "verbena-port/" + user + "/" + port;
    }

    /** Binds a port and answers all queries, until it is closed. */
    public Acceptor listen(String verb, int port) throws VerbsException {
        try {
            return InstanceQuery.answer(engine, instance, name(Sys.uid(), port));
        } catch (LinuxException e) {
            throw e.errno() == Errno.EADDRINUSE
                    ? new VerbsException(verb, Errno.EADDRINUSE, "port " + port + " has a listener already")
                    : new VerbsException(verb, e);
        }
    }

    /** The instance of the context that listens on a port. */
    public long listenerInstance(String verb, int port, Duration timeout) throws VerbsException {
        UnixSocket s = connect(verb, port);
        CompletableFuture<Long> f = InstanceQuery.ask(engine, s, "find the listener of port " + port, "the listener");
        try {
            return Control.get(verb, f, timeout,
                    () -> "the process that listens there does not answer: is it stopped?");
        } finally {
            InstanceQuery.giveUp(engine, s);
        }
    }

    private static UnixSocket connect(String verb, int port) throws VerbsException {
        List<Integer> users = new ArrayList<>(List.of(Sys.uid()));
        users.addAll(Control.trustedUsers());
        for (int user : users) {
            try {
                return UnixSocket.connect(name(user, port));
            } catch (LinuxException e) {
                if (e.errno() != Errno.ECONNREFUSED) {
                    throw new VerbsException(verb, e);
                }
            }
        }
        String otherUser = otherUser(port);
        throw otherUser.isEmpty()
                ? new VerbsException(verb, Errno.ECONNREFUSED,
                        "no listener on port " + port + " of shm0: start the listener first")
                : new VerbsException(verb, Errno.EACCES, "the listener on port " + port + " belongs to user "
                        + otherUser
                        + ", this process to user " + Sys.uid()
                        + ": shm0 connects processes of one user (others by -Dverbena.shm.trusted-uids=<uid,…>)");
    }

    /** The other user that listens on a port, by the kernel's list of Unix sockets; empty if there is none. */
    private static String otherUser(int port) {
        try {
            return ProcUnix.abstractNames().stream().map(OTHER_USER::matcher).filter(m -> m.matches() && m.group(2)
                    .equals(Integer.toString(port)))
                    .map(m -> m.group(1)).findFirst().orElse("");
        } catch (IOException e) {
            return "";
        }
    }
}
