// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.netty;

import java.security.MessageDigest;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import org.jspecify.annotations.Nullable;

import org.verbena.apps.Data;

/**
 * One connection to an echo server: a few short words with pauses between them, like the start of any protocol, then,
 * when all connections are ready, the bytes as fast as the connection takes them.
 */
@SuppressWarnings("FutureReturnValueIgnored") // failures reach exceptionCaught, or close the channel
final class EchoExchange extends ChannelInboundHandlerAdapter {
    private static final int WORDS = 8;
    private static final int WORD_BYTES = 8;
    private static final int PAUSE_MILLIS = 20;

    private final Runnable ready;
    private final CompletionStage<@Nullable Void> go;
    private final Consumer<@Nullable String> then;
    private final long total;
    private final byte[] piece;
    private final SplittableRandom random;
    private final MessageDigest sent = Data.digest();
    private final MessageDigest received = Data.digest();
    private int words;
    private int wordLeft;
    private boolean started;
    private long toSend;
    private long toReceive;
    private boolean over;

    /**
     * @param ready runs when the words were exchanged
     * @param go completes when the bytes may follow
     * @param then receives null at the end, or the failure
     */
    EchoExchange(long seed, long bytes, int message, Runnable ready, CompletionStage<@Nullable Void> go,
            Consumer<@Nullable String> then) {
        this.ready = ready;
        this.go = go;
        this.then = then;
        total = bytes;
        toSend = bytes;
        toReceive = bytes;
        piece = new byte[message];
        random = new SplittableRandom(seed);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        SslHandler tls = ctx.pipeline().get(SslHandler.class);
        if (tls == null) {
            word(ctx);
        } else {
            tls.handshakeFuture().addListener(f -> {
                if (f.isSuccess()) {
                    word(ctx);
                } else {
                    end(String.valueOf(f.cause()));
                }
            });
        }
    }

    private void word(ChannelHandlerContext ctx) {
        wordLeft = WORD_BYTES;
        ctx.writeAndFlush(Unpooled.wrappedBuffer(new byte[WORD_BYTES]));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf in = (ByteBuf) msg;
        try {
            if (wordLeft > 0) {
                wordLeft -= in.readableBytes();
                if (wordLeft == 0) {
                    words++;
                    ctx.executor().schedule(() -> {
                        if (words < WORDS) {
                            word(ctx);
                        } else {
                            ready.run();
                            go.thenRunAsync(() -> {
                                started = true;
                                send(ctx);
                            }, ctx.executor());
                        }
                    }, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
                }
                return;
            }
            toReceive -= in.readableBytes();
            received.update(in.nioBuffer());
        } finally {
            in.release();
        }
        if (toReceive == 0) {
            String went = Data.hex(sent);
            String came = Data.hex(received);
            end(went.equals(came) ? null : "of " + total + " bytes went " + went + " and came " + came);
        } else if (toReceive < 0) {
            end(-toReceive + " bytes more came than went");
        }
    }

    private void send(ChannelHandlerContext ctx) {
        while (toSend > 0 && ctx.channel().isWritable()) {
            int n = (int) Math.min(toSend, piece.length);
            random.nextBytes(piece);
            sent.update(piece, 0, n);
            toSend -= n;
            ByteBuf out = ctx.alloc().buffer(n).writeBytes(piece, 0, n);
            ctx.writeAndFlush(out);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (started) {
            send(ctx);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        end("closed when " + toReceive + " bytes were missing");
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        end(cause.toString());
        ctx.close();
    }

    private void end(@Nullable String failure) {
        if (!over) {
            over = true;
            if (words < WORDS) {
                ready.run();
            }
            then.accept(failure);
        }
    }
}
