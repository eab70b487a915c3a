// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

import org.verbena.apps.Data;
import org.verbena.apps.Rate;

/**
 * Reads a second from ZooKeeper, one at a time over each connection: {@code KeeperBench PORT CONNECTIONS BYTES
 * WARM-UP-MILLIS MILLIS PACE}, see {@link Rate}.
 */
public final class KeeperBench {
    private static final int SESSION_MILLIS = 20_000;

    private KeeperBench() {}

    /** Runs for the time given. */
    public static void main(String[] args) throws Exception {
        byte[] bytes = Data.bytes(1, Integer.parseInt(args[2]));
        List<ZooKeeper> clients = new ArrayList<>();
        List<Rate.Work> all = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            CountDownLatch connected = new CountDownLatch(1);
            ZooKeeper client = new ZooKeeper("127.0.0.1:" + args[0], SESSION_MILLIS, event -> {
                if (event.getState() == KeeperState.SyncConnected) {
                    connected.countDown();
                }
            });
            clients.add(client);
            connected.await();
            String path = client.create("/node" + i, bytes, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            all.add(() -> read(client, path, bytes.length));
        }
        new Rate(args).of(all);
        for (ZooKeeper client : clients) {
            client.close();
        }
    }

    private static int read(ZooKeeper client, String path, int bytes) throws Exception {
        int came = client.getData(path, false, null).length;
        if (came != bytes) {
            throw new IllegalStateException(came + " bytes instead of " + bytes);
        }
        return 1;
    }
}
