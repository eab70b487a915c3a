// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

/**
 * The header of librdmacm before an application's private data in a request, so that services are ports and ends are
 * addresses (IBTA annex A11, RDMA IP CM service):
 * <pre>
 *  0  version of it 0, version of IP in the upper half of byte 1
 *  2  source port
 *  4  source address, 20 destination address; IPv4's in the last four of 16 bytes
 * </pre>
 *
 * @param sourcePort the active side's
 * @param source address of the active side
 * @param destination address of the passive side, of the same family
 */
public record RdmaCmHeader(int sourcePort, InetAddress source, InetAddress destination) {
    /** Its length. */
    public static final int BYTES = 36;
    /** Space for an application's own data in a request. */
    public static final int REQUEST_DATA = 92 - BYTES;

    /** Services of {@code RDMA_PS_TCP}: IBTA annex A11, the port is the lower 16 bits. */
    private static final long PORT_SPACE_TCP = 0x0106_0000L;
    private static final long PORT_SPACE_UDP = 0x0111_0000L;

    /** The service id of a port of connected queue pairs. */
    public static long service(int port) {
        return PORT_SPACE_TCP | port;
    }

    /** The service id of a port of datagrams. */
    public static long datagramService(int port) {
        return PORT_SPACE_UDP | port;
    }

    /** The header, followed by an application's data. */
    public PrivateData with(byte[] data) {
        boolean four = source instanceof Inet4Address;
        ByteBuffer b = ByteBuffer.allocate(BYTES + data.length);
        b.put(1, (byte) (four ? 0x40 : 0x60)).putShort(2, (short) sourcePort);
        b.put(four ? 16 : 4, source.getAddress()).put(four ? 32 : 20, destination.getAddress());
        b.put(BYTES, data);
        return PrivateData.of(b.array());
    }

    /**
     * The header at the beginning of private data.
     *
     * @return null if there is no known one
     */
    public static @Nullable RdmaCmHeader of(PrivateData data) {
        byte[] bytes = data.bytes();
        if (bytes.length < BYTES || bytes[0] != 0) {
            return null;
        }
        int version = bytes[1] >>> 4 & 0xF;
        int length = version == 4 ? 4 : 16;
        if (version != 4 && version != 6) {
            return null;
        }
        ByteBuffer b = ByteBuffer.wrap(bytes);
        return new RdmaCmHeader(b.getShort(2) & 0xFFFF, address(bytes, 20 - length, length), address(bytes, 36 - length,
                length));
    }

    private static InetAddress address(byte[] bytes, int at, int length) {
        byte[] address = new byte[length];
        System.arraycopy(bytes, at, address, 0, length);
        try {
            return InetAddress.getByAddress(address);
        } catch (UnknownHostException impossible) {
            throw new AssertionError("4 or 16 bytes are an address", impossible);
        }
    }
}
