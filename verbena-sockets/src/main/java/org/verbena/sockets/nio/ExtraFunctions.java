// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.sockets.extra.ExtraApi;
import org.verbena.sockets.extra.ExtraFunction;
import org.verbena.sockets.extra.ReceiveFlags;
import org.verbena.sockets.extra.ReceivedPackets;
import org.verbena.sockets.rules.Rules;
import org.verbena.sockets.stream.PacketHolder;
import org.verbena.sockets.stream.RingPackets;
import org.verbena.sockets.stream.StatisticsDump;
import org.verbena.sockets.stream.Stream;
import org.verbena.verbs.VerbsException;

/** The Extra API over the channels of this package. Stateless. */
public enum ExtraFunctions implements ExtraApi {
    /** The only instance. */
    INSTANCE;

    private static final Set<ExtraFunction> ALL = Collections.unmodifiableSet(EnumSet.allOf(ExtraFunction.class));
    private static final int MOST = 1 << 16;
    private static final int FLAGS = ReceiveFlags.DONT_WAIT | ReceiveFlags.FORCE;

    @Override
    public Set<ExtraFunction> functions() {
        return ALL;
    }

    @Override
    public ReceivedPackets newPackets(int packets, int fragments) {
        if (packets < 0 || packets > MOST || fragments < 0 || fragments > 2 * MOST) {
            throw new IllegalArgumentException("there are 0 to " + MOST
                    + " packets, with up to two fragments each, not "
                    + packets + " packets with " + fragments + " fragments");
        }
        return new PacketHolder(packets, fragments);
    }

    @Override
    public int receive(SocketChannel channel, ReceivedPackets packets, @Nullable ByteBuffer copy, int flags)
            throws IOException {
        Objects.requireNonNull(channel);
        if ((flags & ~FLAGS) != 0) {
            throw failed("receive packets from", channel, Errno.EINVAL,
                    "flags 0x" + Integer.toHexString(flags & ~FLAGS) + " do not exist: see ReceiveFlags");
        }
        if (!(packets instanceof PacketHolder holder)) {
            throw failed("receive packets from", channel, Errno.EINVAL,
                    "ExtraApi.newPackets makes the objects for it, not " + Objects.requireNonNull(packets).getClass()
                            .getName());
        }
        return ours("receive packets from", channel).packets().receive(holder, copy, flags);
    }

    private static StreamSocketChannel ours(String verb, SocketChannel channel) throws VerbsException {
        if (channel instanceof StreamSocketChannel s) {
            return s;
        }
        throw failed(verb, Objects.requireNonNull(channel), Errno.EINVAL,
                "it is not Verbena's, but of " + channel.getClass().getName());
    }

    @Override
    public void freePackets(SocketChannel channel, ReceivedPackets packets) throws IOException {
        Stream stream = holding(channel);
        if (!(packets instanceof PacketHolder holder)) {
            throw failed("free packets of", channel, Errno.EINVAL, "ExtraApi.newPackets makes the objects for it");
        }
        int count = holder.count();
        if (count > 0) {
            RingPackets held = stream == null ? null : RingPackets.of(stream);
            int wrong = held == null ? 0 : held.free(holder.ids(), 0, count);
            if (wrong >= 0) {
                throw notHeld(channel, holder.id(wrong));
            }
            holder.freed();
        }
    }

    @Override
    public void freePackets(SocketChannel channel, long[] ids, int offset, int count) throws IOException {
        Objects.checkFromIndexSize(offset, count, ids.length);
        Stream stream = holding(channel);
        RingPackets held = stream == null ? null : RingPackets.of(stream);
        int wrong = count == 0 ? -1 : held == null ? offset : held.free(ids, offset, count);
        if (wrong >= 0) {
            throw notHeld(channel, ids[wrong]);
        }
    }

    @Override
    public void freePacket(SocketChannel channel, long id) throws IOException {
        Stream stream = holding(channel);
        RingPackets held = stream == null ? null : RingPackets.of(stream);
        if (held == null || !held.free(id)) {
            throw notHeld(channel, id);
        }
    }

    /** What carries a channel of which packets may be held; null before it is connected. */
    private static @Nullable Stream holding(SocketChannel channel) throws VerbsException {
        Stream stream = ours("free packets of", channel).streamOrNull();
        if (stream != null && stream.isKernels()) {
            throw failed("free packets of", channel, Errno.EINVAL,
                    "the kernel carries it (" + stream.fallbackReason() + "), so none were received from it");
        }
        return stream;
    }

    private static VerbsException notHeld(SocketChannel channel, long id) {
        return failed("free packets of", channel, Errno.ENOENT, "packet 0x" + Long.toHexString(id)
                + " was not received from it, or is freed already");
    }

    private static VerbsException failed(String verb, SocketChannel channel, int errno, String detail) {
        return new VerbsException(verb + " " + channel, errno, detail);
    }

    @Override
    public int heldPackets(SocketChannel channel) {
        Stream stream = NioChannels.streamOf(channel);
        RingPackets held = stream == null ? null : RingPackets.of(stream);
        return held == null ? 0 : held.held();
    }

    @Override
    public void addRule(String line) {
        Rules.add(line);
    }

    @Override
    public void threadOffload(Thread thread, boolean on) {
        Rules.offload(Objects.requireNonNull(thread), on);
    }

    @Override
    public void dumpStatistics(@Nullable SocketChannel channel, Level level) throws IOException {
        System.Logger log = System.getLogger("org.verbena.sockets");
        if (log.isLoggable(Objects.requireNonNull(level))) {
            lines(channel).forEach(line -> log.log(level, line));
        } else if (channel != null) {
            ours("dump the statistics of", channel);
        }
    }

    @Override
    public void dumpStatistics(@Nullable SocketChannel channel, Consumer<String> to) throws IOException {
        lines(channel).forEach(Objects.requireNonNull(to));
    }

    private static List<String> lines(@Nullable SocketChannel channel) throws VerbsException {
        if (channel == null) {
            return StatisticsDump.all();
        }
        Stream stream = ours("dump the statistics of", channel).streamOrNull();
        return stream == null
                ? List.of(StatisticsDump.RULE, "- TCP, not connected: " + channel, StatisticsDump.RULE)
                : StatisticsDump.of(stream);
    }
}
