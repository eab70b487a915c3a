// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.http;

import java.io.File;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerExpectContinueHandler;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.stream.ChunkedFile;
import io.netty.handler.stream.ChunkedWriteHandler;
import org.jspecify.annotations.Nullable;

import org.verbena.apps.Data;
import org.verbena.apps.Lines;
import org.verbena.apps.Tls;

/**
 * Netty, which behaves like {@link JdkServer}: {@code NettyServer FOLDER [KEYSTORE]}. Files are sent by {@code
 * DefaultFileRegion}, that is {@code FileChannel.transferTo}, without TLS.
 */
public final class NettyServer {
    private NettyServer() {}

    /** Runs until its input ends. */
    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        SslContext tls = args.length > 1 ? SslContextBuilder.forServer(Tls.keys(args[1])).build() : null;
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        Channel channel = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 1024).childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel ch) {
                        if (tls != null) {
                            ch.pipeline().addLast(tls.newHandler(ch.alloc()));
                        }
                        ch.pipeline().addLast(new HttpServerCodec(), new HttpServerExpectContinueHandler(),
                                new ChunkedWriteHandler(), new Answers(folder));
                    }
                }).bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        Lines.say("port", ((InetSocketAddress) channel.localAddress()).getPort());
        Lines.awaitEnd();
        channel.close().sync();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // failures reach exceptionCaught, or close the channel
    private static final class Answers extends SimpleChannelInboundHandler<HttpObject> {
        private final Path folder;
        private final MessageDigest digest = Data.digest();
        private @Nullable HttpRequest request;

        Answers(Path folder) {
            this.folder = folder;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, HttpObject part) throws Exception {
            if (part instanceof HttpRequest r) {
                request = r;
            }
            if (part instanceof HttpContent content) {
                ByteBuf b = content.content();
                if (b.isReadable()) {
                    digest.update(b.nioBuffer());
                }
                if (part instanceof LastHttpContent && request != null) {
                    if (request.method().equals(HttpMethod.POST)) {
                        hash(ctx);
                    } else {
                        file(ctx, folder.resolve(request.uri().substring(1)).toFile());
                    }
                }
            }
        }

        private void hash(ChannelHandlerContext ctx) {
            FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK,
                    Unpooled.copiedBuffer(Data.hex(digest), StandardCharsets.US_ASCII));
            HttpUtil.setContentLength(response, response.content().readableBytes());
            ctx.writeAndFlush(response);
        }

        private static void file(ChannelHandlerContext ctx, File file) throws Exception {
            HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
            HttpUtil.setContentLength(response, file.length());
            ctx.write(response);
            if (ctx.pipeline().get(SslHandler.class) == null) {
                ctx.write(new DefaultFileRegion(file, 0, file.length()));
                ctx.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
            } else {
                ctx.writeAndFlush(new HttpChunkedInput(new ChunkedFile(new RandomAccessFile(file, "r"))));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            Lines.say("lost", cause);
            ctx.close();
        }
    }
}
