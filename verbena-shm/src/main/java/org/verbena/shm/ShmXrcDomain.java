// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.time.Duration;

import org.verbena.linux.Errno;
import org.verbena.linux.FileIdentity;
import org.verbena.linux.LinuxException;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.xrc.XrcDomains;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairCreateFlags;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairOpenAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.XrcDomainAttributes;

/** An XRC domain that is open: a name that this process shares with others, see {@link XrcDomains}. */
final class ShmXrcDomain extends XrcDomain {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final ContextInternals internals;
    private final XrcDomains.Key key;

    private ShmXrcDomain(ContextInternals internals, XrcDomains.Key key) throws VerbsException {
        super(internals.context());
        this.internals = internals;
        this.key = key;
        opened();
    }

    static ShmXrcDomain open(ContextInternals internals, XrcDomainAttributes a) throws VerbsException {
        String verb = "open XRC domain on " + ShmLimits.DEVICE;
        XrcDomains.Key key;
        if (a.fd() == -1) {
            key = internals.domains().openPrivate(verb);
        } else {
            key = key(verb, a.fd());
            int flags = a.openFlags();
            internals.domains().open(verb, key, a.fd(), (flags & XrcDomainAttributes.CREATE) != 0,
                    (flags & XrcDomainAttributes.EXCLUSIVE) != 0);
        }
        try {
            return new ShmXrcDomain(internals, key);
        } catch (VerbsException e) { // the context was closed meanwhile
            internals.domains().release(key);
            throw e;
        }
    }

    private static XrcDomains.Key key(String verb, int fd) throws VerbsException {
        try {
            FileIdentity file = FileIdentity.of(fd);
            return XrcDomains.Key.ofFile(file.device(), file.inode());
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    XrcDomains.Key key() {
        return key;
    }

    @Override
    protected QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
        if (attributes.createFlags() != 0) {
            throw new VerbsException("create QP on " + describe(), Errno.EOPNOTSUPP, "type XRC_RECV of shm0 has no "
                    + QueuePairCreateFlags.toString(attributes.createFlags()));
        }
        ShmXrcReceiveQueuePair qp = new ShmXrcReceiveQueuePair(internals, this, key, attributes);
        qp.create("create QP on " + describe());
        internals.context().adopt(qp);
        return qp;
    }

    @Override
    protected QueuePair implOpenQueuePair(QueuePairOpenAttributes a) throws VerbsException {
        int number = a.number();
        String verb = "open QP 0x" + Integer.toHexString(number) + " of " + describe();
        QueuePairInitAttributes.Builder b = QueuePairInitAttributes.builderXrcReceive();
        Object user = a.userContext();
        ShmXrcReceiveQueuePair qp = new ShmXrcReceiveQueuePair(internals, this, key, (user == null
                ? b
                : b.userContext(user)).build());
        qp.open(verb, number, TIMEOUT);
        internals.context().adopt(qp);
        return qp;
    }

    @Override
    public String describe() {
        return "XRC domain " + (key.isPrivate() ? "" : "of inode " + Long.toUnsignedString(key.low()) + " ") + "of "
                + ShmLimits.DEVICE;
    }

    @Override
    protected void implClose() {
        internals.domains().release(key);
    }
}
