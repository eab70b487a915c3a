// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.extra;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * The functions that Verbena has beyond Java's sockets: {@code vma_api_t}. Get it once, by {@link org.verbena.sockets.Verbena#extraApi}, and keep it.
 *
 * <p>Where the C functions return -1 with an errno, these throw a {@link org.verbena.verbs.VerbsException}, an {@link IOException} that has
 * it. Verbena implements this interface, programs do not: later versions add methods. Where a channel is closed or reset, these methods throw what its {@code read} throws. All methods are for any thread;
 * an object of type {@link ReceivedPackets} is for one at a time.
 */
public interface ExtraApi {
    /** The functions that there are: a program asks before it calls one that a version may lack. */
    Set<ExtraFunction> functions();

    /** Bits of {@link #functions}: {@code vma_extra_supported_mask}. */
    default long mask() {
        long mask = 0;
        for (ExtraFunction f : functions()) {
            mask |= f.mask();
        }
        return mask;
    }

    /**
     * Makes an object for {@link #receive} to fill. A packet of a stream has at most 64 KiB, and two fragments where the ring wraps.
     *
     * @param packets packets that it has room for, at most 65,536; with 0, or without fragments, receives copy all bytes into their buffer
     * @param fragments fragments of all of them together; with as many as packets a packet ends where the ring does
     * @throws IllegalArgumentException if one is negative or too large
     */
    ReceivedPackets newPackets(int packets, int fragments);

    /**
     * Receives without a copy, as many packets as are there and as there is room for: {@code recvfrom_zcopy}. What a ring brings the program
     * reads in the ring itself, until it {@linkplain #freePackets frees} it; what TCP brings (before a connection has rings, or where it gets none)
     * is copied. {@code packets.isZeroCopy()} says which it was. In each case the bytes are the next of the stream, in order with those of reads.
     *
     * <p>Waits for the first byte if the channel blocks, as read does. Held packets take of the ring's room: a peer that has filled the rings of its
     * connection (5.3 MiB unless {@code verbena.stream.ring} says otherwise) waits until some are freed, as with bytes that are not read. Others do not.
     *
     * @param copy for bytes that cannot be received without a copy; may be null
     * @param flags of {@link ReceiveFlags}
     * @return bytes received; 0 if there are none yet, and the channel does not block or {@link ReceiveFlags#DONT_WAIT} is set, or if another thread reads the
     *         channel and that flag is set; -1 at the end of the stream
     * @throws org.verbena.verbs.VerbsException where bytes are there: {@code ENOBUFS} if there is no room for one packet and none to copy, or 65,536 packets are held,
     *         or the bytes are to be copied and there is no buffer, or one without room; {@code EIO} if they cannot be received without a copy, and {@link
     *         ReceiveFlags#FORCE} is set. In any case {@code EINVAL} for a flag that does not exist, for packets that another implementation made, and for a channel that is not Verbena's. Nothing is lost then: the
     *         bytes come with the next receive or read
     * @throws IOException as {@link SocketChannel#read(ByteBuffer)}
     */
    int receive(SocketChannel channel, ReceivedPackets packets, @Nullable ByteBuffer copy, int flags)
            throws IOException;

    /**
     * Frees all packets that the last receive has brought, which are forgotten then: {@code free_packets}.
     *
     * @throws org.verbena.verbs.VerbsException as {@link #freePackets(SocketChannel, long[], int, int)}
     */
    void freePackets(SocketChannel channel, ReceivedPackets packets) throws IOException;

    /**
     * Frees packets, in any order and from any thread: {@code free_packets}. The room of the oldest, and of all freed ones behind it, is the peer's again. The
     * channel may be closed.
     *
     * @param ids identifiers of them
     * @param offset of the first one in {@code ids}
     * @param count how many
     * @throws org.verbena.verbs.VerbsException {@code ENOENT} if a packet was not received from this channel, or is freed already: the others are freed nevertheless,
     *         and the message names the first one that is not; {@code EINVAL} if the channel is not Verbena's, or a rule has left it to the kernel
     * @throws IndexOutOfBoundsException if the array has no such range
     */
    void freePackets(SocketChannel channel, long[] ids, int offset, int count) throws IOException;

    /** Frees one packet, as {@link #freePackets(SocketChannel, long[], int, int)} frees several. */
    void freePacket(SocketChannel channel, long id) throws IOException;

    /** Packets of a channel that are held, {@code n_rx_zcopy_pkt_count}; 0 for any other channel. */
    int heldPackets(SocketChannel channel);

    /**
     * Puts a rule before all others of this process, those of the block of the rules' file that holds for it: {@code add_conf_rule}. Sockets that are decided
     * stay as they are.
     *
     * @param line one {@code use} line, in the grammar of libvma.conf and docs/rules.md
     * @throws IllegalArgumentException if it is malformed, with the column, or is not one rule; then nothing is changed
     */
    void addRule(String line);

    /**
     * Says whether sockets that a thread creates from now on may use anything but the kernel; where they may, rules decide: {@code thread_offload}.
     *
     * @param thread a platform thread or a virtual one
     */
    void threadOffload(Thread thread, boolean on);

    /**
     * Writes what sockets have come to, in the layout of {@code vma_stats -v 3}, to the logger {@code org.verbena.sockets}: {@code dump_fd_stats}.
     *
     * @param channel null for all connections of the process
     * @param level of the lines
     * @throws org.verbena.verbs.VerbsException {@code EINVAL} if the channel is not Verbena's
     */
    void dumpStatistics(@Nullable SocketChannel channel, Level level) throws IOException;

    /** As {@link #dumpStatistics(SocketChannel, Level)}, but line by line to {@code to}; all lines are made first. */
    void dumpStatistics(@Nullable SocketChannel channel, Consumer<String> to) throws IOException;
}
