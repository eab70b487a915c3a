// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;

import org.jspecify.annotations.Nullable;

/** The exceptions of channels as those that sockets throw: those of channels, and classic ones, in their own words. */
final class SocketExceptions {
    private SocketExceptions() {}

    /** What a socket would have thrown; exceptions that sockets throw are left as they are. */
    static IOException of(Exception e) {
        if (e instanceof IOException io) {
            return io;
        }
        String message = message(e);
        if (message == null) {
            throw (RuntimeException) e;
        }
        return withCause(message, e);
    }

    /** What the JDK's implementation of a classic socket would have thrown. */
    static IOException classic(Exception e) {
        return switch (e) {
            case SocketException s -> s;
            case InterruptedIOException i -> i; // time-outs, too
            case ClosedChannelException _ -> withCause("Socket closed", e);
            case NotYetConnectedException _ -> withCause("Not connected", e);
            case NotYetBoundException _ -> withCause("Not bound", e);
            case IOException io -> withCause(io.getMessage(), e);
            default -> of(e);
        };
    }

    /** For methods that throw {@link SocketException} alone. */
    static SocketException socketException(IOException e) {
        return e instanceof SocketException s ? s : withCause(message(e), e);
    }

    private static SocketException withCause(@Nullable String message, Exception cause) {
        SocketException s = new SocketException(message);
        s.initCause(cause);
        return s;
    }

    private static @Nullable String message(Exception e) {
        return switch (e) {
            case ClosedChannelException _ -> "Socket is closed";
            case NotYetConnectedException _ -> "Socket is not connected";
            case AlreadyConnectedException _ -> "Already connected";
            case AlreadyBoundException _ -> "Already bound";
            case NotYetBoundException _ -> "Socket is not bound yet";
            case UnsupportedAddressTypeException _ -> "Unsupported address type";
            case UnresolvedAddressException _ -> "Unresolved address";
            case IOException io -> io.getMessage();
            default -> null;
        };
    }
}
