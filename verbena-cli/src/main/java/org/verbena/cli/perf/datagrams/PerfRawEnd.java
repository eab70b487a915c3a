// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.datagrams;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.ByteOrder;
import java.nio.channels.DatagramChannel;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfFields;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.support.CommandException;
import org.verbena.linux.Errno;
import org.verbena.linux.NetworkLinks;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcStatus;

/**
 * One end of a test of raw packets: a queue pair whose frames are UDP datagrams over IPv4, made here, so that a flow by the port
 * steers them and they compare with what the kernel's UDP does between the same addresses. A socket of the kernel keeps the port.
 */
final class PerfRawEnd implements PerfDeviceEnd {
    /** Of Ethernet, IPv4 without options, and UDP. */
    static final int HEADERS = 14 + 20 + 8;
    /** What the MTU includes of them. */
    private static final int IN_MTU = 20 + 8;
    private static final int RECEIVES = 512;
    private static final int SENDS = 128;
    /** The frame of a credit is behind the others. */
    private static final int FRAMES = SENDS + 1;
    private static final int CREDIT_BYTES = 18;
    private static final int SIGNAL_EVERY = 32;
    /** More messages than this under way gain nothing. */
    private static final int MOST_UNDER_WAY = 128;
    /** What AF_XDP wants free before a frame that it sends from where it is, and more, for a cache line to begin there. */
    private static final int BEFORE = 64;
    private static final int TTL = 64;
    private static final int UDP = 17;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final PerfControl peer;
    private final DatagramChannel reserved;
    private final ProtectionDomain pd;
    private final CompletionQueue receiveCq;
    private final CompletionQueue sendCq;
    private final QueuePair qp;
    /** Buffers for receives, then those for sends of a frame each. */
    private final MemoryRegion region;
    private final MemorySegment memory;
    /** The payload of messages that are cut into frames, the same for all of them. */
    private final MemoryRegion payload;
    private final long mac;
    private final int size;
    private final int buffer;
    private final int offset;
    /** From one frame that is sent to the next. */
    private final int stride;
    /** Payload of a frame. */
    private final int segment;
    /** Messages arrive in one or more frames. */
    private final boolean joins;
    private @Nullable Flow flow;
    private long sends;
    private long sent;
    private int frameBytes;
    private int messageBytes;
    private byte first;

    private PerfRawEnd(PerfJob job, PerfControl peer, boolean initiator, Context context, int mtu,
            DatagramChannel reserved)
            throws VerbsException {
        this.peer = peer;
        this.reserved = reserved;
        DeviceAttributes d = context.queryDevice();
        buffer = d.rawReceiveBuffer().orElseThrow();
        offset = d.rawReceiveOffset().orElse(0);
        mac = NetworkLinks.Link.ethernetAddress(d.nodeGuid());
        size = (int) job.size();
        segment = mtu - IN_MTU;
        stride = Math.ceilDiv(BEFORE + HEADERS + Math.min(size, segment), buffer) * buffer;
        joins = size > segment && !initiator;
        pd = context.allocateProtectionDomain();
        receiveCq = context.createCompletionQueue(RECEIVES);
        sendCq = context.createCompletionQueue(SENDS);
        qp = pd.createQueuePair(QueuePairInitAttributes.builder(sendCq, receiveCq).type(QueuePairType.RAW_PACKET)
                .maxSendWr(SENDS).maxReceiveWr(RECEIVES).maxSendSge(1).maxTsoHeader(HEADERS).build());
        region = pd.allocate((long) RECEIVES * buffer + (long) FRAMES * stride, AccessFlags.LOCAL_WRITE);
        memory = region.segment();
        payload = pd.allocate(size, AccessFlags.LOCAL_WRITE);
    }

    static PerfRawEnd open(PerfJob job, boolean initiator, Context context, PerfControl peer) throws IOException {
        if (!(peer.localAddress() instanceof Inet4Address)) {
            throw new CommandException("tests of raw packets are over IPv4: connect to an address of IPv4");
        }
        String name = context.device().name();
        NetworkInterface link = NetworkInterface.getByName(PerfDeviceEnd.link(context));
        if (link == null) {
            throw new CommandException("the interface of " + name + " is gone");
        }
        int most = job.test().isSegmented() ? (int) PerfUdp.MAX_SIZE : link.getMTU() - IN_MTU;
        if (job.size() > most) {
            throw new CommandException(job.test() + " has messages of " + most + " bytes at most, " + (job.test()
                    .isSegmented() ? "the longest packet" : "what one frame of " + name + " holds"));
        }
        DatagramChannel reserved = PerfUdp.bind(peer.localAddress());
        try {
            return new PerfRawEnd(job, peer, initiator, context, link.getMTU(), reserved);
        } catch (IOException | RuntimeException e) {
            reserved.close();
            throw e;
        }
    }

    @Override
    public String describe() throws IOException {
        return "mac=" + mac + " udp=" + PerfUdp.port(reserved);
    }

    /** Writes the frames to be sent, posts the receives, and lets packets in. */
    @Override
    public void connect(PerfFields other) throws IOException {
        long to = other.number("mac", 0, (1L << 48) - 1);
        int port = (int) other.number("udp", 1, 65_535);
        for (int i = 0; i < SENDS; i++) {
            writeHeaders(frame(i), to, port, size);
        }
        writeHeaders(credit(), to, port, CREDIT_BYTES);
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).port(1).build());
        for (int i = 0; i < RECEIVES; i++) {
            post(i);
        }
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).build());
        flow = qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, PerfUdp
                .port(
                        reserved))).build());
    }

    private void writeHeaders(long at, long to, int port, int bytes) throws IOException {
        putAddress(at, to);
        putAddress(at + 6, mac);
        memory.set(SHORT, at + 12, (short) 0x0800);
        long ip = at + 14;
        memory.set(SHORT, ip, (short) 0x4500);
        memory.set(SHORT, ip + 2, (short) (IN_MTU + bytes));
        memory.set(SHORT, ip + 4, (short) 0);
        memory.set(SHORT, ip + 6, (short) 0x4000); // not to be fragmented
        memory.set(ValueLayout.JAVA_BYTE, ip + 8, (byte) TTL);
        memory.set(ValueLayout.JAVA_BYTE, ip + 9, (byte) UDP);
        memory.set(SHORT, ip + 10, (short) 0);
        putAddress(ip + 12, peer.localAddress());
        putAddress(ip + 16, peer.remoteAddress());
        memory.set(SHORT, ip + 10, headerChecksum(ip));
        long udp = ip + 20;
        memory.set(SHORT, udp, (short) PerfUdp.port(reserved));
        memory.set(SHORT, udp + 2, (short) port);
        memory.set(SHORT, udp + 4, (short) (8 + bytes));
        memory.set(SHORT, udp + 6, (short) 0); // no checksum
    }

    private void putAddress(long at, long value) {
        for (int i = 0; i < 6; i++) {
            memory.set(ValueLayout.JAVA_BYTE, at + i, (byte) (value >>> 8 * (5 - i)));
        }
    }

    private void putAddress(long at, InetAddress value) {
        MemorySegment.copy(value.getAddress(), 0, memory, ValueLayout.JAVA_BYTE, at, 4);
    }

    private short headerChecksum(long ip) {
        int sum = 0;
        for (int i = 0; i < 20; i += 2) {
            sum += memory.get(SHORT, ip + i) & 0xffff;
        }
        return (short) ~(sum + (sum >>> 16));
    }

    /** Where a frame to be sent is: behind the place that AF_XDP wants before it. */
    private long frame(long number) {
        return (long) RECEIVES * buffer + number % SENDS * stride + BEFORE;
    }

    private long credit() {
        return frame(0) + (long) SENDS * stride;
    }

    /** The number of messages whose frames fill half of the peer's posted receives. */
    @Override
    public int underWay() {
        int parts = size <= segment ? 1 : 1 + (HEADERS + size) / (buffer - offset);
        int frames = (size + segment - 1) / segment;
        return Math.clamp(RECEIVES / (2L * Math.max(parts, frames)), 1, MOST_UNDER_WAY);
    }

    @Override
    public boolean send(byte mark) throws IOException {
        if (isFull()) {
            return false;
        }
        long at = frame(sends);
        if (size <= segment) {
            memory.set(ValueLayout.JAVA_BYTE, at + HEADERS, mark);
            posted(qp.sendQueue().postSend(sends, flags(), region, at, HEADERS + size));
        } else {
            payload.segment().set(ValueLayout.JAVA_BYTE, 0, mark); // a packet socket has copied the message before
            posted(qp.sendQueue().start().sendSegmented(sends, flags(), memory, at, HEADERS, segment)
                    .sge(payload, 0, size).complete());
        }
        return true;
    }

    @Override
    public boolean sendCredit() throws IOException {
        if (isFull()) {
            return false;
        }
        posted(qp.sendQueue().postSend(sends, flags(), region, credit(), HEADERS + CREDIT_BYTES));
        return true;
    }

    private int flags() {
        return (sends + 1) % SIGNAL_EVERY == 0 ? SendFlags.SIGNALED : SendFlags.NONE;
    }

    private void posted(int wrong) throws CommandException {
        if (wrong != 0) {
            throw new CommandException("cannot post a send: " + Errno.name(wrong));
        }
        sends++;
    }

    /** Whether all places for frames are in use, after a look which are free again. */
    private boolean isFull() throws CommandException {
        if (sends - sent < SENDS) {
            return false;
        }
        if (sendCq.startPoll() == 0) {
            do {
                check(sendCq);
                sent = sendCq.wrId() + 1;
            } while (sendCq.nextPoll() == 0);
            sendCq.endPoll();
        }
        return sends - sent >= SENDS;
    }

    private static void check(CompletionQueue cq) throws CommandException {
        if (cq.status() != WcStatus.SUCCESS) {
            throw new CommandException("a work request failed: " + WcStatus.toString(cq.status()));
        }
    }

    private void post(int place) throws CommandException {
        int wrong = qp.receiveQueue().post(place, region, (long) place * buffer, buffer);
        if (wrong != 0) {
            throw new CommandException("cannot post a receive: " + Errno.name(wrong));
        }
    }

    @Override
    public boolean receive() throws IOException {
        if (receiveCq.startPoll() != 0) {
            return false;
        }
        boolean whole;
        do {
            whole = take();
        } while (!whole && receiveCq.nextPoll() == 0);
        receiveCq.endPoll();
        return whole;
    }

    /** Takes the next completion; true if that is the last of a message. */
    private boolean take() throws CommandException {
        check(receiveCq);
        int place = (int) receiveCq.wrId();
        if (messageBytes == 0 && frameBytes == 0) {
            first = memory.get(ValueLayout.JAVA_BYTE, (long) place * buffer + offset + HEADERS);
        }
        frameBytes += (int) receiveCq.byteLength();
        boolean whole = (receiveCq.flags() & WcFlags.CONTINUES) == 0;
        post(place);
        if (!whole) {
            return false;
        }
        messageBytes += frameBytes - HEADERS;
        frameBytes = 0;
        if (joins && messageBytes < size) {
            return false;
        }
        messageBytes = 0;
        return true;
    }

    @Override
    public byte mark() {
        return first;
    }

    @Override
    public void close() throws IOException {
        try (reserved) {
            if (flow != null) {
                flow.close();
            }
            qp.close();
            payload.close();
            region.close();
            sendCq.close();
            receiveCq.close();
            pd.close();
        }
    }
}
