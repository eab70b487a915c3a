package org.verbena.verbs;

/**
 * State and limits of a port, {@code struct ibv_port_attr}.
 *
 * @param state {@code 4} active, {@code 1} down, as {@code enum ibv_port_state}
 * @param maxMtu the largest path MTU in bytes
 * @param activeMtu the path MTU in use, in bytes
 * @param gidTableLength how many GIDs {@link Context#queryGid} answers
 * @param pkeyTableLength how many partition keys there are
 * @param maxMessageSize the longest message in bytes
 * @param linkLayer {@code "Ethernet"}, {@code "InfiniBand"} or {@code "shared memory"}
 */
public record PortAttributes(int state, int maxMtu, int activeMtu, int gidTableLength, int pkeyTableLength,
        long maxMessageSize, String linkLayer) {
    /** The port is down. */
    public static final int STATE_DOWN = 1;
    /** The port carries data. */
    public static final int STATE_ACTIVE = 4;

    /** The state's name, or its number. */
    public String stateName() {
        return switch (state) {
            case 0 -> "PORT_NOP";
            case STATE_DOWN -> "PORT_DOWN";
            case 2 -> "PORT_INIT";
            case 3 -> "PORT_ARMED";
            case STATE_ACTIVE -> "PORT_ACTIVE";
            case 5 -> "PORT_ACTIVE_DEFER";
            default -> Integer.toString(state);
        };
    }
}
