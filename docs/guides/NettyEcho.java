// SPDX-License-Identifier: Apache-2.0
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/** An echo server on Netty, and a client that counts answers: "server", and "client SECONDS" in another terminal. */
public class NettyEcho {
    static final InetSocketAddress ADDRESS = new InetSocketAddress("localhost", Integer.getInteger("port", 7007));
    static final int BYTES = 64;

    public static void main(String[] args) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        if (args.length == 1 && args[0].equals("server")) {
            new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                    .childOption(ChannelOption.TCP_NODELAY, true).childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline().addLast(new Echo());
                        }
                    }).bind(ADDRESS).sync().channel().closeFuture().sync();
        } else if (args.length == 2 && args[0].equals("client")) {
            LongAdder answers = new LongAdder();
            new Bootstrap().group(group).channel(NioSocketChannel.class).option(ChannelOption.TCP_NODELAY, true)
                    .handler(new Client(answers)).connect(ADDRESS).sync();
            for (int i = 0; i < Integer.parseInt(args[1]); i++) {
                answers.reset();
                TimeUnit.SECONDS.sleep(1);
                System.out.println(answers.sum() + " answers in a second");
            }
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        } else {
            System.err.println("usage: NettyEcho server | NettyEcho client SECONDS");
            System.exit(2);
        }
    }

    static class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    static class Client extends SimpleChannelInboundHandler<ByteBuf> {
        final LongAdder answers;
        int missing;

        Client(LongAdder answers) {
            this.answers = answers;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            send(context);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
            missing -= message.readableBytes();
            if (missing == 0) {
                answers.increment();
                send(context);
            }
        }

        void send(ChannelHandlerContext context) {
            missing = BYTES;
            context.writeAndFlush(context.alloc().buffer(BYTES).writeZero(BYTES));
        }
    }
}
