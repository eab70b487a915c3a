// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All that {@code bench/apps} can run. */
final class Benchmarks {
    private static final int SMALL = 100;
    private static final int LARGE = 64 << 10;
    private static final int MANY = 50;

    private static final List<Benchmark> ALL = List.of(new NettyEcho(1), new NettyEcho(100),
            new Http("http-netty", "Netty", "jdk", SMALL), new Http("http-netty-64k", "Netty", "jdk", LARGE),
            new Http("http-jetty", "Jetty", "jetty", SMALL), new Http("http-jetty-64k", "Jetty", "jetty", LARGE),
            new Http("http-jdk", "Jdk", "jdk", SMALL), new Http("http-jdk-64k", "Jdk", "jdk", LARGE),
            new Http("http-tomcat", "Tomcat", "jdk", SMALL), new Http("http-tomcat-64k", "Tomcat", "jdk", LARGE),
            new Grpc("grpc-unary", "one", 8), new Grpc("grpc-stream", "many", 1), new Rmi("rmi", 4, SMALL), new Rmi(
                    "rmi-64k", 4, LARGE),
            new RedisCommands("lettuce-1", "Lettuce", 1, 1), new RedisCommands("lettuce-50", "Lettuce", MANY, 1),
            new RedisCommands("lettuce-pipelined", "Lettuce", 1, 100),
            new RedisCommands("jedis-1", "Jedis", 1, 1), new RedisCommands("jedis-50", "Jedis", MANY, 1),
            new RedisCommands("jedis-pipelined", "Jedis", 1, 100),
            new PostgresQueries("postgres-1", 1, 1), new PostgresQueries("postgres-10", 10, 1),
            new PostgresQueries("postgres-rows", 1, 10_000),
            new H2Queries("h2-1", 1, 1), new H2Queries("h2-rows", 1, 1000),
            new Keeper("zookeeper-1", 1), new Keeper("zookeeper-10", 10),
            new Kafka("kafka", List.of()), new Kafka("kafka-acks-1", List.of("acks=1")),
            new Kafka("kafka-lz4", List.of("compression.type=lz4")),
            new KafkaLatency("kafka-latency"));

    private Benchmarks() {}

    static List<Benchmark> all() {
        return ALL;
    }

    /** Those of the names, in their own order; all, if there is no name. */
    static List<Benchmark> named(List<String> names) {
        if (names.isEmpty()) {
            return ALL;
        }
        Map<String, Benchmark> known = new LinkedHashMap<>();
        ALL.forEach(b -> known.put(b.name(), b));
        List<Benchmark> found = new ArrayList<>();
        for (String n : names) {
            Benchmark b = known.get(n);
            if (b == null) {
                throw new IllegalArgumentException("there is no benchmark " + n + ", but " + String.join(", ", known
                        .keySet()));
            }
            found.add(b);
        }
        return found;
    }
}
