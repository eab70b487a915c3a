// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.UnixSocket;
import org.verbena.sockets.stream.memory.StreamLog;
import org.verbena.verbs.VerbsException;

/**
 * The handshake of the end that connected: gets a permit to listen, listens at the name of its cookie, and answers the
 * HELLO of a peer that connects there.
 */
final class ClientHandshake extends Handshake {
    private @Nullable UnixSocket listener;
    /** Whether it may listen, or has. */
    private boolean hasPermit;
    /** Why a peer that came to the name was rejected; null if none was. */
    private @Nullable FallbackReason rejectedPeer;

    ClientHandshake(StreamEngine engine, RingStream stream, SocketChannel tcp, @Nullable String device) {
        super(engine, stream, tcp, Stream.Role.CLIENT, device);
    }

    @Override
    void rendezvous(long own, long other) throws LinuxException {
        cookies(own, 0);
        hasPermit = engine().listening().acquire(this);
        if (hasPermit) {
            listen();
        } else {
            wait(rendezvousEnd(), () -> end(FallbackReason.NO_DESCRIPTORS));
        }
    }

    /** Others have given their turn to listen to this one. */
    void onPermit() {
        hasPermit = true;
        if (is(State.DONE)) {
            releasePermit();
            return;
        }
        try {
            listen();
        } catch (LinuxException e) {
            endUnlessClosed(e);
        }
    }

    private void releasePermit() {
        if (hasPermit) {
            hasPermit = false;
            engine().listening().release(engine());
        } else {
            engine().listening().cancel(this);
        }
    }

    private void listen() throws LinuxException {
        try {
            UnixSocket socket = UnixSocket.listen(name(), 4);
            listener = socket;
            socket.setNonBlocking(true);
            engine().watch(socket.fd(), Epoll.IN, this::onAccept);
            wait(rendezvousEnd(), this::onRendezvousTimeout);
        } catch (LinuxException e) {
            if (e.errno() == Errno.EADDRINUSE) {
                end(FallbackReason.NAME_TAKEN);
            } else {
                throw e;
            }
        }
    }

    private void onAccept() {
        UnixSocket socket = listener;
        if (socket == null) {
            return;
        }
        try {
            UnixSocket caller = socket.accept();
            if (caller == null) {
                return;
            }
            FallbackReason refusal = refusalOf(caller);
            rejectedPeer = refusal == null ? rejectedPeer : refusal;
            if (!is(State.RENDEZVOUS) || refusal != null) {
                caller.close(); // of another user, or one too many: the other end may still come
                return;
            }
            connected(caller);
        } catch (LinuxException e) {
            end(e);
        }
    }

    private void onRendezvousTimeout() {
        if (is(State.RENDEZVOUS)) {
            end(rejectedPeer == null ? timeoutReason() : rejectedPeer);
        }
    }

    /**
     * In a process whose first connection this is, what sessions need takes time: the other end is doing the same just
     * now.
     */
    @Override
    void onConnected() {
        try {
            engine().sessions();
        } catch (VerbsException e) {
            StreamLog.debug("no streams: " + e.getMessage()); // again when HELLO has come, and then it counts
        }
    }

    @Override
    boolean isFromPeer(HandshakeMessage.Hello hello) {
        boolean isPeer = isPeer(hello.accepted());
        if (!isPeer) { // the other end may still come
            dropPeer();
            wait(rendezvousEnd(), this::onRendezvousTimeout);
        }
        return isPeer;
    }

    @Override
    void answer(HandshakeMessage.Hello hello) {
        cookies(clientCookie(), hello.accepted());
        sendHello();
    }

    @Override
    void stopRendezvous() {
        UnixSocket socket = listener;
        listener = null;
        if (socket != null) {
            engine().forget(socket.fd());
            socket.close();
        }
        releasePermit();
    }
}
