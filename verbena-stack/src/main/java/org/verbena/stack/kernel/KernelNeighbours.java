// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.kernel;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import org.verbena.linux.LinuxException;
import org.verbena.linux.NetworkNeighbours;
import org.verbena.stack.ip.AddressMap;
import org.verbena.stack.ip.Ip;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.wire.SendFrame;

/** The Ethernet addresses of hosts of the link that the stack sends to, as the kernel has found them: it asks for them, and whether they are there still. */
final class KernelNeighbours {
    /** Of more all are forgotten that nothing waits for. */
    private static final int MOST = 1 << 14;
    /** Frames that wait for the addresses of hosts: of one, and of all. */
    private static final int WAITING_EACH = 8;
    private static final int WAITING = 64;
    /** An answer that was lost is asked for again. */
    private static final long RETRY = 1_000_000_000L;
    /** After that nothing waits any more: the kernel has asked three times by then, and says so if it is not in trouble. */
    private static final long PATIENCE = 5_000_000_000L;
    /** The kernel asks a host that it has not heard of for long within this time. */
    private static final long USED_AGAIN = 10_000_000_000L;

    private final KernelHost host;
    private AddressMap<Neighbour> byAddress;
    /** Those that frames wait for, so {@link #WAITING} at most. */
    private final List<Neighbour> waitedFor = new ArrayList<>();
    private int waiting;

    private record Held(Ip ip, SendFrame frame, int bytes, int type) {}

    /** A host of the link. */
    static final class Neighbour {
        final IpAddress address;
        private final ArrayDeque<Held> held = new ArrayDeque<>(2);
        private long mac;
        private boolean known;
        /** Whether the kernel has not heard of it for a while. */
        private boolean old;
        /** When the kernel was told last that it is sent to, and when that began while its address is not known. */
        private long used;
        private long began;

        Neighbour(IpAddress address) {
            this.address = address;
        }
    }

    KernelNeighbours(KernelHost host) {
        this.host = host;
        byAddress = new AddressMap<>(host.random);
    }

    Neighbour get(IpAddress a) {
        Neighbour n = byAddress.get(a.high(), a.low());
        if (n == null) {
            if (byAddress.size() >= MOST) {
                forgetAll();
            }
            n = new Neighbour(a);
            n.used = host.now - USED_AGAIN;
            byAddress.put(a.high(), a.low(), n);
            find(n);
        }
        return n;
    }

    /** Forgets those that nothing waits for; ways to the others are found anew. */
    private void forgetAll() {
        byAddress = new AddressMap<>(host.random);
        waitedFor.forEach(n -> byAddress.put(n.address.high(), n.address.low(), n));
        host.routes.forgetAll();
    }

    private void find(Neighbour n) {
        try {
            NetworkNeighbours.find(host.netlink, host.interfaceIndex, n.address.toInetAddress()).ifPresent(t -> learn(n,
                    t));
        } catch (LinuxException e) {
            // an old kernel tells of changes alone, and of one that is there already when it was used
        }
    }

    /** Sends a frame at once, or when the host's address is known. */
    void send(Ip ip, SendFrame f, int bytes, int type, Neighbour n, long now) throws IOException {
        if (n.known) {
            ip.transmit(f, bytes, n.mac, type);
            if (n.old && now - n.used >= USED_AGAIN) {
                use(n, now);
            }
            return;
        }
        if (now - n.used >= RETRY) {
            use(n, now);
        }
        if (waiting == WAITING || n.held.size() == WAITING_EACH) {
            ip.dropUnresolved(f);
            return;
        }
        if (n.held.isEmpty()) {
            n.began = now;
            waitedFor.add(n);
        }
        n.held.add(new Held(ip, f, bytes, type));
        waiting++;
    }

    private void use(Neighbour n, long now) {
        n.used = now;
        try {
            NetworkNeighbours.use(host.netlink, host.interfaceIndex, n.address.toInetAddress());
        } catch (LinuxException e) {
            n.old = true; // the interface is down, or the kernel knows too many hosts: it is told again
        }
    }

    /** The kernel has told of a host; what waits for it goes with the next {@link #work}. */
    void heard(NetworkNeighbours.Neighbour told) {
        IpAddress a = IpAddress.of(told.address());
        Neighbour n = byAddress.get(a.high(), a.low());
        if (n != null) {
            learn(n, told);
        }
    }

    private void learn(Neighbour n, NetworkNeighbours.Neighbour told) {
        if (told.isKnown()) {
            n.mac = told.ethernetAddress();
            n.known = true;
            n.old = told.state() == NetworkNeighbours.STALE;
        } else if (told.state() == NetworkNeighbours.FAILED) {
            n.known = false;
            n.began = host.now - PATIENCE; // who waits has waited long enough
        } else if (told.state() == 0) { // the kernel has not sent there, and has forgotten it: it is used on, and asked for
            n.old = true;
            n.used = host.now - USED_AGAIN;
        }
    }

    /** Messages were lost: what is known may not be so any more. */
    void doubtAll() {
        forgetAll();
        waitedFor.forEach(this::find);
    }

    /** Sends what waits for hosts that are known now, asks again for others, or gives up; answers when to call again. */
    long work(long now) throws IOException {
        long next = Long.MAX_VALUE;
        for (int i = waitedFor.size() - 1; i >= 0; i--) {
            Neighbour n = waitedFor.get(i);
            boolean late = now - n.began >= PATIENCE;
            if (!late && !n.known && now - n.used >= RETRY) {
                find(n);
                use(n, now);
            }
            if (late || n.known) {
                waitedFor.remove(i);
                end(n);
            } else {
                next = Math.min(next, n.used + RETRY);
            }
        }
        return next;
    }

    private void end(Neighbour n) throws IOException {
        for (Held h = n.held.poll(); h != null; h = n.held.poll()) {
            waiting--;
            if (n.known) {
                h.ip.transmit(h.frame, h.bytes, n.mac, h.type);
            } else {
                h.ip.dropUnresolved(h.frame);
            }
        }
    }
}
