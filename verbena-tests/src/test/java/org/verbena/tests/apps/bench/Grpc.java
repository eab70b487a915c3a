// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import org.verbena.tests.apps.App;

/**
 * gRPC on its own Netty, over one connection.
 *
 * @param kind {@code one} answer a call, or {@code many}, a stream
 * @param parallel calls at a time
 */
record Grpc(String name, String kind, int parallel) implements Benchmark {
    private static final int BYTES = 100;
    /** Otherwise it prefers a native transport. */
    private static final String NIO = "-Dio.grpc.netty.shaded.io.netty.transport.noNative=true";

    @Override
    public String what() {
        return "gRPC, " + BYTES + " B, answers a call: " + kind + ", calls at a time: " + parallel;
    }

    @Override
    public void run(Run run) throws Exception {
        try (App server = run.server().option(NIO).start("org.verbena.apps.grpc.GrpcServer")) {
            run.measure(name, "answers", new App[] {server}, "grpc.GrpcBench", server.awaitInt("port"), kind, parallel,
                    BYTES);
            server.end();
        }
    }
}
