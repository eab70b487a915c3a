// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/**
 * What a device does with memory that was registered with {@link AccessFlags#ON_DEMAND}, {@code struct ibv_odp_caps}: a
 * word of bits for each transport. Immutable.
 */
public final class OdpCapabilities {
    /** Bit of {@link #general()}: there is on-demand paging. */
    public static final int SUPPORT = 1;
    /** Bit of {@link #general()}: one region may be the whole address space. */
    public static final int SUPPORT_IMPLICIT = 1 << 1;

    /** Bit of a transport: sends out of such memory. */
    public static final int SEND = 1;
    /** Bit of a transport: receives into it. */
    public static final int RECEIVE = 1 << 1;
    /** Bit of a transport: writes to it and from it. */
    public static final int WRITE = 1 << 2;
    /** Bit of a transport: reads of it and into it. */
    public static final int READ = 1 << 3;
    /** Bit of a transport: atomics on it. */
    public static final int ATOMIC = 1 << 4;
    /** Bit of a transport: receives of a shared receive queue. */
    public static final int SRQ_RECEIVE = 1 << 5;
    /** Bit of a transport: flushes of it. */
    public static final int FLUSH = 1 << 6;
    /** Bit of a transport: atomic writes to it. */
    public static final int ATOMIC_WRITE = 1 << 7;

    private final int general;
    private final int rc;
    private final int uc;
    private final int ud;
    private final int xrc;

    private OdpCapabilities(int general, int rc, int uc, int ud, int xrc) {
        this.general = general;
        this.rc = rc;
        this.uc = uc;
        this.ud = ud;
        this.xrc = xrc;
    }

    /** For providers: the capabilities in general, and those of the transports. */
    public static OdpCapabilities of(int general, int rc, int uc, int ud, int xrc) {
        return new OdpCapabilities(general, rc, uc, ud, xrc);
    }

    /** What holds for all transports. */
    public int general() {
        return general;
    }

    /** For queue pairs of type RC. */
    public int rc() {
        return rc;
    }

    /** For queue pairs of type UC. */
    public int uc() {
        return uc;
    }

    /** For queue pairs of type UD. */
    public int ud() {
        return ud;
    }

    /** For queue pairs of the XRC types. */
    public int xrc() {
        return xrc;
    }

    @Override
    public String toString() {
        return "general 0x" + Integer.toHexString(general) + ", RC 0x" + Integer.toHexString(rc) + ", UC 0x"
                + Integer.toHexString(uc) + ", UD 0x" + Integer.toHexString(ud) + ", XRC 0x"
                + Integer.toHexString(xrc);
    }
}
