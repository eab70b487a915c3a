// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.grpc;

import java.util.Collections;
import java.util.Iterator;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;

import org.verbena.apps.Data;
import org.verbena.apps.Rate;

/**
 * Answers of {@link GrpcServer} a second, over one connection: {@code GrpcBench PORT one|many PARALLEL BYTES
 * WARM-UP-MILLIS MILLIS PACE}, see {@link Rate}. Each of PARALLEL threads has one call at a time under way.
 */
public final class GrpcBench {
    private GrpcBench() {}

    /** Runs for the time given. */
    public static void main(String[] args) throws Exception {
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", Integer.parseInt(args[0])).usePlaintext()
                .build();
        byte[] bytes = Data.bytes(1, Integer.parseInt(args[3]));
        boolean one = args[1].equals("one");
        Rate.Work call = () -> one ? one(channel, bytes) : many(channel, bytes);
        new Rate(args).of(Collections.nCopies(Integer.parseInt(args[2]), call));
        channel.shutdownNow();
    }

    private static int one(Channel channel, byte[] bytes) {
        check(bytes, ClientCalls.blockingUnaryCall(channel, Echo.ONE, CallOptions.DEFAULT, bytes));
        return 1;
    }

    private static int many(Channel channel, byte[] bytes) {
        int came = 0;
        for (Iterator<byte[]> all = ClientCalls.blockingServerStreamingCall(channel, Echo.MANY, CallOptions.DEFAULT,
                bytes); all.hasNext(); came++) {
            check(bytes, all.next());
        }
        if (came != Echo.REPEATED) {
            throw new IllegalStateException(came + " answers instead of " + Echo.REPEATED);
        }
        return came;
    }

    private static void check(byte[] wanted, byte[] came) {
        if (came.length != wanted.length) {
            throw new IllegalStateException(came.length + " bytes instead of " + wanted.length);
        }
    }
}
