package org.verbena.erm;

import org.verbena.verbs.AccessFlags;

/**
 * Memory of the other end that this end may copy to or from. Immutable but for its end; safe for use by several threads.
 */
public final class RemoteRegion {
    private final int id;
    private final int rkey;
    private final long address;
    private final long length;
    private final int access;
    private final long tag;
    private volatile boolean revoked;

    RemoteRegion(int id, int rkey, long address, long length, int access, long tag) {
        this.id = id;
        this.rkey = rkey;
        this.address = address;
        this.length = length;
        this.access = access;
        this.tag = tag;
    }

    /** Names it in copies, and at the other end; positive. */
    public int id() {
        return id;
    }

    /** Its size in bytes. */
    public long length() {
        return length;
    }

    /** {@link AccessFlags#REMOTE_READ}, {@link AccessFlags#REMOTE_WRITE} or both. */
    public int access() {
        return access;
    }

    /** Whatever the other end's program says of it. */
    public long tag() {
        return tag;
    }

    /** Whether the other end has taken it back, or the connection has ended: no copy is possible any more. */
    public boolean isRevoked() {
        return revoked;
    }

    void revoke() {
        revoked = true;
    }

    int rkey() {
        return rkey;
    }

    long address() {
        return address;
    }

    @Override
    public String toString() {
        return "remote region " + id + " of " + length + " bytes, " + AccessFlags.toString(access) + ", tag " + tag
                + (revoked ? ", revoked" : "");
    }
}
