// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

import org.verbena.tests.apps.App.By;

/** A Kafka broker that is its own controller (KRaft), in its own folder, at ports that are reserved for it. */
public final class Broker implements AutoCloseable {
    private static final String CLUSTER = "4L6g3nShT-eMCtK--X86sw";

    /** The files of a folder that is formatted, and nothing else; guarded by itself. */
    private static final Map<String, byte[]> FORMATTED = new HashMap<>();

    private final Path dir;
    private final By by;
    private final Path config;
    private final Socket port = Machine.holdPort();
    private final Socket controller = Machine.holdPort();

    /** Prepares the folder; the broker is not started yet. It may have more properties, a line each. */
    public Broker(Path scratch, By by, String... more) throws Exception {
        this.by = by;
        dir = Files.createTempDirectory(scratch, "kafka");
        config = Files.writeString(dir.resolve("server.properties"), """
                process.roles=broker,controller
                node.id=1
                controller.quorum.voters=1@127.0.0.1:%2$d
                controller.listener.names=CONTROLLER
                listeners=PLAINTEXT://127.0.0.1:%1$d,CONTROLLER://127.0.0.1:%2$d
                log.dirs=%3$s
                num.partitions=2
                num.network.threads=2
                num.io.threads=4
                offsets.topic.num.partitions=1
                offsets.topic.replication.factor=1
                transaction.state.log.num.partitions=1
                transaction.state.log.replication.factor=1
                transaction.state.log.min.isr=1
                share.coordinator.state.topic.num.partitions=1
                share.coordinator.state.topic.replication.factor=1
                share.coordinator.state.topic.min.isr=1
                group.initial.rebalance.delay.ms=0
                log.cleaner.enable=false
                %4$s
                """.formatted(port(), controller.getLocalPort(), dir.resolve("log"), String.join("\n", more)));
        format(dir, config, dir.resolve("log"));
    }

    /** By Kafka's tool, the first time: it takes a JVM, and writes the same for each broker. */
    private static void format(Path dir, Path config, Path log) throws Exception {
        synchronized (FORMATTED) {
            if (!FORMATTED.isEmpty()) {
                Files.createDirectory(log);
                for (var file : FORMATTED.entrySet()) {
                    Files.write(log.resolve(file.getKey()), file.getValue());
                }
                return;
            }
            try (App format = App.java(dir, By.PLAIN).quickStart().start("kafka.tools.StorageTool", "format", "-t",
                    CLUSTER, "-c", config)) {
                format.rest();
            }
            Map<String, byte[]> all = new HashMap<>();
            try (Stream<Path> files = Files.list(log)) {
                for (Path file : files.toList()) {
                    all.put(file.getFileName().toString(), Files.readAllBytes(file));
                }
            }
            FORMATTED.putAll(all);
        }
    }

    public int port() {
        return port.getLocalPort();
    }

    /** Starts it, and waits until it takes connections. */
    App start() throws IOException {
        return start(App.java(dir, by).quickStart());
    }

    public App start(App.Java how) throws IOException {
        App broker = how.start("kafka.Kafka", config);
        try {
            Machine.awaitPort(port(), broker);
            return broker;
        } catch (Throwable t) {
            try {
                broker.close();
            } catch (InterruptedException | IOException e) {
                t.addSuppressed(e);
            }
            throw t;
        }
    }

    /** Its properties for a tool. */
    public String bootstrap() {
        return "127.0.0.1:" + port();
    }

    /** Releases the ports; the broker has ended. */
    @Override
    public void close() throws IOException {
        port.close();
        controller.close();
    }
}
