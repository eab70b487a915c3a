// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.netty;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import org.jspecify.annotations.Nullable;

import org.verbena.apps.Lines;
import org.verbena.apps.Tls;

/**
 * Sends to an echo server and compares the hashes of the sent and received bytes: {@code EchoClient PORT CONNECTIONS
 * BYTES MESSAGE [KEYSTORE]}. Pauses after a few words, then prints {@code connected}, {@code done CONNECTIONS BYTES},
 * or {@code failed} with the reason.
 */
public final class EchoClient {
    private static final int THREADS = Integer.getInteger("threads", 2);
    private static final int LIMIT_SECONDS = 60;

    private EchoClient() {}

    /** Runs until all is echoed, or one connection fails. */
    public static void main(String[] args) throws Exception {
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
        int connections = Integer.parseInt(args[1]);
        long bytes = Long.parseLong(args[2]);
        int message = Integer.parseInt(args[3]);
        SslContext tls = args.length > 4
                ? SslContextBuilder.forClient().trustManager(Tls.trust(args[4])).build()
                : null;
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(THREADS, NioIoHandler.newFactory());
        CountDownLatch left = new CountDownLatch(connections);
        CountDownLatch ready = new CountDownLatch(connections);
        CompletableFuture<@Nullable Void> go = new CompletableFuture<>();
        ConcurrentLinkedQueue<String> failures = new ConcurrentLinkedQueue<>();
        List<ChannelFuture> opened = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            EchoExchange exchange = new EchoExchange(i, bytes, message, ready::countDown, go, why -> {
                if (why != null) {
                    failures.add(why);
                }
                left.countDown();
            });
            opened.add(new Bootstrap().group(group).channel(NioSocketChannel.class)
                    .option(ChannelOption.TCP_NODELAY, true).handler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel ch) {
                            if (tls != null) {
                                ch.pipeline().addLast(tls.newHandler(ch.alloc(), "127.0.0.1", server.getPort()));
                            }
                            ch.pipeline().addLast(exchange);
                        }
                    }).connect(server));
        }
        for (ChannelFuture f : opened) {
            f.sync();
        }
        ready.await();
        Lines.pause();
        Lines.say("connected", connections);
        go.complete(null);
        boolean all = left.await(LIMIT_SECONDS, TimeUnit.SECONDS);
        if (all && failures.isEmpty()) {
            Lines.say("done", connections, bytes * connections);
        } else {
            Lines.say("failed", left.getCount(), "missing", failures.stream().distinct().limit(3).toList());
        }
        for (ChannelFuture f : opened) {
            Channel ch = f.channel();
            ch.close().sync();
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        System.exit(all && failures.isEmpty() ? 0 : 1);
    }
}
