// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.VerbsException;

/**
 * How a region of this end gets other rights, and another tag. For other rights all copies that name it are held at both
 * ends, those under way are waited for, then the provider changes them, and then the other end hears of it and goes on.
 */
final class RegionUpdate {
    private final RemoteMemory memory;
    private final LocalRegion region;
    private final Control control;
    private final String verb;

    /** @param region no other thread changes or closes it meanwhile */
    RegionUpdate(RemoteMemory memory, LocalRegion region) {
        this.memory = memory;
        this.region = region;
        control = memory.control();
        verb = "update region " + region.id();
    }

    /** As {@link LocalRegion#update} has it. */
    void run(int access, long tag) throws VerbsException {
        validate(verb, region, access, control.peerSupportsUpdates());
        if (!memory.isOpen()) {
            throw endedException();
        }
        if (access != region.access()) {
            change(access, tag);
        } else if (tag != region.tag()) {
            region.retag(tag);
            publish();
        }
    }

    /** Refuses what cannot be. */
    static void validate(String verb, LocalRegion region, int access, boolean peerKnowsUpdates) throws VerbsException {
        RemoteMemory.checkAccess(verb, access);
        if ((access & Regions.REMOTE_ACCESS) == 0) {
            throw new VerbsException(verb, Errno.EINVAL,
                    "without REMOTE_READ and REMOTE_WRITE the other end has no use for it: close it instead");
        }
        if ((access & AccessFlags.REMOTE_WRITE) != 0 && (access & AccessFlags.LOCAL_WRITE) == 0) {
            throw new VerbsException(verb, Errno.EINVAL, "REMOTE_WRITE needs LOCAL_WRITE");
        }
        if (region.isRevoked()) {
            throw new VerbsException(verb, Errno.ENOENT, "it has been taken back");
        }
        if ((access & ~region.registered()) != 0) {
            throw new VerbsException(verb, Errno.EACCES, AccessFlags.toString(access & ~region.registered())
                    + " is more than it was registered with: register the memory anew");
        }
        if (!peerKnowsUpdates) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP,
                    "the other end's Verbena is older and knows no updates: close the region and register the memory anew");
        }
    }

    private VerbsException endedException() {
        return new VerbsException(verb, Errno.ENOTCONN, memory.endReason());
    }

    private void change(int access, long tag) throws VerbsException {
        region.hold();
        try {
            awaitCopies();
            try {
                region.change(access);
                region.retag(tag);
            } catch (VerbsException | RuntimeException | Error e) {
                resumeUnchanged(e);
                throw e;
            }
            publish();
        } finally {
            region.release();
            control.sends().progress(); // what waits for the region
        }
    }

    /** The other end holds its copies until it hears. */
    private void resumeUnchanged(Throwable why) {
        try {
            publish();
        } catch (VerbsException e) {
            why.addSuppressed(e);
        }
    }

    /** When this returns no copy of either end is under way that names the region, and none begins. */
    private void awaitCopies() throws VerbsException {
        if (!control.awaitCopies(Limits.REPLY_TIMEOUT_NANOS)) {
            memory.link().fail("copies of this end do not come to their end while a region is updated");
        } else {
            Integer answer = memory.await(control.hold(region), Limits.REPLY_TIMEOUT_NANOS);
            if (answer == null) {
                memory.link().fail("the other end does not answer while a region is updated: is it stopped?");
            }
        }
        if (!memory.isOpen()) {
            throw endedException();
        }
    }

    private void publish() throws VerbsException {
        Integer answer = memory.await(control.update(region), Limits.REPLY_TIMEOUT_NANOS);
        if (answer == null) {
            throw new VerbsException(verb, Errno.ETIMEDOUT,
                    "the other end does not answer, and learns of it when it goes on: is it stopped? (-Dverbena.erm.patience)");
        }
        if (answer != 0) {
            throw endedException();
        }
    }
}
