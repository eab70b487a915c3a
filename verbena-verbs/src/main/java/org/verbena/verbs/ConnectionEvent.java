package org.verbena.verbs;

/**
 * What happened to a connection, {@code struct rdma_cm_event}.
 *
 * @param type {@link #ESTABLISHED}, {@link #DISCONNECTED} or {@link #DEVICE_REMOVAL}, numbered as
 *        {@code enum rdma_cm_event_type}; later versions may add kinds
 * @param detail what happened in words
 */
public record ConnectionEvent(int type, String detail) {
    /** Both sides are connected. */
    public static final int ESTABLISHED = 9;
    /** The peer disconnected or died. */
    public static final int DISCONNECTED = 10;
    /** The device is gone. */
    public static final int DEVICE_REMOVAL = 11;

    /** The type's name, or its number. */
    public String typeName() {
        return switch (type) {
            case ESTABLISHED -> "ESTABLISHED";
            case DISCONNECTED -> "DISCONNECTED";
            case DEVICE_REMOVAL -> "DEVICE_REMOVAL";
            default -> Integer.toString(type);
        };
    }
}
