// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.VerbsException;

/**
 * Changes the rights and the tag of a region of this end. To change rights, new copies that name the region are held at
 * both ends, outstanding ones are drained, the provider changes the rights, and then the other end is notified and
 * resumes.
 */
final class RegionUpdate {
    private final RemoteMemory memory;
    private final LocalRegion region;
    private final Control control;
    private final String verb;

    /** @param region must not be changed or closed by another thread meanwhile */
    RegionUpdate(RemoteMemory memory, LocalRegion region) {
        this.memory = memory;
        this.region = region;
        control = memory.control();
        verb = "update region " + region.id();
    }

    /** See {@link LocalRegion#update}. */
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

    /** Rejects invalid updates. */
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
            throw new VerbsException(verb, Errno.ENOENT, "it has been deregistered");
        }
        if ((access & ~region.registered()) != 0) {
            throw new VerbsException(verb, Errno.EACCES, AccessFlags.toString(access & ~region.registered())
                    + " is more than it was registered with: register the memory anew");
        }
        if (!peerKnowsUpdates) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP,
                    "the other end's Verbena is older and does not support updates: close the region and register the memory anew");
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
            control.sends().progress(); // resumes copies that wait for the region
        }
    }

    /** Sends the unchanged region, since the other end holds its copies until it receives an update. */
    private void resumeUnchanged(Throwable why) {
        try {
            publish();
        } catch (VerbsException e) {
            why.addSuppressed(e);
        }
    }

    /** When this returns, no copy of either end that names the region is outstanding, and none can start. */
    private void awaitCopies() throws VerbsException {
        if (!control.awaitCopies(Limits.REPLY_TIMEOUT_NANOS)) {
            memory.link().fail("copies of this end do not complete while a region is updated");
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
                    "the other end does not answer, and receives the update when it resumes: is it stopped? (-Dverbena.erm.patience)");
        }
        if (answer != 0) {
            throw endedException();
        }
    }
}
