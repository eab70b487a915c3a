// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import org.verbena.linux.Errno;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.NodeType;
import org.verbena.verbs.VerbsException;

/** A device as it was listed; it is searched again when it is opened. */
final class RdmaDevice extends Device {
    private static final int TRANSPORT_IB = 0;
    private static final int TRANSPORT_IWARP = 1;

    private final String name;
    private final int nodeType;
    private final int transport;
    private final long guid;

    RdmaDevice(String name, int nodeType, int transport, long guid) {
        this.name = name;
        this.nodeType = nodeType;
        this.transport = transport;
        this.guid = guid;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String provider() {
        return RdmaProvider.NAME;
    }

    /** The link layer of each port shows which of the first two it is. */
    @Override
    public String transport() {
        return switch (transport) {
            case TRANSPORT_IB -> "InfiniBand or RoCE";
            case TRANSPORT_IWARP -> "iWARP";
            default -> "transport " + transport;
        };
    }

    @Override
    public int nodeType() {
        return nodeType < NodeType.CA ? NodeType.UNSPECIFIED : nodeType;
    }

    @Override
    public long guid() {
        return guid;
    }

    @Override
    protected Context implOpen() throws VerbsException {
        String verb = "open " + name;
        Ibverbs library = Ibverbs.load();
        try (DeviceList list = DeviceList.get(library)) {
            for (int i = 0; i < list.size(); i++) {
                if (list.name(i).equals(name)) {
                    long context = Calls.pointer(verb, library.get(verb, IbvFunction.OPEN_DEVICE), list.address(i));
                    return RdmaContext.open(this, new NativeContext(library, context));
                }
            }
        }
        throw new VerbsException(verb, Errno.ENODEV, "libibverbs does not find it any more");
    }
}
