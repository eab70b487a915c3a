// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The kernel's state of a TCP socket, by its addresses: sock_diag(7). It covers the sockets of its network namespace,
 * of all users, and needs no privilege. One thread at a time uses an object.
 *
 * <pre>
 * inet_diag_req_v2  family 0, protocol 1, ext 2, states 4, id 8
 * inet_diag_sockid  sport 0, dport 2, src 4, dst 20, if 36, cookie 40
 * inet_diag_msg     family 0, state 1, id 4, expires 52, rqueue 56, wqueue 60, uid 64, inode 68
 * </pre>
 */
public final class SockDiag implements AutoCloseable {
    static final int SOCK_DIAG_BY_FAMILY = 20;
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;
    static final int IPPROTO_TCP = 6;
    static final int REQUEST_BYTES = 56;
    static final int REQUEST_STATES = 4;
    static final int REQUEST_ID = 8;
    static final int ID_SOURCE = 4;
    static final int ID_DESTINATION = 20;
    static final int ID_INTERFACE = 36;
    static final int ID_COOKIE = 40;
    static final int TCP_LISTEN = 10;
    static final int MESSAGE_BYTES = 72;
    static final int MESSAGE_STATE = 1;
    static final int MESSAGE_ID = 4;
    static final int MESSAGE_UID = 64;
    static final int MESSAGE_INODE = 68;

    /**
     * A socket.
     *
     * @param state as in tcp(7), 1 is established
     * @param uid the user that owns it
     * @param inode its number in {@code /proc/PID/fd}, unsigned; 0 if no descriptor refers to it any more
     * @param cookie a number that is unique on this machine since it started
     */
    public record TcpSocket(int state, int uid, int inode, long cookie) {}

    private final Netlink netlink;

    private SockDiag(Netlink netlink) {
        this.netlink = netlink;
    }

    /**
     * Opens a socket for requests, in the network namespace of the calling thread.
     *
     * @return the object
     * @throws LinuxException {@code EPROTONOSUPPORT} (the kernel does not have it), {@code EMFILE}, {@code ENFILE}
     */
    public static SockDiag open() throws LinuxException {
        return new SockDiag(Netlink.open(Netlink.NETLINK_SOCK_DIAG));
    }

    /**
     * Finds a connected TCP socket.
     *
     * @param local its own address; if it is link-local IPv6, its scope id, or the peer's, selects the interface that
     *        the socket is bound to by it, of all interfaces with that address
     * @param remote the address of its peer, of the same family
     * @return the socket, or empty if there is none here: it is on another machine, in another network namespace, or
     *         its addresses are translated on the way
     * @throws IllegalArgumentException if an address is not resolved or the families differ
     * @throws LinuxException {@code ENOENT} is the empty result; else as {@link Netlink#request}
     */
    public Optional<TcpSocket> find(InetSocketAddress local, InetSocketAddress remote) throws LinuxException {
        int scope = scope(address(local)) != 0 ? scope(address(local)) : scope(address(remote));
        Optional<TcpSocket> found = find(local, remote, scope);
        return found.isPresent() || scope == 0 ? found : findOnOtherInterface(local, remote, scope);
    }

    /** The socket may be bound to another interface of this host than its peer, whose address has the scope ids. */
    private Optional<TcpSocket> findOnOtherInterface(InetSocketAddress local, InetSocketAddress remote, int scope)
            throws LinuxException {
        try (Netlink links = Netlink.open(Netlink.NETLINK_ROUTE)) {
            for (NetworkAddresses.Entry other : NetworkAddresses.list(links)) {
                if (other.interfaceIndex() != scope && other.address().equals(local.getAddress())) {
                    Optional<TcpSocket> found = find(local, remote, other.interfaceIndex());
                    if (found.isPresent()) {
                        return found;
                    }
                }
            }
        }
        return Optional.empty();
    }

    /** The interface that scopes an address; 0 if the address is global. */
    private static int scope(InetAddress address) {
        return address instanceof Inet6Address six && six.isLinkLocalAddress() ? six.getScopeId() : 0;
    }

    private Optional<TcpSocket> find(InetSocketAddress local, InetSocketAddress remote, int scope)
            throws LinuxException {
        InetAddress source = address(local);
        InetAddress destination = address(remote);
        if (source.getAddress().length != destination.getAddress().length) {
            throw new IllegalArgumentException("addresses of two families: " + local + ", " + remote);
        }
        ByteBuffer request = ByteBuffer.allocate(REQUEST_BYTES).order(ByteOrder.nativeOrder());
        request.put(0, (byte) (source instanceof Inet4Address ? AF_INET : AF_INET6)).put(1, (byte) IPPROTO_TCP);
        request.putInt(REQUEST_STATES, -1);
        request.order(ByteOrder.BIG_ENDIAN).putShort(REQUEST_ID, (short) local.getPort())
                .putShort(REQUEST_ID + 2, (short) remote.getPort());
        request.put(REQUEST_ID + ID_SOURCE, source.getAddress()).put(REQUEST_ID + ID_DESTINATION, destination
                .getAddress());
        request.order(ByteOrder.nativeOrder()).putInt(REQUEST_ID + ID_INTERFACE, scope);
        request.putLong(REQUEST_ID + ID_COOKIE, -1L); // INET_DIAG_NOCOOKIE
        String call = "netlink SOCK_DIAG_BY_FAMILY(" + local + ", " + remote + ")";
        try {
            List<NetlinkReply> replies = netlink.request(
                    new NetlinkRequest(SOCK_DIAG_BY_FAMILY, 0).append(request.array()), call);
            return replies.isEmpty() ? Optional.empty() : read(replies.getFirst(), local, remote, call);
        } catch (LinuxException e) {
            if (e.errno() == Errno.ENOENT && e.call().equals(call)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private static Optional<TcpSocket> read(NetlinkReply reply, InetSocketAddress local, InetSocketAddress remote,
            String call) throws LinuxException {
        ByteBuffer message = reply.payload();
        if (reply.type() != SOCK_DIAG_BY_FAMILY || message.remaining() < MESSAGE_BYTES) {
            throw new LinuxException(call, Errno.EBADMSG);
        }
        int state = message.get(MESSAGE_STATE) & 0xFF;
        // Without such a connection, the kernel returns the socket that listens at the local address.
        if (state == TCP_LISTEN || !isEnd(message, 0, ID_SOURCE, local) || !isEnd(message, 2, ID_DESTINATION, remote)) {
            return Optional.empty();
        }
        int at = MESSAGE_ID + ID_COOKIE; // u32[2], the lower half first
        long cookie = Integer.toUnsignedLong(message.getInt(at)) | (long) message.getInt(at + 4) << 32;
        return Optional.of(new TcpSocket(state, message.getInt(MESSAGE_UID), message.getInt(MESSAGE_INODE), cookie));
    }

    /** Whether an end of the socket in a message has that address; a socket of IPv6 may be connected over IPv4. */
    private static boolean isEnd(ByteBuffer message, int portAt, int addressAt, InetSocketAddress wanted) {
        byte[] found = new byte[message.get(0) == AF_INET ? 4 : 16];
        message.get(MESSAGE_ID + addressAt, found);
        int port = (message.get(MESSAGE_ID + portAt) & 0xFF) << 8 | message.get(MESSAGE_ID + portAt + 1) & 0xFF;
        try {
            return port == wanted.getPort()
                    && Arrays.equals(InetAddress.getByAddress(found).getAddress(), wanted.getAddress().getAddress());
        } catch (UnknownHostException wrongLength) {
            throw new AssertionError(wrongLength);
        }
    }

    private static InetAddress address(InetSocketAddress a) {
        if (a.isUnresolved()) {
            throw new IllegalArgumentException("not resolved: " + a);
        }
        return a.getAddress();
    }

    /** Closes the socket. Idempotent. */
    @Override
    public void close() {
        netlink.close();
    }
}
