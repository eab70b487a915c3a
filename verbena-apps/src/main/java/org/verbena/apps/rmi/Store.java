// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.rmi;

import java.rmi.Remote;
import java.rmi.RemoteException;

/** What the server has to offer. */
public interface Store extends Remote {
    /** Its name in the registry. */
    String NAME = "store";

    /**
     * Takes bytes and answers others.
     *
     * @param hash of the bytes; the call fails if it is not theirs
     * @param seed what the answer is made of
     * @param size how long it is to be
     */
    byte[] exchange(byte[] bytes, String hash, long seed, int size) throws RemoteException;
}
