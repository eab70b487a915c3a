// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Requests to the kernel by messages: netlink(7). A socket is used by one thread at a time; a wait for a reply pins the
 * carrier of a virtual thread, and ends after {@value #TIMEOUT_MILLIS} milliseconds.
 *
 * <p>A socket belongs to the network namespace of the thread that opened it. Only messages of the kernel itself are
 * read; every length in them is checked.
 */
public final class Netlink implements AutoCloseable {
    /** Interfaces, addresses, routes: rtnetlink(7). */
    public static final int NETLINK_ROUTE = 0;
    /** Sockets: sock_diag(7). */
    public static final int NETLINK_SOCK_DIAG = 4;
    /** Families that are found by name. */
    public static final int NETLINK_GENERIC = 16;

    static final int AF_NETLINK = 16;
    static final int SOCK_RAW = 3;
    static final int SOL_NETLINK = 270;
    static final int NETLINK_CAP_ACK = 10;
    static final int NETLINK_EXT_ACK = 11;
    static final int NLM_F_DUMP_INTR = 0x10;
    static final int NLM_F_CAPPED = 0x100;
    static final int NLM_F_ACK_TLVS = 0x200;
    static final int NLMSG_NOOP = 1;
    static final int NLMSG_ERROR = 2;
    static final int NLMSG_DONE = 3;
    static final int NLMSGERR_ATTR_MSG = 1;
    static final int SOCKADDR_NL_BYTES = 12;
    static final int SOCKADDR_NL_PID = 4;

    private static final int TIMEOUT_MILLIS = 5_000;
    /** How often a table is asked for that changes while the kernel lists it. */
    private static final int DUMPS = 32;
    private static final int BUFFER_BYTES = 64 << 10;
    private static final int RECEIVE_FLAGS = UnixMessage.MSG_TRUNC | Xsk.MSG_DONTWAIT;
    private static final int LENGTH_AT = 16;

    private final Fd fd;
    private final MemorySegment buffer = Arena.ofAuto().allocate(BUFFER_BYTES, 8);
    private final int timeoutMillis;
    private int sequence;

    private Netlink(Fd fd, int timeoutMillis) {
        this.fd = fd;
        this.timeoutMillis = timeoutMillis;
    }

    /**
     * Opens a socket in the network namespace of the calling thread.
     *
     * @param protocol one of the constants here, or another one of netlink(7)
     * @return the socket
     * @throws LinuxException {@code EPROTONOSUPPORT} (the kernel does not have it), {@code EMFILE}, {@code ENFILE}
     */
    public static Netlink open(int protocol) throws LinuxException {
        return open(protocol, TIMEOUT_MILLIS);
    }

    /**
     * As the other, with how long a reply is waited for.
     *
     * @param timeoutMillis 1 to 60000; a request that was not answered by then is {@code ETIMEDOUT}
     */
    public static Netlink open(int protocol, int timeoutMillis) throws LinuxException {
        Args.requireBetween(timeoutMillis, 1, 60_000, "milliseconds until a reply");
        Args.requireBetween(protocol, 0, 31, "a netlink protocol");
        Fd fd = Fd.ofResult(Native.call(SyscallNumber.SOCKET, AF_NETLINK, SOCK_RAW | UnixSocket.SOCK_CLOEXEC, protocol),
                "socket(AF_NETLINK, " + protocol + ")");
        // Error texts, and errors without a copy of the request: Linux 4.12; an older kernel works without.
        for (int option : new int[] {NETLINK_CAP_ACK, NETLINK_EXT_ACK}) {
            Native.Scratch scratch = Native.scratch();
            scratch.memory().set(ValueLayout.JAVA_INT, 0, 1);
            Native.call(SyscallNumber.SETSOCKOPT, fd.value(), SOL_NETLINK, option, scratch.address(), 4, 0);
        }
        return new Netlink(fd, timeoutMillis);
    }

    /**
     * Sends a request, and waits for the whole reply. A table that has changed while the kernel listed it is asked for again: the
     * list may lack entries that were there all the time.
     *
     * @param request the request; an acknowledgement is requested too
     * @param call the call in readable form, for the exception
     * @return the messages of the reply, none if it is an acknowledgement only
     * @throws LinuxException the kernel's error, with its message if there is one; {@code ETIMEDOUT}, {@code EBADMSG}
     *         (a malformed reply), {@code ENOBUFS} (messages were lost), {@code EAGAIN} (a table that never stays the same)
     */
    public List<NetlinkReply> request(NetlinkRequest request, String call) throws LinuxException {
        for (int i = 0; i < DUMPS; i++) {
            List<NetlinkReply> replies = requestOnce(request, call);
            if (replies != null) {
                return replies;
            }
        }
        throw new LinuxException(call, Errno.EAGAIN, "the table changed each of " + DUMPS
                + " times that it was listed");
    }

    /** Null if the reply is a list that is not consistent. */
    private @Nullable List<NetlinkReply> requestOnce(NetlinkRequest request, String call) throws LinuxException {
        send(request, call);
        List<NetlinkReply> replies = new ArrayList<>();
        boolean consistent = true;
        while (true) {
            ByteBuffer part = receive(call);
            while (part.remaining() >= NetlinkRequest.NLMSG_HDRLEN) {
                ByteBuffer message = next(part, call);
                int type = Short.toUnsignedInt(message.getShort(4));
                if (message.getInt(8) != sequence || type == NLMSG_NOOP) {
                    continue; // the reply to an earlier request that was abandoned
                }
                int flags = Short.toUnsignedInt(message.getShort(6));
                consistent &= (flags & NLM_F_DUMP_INTR) == 0;
                ByteBuffer payload = message
                        .slice(NetlinkRequest.NLMSG_HDRLEN, message.limit() - NetlinkRequest.NLMSG_HDRLEN)
                        .order(ByteOrder.nativeOrder());
                if (type == NLMSG_ERROR || type == NLMSG_DONE) {
                    end(payload, flags, type, call);
                    return consistent ? replies : null;
                }
                replies.add(new NetlinkReply(type, payload));
            }
        }
    }

    private void send(NetlinkRequest request, String call) throws LinuxException {
        byte[] bytes = request.bytes(++sequence, NetlinkRequest.NLM_F_ACK);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocate(bytes.length, 8);
            MemorySegment.copy(bytes, 0, message, ValueLayout.JAVA_BYTE, 0, bytes.length);
            // without an address: to the kernel
            long sent = Native.call(message, SyscallNumber.SENDTO, fd.value(), message.address(), bytes.length, 0, 0,
                    0);
            Args.check(sent, call);
        }
    }

    /** The next packet of the kernel; packets of other senders are dropped. */
    private ByteBuffer receive(String call) throws LinuxException {
        while (true) {
            if (Poll.await(fd, Poll.IN, timeoutMillis) == 0) {
                throw new LinuxException(call, Errno.ETIMEDOUT);
            }
            Native.Scratch scratch = Native.scratch(); // struct sockaddr_nl at 0, its length after it
            scratch.memory().set(ValueLayout.JAVA_INT, LENGTH_AT, SOCKADDR_NL_BYTES);
            long received = Native.call(buffer, SyscallNumber.RECVFROM, fd.value(), buffer.address(), BUFFER_BYTES,
                    RECEIVE_FLAGS, scratch.address(), scratch.address() + LENGTH_AT);
            if (received == -Errno.EINTR || received == -Errno.EAGAIN) {
                continue;
            }
            Args.check(received, call);
            if (received > BUFFER_BYTES) {
                throw new LinuxException(call, Errno.EMSGSIZE, "the reply has " + received + " bytes");
            }
            if (scratch.memory().get(ValueLayout.JAVA_INT, SOCKADDR_NL_PID) == 0) {
                byte[] copy = new byte[(int) received];
                MemorySegment.copy(buffer, ValueLayout.JAVA_BYTE, 0, copy, 0, copy.length);
                return ByteBuffer.wrap(copy).order(ByteOrder.nativeOrder()).asReadOnlyBuffer()
                        .order(ByteOrder.nativeOrder());
            }
        }
    }

    /** The next message of a packet, whose position is advanced beyond it. */
    static ByteBuffer next(ByteBuffer packet, String call) throws LinuxException {
        int at = packet.position();
        int length = packet.getInt(at);
        if (length < NetlinkRequest.NLMSG_HDRLEN || length > packet.remaining()) {
            throw new LinuxException(call, Errno.EBADMSG);
        }
        packet.position(Math.min(packet.limit(), at + ((length + 3) & ~3)));
        return packet.slice(at, length).order(ByteOrder.nativeOrder());
    }

    /** The end of a reply: struct nlmsgerr {int error; struct nlmsghdr request;}, then the kernel's error text. */
    private static void end(ByteBuffer payload, int flags, int type, String call) throws LinuxException {
        int result = payload.remaining() >= 4 ? payload.getInt(0) : 0;
        if (result >= 0) {
            return;
        }
        int fixed = type == NLMSG_DONE ? 4 : 4 + NetlinkRequest.NLMSG_HDRLEN;
        if ((flags & NLM_F_ACK_TLVS) != 0 && payload.remaining() >= fixed) {
            if (type == NLMSG_ERROR && (flags & NLM_F_CAPPED) == 0) {
                fixed += Math.max(0, payload.getInt(4) - NetlinkRequest.NLMSG_HDRLEN);
            }
            if (fixed <= payload.remaining()) {
                for (NetlinkReply.Attribute a : NetlinkReply.parse(
                        payload.slice(fixed, payload.limit() - fixed).order(ByteOrder.nativeOrder()), 0)) {
                    if (a.type() == NLMSGERR_ATTR_MSG) {
                        throw new LinuxException(call, -result, "kernel: " + a.text());
                    }
                }
            }
        }
        throw new LinuxException(call, -result);
    }

    /** Closes the socket. Idempotent. */
    @Override
    public void close() {
        fd.close();
    }
}
