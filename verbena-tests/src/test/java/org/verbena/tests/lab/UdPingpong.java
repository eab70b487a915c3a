// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.EOFException;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.HexFormat;

import jdk.net.ExtendedSocketOptions;

/**
 * The other end of {@code ibv_ud_pingpong}, with a UDP socket and nothing of Verbena: so if this one fails too, the
 * fault is in the lab.
 *
 * <pre>
 * UdPingpong MY-ADDRESS MESSAGES [SERVER]
 * </pre>
 */
final class UdPingpong {
    /** The port where the two ends exchange their queue pairs. */
    private static final int EXCHANGE = 18515;
    private static final int LENGTH_OF_EXCHANGE = "0000:000000:000000:".length() + 32 + 1;
    private static final int QP = 0x4711;
    private static final int QKEY = 0x11111111;
    private static final int SEND_ONLY = 0x64;
    private static final int PAYLOAD = 256;
    private static final int BTH = 12;
    private static final int DETH = 8;
    private static final int ICRC = 4;
    private static final int PATIENCE_MS = 5000;

    private final DatagramChannel channel;
    private final InetAddress me;
    private int psn = 0x100;

    private UdPingpong(InetAddress me) throws IOException {
        this.me = me;
        channel = DatagramChannel.open();
        // Not fragmented and not connected: then the identification in the IPv4 header, which the ICRC covers, is 0.
        channel.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
        channel.bind(new InetSocketAddress(me, RocePacket.PORT));
        channel.socket().setSoTimeout(PATIENCE_MS);
    }

    public static void main(String[] arguments) throws IOException {
        UdPingpong end = new UdPingpong(InetAddress.getByName(arguments[0]));
        int messages = Integer.parseInt(arguments[1]);
        if (arguments.length > 2) {
            end.client(InetAddress.getByName(arguments[2]), messages);
        } else {
            end.server(messages);
        }
        System.out.println(messages + " messages each way");
    }

    private void client(InetAddress server, int messages) throws IOException {
        try (Socket s = new Socket(server, EXCHANGE)) {
            s.setSoTimeout(PATIENCE_MS);
            s.getOutputStream().write(mine());
            Peer peer = Peer.of(s.getInputStream().readNBytes(LENGTH_OF_EXCHANGE));
            s.getOutputStream().write("done\0".getBytes(US_ASCII));
            for (int i = 0; i < messages; i++) {
                send(peer);
                receive(peer);
            }
        }
    }

    private void server(int messages) throws IOException {
        try (ServerSocket listener = new ServerSocket(EXCHANGE, 1, me); Socket s = listener.accept()) {
            s.setSoTimeout(PATIENCE_MS);
            Peer peer = Peer.of(s.getInputStream().readNBytes(LENGTH_OF_EXCHANGE));
            s.getOutputStream().write(mine());
            for (int i = 0; i < messages; i++) {
                receive(peer);
                send(peer);
            }
        }
    }

    private byte[] mine() {
        ByteBuffer gid = ByteBuffer.allocate(16);
        if (me instanceof Inet4Address) {
            gid.position(10).putShort((short) 0xffff);
        }
        gid.put(me.getAddress());
        return String.format("%04x:%06x:%06x:%s\0", 0, QP, psn, HexFormat.of().formatHex(gid.array())).getBytes(
                US_ASCII);
    }

    private record Peer(int qp, InetSocketAddress address) {
        static Peer of(byte[] exchanged) throws IOException {
            if (exchanged.length < LENGTH_OF_EXCHANGE) {
                throw new EOFException("the other end told nothing of its queue pair");
            }
            String[] parts = new String(exchanged, 0, exchanged.length - 1, US_ASCII).split(":", -1);
            return new Peer(HexFormat.fromHexDigits(parts[1]), new InetSocketAddress(InetAddress.getByAddress(HexFormat
                    .of().parseHex(parts[3])), RocePacket.PORT)); // a mapped IPv4 address is an IPv4 address there
        }
    }

    private void send(Peer peer) throws IOException {
        ByteBuffer roce = ByteBuffer.allocate(BTH + DETH + PAYLOAD + ICRC);
        roce.put((byte) SEND_ONLY).put((byte) 0).putShort((short) 0xffff).putInt(peer.qp).putInt(psn++ & 0xffffff);
        roce.putInt(QKEY).putInt(QP);
        roce.putInt(roce.capacity() - ICRC, Integer.reverseBytes(RocePacket.icrc(me, peer.address.getAddress(),
                roce.array())));
        channel.send(roce.rewind(), peer.address);
    }

    private void receive(Peer peer) throws IOException {
        byte[] b = new byte[4200];
        var packet = new java.net.DatagramPacket(b, b.length);
        try {
            channel.socket().receive(packet);
        } catch (SocketTimeoutException e) {
            throw new IOException("nothing from " + peer.address + " within " + PATIENCE_MS + " ms", e);
        }
        ByteBuffer roce = ByteBuffer.wrap(b, 0, packet.getLength());
        if (roce.remaining() != BTH + DETH + PAYLOAD + ICRC || (roce.get(0) & 0xff) != SEND_ONLY || roce.getInt(4) != QP
                || roce.getInt(BTH) != QKEY || roce.getInt(BTH + 4) != peer.qp) {
            throw new IOException("not what was expected: " + HexFormat.of().formatHex(b, 0, packet.getLength()));
        }
    }
}
