// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import java.lang.System.Logger.Level;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.UnixSocket;
import org.verbena.shm.layout.EngineLog;
import org.verbena.verbs.spi.Engine;

/**
 * Accepts connections on the engine's thread. When the process has no descriptors left, one is rejected: it could not be
 * accepted, and the engine would be woken for it endlessly.
 */
public final class Acceptor {
    /** Handles a connection; one that fails is closed. */
    interface Handler {
        void accepted(UnixSocket socket) throws LinuxException;
    }

    private static final int ACCEPT_BATCH = 64;

    private final Engine engine;
    private final UnixSocket listener;
    private final Handler handler;
    private final SpareDescriptor spare = new SpareDescriptor();

    Acceptor(Engine engine, UnixSocket listener, Handler handler) throws LinuxException {
        this.engine = engine;
        this.listener = listener;
        this.handler = handler;
        try {
            listener.setNonBlocking(true);
            spare.keep();
            engine.watch(listener.fd(), Epoll.IN, events -> accept());
        } catch (LinuxException e) {
            close();
            throw e;
        }
    }

    private void accept() {
        for (int i = 0; i < ACCEPT_BATCH; i++) {
            try {
                UnixSocket s = listener.accept();
                if (s == null) {
                    return;
                }
                s.setNonBlocking(true);
                spare.takeBack();
                try {
                    handler.accepted(s);
                } catch (LinuxException e) {
                    s.close();
                    throw e;
                }
            } catch (LinuxException e) {
                if (e.errno() == Errno.EMFILE || e.errno() == Errno.ENFILE) {
                    rejectPending();
                }
                EngineLog.logSometimes(Level.WARNING, "cannot accept another process", e);
                return;
            } catch (IllegalStateException e) {
                // the listener was closed meanwhile
                return;
            }
        }
    }

    /** Uses the spare descriptor to close the connection that waits. */
    private void rejectPending() {
        if (!spare.lend()) {
            spare.takeBack();
            return;
        }
        try {
            UnixSocket waiting = listener.accept();
            if (waiting != null) {
                waiting.close();
            }
        } catch (LinuxException e) {
            EngineLog.log(Level.DEBUG, "another process waits", e);
        }
        spare.takeBack();
    }

    /** For other receivers of descriptors. */
    SpareDescriptor spare() {
        return spare;
    }

    public void close() {
        engine.forget(listener.fd());
        listener.close();
        spare.lend();
    }
}
