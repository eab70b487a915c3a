// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.zookeeper;

import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;

import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

import org.verbena.apps.Lines;

/** ZooKeeper alone, on its NIO transport: {@code KeeperServer FOLDER}. Prints {@code port}. */
public final class KeeperServer {
    private static final int TICK_MILLIS = 2000;
    private static final int CONNECTIONS = 100;

    private KeeperServer() {}

    /** Runs until its input ends. */
    public static void main(String[] args) throws Exception {
        File folder = new File(args[0]);
        ServerCnxnFactory factory = ServerCnxnFactory.createFactory(new InetSocketAddress(InetAddress
                .getLoopbackAddress(), 0), CONNECTIONS);
        factory.startup(new ZooKeeperServer(folder, folder, TICK_MILLIS));
        Lines.say("port", factory.getLocalPort());
        Lines.awaitEnd();
        factory.shutdown();
    }
}
