// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.netty;

import java.net.InetAddress;
import java.net.InetSocketAddress;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import org.jspecify.annotations.Nullable;

import org.verbena.apps.Lines;
import org.verbena.apps.Tls;

/** Sends back the bytes it receives: {@code EchoServer [KEYSTORE]}. Prints {@code port}. */
public final class EchoServer {
    private static final int THREADS = Integer.getInteger("threads", 2);

    private EchoServer() {}

    /** Runs until its input ends. */
    public static void main(String[] args) throws Exception {
        SslContext tls = args.length > 0 ? SslContextBuilder.forServer(Tls.keys(args[0])).build() : null;
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(THREADS, NioIoHandler.newFactory());
        ServerBootstrap server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 1024).childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(handlers(tls));
        Channel channel = server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        Lines.say("port", ((InetSocketAddress) channel.localAddress()).getPort());
        Lines.awaitEnd();
        channel.close().sync();
        group.shutdownGracefully(0, 5, java.util.concurrent.TimeUnit.SECONDS).sync();
    }

    private static ChannelInitializer<SocketChannel> handlers(@Nullable SslContext tls) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel ch) {
                if (tls != null) {
                    ch.pipeline().addLast(tls.newHandler(ch.alloc()));
                }
                ch.pipeline().addLast(new Echo());
            }
        };
    }

    /** Stops reading while the other end does not. */
    @SuppressWarnings("FutureReturnValueIgnored") // failures reach exceptionCaught, or close the channel
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.write(msg);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            ctx.channel().config().setAutoRead(ctx.channel().isWritable());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            Lines.say("lost", cause);
            ctx.close();
        }
    }
}
