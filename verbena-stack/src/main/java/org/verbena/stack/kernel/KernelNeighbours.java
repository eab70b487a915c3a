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
    private static final int MOST = 1 << 14;
    /** Frames that wait for the addresses of hosts, of all. */
    private static final int WAITING = 64;
    /** An answer that was lost is asked for again. */
    private static final long RETRY = 1_000_000_000L;
    /** After that nothing waits any more: the kernel has asked three times by then, and says so if it is not in trouble. */
    private static final long PATIENCE = 5_000_000_000L;
    /** The kernel asks a host that it has not heard of for long within this time. */
    private static final long USED_AGAIN = 10_000_000_000L;

    private final KernelHost host;
    private AddressMap<Neighbour> byAddress;
    private final List<Neighbour> waitedFor = new ArrayList<>();
    private int waiting;

    private record Held(Ip ip, SendFrame frame, int bytes, int type) {}

    /** A host of the link. */
    static final class Neighbour {
        final IpAddress address;
        private final ArrayDeque<Held> held = new ArrayDeque<>(2);
        private long mac;
        private boolean known;
        /** Whether it is in {@link #waitedFor}. */
        private boolean asked;
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
            if (byAddress.size() == MOST) { // those of routes that are still known stay with these
                byAddress = new AddressMap<>(host.random);
                waitedFor.forEach(w -> byAddress.put(w.address.high(), w.address.low(), w));
                host.generation++;
            }
            n = new Neighbour(a);
            n.used = host.now - USED_AGAIN;
            byAddress.put(a.high(), a.low(), n);
            find(n);
        }
        return n;
    }

    private void find(Neighbour n) {
        try {
            NetworkNeighbours.find(host.netlink, host.interfaceIndex, n.address.toInetAddress()).ifPresent(this::learn);
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
        if (!n.asked) {
            n.asked = true;
            n.began = now;
            waitedFor.add(n);
            use(n, now);
        }
        if (waiting == WAITING) {
            ip.dropUnresolved(f);
        } else {
            n.held.add(new Held(ip, f, bytes, type));
            waiting++;
        }
    }

    private void use(Neighbour n, long now) {
        n.used = now;
        try {
            NetworkNeighbours.use(host.netlink, host.interfaceIndex, n.address.toInetAddress());
        } catch (LinuxException e) {
            n.old = true; // the interface is down, or the kernel knows too many hosts: it is told again
        }
    }

    /** The kernel has told of a host. */
    void heard(NetworkNeighbours.Neighbour told) throws IOException {
        learn(told);
        IpAddress a = IpAddress.of(told.address());
        Neighbour n = byAddress.get(a.high(), a.low());
        if (n != null && n.asked && (n.known || told.state() == NetworkNeighbours.FAILED)) {
            waitedFor.remove(n);
            end(n);
        }
    }

    /** Sends what waits for a host, or gives that up if it is not known; it is not waited for any more. */
    private void end(Neighbour n) throws IOException {
        n.asked = false;
        for (Held h = n.held.poll(); h != null; h = n.held.poll()) {
            waiting--;
            if (n.known) {
                h.ip.transmit(h.frame, h.bytes, n.mac, h.type);
            } else {
                h.ip.dropUnresolved(h.frame);
            }
        }
    }

    private void learn(NetworkNeighbours.Neighbour told) {
        IpAddress a = IpAddress.of(told.address());
        Neighbour n = byAddress.get(a.high(), a.low());
        if (n == null) {
            return;
        }
        if (told.isKnown()) {
            n.mac = told.ethernetAddress();
            n.known = true;
            n.old = told.state() == NetworkNeighbours.STALE;
        } else if (told.state() == NetworkNeighbours.FAILED) {
            n.known = false;
        } else if (told.state() == 0) { // the kernel has not sent there, and has forgotten it: it is used on, and asked for
            n.old = true;
            n.used = host.now - USED_AGAIN;
        }
    }

    /** Messages were lost: what is known may not be so any more. */
    void doubtAll() {
        byAddress = new AddressMap<>(host.random);
        waitedFor.forEach(n -> byAddress.put(n.address.high(), n.address.low(), n));
        waitedFor.forEach(this::find);
    }

    /** Asks again for what was not answered, or gives up; answers when to call again. */
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
}
