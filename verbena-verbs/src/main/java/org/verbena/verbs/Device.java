// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.verbena.linux.Errno;

/**
 * A device that a provider found, {@code struct ibv_device}. Devices hold no resources; {@link #open()} does.
 * Safe for use by several threads.
 */
public abstract class Device {
    /** For providers. */
    protected Device() {}

    /** The device's name, unique on this host, for instance {@code "shm0"}. */
    public abstract String name();

    /** The provider's name, for instance {@code "shm"}. */
    public abstract String provider();

    /** How the device reaches its peers, for instance {@code "shared memory"} or {@code "RoCEv2"}. */
    public abstract String transport();

    /**
     * What carries the device's data inside, and why that: a sentence for people, where there is a choice.
     *
     * @return empty where there is none
     */
    public String backEnd() {
        return "";
    }

    /** What the device is, see {@link NodeType}. */
    public int nodeType() {
        return NodeType.UNSPECIFIED;
    }

    /** The globally unique identifier of the node, {@code ibv_get_device_guid}. */
    public abstract long guid();

    /**
     * Opens the device, {@code ibv_open_device}.
     *
     * @throws VerbsException if the device cannot work on this machine; the message says what to do;
     *         {@code EOPNOTSUPP} if the provider needs what this version of the API, or the class path, does not have
     */
    public final Context open() throws VerbsException {
        try {
            return implOpen();
        } catch (LinkageError e) {
            VerbsException refused = new VerbsException("open " + name(), Errno.EOPNOTSUPP, "the provider "
                    + provider() + " does not fit this verbena-verbs, API level " + Verbs.apiLevel() + ": " + e);
            refused.initCause(e);
            throw refused;
        }
    }

    /** Opens the device. */
    protected abstract Context implOpen() throws VerbsException;

    @Override
    public String toString() {
        return name();
    }
}
