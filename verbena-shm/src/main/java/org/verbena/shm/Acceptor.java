package org.verbena.shm;

import java.lang.System.Logger.Level;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Eventfd;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.UnixSocket;

/**
 * Accepts connections on the engine's thread. It keeps a spare descriptor: when the process has none left, a connection
 * could otherwise neither be accepted nor turned away, and the engine would be called for it without end.
 */
final class Acceptor {
    /** What is done with a connection; one that fails is closed. */
    interface Handler {
        void accepted(UnixSocket socket) throws LinuxException;
    }

    private static final int AT_ONCE = 64;

    private final Engine engine;
    private final UnixSocket listener;
    private final Handler handler;
    private @Nullable Fd spare;

    Acceptor(Engine engine, UnixSocket listener, Handler handler) throws LinuxException {
        this.engine = engine;
        this.listener = listener;
        this.handler = handler;
        try {
            listener.setNonBlocking(true);
            spare = Eventfd.create();
            engine.watch(listener.fd(), Epoll.IN, events -> accept());
        } catch (LinuxException e) {
            close();
            throw e;
        }
    }

    private void accept() {
        for (int i = 0; i < AT_ONCE; i++) {
            try {
                UnixSocket s = listener.accept();
                if (s == null) {
                    return;
                }
                s.setNonBlocking(true);
                try {
                    handler.accepted(s);
                } catch (LinuxException e) {
                    s.close();
                    throw e;
                }
            } catch (LinuxException e) {
                if (e.errno() == Errno.EMFILE || e.errno() == Errno.ENFILE) {
                    turnAway();
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
    private void turnAway() {
        Fd s = spare;
        if (s == null) {
            return;
        }
        s.close();
        spare = null;
        try {
            UnixSocket waiting = listener.accept();
            if (waiting != null) {
                waiting.close();
            }
            spare = Eventfd.create();
        } catch (LinuxException e) {
            EngineLog.log(Level.DEBUG, "no spare descriptor", e);
        }
    }

    void close() {
        engine.forget(listener.fd());
        listener.close();
        Fd s = spare;
        if (s != null) {
            s.close();
        }
    }
}
