// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * What a network interface takes off the kernel, and how many queues it has: ethtool(8), by ioctl(2)
 * {@code SIOCETHTOOL}. Interfaces are those of the calling thread's network namespace. Changing needs CAP_NET_ADMIN
 * there. Stateless and thread-safe.
 */
public final class EthtoolFeatures {
    static final int SIOCETHTOOL = 0x8946;
    static final int ETHTOOL_GSG = 0x18;
    static final int ETHTOOL_SSG = 0x19;
    static final int ETHTOOL_GTXCSUM = 0x16;
    static final int ETHTOOL_STXCSUM = 0x17;
    static final int ETHTOOL_GTSO = 0x1e;
    static final int ETHTOOL_STSO = 0x1f;
    static final int ETHTOOL_GGSO = 0x23;
    static final int ETHTOOL_SGSO = 0x24;
    static final int ETHTOOL_GGRO = 0x2b;
    static final int ETHTOOL_SGRO = 0x2c;
    static final int ETHTOOL_GFLAGS = 0x25;
    static final int ETHTOOL_SFLAGS = 0x26;
    static final int ETH_FLAG_TXVLAN = 1 << 7;
    static final int ETH_FLAG_RXVLAN = 1 << 8;
    static final int ETHTOOL_GCHANNELS = 0x3c;
    static final int ETHTOOL_SCHANNELS = 0x3d;
    /** struct ifreq: name 0, the pointer 16. */
    static final int IFREQ_BYTES = 40;
    static final int IFREQ_DATA = 16;
    /**
     * struct ethtool_channels: u32 cmd, max_rx, max_tx, max_other, max_combined, rx_count, tx_count, other_count,
     * combined_count.
     */
    static final int CHANNELS_BYTES = 36;
    private static final int MAX_NAME = 15;
    /** Behind struct ifreq in the scratch memory. */
    private static final int DATA = 64;

    private EthtoolFeatures() {}

    /** Something that an interface can do. */
    public enum Feature {
        /** It computes checksums of packets to send. */
        TX_CHECKSUM(ETHTOOL_GTXCSUM, ETHTOOL_STXCSUM, 0),
        /** It sends packets from several places of memory. */
        SCATTER_GATHER(ETHTOOL_GSG, ETHTOOL_SSG, 0),
        /** It cuts TCP data into packets: TSO. */
        TCP_SEGMENTATION(ETHTOOL_GTSO, ETHTOOL_STSO, 0),
        /** Packets are cut as late as possible: GSO. */
        SEGMENTATION(ETHTOOL_GGSO, ETHTOOL_SGSO, 0),
        /** Received packets are put together: GRO. */
        RECEIVE_OFFLOAD(ETHTOOL_GGRO, ETHTOOL_SGRO, 0),
        /** VLAN tags of packets to send are kept beside them. */
        TX_VLAN(ETHTOOL_GFLAGS, ETHTOOL_SFLAGS, ETH_FLAG_TXVLAN),
        /** VLAN tags of received packets are kept beside them. */
        RX_VLAN(ETHTOOL_GFLAGS, ETHTOOL_SFLAGS, ETH_FLAG_RXVLAN);

        private final int get;
        private final int set;
        private final int flag;

        Feature(int get, int set, int flag) {
            this.get = get;
            this.set = set;
            this.flag = flag;
        }
    }

    /**
     * The numbers of queues of an interface, {@code struct ethtool_channels}.
     *
     * @param receive queues that only receive
     * @param transmit queues that only send
     * @param combined queues that do both
     * @param maxReceive how many of the first there can be; likewise the others
     */
    public record Channels(int receive, int transmit, int combined, int maxReceive, int maxTransmit, int maxCombined) {
        /** Queues that receive. */
        public int receiving() {
            return receive + combined;
        }
    }

    /**
     * Whether a feature is on.
     *
     * @param name the interface
     * @throws LinuxException {@code ENODEV}, {@code EOPNOTSUPP}
     */
    public static boolean isOn(String name, Feature feature) throws LinuxException {
        int value = value(name, feature.get, 0, feature + " of " + name);
        return feature.flag == 0 ? value != 0 : (value & feature.flag) != 0;
    }

    /**
     * Switches a feature on or off.
     *
     * @param name the interface
     * @throws LinuxException {@code EPERM}, {@code ENODEV}, {@code EOPNOTSUPP} or {@code EINVAL} (it cannot be changed)
     */
    public static void set(String name, Feature feature, boolean on) throws LinuxException {
        int value = on ? 1 : 0;
        if (feature.flag != 0) {
            int flags = value(name, feature.get, 0, feature + " of " + name);
            value = on ? flags | feature.flag : flags & ~feature.flag;
        }
        value(name, feature.set, value, feature + " of " + name + (on ? " on" : " off"));
    }

    /** struct ethtool_value {u32 cmd, data}. */
    private static int value(String name, int command, int data, String what) throws LinuxException {
        MemorySegment memory = Native.scratch().memory();
        memory.set(ValueLayout.JAVA_INT, DATA, command);
        memory.set(ValueLayout.JAVA_INT, DATA + 4, data);
        call(name, "ioctl(SIOCETHTOOL, " + what + ")");
        return memory.get(ValueLayout.JAVA_INT, DATA + 4);
    }

    /**
     * The numbers of queues.
     *
     * @param name the interface
     * @throws LinuxException {@code ENODEV}, {@code EOPNOTSUPP} (it has one that cannot be changed)
     */
    public static Channels channels(String name) throws LinuxException {
        MemorySegment memory = Native.scratch().memory();
        memory.asSlice(DATA, CHANNELS_BYTES).fill((byte) 0);
        memory.set(ValueLayout.JAVA_INT, DATA, ETHTOOL_GCHANNELS);
        call(name, "ioctl(SIOCETHTOOL, channels of " + name + ")");
        int[] n = memory.asSlice(DATA, CHANNELS_BYTES).toArray(ValueLayout.JAVA_INT);
        return new Channels(n[5], n[6], n[8], n[1], n[2], n[4]);
    }

    /**
     * Changes the numbers of queues.
     *
     * @param name the interface
     * @param channels the counts; the maxima are not looked at
     * @throws LinuxException {@code EPERM}, {@code ENODEV}, {@code EOPNOTSUPP}, {@code EINVAL} (more than there can be)
     */
    public static void setChannels(String name, Channels channels) throws LinuxException {
        Args.requireBetween(Math.min(channels.receive, Math.min(channels.transmit, channels.combined)), 0,
                Integer.MAX_VALUE, "a number of queues");
        MemorySegment memory = Native.scratch().memory();
        memory.asSlice(DATA, CHANNELS_BYTES).fill((byte) 0);
        int[] n = {ETHTOOL_SCHANNELS, 0, 0, 0, 0, channels.receive, channels.transmit, 0, channels.combined};
        MemorySegment.copy(n, 0, memory, ValueLayout.JAVA_INT, DATA, n.length);
        call(name, "ioctl(SIOCETHTOOL, channels of " + name + ": " + channels.receive + " rx, " + channels.transmit
                + " tx, " + channels.combined + " combined)");
    }

    private static void call(String name, String call) throws LinuxException {
        byte[] bytes = Args.name(name, MAX_NAME, "the name of an interface");
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory();
        long result;
        try (Fd socket = Fd.ofResult(Native.call(SyscallNumber.SOCKET, UdpHeaders.AF_INET, UdpSocket.SOCK_DGRAM
                | UnixSocket.SOCK_CLOEXEC, 0), "socket(AF_INET)")) {
            memory.asSlice(0, IFREQ_BYTES).fill((byte) 0);
            MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
            memory.set(ValueLayout.JAVA_LONG, IFREQ_DATA, scratch.address() + DATA);
            result = Native.call(SyscallNumber.IOCTL, socket.value(), SIOCETHTOOL, scratch.address());
        }
        Args.check(result, call);
    }
}
