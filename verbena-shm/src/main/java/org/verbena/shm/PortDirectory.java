package org.verbena.shm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Sys;
import org.verbena.linux.UnixSocket;
import org.verbena.verbs.VerbsException;

/**
 * Who listens on which port. A port is an abstract Unix name: the kernel gives it to one process of the network
 * namespace and takes it back when that process ends. Each user has ports of its own. Whoever connects to one is told the
 * listening context's instance.
 */
final class PortDirectory {
    private static final int BACKLOG = 1024;
    private static final Pattern STRANGER = Pattern.compile(" @verbena-port/([0-9]+)/([0-9]+)$");

    private final ShmContext context;

    PortDirectory(ShmContext context) {
        this.context = context;
    }

    private static String name(int user, int port) {
        return "verbena-port/" + user + "/" + port;
    }

    /** Takes a port and answers all who ask, until it is closed. */
    Acceptor listen(String verb, int port) throws VerbsException {
        try {
            return new Acceptor(context.engine(), UnixSocket.listen(name(Sys.uid(), port), BACKLOG), this::answer);
        } catch (LinuxException e) {
            throw e.errno() == Errno.EADDRINUSE
                    ? new VerbsException(verb, Errno.EADDRINUSE, "somebody listens on port " + port + " already")
                    : new VerbsException(verb, e);
        }
    }

    private void answer(UnixSocket asker) {
        MemorySegment m = new ControlMessage.Writer(ControlMessage.IDENTITY).putLong(context.instance()).segment();
        asker.send(m, 0, m.byteSize(), new int[0]);
        asker.close();
    }

    /** The instance of the context that listens on a port. */
    long whoListens(String verb, int port, Duration timeout) throws VerbsException {
        CompletableFuture<Long> f = new CompletableFuture<>();
        UnixSocket s = connect(verb, port);
        try {
            s.setNonBlocking(true);
            Control.checkUser(verb, s.peerCredentials());
            context.engine().watch(s.fd(), Epoll.IN, events -> asked(s, port, f));
            return Control.get(verb, f, timeout,
                    () -> "the process that listens there does not answer: is it stopped?");
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        } finally {
            context.engine().forget(s.fd());
            s.close();
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
        String stranger = stranger(port);
        throw stranger.isEmpty()
                ? new VerbsException(verb, Errno.ECONNREFUSED,
                        "nobody listens on port " + port + " of shm0: start the listener first")
                : new VerbsException(verb, Errno.EACCES, "the listener on port " + port + " belongs to user " + stranger
                        + ", this process to user " + Sys.uid()
                        + ": shm0 connects processes of one user (others by -Dverbena.shm.trusted-uids=<uid,…>)");
    }

    /** The other user who listens on a port, as the kernel's list of Unix sockets has it; empty if there is none. */
    private static String stranger(int port) {
        try (Stream<String> sockets = Files.lines(Path.of("/proc/net/unix"), StandardCharsets.ISO_8859_1)) {
            return sockets.map(STRANGER::matcher).filter(m -> m.find() && m.group(2).equals(Integer.toString(port)))
                    .map(m -> m.group(1)).findFirst().orElse("");
        } catch (IOException | UncheckedIOException e) {
            return "";
        }
    }

    private static void asked(UnixSocket s, int port, CompletableFuture<Long> f) {
        if (f.isDone()) {
            return;
        }
        MemorySegment buffer = Arena.ofAuto().allocate(ControlMessage.MAX_BYTES, 8);
        try {
            int n = s.receive(buffer, new int[0]);
            if (n == -Errno.EAGAIN) {
                return;
            }
            if (n <= 0) {
                throw new ProtocolException("the listener has gone");
            }
            ControlMessage.Reader m = new ControlMessage.Reader(buffer.asSlice(0, n));
            long instance = m.getLong();
            m.end();
            if (m.type() != ControlMessage.IDENTITY || instance == 0) {
                throw new ProtocolException("the listener is no Verbena of this version");
            }
            f.complete(instance);
        } catch (ProtocolException | IllegalStateException e) {
            f.completeExceptionally(
                    new VerbsException("ask who listens on port " + port, Errno.ECONNREFUSED, text(e.getMessage())));
        }
    }

    private static String text(@Nullable String message) {
        return message == null ? "the listener has gone" : message;
    }
}
