// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.UnixSocket;

/**
 * The handshake of the end that was accepted: connects to the name of the client's cookie, again and again until that listens,
 * and sends HELLO first.
 */
final class ServerHandshake extends Handshake {
    private static final long FIRST_RETRY_NANOS = 1_000_000L;

    private long retryNanos = FIRST_RETRY_NANOS;

    ServerHandshake(StreamEngine engine, RingStream stream, SocketChannel tcp, @Nullable String device) {
        super(engine, stream, tcp, Stream.Role.SERVER, device);
    }

    @Override
    void rendezvous(long own, long other) {
        cookies(other, own);
        connectToPeer();
    }

    private void connectToPeer() {
        if (is(State.DONE)) {
            return;
        }
        if (isStreamClosed()) {
            end(FallbackReason.CLOSED_EARLY);
            return;
        }
        try {
            UnixSocket socket = UnixSocket.connect(name());
            FallbackReason refusal = refusalOf(socket);
            if (refusal != null) {
                socket.close();
                end(refusal);
                return;
            }
            connected(socket);
        } catch (LinuxException e) {
            long now = System.nanoTime();
            if (e.errno() != Errno.ECONNREFUSED && e.errno() != Errno.EAGAIN) {
                if (e.errno() == Errno.EPROTOTYPE) {
                    end(FallbackReason.NAME_TAKEN);
                } else {
                    end(e);
                }
            } else if (now - rendezvousEnd() > 0) {
                end(timeoutReason());
            } else {
                wait(Math.min(now + retryNanos, rendezvousEnd() + 1), this::connectToPeer);
                retryNanos *= 2;
            }
        }
    }

    @Override
    void onConnected() {
        sendHello();
    }

    @Override
    boolean isFromPeer(HandshakeMessage.Hello hello) {
        if (hello.accepted() != serverCookie()) {
            end(FallbackReason.BAD_PEER);
            return false;
        }
        return true;
    }

    @Override
    void answer(HandshakeMessage.Hello hello) {
        // this end has sent it when the ends were connected
    }

    @Override
    void stopRendezvous() {
        // nothing is open but the socket to the other end
    }
}
