// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A request and its response over rings, with response times measured at both ends ({@code verbena.latency=on}); {@link
 * ChannelPath#requestResponse} is the same without.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED", "--add-exports=java.base/sun.net=ALL-UNNAMED",
    "-XX:+UseSerialGC", "-Dverbena.latency=on"})
public class ResponseTimesPath {
    /** For JMH. */
    public ResponseTimesPath() {}

    /** Nothing would be measured in a JVM without the property, which is read once. */
    @Setup
    public void requireProperty() {
        if (!"on".equals(System.getProperty("verbena.latency"))) {
            throw new IllegalStateException("needs a JVM of its own, with -Dverbena.latency=on");
        }
    }

    /** One buffer there, and one back. */
    @Benchmark
    public int requestResponse(ChannelPath path) throws IOException {
        return path.requestResponse();
    }
}
