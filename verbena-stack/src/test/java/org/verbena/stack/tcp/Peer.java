// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;

import org.verbena.stack.header.ArpPacket;
import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.IcmpMessage;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.TcpHeader;
import org.verbena.stack.header.TcpOptions;
import org.verbena.stack.ip.Host;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;

/**
 * The other end of a connection of a host, which sends the segments that a test asks for, and keeps those that come. Numbers of both directions count from
 * the first of each, which is SYN's: the first byte has 1.
 */
final class Peer {
    static final int SYN = TcpHeader.SYN;
    static final int ACK = TcpHeader.ACK;
    static final int FIN = TcpHeader.FIN;
    static final int RST = TcpHeader.RST;
    static final int PSH = TcpHeader.PSH;
    static final int URG = TcpHeader.URG;
    static final int ECE = TcpHeader.ECE;
    static final int CWR = TcpHeader.CWR;
    static final int HOST_PORT = 80;
    static final int NUMBER = 2;
    static final long MS = 1_000_000;
    static final long SECOND = 1_000_000_000L;

    final Host host;
    final long mac = 0x0200_0000_0000L + NUMBER;
    int address = Host.SUBNET + NUMBER;
    int port = 4000;
    int hostPort = HOST_PORT;
    /** First numbers: of the peer, and of the host as it was heard. */
    int initial = 0x1234_5678;
    int hostInitial;
    /** The next to send, and the next that is expected; relative, as all below. */
    int next;
    int expected;
    int window = 0xffff;
    /** How long the last part of a handshake takes. */
    long trip;
    /** Both ends use timestamps: each segment has them, of a clock in milliseconds. */
    boolean timestamps;
    int clock = 1_000_000;
    int echo;
    final List<Seen> seen = new ArrayList<>();

    /**
     * A segment that has come.
     *
     * @param time when
     * @param sequence relative to the host's first
     * @param acknowledgment relative to the peer's first
     * @param data payload
     * @param ecn of IP
     */
    @SuppressWarnings("ArrayRecordComponent") // nobody compares them
    record Seen(long time, TcpHeader header, TcpOptions options, int sequence, int acknowledgment, byte[] data,
            int ecn) {
        boolean has(int flags) {
            return (header.flags() & flags) == flags;
        }

        int length() {
            return data.length;
        }

        int window() {
            return header.window();
        }

        /** Blocks of SACK, left and right, relative to the peer's first number. */
        int[] blocks(Peer p) {
            int[] b = new int[2 * options.blocks()];
            for (int i = 0; i < options.blocks(); i++) {
                b[2 * i] = options.left(i) - p.initial;
                b[2 * i + 1] = options.right(i) - p.initial;
            }
            return b;
        }

        @Override
        public String toString() {
            return "[" + time / MS + " ms " + sequence + "+" + data.length + " flags " + Integer.toHexString(header
                    .flags()) + " ack "
                    + acknowledgment + " window " + header.window() + "]";
        }
    }

    Peer() throws IOException {
        this(new Host(1));
    }

    Peer(Host host) throws IOException {
        this.host = host;
        host.take(arp(ArpPacket.REQUEST));
        host.wire.takeSent();
    }

    private byte[] arp(int operation) {
        byte[] f = new byte[60];
        MemorySegment m = MemorySegment.ofArray(f);
        EthernetHeader.write(m, 0, host.mac, mac, EthernetHeader.ARP);
        ArpPacket.write(m, EthernetHeader.BYTES, operation, mac, address, host.mac, host.address);
        return f;
    }

    long now() {
        return host.now;
    }

    /** A segment to be sent: what comes next, unless it is changed. */
    final class Draft {
        int sequence = next;
        int acknowledgment = expected;
        int flags;
        int window = Peer.this.window;
        int urgent;
        int ecn;
        byte[] data = {};
        boolean stamped = timestamps;
        int stamp = clock;
        int echoed = echo;
        private final byte[] options = new byte[40];
        private int optionBytes;

        Draft(int flags) {
            this.flags = flags;
        }

        Draft sequence(int s) {
            sequence = s;
            return this;
        }

        Draft acknowledgment(int a) {
            acknowledgment = a;
            flags |= ACK;
            return this;
        }

        Draft window(int w) {
            window = w;
            return this;
        }

        Draft urgent(int u) {
            urgent = u;
            flags |= URG;
            return this;
        }

        Draft congested() {
            ecn = Ipv4Header.CONGESTED;
            return this;
        }

        /** Bytes whose values their numbers tell. */
        Draft data(int n) {
            data = bytes(sequence, n);
            return this;
        }

        Draft stamp(int s) {
            stamp = s;
            stamped = true;
            return this;
        }

        Draft echo(int e) {
            echoed = e;
            return this;
        }

        Draft unstamped() {
            stamped = false;
            return this;
        }

        Draft option(int... bytes) {
            for (int b : bytes) {
                options[optionBytes++] = (byte) b;
            }
            return this;
        }

        Draft segmentSize(int n) {
            return option(2, 4, n >> 8, n);
        }

        Draft scale(int n) {
            return option(1, 3, 3, n);
        }

        Draft sackPermitted() {
            return option(1, 1, 4, 2);
        }

        /** Pairs of left and right, of the host's numbers. */
        Draft sack(int... blocks) {
            option(1, 1, 5, 2 + 4 * blocks.length);
            for (int b : blocks) {
                int n = b + hostInitial;
                option(n >>> 24, n >>> 16, n >>> 8, n);
            }
            return this;
        }

        byte[] frame() {
            int o = optionBytes + 3 & ~3;
            int header = TcpHeader.BYTES + (stamped ? TcpOptions.TIMESTAMPS_BYTES : 0) + o;
            byte[] f = new byte[34 + header + data.length];
            MemorySegment m = MemorySegment.ofArray(f);
            EthernetHeader.write(m, 0, host.mac, mac, EthernetHeader.IPV4);
            Ipv4Header.write(m, 14, ecn, f.length - 14, 1, 0, 64, Ipv4Header.TCP, address, host.address);
            TcpHeader.write(m, 34, port, hostPort, sequence + initial, (flags & ACK) == 0
                    ? 0
                    : acknowledgment + hostInitial, header, flags, window, urgent);
            long at = 34 + TcpHeader.BYTES;
            if (stamped) {
                at = TcpOptions.writeTimestamps(m, at, stamp, echoed);
            }
            System.arraycopy(options, 0, f, (int) at, optionBytes);
            System.arraycopy(data, 0, f, 34 + header, data.length);
            TcpHeader.finish(m, 34, f.length - 34, Host.sum(address, host.address));
            return f;
        }

        /** Sends it; what comes of it is seen. */
        void send() throws IOException {
            host.take(frame());
            settle();
        }
    }

    static byte[] bytes(int sequence, int n) {
        byte[] b = new byte[n];
        for (int i = 0; i < n; i++) {
            b[i] = value(sequence + i);
        }
        return b;
    }

    static byte value(int sequence) {
        return (byte) (sequence * 31 + (sequence >> 8));
    }

    Draft draft(int flags) {
        return new Draft(flags);
    }

    void send(int flags) throws IOException {
        draft(flags).send();
    }

    /** Sends the next bytes. */
    void data(int n) throws IOException {
        draft(ACK | PSH).data(n).send();
        next += n;
    }

    /** Acknowledges what has come up to a number. */
    void acknowledge(int number) throws IOException {
        expected = number;
        send(ACK);
    }

    /** Tells of blocks behind what is expected. */
    void sack(int... blocks) throws IOException {
        draft(ACK).sack(blocks).send();
    }

    void icmp(int type, int code, int word, int sequence) throws IOException {
        byte[] f = new byte[34 + 8 + 28];
        MemorySegment m = MemorySegment.ofArray(f);
        EthernetHeader.write(m, 0, host.mac, mac, EthernetHeader.IPV4);
        Ipv4Header.write(m, 14, f.length - 14, 1, 0, 64, Ipv4Header.ICMP, Host.SUBNET + 99, host.address);
        Ipv4Header.write(m, 42, 1000, 1, 0, 64, Ipv4Header.TCP, host.address, address);
        Bytes.put16(m, 62, hostPort);
        Bytes.put16(m, 64, port);
        Bytes.put32(m, 66, sequence + hostInitial);
        IcmpMessage.write(m, 34, 36, type, code, word);
        host.take(f);
        settle();
    }

    /** Has the host do what is due now, and keeps what it sends. */
    void settle() throws IOException {
        for (int i = 0; i < 1000; i++) {
            long due = Math.min(host.ip.work(now()), host.tcp.work(now()));
            boolean any = collect();
            if (!any && due > now()) {
                return;
            }
        }
        throw new AssertionError("it never rests");
    }

    private boolean collect() throws IOException {
        boolean any = false;
        for (byte[] f : host.wire.takeSent()) {
            MemorySegment m = MemorySegment.ofArray(f);
            any = true;
            if (EthernetHeader.type(m, 0) == EthernetHeader.ARP) {
                if (ArpPacket.operation(m, 14) == ArpPacket.REQUEST) {
                    host.take(arp(ArpPacket.REPLY));
                }
                continue;
            }
            if (Ipv4Header.protocol(m, 14) != Ipv4Header.TCP) {
                continue;
            }
            int bytes = Ipv4Header.totalBytes(m, 14) - 20;
            assertThat(TcpHeader.isIntact(m, 34, bytes, Host.sum(host.address, address))).isTrue();
            TcpHeader h = TcpHeader.of(m, 34);
            TcpOptions o = new TcpOptions();
            o.read(m, 34, h.headerBytes());
            if ((h.flags() & SYN) != 0) {
                hostInitial = h.sequence();
            }
            if (o.hasTimestamps()) {
                echo = o.timestamp();
            }
            byte[] data = Arrays.copyOfRange(f, 34 + h.headerBytes(), 34 + bytes);
            seen.add(new Seen(now(), h, o, h.sequence() - hostInitial, (h.flags() & ACK) == 0
                    ? 0
                    : h.acknowledgment() - initial, data, Ipv4Header.ecn(m, 14)));
        }
        return any;
    }

    /** Lets time pass. */
    void pass(long nanos) throws IOException {
        long end = now() + nanos;
        settle();
        while (true) {
            long due = Math.min(host.ip.work(now()), host.tcp.work(now()));
            if (due > end) {
                break;
            }
            move(Math.max(due, now()));
            settle();
        }
        move(end);
        settle();
    }

    private void move(long to) {
        clock += (int) (to / MS - host.now / MS);
        host.now = to;
    }

    /** What has come since the last call. */
    List<Seen> take() {
        List<Seen> all = new ArrayList<>(seen);
        seen.clear();
        return all;
    }

    /** The only segment that has come since the last call. */
    Seen one() {
        assertThat(seen).hasSize(1);
        return take().getFirst();
    }

    void nothing() {
        assertThat(seen).isEmpty();
    }

    /** An acknowledgment of all up to a number, and nothing else. */
    Seen acknowledgment(int number) {
        Seen s = one();
        assertThat(s.header().flags() & ~(ECE | CWR)).isEqualTo(ACK);
        assertThat(s.length()).isZero();
        assertThat(s.acknowledgment()).isEqualTo(number);
        return s;
    }

    Draft syn(TcpSettings s) {
        Draft d = draft(SYN).sequence(0);
        d.segmentSize(1460);
        if (s.sack()) {
            d.sackPermitted();
        }
        if (s.windowScale()) {
            d.scale(0);
        }
        return s.timestamps() ? d.stamp(clock) : d;
    }

    /** A connection that the host has accepted; nothing is left to be seen. */
    Connection accepted(TcpSettings s) throws IOException {
        Listener l = host.tcp.listen(hostPort, 5, s);
        return accepted(Objects.requireNonNull(l), s);
    }

    Connection accepted(Listener l, TcpSettings s) throws IOException {
        syn(s).send();
        timestamps = s.timestamps();
        assertThat(one().has(SYN | ACK)).isTrue();
        pass(trip);
        next = 1;
        acknowledge(1);
        return Objects.requireNonNull(l.accept());
    }

    /** A connection that the host has opened. */
    Connection opened(TcpSettings s) throws IOException {
        Connection c = open(s);
        draft(0);
        syn(s).acknowledgment(1).send();
        timestamps = s.timestamps();
        expected = 1;
        next = 1;
        acknowledgment(1);
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
        return c;
    }

    /** One whose SYN was seen. */
    Connection open(TcpSettings s) throws IOException {
        Connection c = Objects.requireNonNull(Host.connect(host.tcp, hostPort, address, port, s, now()));
        settle();
        assertThat(one().has(SYN)).isTrue();
        return c;
    }

    /** Has the host write bytes whose values their numbers tell. */
    void write(Connection c, int n) throws IOException {
        int from = c.sender.end - hostInitial;
        assertThat(c.write(ByteBuffer.wrap(bytes(from, n)), now())).isEqualTo(n);
        settle();
    }

    /** Reads all that is there, and looks at its values. */
    int read(Connection c) throws IOException {
        ByteBuffer b = ByteBuffer.allocate(c.readable() + 1);
        int from = c.receiver.read - initial;
        int n = c.read(b, now());
        for (int i = 0; i < n; i++) {
            assertThat(b.get(i)).isEqualTo(value(from + i));
        }
        settle();
        return n;
    }

    void finish(Connection c) throws IOException {
        c.finish(now());
        settle();
    }

    void close(Connection c) throws IOException {
        c.close(now());
        settle();
    }

    /** The host has no connection, no memory and no frame any more. */
    void nothingIsLeft() {
        int[] n = {0};
        host.tcp.forEach(c -> n[0]++);
        assertThat(n[0]).isZero();
        assertThat(host.tcp.memory()).isZero();
        assertThat(host.wire.held()).isZero();
    }

    /** First numbers near the ends of the range, or any. */
    static int someInitial(Random r) {
        return switch (r.nextInt(4)) {
            case 0 -> -1 - r.nextInt(3000);
            case 1 -> Integer.MAX_VALUE - r.nextInt(3000);
            case 2 -> r.nextInt(3000);
            default -> r.nextInt();
        };
    }
}
