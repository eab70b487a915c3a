// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.netty;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import org.jspecify.annotations.Nullable;

import org.verbena.apps.Lines;

/**
 * Connections to an echo server that exchange a few words and are then idle: {@code IdleClient PORT CONNECTIONS}.
 * Pauses after the words, and prints {@code idle}.
 */
public final class IdleClient {
    private static final int BYTES = 20_000;

    private IdleClient() {}

    /** Runs until its input ends. */
    public static void main(String[] args) throws Exception {
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
        int connections = Integer.parseInt(args[1]);
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        CountDownLatch left = new CountDownLatch(connections);
        CountDownLatch ready = new CountDownLatch(connections);
        CompletableFuture<@Nullable Void> go = new CompletableFuture<>();
        List<ChannelFuture> opened = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            EchoExchange exchange = new EchoExchange(i, BYTES, BYTES, ready::countDown, go, failure -> {
                if (failure != null) {
                    Lines.say("failed", failure);
                }
                left.countDown();
            });
            opened.add(new Bootstrap().group(group).channel(NioSocketChannel.class)
                    .handler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel ch) {
                            ch.pipeline().addLast(exchange);
                        }
                    }).connect(server));
        }
        for (ChannelFuture f : opened) {
            f.sync();
        }
        ready.await();
        Lines.pause();
        go.complete(null);
        left.await();
        Lines.say("idle");
        Lines.awaitEnd();
        for (ChannelFuture f : opened) {
            f.channel().close().sync();
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }
}
