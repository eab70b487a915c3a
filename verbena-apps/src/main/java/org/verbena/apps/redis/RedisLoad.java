// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.redis;

import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;

import org.verbena.apps.Data;
import org.verbena.apps.Lines;

/**
 * Values of several sizes into Redis and back: {@code RedisLoad PORT CONNECTIONS}. Pauses, then closes the connections
 * and prints {@code done VALUES BYTES}.
 */
public final class RedisLoad {
    private static final int[] SIZES = {0, 1, 100, 4096, 70_000, 3_000_000};
    private static final int PIPELINED = 500;

    private RedisLoad() {}

    /** Runs until each value was compared. */
    public static void main(String[] args) throws Exception {
        RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", Integer.parseInt(args[0])));
        List<StatefulRedisConnection<byte[], byte[]>> connections = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            connections.add(client.connect(ByteArrayCodec.INSTANCE));
        }
        long values = 0;
        long bytes = 0;
        for (int i = 0; i < connections.size(); i++) {
            RedisCommands<byte[], byte[]> redis = connections.get(i).sync();
            for (int size : SIZES) {
                byte[] key = Data.bytes(31L * i + size, 16);
                byte[] value = Data.bytes(i + size, size);
                redis.set(key, value);
                check(value, connections.get((i + 1) % connections.size()).sync().get(key));
                values++;
                bytes += 2L * size;
            }
        }
        StatefulRedisConnection<byte[], byte[]> one = connections.getFirst();
        List<RedisFuture<byte[]>> answers = new ArrayList<>();
        for (int i = 0; i < PIPELINED; i++) {
            answers.add(one.async().echo(Data.bytes(i, 1000)));
        }
        for (int i = 0; i < PIPELINED; i++) {
            check(Data.bytes(i, 1000), answers.get(i).get());
            values++;
            bytes += 2000;
        }
        Lines.pause();
        client.shutdown();
        Lines.say("done", values, bytes);
    }

    private static void check(byte[] value, byte[] came) {
        if (!Data.hash(value).equals(Data.hash(came))) {
            throw new IllegalStateException("a value of " + value.length + " bytes came back as one of " + came.length);
        }
    }
}
