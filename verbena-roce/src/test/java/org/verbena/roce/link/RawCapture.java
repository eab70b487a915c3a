// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/** Frames as they are on an interface: packet(7). */
final class RawCapture implements AutoCloseable {
    private static final int AF_PACKET = 17;
    private static final int SOCK_RAW = 3;
    private static final int ETH_P_ALL = 0x0300; // 3 in network order
    private static final int MSG_DONTWAIT = 0x40;
    private static final int ETHERNET = 14;
    private static final int ROCE_PORT = 4791;

    private final Fd fd;
    private final MemorySegment buffer = Arena.ofAuto().allocate(1 << 17, 8);

    private RawCapture(Fd fd) {
        this.fd = fd;
    }

    static RawCapture open(int interfaceIndex) throws LinuxException {
        RawCapture capture = new RawCapture(Fd.of((int) check("socket(AF_PACKET)", Native.call(SyscallNumber.SOCKET,
                AF_PACKET, SOCK_RAW | 0x80000, ETH_P_ALL))));
        Native.Scratch scratch = Native.scratch(); // struct sockaddr_ll
        scratch.memory().asSlice(0, 20).fill((byte) 0);
        scratch.memory().set(ValueLayout.JAVA_SHORT, 0, (short) AF_PACKET);
        scratch.memory().set(ValueLayout.JAVA_SHORT, 2, (short) ETH_P_ALL);
        scratch.memory().set(ValueLayout.JAVA_INT, 4, interfaceIndex);
        check("bind(AF_PACKET)", Native.call(SyscallNumber.BIND, capture.fd.value(), scratch.address(), 20));
        return capture;
    }

    private static long check(String call, long result) throws LinuxException {
        if (result < 0) {
            throw new LinuxException(call, (int) -result);
        }
        return result;
    }

    /** The IP packets to port 4791 that have passed since the last call. */
    List<byte[]> packets() {
        List<byte[]> all = new ArrayList<>();
        while (true) {
            long n = Native.call(buffer, SyscallNumber.RECVFROM, fd.value(), buffer.address(), buffer.byteSize(),
                    MSG_DONTWAIT, 0, 0);
            if (n < 0) {
                return all;
            }
            byte[] frame = buffer.asSlice(0, n).toArray(ValueLayout.JAVA_BYTE);
            int udp = ETHERNET + (frame[ETHERNET] >>> 4 == 4 ? 20 : 40);
            if (n > udp + 8 && ((frame[udp + 2] & 0xFF) << 8 | frame[udp + 3] & 0xFF) == ROCE_PORT) {
                byte[] ip = new byte[frame.length - ETHERNET];
                System.arraycopy(frame, ETHERNET, ip, 0, ip.length);
                all.add(ip);
            }
        }
    }

    @Override
    public void close() {
        fd.close();
    }
}
