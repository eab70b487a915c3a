// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.rmi;

import java.rmi.Remote;
import java.rmi.RemoteException;

/** The remote interface of the server. */
public interface Store extends Remote {
    /** Its name in the registry. */
    String NAME = "store";

    /**
     * Takes bytes and returns others.
     *
     * @param hash of the bytes; the call fails if it does not match
     * @param seed of the answer
     * @param size of the answer in bytes
     */
    byte[] exchange(byte[] bytes, String hash, long seed, int size) throws RemoteException;

    /** Returns the bytes it takes. */
    byte[] echo(byte[] bytes) throws RemoteException;
}
