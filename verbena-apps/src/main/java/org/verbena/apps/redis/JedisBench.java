// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.redis;

import java.util.ArrayList;
import java.util.List;

import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;

import org.verbena.apps.Data;
import org.verbena.apps.Rate;

/**
 * Commands a second by Jedis, which uses classic sockets, SET and GET in turn: {@code JedisBench PORT CONNECTIONS
 * PIPELINED BYTES WARM-UP-MILLIS MILLIS PACE}, see {@link Rate}. On each connection, PIPELINED commands are under way at a
 * time.
 */
public final class JedisBench {
    private JedisBench() {}

    /** Runs for the time given. */
    public static void main(String[] args) throws Exception {
        int pipelined = Integer.parseInt(args[2]);
        List<Jedis> clients = new ArrayList<>();
        List<Rate.Work> all = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            Jedis client = new Jedis("127.0.0.1", Integer.parseInt(args[0]));
            clients.add(client);
            byte[] key = Data.bytes(i, 16);
            byte[] value = Data.bytes(-i, Integer.parseInt(args[3]));
            all.add(pipelined == 1 ? () -> one(client, key, value) : () -> many(client, key, value, pipelined));
        }
        new Rate(args).of(all);
        clients.forEach(Jedis::close);
    }

    private static int one(Jedis client, byte[] key, byte[] value) {
        client.set(key, value);
        check(value, client.get(key));
        return 2;
    }

    private static int many(Jedis client, byte[] key, byte[] value, int pipelined) {
        List<Response<byte[]>> answers = new ArrayList<>(pipelined / 2);
        try (Pipeline p = client.pipelined()) {
            for (int i = 0; i < pipelined / 2; i++) {
                p.set(key, value);
                answers.add(p.get(key));
            }
            p.sync();
        }
        answers.forEach(a -> check(value, a.get()));
        return 2 * answers.size();
    }

    private static void check(byte[] value, byte[] came) {
        if (came.length != value.length) {
            throw new IllegalStateException(came.length + " bytes instead of " + value.length);
        }
    }
}
