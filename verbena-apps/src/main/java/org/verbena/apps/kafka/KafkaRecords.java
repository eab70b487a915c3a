// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.kafka;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

import org.verbena.apps.Data;
import org.verbena.apps.Lines;

/**
 * Records that are all accounted for: {@code KafkaRecords produce|consume PORT TOPIC COUNT BYTES}. Record number N
 * holds its number and the bytes derived from N. Pauses when it has its connections, prints {@code at N} from time to
 * time, and {@code done COUNT}.
 */
public final class KafkaRecords {
    private static final int HEAD = 8;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private KafkaRecords() {}

    /** Runs until all records are written, or read. */
    public static void main(String[] args) throws Exception {
        Properties p = new Properties();
        p.putAll(Map.of("bootstrap.servers", "127.0.0.1:" + args[1]));
        int count = Integer.parseInt(args[3]);
        int bytes = Integer.parseInt(args[4]);
        if (args[0].equals("produce")) {
            produce(p, args[2], count, bytes);
        } else {
            consume(p, args[2], count, bytes);
        }
        Lines.say("done", count);
    }

    private static byte[] value(int number, int bytes) {
        byte[] v = Data.bytes(number, bytes);
        ByteBuffer.wrap(v).putLong(number);
        return v;
    }

    private static void produce(Properties p, String topic, int count, int bytes) throws Exception {
        p.putAll(Map.of("acks", "all", "delivery.timeout.ms", "120000", "request.timeout.ms", "10000",
                "reconnect.backoff.max.ms", "200"));
        AtomicInteger written = new AtomicInteger();
        AtomicReference<Exception> failure = new AtomicReference<>();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(p, new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(topic, value(0, bytes))).get();
            written.incrementAndGet();
            Lines.pause();
            for (int i = 1; i < count && failure.get() == null; i++) {
                Future<?> _ = producer.send(new ProducerRecord<>(topic, value(i, bytes)), (done, e) -> {
                    if (e != null) {
                        failure.compareAndSet(null, e);
                    } else if (written.incrementAndGet() % 1000 == 0) {
                        Lines.say("at", written.get());
                    }
                });
            }
        }
        Exception e = failure.get();
        if (e != null) {
            throw e;
        }
        if (written.get() != count) {
            throw new IllegalStateException(written + " of " + count + " were written");
        }
    }

    private static void consume(Properties p, String topic, int count, int bytes) throws Exception {
        p.putAll(Map.of("auto.offset.reset", "earliest", "reconnect.backoff.max.ms", "200", "enable.auto.commit",
                "false"));
        BitSet seen = new BitSet();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(p, new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> parts = consumer.partitionsFor(topic).stream()
                    .map(i -> new TopicPartition(topic, i.partition())).toList();
            consumer.assign(parts);
            consumer.seekToBeginning(parts);
            consumer.endOffsets(parts); // a connection with the broker that has the records
            Lines.pause();
            long end = System.nanoTime() + LIMIT.toNanos();
            while (seen.cardinality() < count) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(500));
                for (ConsumerRecord<byte[], byte[]> r : records) {
                    take(r.value(), bytes, seen);
                }
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException(seen.cardinality() + " of " + count + " came within " + LIMIT);
                }
            }
            if (!consumer.poll(Duration.ofMillis(200)).isEmpty()) {
                throw new IllegalStateException("more than " + count + " came");
            }
        }
        if (seen.length() != count) {
            throw new IllegalStateException("record " + (seen.length() - 1) + " was never written");
        }
    }

    private static void take(byte[] value, int bytes, BitSet seen) {
        int number = value.length < HEAD ? -1 : (int) ByteBuffer.wrap(value).getLong();
        if (number < 0 || !Arrays.equals(value, value(number, bytes))) {
            throw new IllegalStateException("record " + number + " is damaged");
        }
        if (seen.get(number)) {
            throw new IllegalStateException("record " + number + " came twice");
        }
        seen.set(number);
    }
}
