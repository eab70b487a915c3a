// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.grpc;

import java.net.InetAddress;
import java.net.InetSocketAddress;

import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

import org.verbena.apps.Lines;

/** A server of {@link Echo} by gRPC on Netty: {@code GrpcServer}. Prints {@code port}. */
public final class GrpcServer {
    private GrpcServer() {}

    /** Runs until its input ends. */
    public static void main(String[] none) throws Exception {
        ServerServiceDefinition echo = ServerServiceDefinition.builder(Echo.NAME)
                .addMethod(Echo.ONE, ServerCalls.asyncUnaryCall(GrpcServer::one))
                .addMethod(Echo.MANY, ServerCalls.asyncServerStreamingCall(GrpcServer::many)).build();
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(echo).build().start();
        Lines.say("port", server.getPort());
        Lines.awaitEnd();
        server.shutdownNow().awaitTermination();
    }

    private static void one(byte[] bytes, StreamObserver<byte[]> answer) {
        answer.onNext(bytes);
        answer.onCompleted();
    }

    private static void many(byte[] bytes, StreamObserver<byte[]> answer) {
        ServerCallStreamObserver<byte[]> to = (ServerCallStreamObserver<byte[]>) answer;
        int[] left = {Echo.REPEATED};
        // Calls of the handler do not overlap.
        to.setOnReadyHandler(() -> {
            while (left[0] > 0 && to.isReady()) {
                to.onNext(bytes);
                if (--left[0] == 0) {
                    to.onCompleted();
                }
            }
        });
    }
}
