package org.verbena.verbs;

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

    /** The globally unique identifier of the node, {@code ibv_get_device_guid}. */
    public abstract long guid();

    /**
     * Opens the device, {@code ibv_open_device}.
     *
     * @throws VerbsException if the device cannot work on this machine; the message says what to do
     */
    public abstract Context open() throws VerbsException;

    @Override
    public String toString() {
        return name();
    }
}
