// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import org.verbena.verbs.AddressVector;
import org.verbena.verbs.Gid;

/** {@code struct ibv_ah_attr}. */
final class PathBytes {
    static final Gid NONE = new Gid(0, 0);

    private PathBytes() {}

    /** Without a global header if the destination is only a LID. */
    static void put(Struct s, AddressVector v) {
        s.putGid(0, v.destination());
        s.putInt(Layout.AH_FLOW_LABEL, v.flowLabel());
        s.putByte(Layout.AH_SGID_INDEX, v.sourceGidIndex());
        s.putByte(Layout.AH_HOP_LIMIT, v.hopLimit());
        s.putByte(Layout.AH_TRAFFIC_CLASS, v.trafficClass());
        s.putShort(Layout.AH_DLID, v.destinationLid());
        s.putByte(Layout.AH_SL, v.serviceLevel());
        s.putByte(Layout.AH_SRC_PATH_BITS, v.sourcePathBits());
        s.putByte(Layout.AH_STATIC_RATE, v.staticRate());
        s.putByte(Layout.AH_IS_GLOBAL, v.destination().equals(NONE) ? 0 : 1);
        s.putByte(Layout.AH_PORT_NUM, v.port());
    }

    static AddressVector get(Struct s) {
        boolean global = s.getByte(Layout.AH_IS_GLOBAL) != 0;
        return AddressVector.builder(global ? s.getGid(0) : NONE).sourceGidIndex(s.getByte(Layout.AH_SGID_INDEX))
                .hopLimit(s.getByte(Layout.AH_HOP_LIMIT)).trafficClass(s.getByte(Layout.AH_TRAFFIC_CLASS)).flowLabel(s
                        .getInt(Layout.AH_FLOW_LABEL)).serviceLevel(s.getByte(Layout.AH_SL)).port(s.getByte(
                                Layout.AH_PORT_NUM)).staticRate(s.getByte(Layout.AH_STATIC_RATE)).sourcePathBits(s
                                        .getByte(Layout.AH_SRC_PATH_BITS)).destinationLid(s.getShort(Layout.AH_DLID))
                .build();
    }
}
