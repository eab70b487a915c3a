// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.kafka;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

import org.verbena.apps.Lines;

/** A consumer of a topic with one record and no further one: {@code IdleConsumer PORT}. Prints {@code idle}. */
public final class IdleConsumer {
    private static final String TOPIC = "idle";

    private IdleConsumer() {}

    /** Runs until its input ends. */
    public static void main(String[] args) throws Exception {
        Properties p = new Properties();
        p.putAll(Map.of("bootstrap.servers", "127.0.0.1:" + args[0], "enable.auto.commit", "false"));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(p, new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(TOPIC, 0, null, new byte[100])).get();
        }
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(p, new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            TopicPartition part = new TopicPartition(TOPIC, 0);
            consumer.assign(List.of(part));
            consumer.seekToBeginning(List.of(part));
            while (consumer.poll(Duration.ofMillis(100)).isEmpty()) {
                // it comes
            }
            Lines.say("idle");
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    Lines.awaitEnd();
                } catch (IOException e) {
                    Lines.say("failed", e);
                }
                consumer.wakeup();
            });
            awaitNothing(consumer);
        }
    }

    private static void awaitNothing(KafkaConsumer<byte[], byte[]> consumer) {
        try {
            while (true) {
                if (!consumer.poll(Duration.ofSeconds(1)).isEmpty()) {
                    throw new IllegalStateException("an unexpected record");
                }
            }
        } catch (WakeupException e) {
            Lines.say("end");
        }
    }
}
