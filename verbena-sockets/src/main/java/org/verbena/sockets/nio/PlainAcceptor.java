// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.FileDescriptor;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOptions;
import java.net.SocketTimeoutException;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.NioSocketImpl;

/**
 * Accepts, for a listener of Verbena's, into an implementation of the JDK's: {@link java.net.ServerSocket} hands it one
 * when another agent has taken back what Verbena's has changed there. Only the JDK's own can fill it, so one of these
 * has the listener's descriptor; of it the protected members of {@link SocketImpl} are used, and nothing private.
 */
final class PlainAcceptor {
    /** Connections are waited for elsewhere: here is one, or another thread or process was faster. */
    private static final int MILLIS = 1;

    private static volatile @Nullable Supplier<MethodHandles.Lookup> members;

    /** Its own socket is never bound: its collector, or {@link #close}, closes it. */
    private final SocketImpl jdks = new NioSocketImpl(true);
    private final MethodHandle accept;
    private final MethodHandle close;
    private boolean closed; // guarded by this

    /** Says what reaches the protected members of {@link SocketImpl}; asked when they are needed. */
    static void reachBy(Supplier<MethodHandles.Lookup> lookup) {
        members = lookup;
    }

    /** @throws SocketException if it was not set */
    static MethodHandles.Lookup members() throws SocketException {
        Supplier<MethodHandles.Lookup> by = members;
        if (by == null) {
            throw new SocketException("Not a newly created SocketImpl");
        }
        return by.get();
    }

    /**
     * For a listener that is bound and does not block.
     *
     * @throws SocketException if this is a JDK where it does not work
     */
    PlainAcceptor(FileDescriptor listening, int port) throws IOException {
        MethodHandles.Lookup lookup = members();
        try {
            MethodType nothing = MethodType.methodType(void.class);
            accept = lookup.findVirtual(SocketImpl.class, "accept", nothing.appendParameterTypes(SocketImpl.class));
            close = lookup.findVirtual(SocketImpl.class, "close", nothing);
            lookup.findVirtual(SocketImpl.class, "create", nothing.appendParameterTypes(boolean.class))
                    .invokeExact(jdks, true);
            lookup.findSetter(SocketImpl.class, "fd", FileDescriptor.class).invokeExact(jdks, listening);
            lookup.findSetter(SocketImpl.class, "localport", int.class).invokeExact(jdks, port);
            jdks.setOption(SocketOptions.SO_TIMEOUT, MILLIS);
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw failure(e);
        }
    }

    private static SocketException failure(Throwable e) {
        SocketException s = new SocketException("the JDK's implementation of sockets cannot be accepted into: " + e);
        s.initCause(e);
        return s;
    }

    /** Takes a connection; false if there is none, or the listener is closed. */
    synchronized boolean accept(SocketImpl into) throws IOException {
        if (closed) {
            return false;
        }
        try {
            accept.invokeExact(jdks, into);
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw failure(e);
        }
    }

    /** Before the listener's descriptor is closed: it is not used from here on. */
    synchronized void close() {
        closed = true;
        try {
            close.invokeExact(jdks);
        } catch (Throwable e) {
            // its own socket is left to its collector
        }
    }
}
