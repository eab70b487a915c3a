// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import org.verbena.verbs.AccessFlags;

/**
 * Memory of the other end that this end may copy to or from. Rights and tag are always the latest that the other end
 * has announced. Thread-safe.
 */
public final class RemoteRegion {
    /**
     * State shared by all versions of a region; a copy is checked against one version, so that its rights and key
     * belong together.
     */
    private static final class Shared {
        volatile boolean revoked;
        volatile RemoteRegion latest;

        Shared(RemoteRegion first) {
            latest = first;
        }
    }

    private final int id;
    private final int name;
    private final int rkey;
    private final long address;
    private final long length;
    private final int rights;
    private final long announcedTag;
    private final int version;
    private final boolean held;
    private final Shared shared;

    RemoteRegion(int id, int name, int rkey, long address, long length, int rights, long tag) {
        this.id = id;
        this.name = name;
        this.rkey = rkey;
        this.address = address;
        this.length = length;
        this.rights = rights;
        announcedTag = tag;
        version = 0;
        held = false;
        shared = new Shared(this);
    }

    private RemoteRegion(RemoteRegion of, int rkey, long address, int rights, long tag, int version, boolean held) {
        id = of.id;
        name = of.name;
        length = of.length;
        shared = of.shared;
        this.rkey = rkey;
        this.address = address;
        this.rights = rights;
        announcedTag = tag;
        this.version = version;
        this.held = held;
    }

    /** The id for copies, the same at the other end; positive. */
    public int id() {
        return id;
    }

    /** The name for an {@link ImmediateCompletion}. */
    int name() {
        return name;
    }

    /** Its size in bytes. */
    public long length() {
        return length;
    }

    /** {@link AccessFlags#REMOTE_READ}, {@link AccessFlags#REMOTE_WRITE} or both; the other end may change it. */
    public int access() {
        return shared.latest.rights;
    }

    /** The tag that the other end's program has set; it may change. */
    public long tag() {
        return shared.latest.announcedTag;
    }

    /** Whether the other end has deregistered it, or the remote memory has ended: no copy is possible any more. */
    public boolean isRevoked() {
        return shared.revoked;
    }

    void revoke() {
        shared.revoked = true;
    }

    /** A version without rights, for the time while the other end changes them. */
    RemoteRegion hold() {
        return new RemoteRegion(this, rkey, address, 0, announcedTag, version, true);
    }

    /** A version with the rights and tag of the other end's update. */
    RemoteRegion change(int newRkey, long newAddress, int newRights, long newTag) {
        RemoteRegion before = shared.latest;
        boolean visible = newRights != before.rights || newTag != before.announcedTag;
        RemoteRegion now = new RemoteRegion(this, newRkey, newAddress, newRights, newTag, visible
                ? version + 1
                : version,
                false);
        shared.latest = now;
        return now;
    }

    /** Whether its rights are about to change. */
    boolean isHeld() {
        return held;
    }

    /** The rights that go with {@link #rkey()}; none while it is held. */
    int rights() {
        return rights;
    }

    /** The tag that goes with {@link #version()}. */
    long announcedTag() {
        return announcedTag;
    }

    /** The number of changes that are visible to the program. */
    int version() {
        return version;
    }

    int rkey() {
        return rkey;
    }

    long address() {
        return address;
    }

    @Override
    public String toString() {
        return "remote region " + id + " of " + length + " bytes, " + AccessFlags.toString(access()) + ", tag " + tag()
                + (isRevoked() ? ", revoked" : "");
    }
}
