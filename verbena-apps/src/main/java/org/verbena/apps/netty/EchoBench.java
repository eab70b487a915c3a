// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.netty;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;

import org.verbena.apps.Rate;

/**
 * Requests per second of an echo server, one at a time on each connection: {@code EchoBench PORT CONNECTIONS BYTES
 * WARM-UP-MILLIS MILLIS PACE}, see {@link Rate}.
 */
public final class EchoBench {
    private static final int THREADS = Integer.getInteger("threads", 1);

    private EchoBench() {}

    /** Runs for the time given. */
    public static void main(String[] args) throws Exception {
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
        int connections = Integer.parseInt(args[1]);
        int bytes = Integer.parseInt(args[2]);
        Rate answers = new Rate(args);
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(THREADS, NioIoHandler.newFactory());
        List<ChannelFuture> opened = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            opened.add(new Bootstrap().group(group).channel(NioSocketChannel.class)
                    .option(ChannelOption.TCP_NODELAY, true).handler(new Asker(bytes, answers.lane(i, connections),
                            timer)).connect(server));
        }
        for (ChannelFuture f : opened) {
            f.sync();
        }
        Rate.say(answers.measure());
        timer.shutdownNow();
        for (ChannelFuture f : opened) {
            f.channel().close().sync();
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // failures reach exceptionCaught, or close the channel
    private static final class Asker extends ChannelInboundHandlerAdapter {
        private final int bytes;
        private final Rate.Lane lane;
        private final ScheduledExecutorService timer;
        private int left;

        Asker(int bytes, Rate.Lane lane, ScheduledExecutorService timer) {
            this.bytes = bytes;
            this.lane = lane;
            this.timer = timer;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            left = bytes;
            ctx.writeAndFlush(ctx.alloc().directBuffer(bytes).writeZero(bytes));
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf in = (ByteBuf) msg;
            left -= in.readableBytes();
            in.release();
            if (left == 0) {
                lane.add(1);
                askWhenDue(ctx);
            }
        }

        /** Not by the event loop's own timer: for the last half of a millisecond it would select without a pause. */
        private void askWhenDue(ChannelHandlerContext ctx) {
            long wait = lane.untilDue();
            if (wait <= 0) {
                channelActive(ctx);
            } else if (wait < Long.MAX_VALUE) {
                timer.schedule(() -> ctx.executor().execute(() -> channelActive(ctx)), wait, TimeUnit.NANOSECONDS);
            }
        }
    }
}
