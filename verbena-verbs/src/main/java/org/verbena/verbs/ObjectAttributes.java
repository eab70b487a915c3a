// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the numbers in an entry of a counter file mean, by kind of object. */
final class ObjectAttributes {
    private static final String[] QP = {"type", "sendCq", "receiveCq", "srq", "maxSendWr", "maxReceiveWr", "peerQp",
        "peerProcess"};
    private static final String[] CQ = {"cqe"};
    private static final String[] SRQ = {"type", "maxWr", "maxSge"};
    private static final String[] MR = {"pd", "address", "length", "access", "rkey"};
    private static final String[] NONE = {};
    private static final List<QueuePairState> STATES = List.of(QueuePairState.values());

    private ObjectAttributes() {}

    static Map<String, Object> of(EntryView e) {
        if (SocketAttributes.has(e.type())) {
            return SocketAttributes.of(e);
        }
        String[] names = switch (e.type()) {
            case ObjectType.QP -> QP;
            case ObjectType.CQ -> CQ;
            case ObjectType.SRQ -> SRQ;
            case ObjectType.MR -> MR;
            default -> NONE;
        };
        Map<String, Object> all = new LinkedHashMap<>();
        for (int i = 0; i < names.length; i++) {
            long v = e.attributes()[i];
            if (v != 0 || names[i].equals("type") || names[i].equals("access")) {
                all.put(names[i], value(e.type(), names[i], v));
            }
        }
        return all;
    }

    private static Object value(int type, String name, long v) {
        if (name.equals("type")) {
            return type == ObjectType.QP
                    ? QueuePairType.toString((int) v)
                    : SharedReceiveQueueType.toString((int) v);
        }
        return name.equals("access") ? AccessFlags.toString((int) v) : v;
    }

    static String device(int type, String name) {
        return SocketAttributes.has(type) && type != ObjectType.REMOTE_MEMORY ? "sockets" : name;
    }

    static String state(int type, int state) {
        if (SocketAttributes.has(type)) {
            return SocketState.toString(state);
        }
        return type == ObjectType.QP && state >= 0 && state < STATES.size() ? STATES.get(state).name() : "";
    }

    static String describe(int type, int number, String device) {
        return switch (type) {
            case ObjectType.DEVICE, ObjectType.SOCKETS -> device;
            case ObjectType.PORT -> "port " + number + " of " + device;
            default -> ObjectType.toString(type) + " 0x" + Integer.toHexString(number) + " of " + device;
        };
    }
}
