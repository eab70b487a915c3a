// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.UnixSocket;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.Engine;

/**
 * The query for the context behind an abstract Unix name: the reply is the instance of the context that has bound it. The
 * kernel gives a name to one process of the network namespace and removes it when that process ends.
 */
public final class InstanceQuery {
    private static final int BACKLOG = 1024;

    private InstanceQuery() {}

    /**
     * Binds a name and answers all queries, until it is closed.
     *
     * @throws LinuxException {@code EADDRINUSE} if it is in use
     */
    public static Acceptor answer(Engine engine, long instance, String name) throws LinuxException {
        return new Acceptor(engine, UnixSocket.listen(name, BACKLOG), asker -> {
            MemorySegment m = new ControlMessage.Writer(ControlMessage.IDENTITY).putLong(instance).segment();
            asker.send(m, 0, m.byteSize(), new int[0]);
            asker.close();
        });
    }

    /**
     * Queries; {@code peer} names the other side in error messages. The socket is closed when the reply arrives, or by
     * {@link #giveUp}.
     */
    public static CompletableFuture<Long> ask(Engine engine, UnixSocket s, String verb, String peer)
            throws VerbsException {
        CompletableFuture<Long> f = new CompletableFuture<>();
        try {
            s.setNonBlocking(true);
            Control.checkUser(verb, s);
            engine.watch(s.fd(), Epoll.IN, events -> answered(engine, s, f, verb, peer));
        } catch (LinuxException e) {
            giveUp(engine, s);
            throw new VerbsException(verb, e);
        } catch (VerbsException e) {
            giveUp(engine, s);
            throw e;
        }
        return f;
    }

    /** Closes the socket of a query; may be called twice. */
    public static void giveUp(Engine engine, UnixSocket s) {
        engine.forget(s.fd());
        s.close();
    }

    private static void answered(Engine engine, UnixSocket s, CompletableFuture<Long> f, String verb, String peer) {
        MemorySegment buffer = Arena.ofAuto().allocate(ControlMessage.MAX_BYTES, 8);
        try {
            int n = s.receive(buffer, new int[0]);
            if (n == -Errno.EAGAIN) {
                return;
            }
            if (n <= 0) {
                throw new ProtocolException(peer + " has gone");
            }
            ControlMessage.Reader m = new ControlMessage.Reader(buffer.asSlice(0, n));
            long instance = m.getLong();
            m.end();
            if (m.type() != ControlMessage.IDENTITY || instance == 0) {
                throw new ProtocolException(peer + " is no Verbena of this version");
            }
            f.complete(instance);
        } catch (ProtocolException | IllegalStateException e) {
            f.completeExceptionally(new VerbsException(verb, Errno.ECONNREFUSED, String.valueOf(e.getMessage())));
        }
        giveUp(engine, s);
    }
}
