// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Options that two ends may agree on when they connect, {@code struct ibv_ece}. Immutable. */
public final class EnhancedConnection {
    private final int vendorId;
    private final int options;
    private final int compMask;

    private EnhancedConnection(int vendorId, int options, int compMask) {
        this.vendorId = vendorId;
        this.options = options;
        this.compMask = compMask;
    }

    /**
     * Options of a vendor.
     *
     * @param vendorId the vendor's identifier, an OUI of 24 bits
     * @param options what the vendor makes of them
     */
    public static EnhancedConnection of(int vendorId, int options) {
        return new EnhancedConnection(vendorId, options, 0);
    }

    /** The vendor's identifier, an OUI of 24 bits. */
    public int vendorId() {
        return vendorId;
    }

    /** What the vendor makes of them. */
    public int options() {
        return options;
    }

    /** Which further fields are set, see {@link CompMask}; there is none yet. */
    public int compMask() {
        return compMask;
    }

    @Override
    public String toString() {
        return "EnhancedConnection[vendor 0x" + Integer.toHexString(vendorId) + ", options 0x"
                + Integer.toHexString(options) + "]";
    }
}
