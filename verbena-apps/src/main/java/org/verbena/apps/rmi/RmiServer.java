// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.rmi;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.UnicastRemoteObject;

import org.verbena.apps.Data;
import org.verbena.apps.Lines;

/** A registry and a {@link Store} in it: {@code RmiServer}. Prints {@code port}, that of the registry. */
public final class RmiServer {
    private RmiServer() {}

    /** Runs until its input ends. */
    public static void main(String[] none) throws Exception {
        System.setProperty("java.rmi.server.hostname", "127.0.0.1");
        Store store = new Hashing();
        Registry registry = LocateRegistry.createRegistry(0, null, port -> {
            ServerSocket s = new ServerSocket(port, 0, InetAddress.getLoopbackAddress());
            Lines.say("port", s.getLocalPort());
            return s;
        });
        registry.rebind(Store.NAME, UnicastRemoteObject.exportObject(store, 0));
        Lines.say("bound");
        Lines.awaitEnd();
        UnicastRemoteObject.unexportObject(store, true);
        UnicastRemoteObject.unexportObject(registry, true);
    }

    private static final class Hashing implements Store {
        @Override
        public byte[] exchange(byte[] bytes, String hash, long seed, int size) throws RemoteException {
            String is = Data.hash(bytes);
            if (!is.equals(hash)) {
                throw new RemoteException(bytes.length + " bytes with the hash " + is + " instead of " + hash);
            }
            return Data.bytes(seed, size);
        }

        @Override
        public byte[] echo(byte[] bytes) {
            return bytes;
        }
    }
}
