// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.redis;

import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;

import org.verbena.apps.Data;
import org.verbena.apps.Rate;

/**
 * Commands a second by Lettuce, SET and GET in turn: {@code LettuceBench PORT CONNECTIONS PIPELINED BYTES
 * WARM-UP-MILLIS MILLIS PACE}, see {@link Rate}. On each connection, PIPELINED commands are under way at a time.
 */
public final class LettuceBench {
    private LettuceBench() {}

    /** Runs for the time given. */
    public static void main(String[] args) throws Exception {
        int pipelined = Integer.parseInt(args[2]);
        RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", Integer.parseInt(args[0])));
        List<Rate.Work> all = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            all.add(new Commands(client.connect(ByteArrayCodec.INSTANCE), pipelined, Data.bytes(i, 16), Data.bytes(-i,
                    Integer.parseInt(args[3]))));
        }
        new Rate(args).of(all);
        client.shutdown();
    }

    private static final class Commands implements Rate.Work {
        private final StatefulRedisConnection<byte[], byte[]> connection;
        private final int pipelined;
        private final byte[] key;
        private final byte[] value;
        private boolean set = true;

        Commands(StatefulRedisConnection<byte[], byte[]> connection, int pipelined, byte[] key, byte[] value) {
            this.connection = connection;
            this.pipelined = pipelined;
            this.key = key;
            this.value = value;
        }

        @Override
        public long some() throws Exception {
            if (set) {
                exchange();
            } else {
                for (byte[] came : exchange()) {
                    if (came.length != value.length) {
                        throw new IllegalStateException(came.length + " bytes instead of " + value.length);
                    }
                }
            }
            set = !set;
            return pipelined;
        }

        private List<byte[]> exchange() throws Exception {
            RedisAsyncCommands<byte[], byte[]> redis = connection.async();
            List<RedisFuture<?>> asked = new ArrayList<>(pipelined);
            for (int i = 0; i < pipelined; i++) {
                asked.add(set ? redis.set(key, value) : redis.get(key));
            }
            List<byte[]> came = new ArrayList<>(pipelined);
            for (RedisFuture<?> a : asked) {
                if (a.get() instanceof byte[] b) {
                    came.add(b);
                }
            }
            return came;
        }
    }
}
