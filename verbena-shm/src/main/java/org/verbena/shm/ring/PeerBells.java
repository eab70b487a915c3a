// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.ring;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Doorbell;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.shm.layout.EngineLog;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.verbs.VerbsException;

/** The doorbells of a peer: its completion channels, and its engine as number 0. Safe for use by several threads. */
public final class PeerBells {
    private static final int MAX_BELLS = 256;

    private final PeerMapping peer;
    private final Map<Integer, Doorbell> bells = new ConcurrentHashMap<>();

    public PeerBells(PeerMapping peer) {
        this.peer = peer;
    }

    /** The name by which peers ring a channel of a context; 0 is its engine. */
    public static String name(long instance, int bell) {
        return "verbena-bell/" + Long.toHexString(instance) + "/" + bell;
    }

    /** Rings a completion channel of the peer, or, as number 0, its engine, which has waiting work. */
    public void ring(int bell) {
        Doorbell d = bells.get(bell);
        if (d == null) {
            d = connect(bell);
        }
        if (d != null) {
            d.ring();
        }
    }

    /**
     * Opens a doorbell in advance, so that no wake-up is lost later for want of descriptors.
     *
     * @throws VerbsException if this process is out of resources; a missing doorbell of the peer is no error here
     */
    public void reach(String verb, int bell) throws VerbsException {
        try {
            if (bells.get(bell) == null) {
                open(bell);
            }
        } catch (LinuxException e) {
            if (e.errno() != Errno.ECONNREFUSED) {
                throw new VerbsException(verb, e);
            }
        }
    }

    private @Nullable Doorbell connect(int bell) {
        try {
            return open(bell);
        } catch (LinuxException e) {
            EngineLog.log(System.Logger.Level.DEBUG, "cannot wake " + peer.name(), e);
            return null;
        }
    }

    private Doorbell open(int bell) throws LinuxException {
        synchronized (bells) {
            if (bells.size() >= MAX_BELLS) {
                bells.values().forEach(Doorbell::close);
                bells.clear();
            }
            Doorbell d = Doorbell.connect(name(peer.instance(), bell));
            Doorbell old = bells.put(bell, d);
            if (old != null) {
                old.close();
            }
            return d;
        }
    }

    public void end() {
        bells.values().forEach(Doorbell::close);
    }
}
