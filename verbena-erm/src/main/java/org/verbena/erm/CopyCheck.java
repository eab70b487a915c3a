// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;

/** The checks of a copy before it is posted. */
final class CopyCheck {
    private CopyCheck() {}

    /**
     * 0, or the errno of the refusal, as {@link CopyQueue#copy(int, long, int, long, long, int, long, long)} documents
     * it.
     */
    static int check(LocalRegion local, long localAt, RemoteRegion remote, long remoteAt, long length, int flags,
            boolean write, long maxLength) {
        if ((flags & ~CopyFlags.ALL) != 0) {
            return Errno.EINVAL;
        }
        if (length < 0 || localAt < 0 || remoteAt < 0 || localAt > local.length() - length
                || remoteAt > remote.length() - length) {
            return Errno.ERANGE;
        }
        if (local.isHeld()) {
            return Errno.EAGAIN;
        }
        if (write
                ? (remote.rights() & AccessFlags.REMOTE_WRITE) == 0
                : (remote.rights() & AccessFlags.REMOTE_READ) == 0
                        || (local.access() & AccessFlags.LOCAL_WRITE) == 0) {
            return remote.isHeld() ? Errno.EAGAIN : Errno.EACCES;
        }
        return length > maxLength ? Errno.EMSGSIZE : 0;
    }
}
