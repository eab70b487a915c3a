// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.time.Duration;

import org.verbena.linux.Errno;
import org.verbena.linux.FileIdentity;
import org.verbena.linux.LinuxException;
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

    private final ShmContext context;
    private final XrcDomains.Key key;

    private ShmXrcDomain(ShmContext context, XrcDomains.Key key) throws VerbsException {
        super(context);
        this.context = context;
        this.key = key;
        opened();
    }

    static ShmXrcDomain open(ShmContext context, XrcDomainAttributes a) throws VerbsException {
        String verb = "open XRC domain on " + context.describe();
        XrcDomains.Key key;
        if (a.fd() == -1) {
            key = context.domains().openPrivate(verb);
        } else {
            key = key(verb, a.fd());
            int flags = a.openFlags();
            context.domains().open(verb, key, a.fd(), (flags & XrcDomainAttributes.CREATE) != 0,
                    (flags & XrcDomainAttributes.EXCLUSIVE) != 0);
        }
        try {
            return new ShmXrcDomain(context, key);
        } catch (VerbsException e) { // the context was closed meanwhile
            context.domains().release(key);
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
        ShmXrcReceiveQueuePair qp = new ShmXrcReceiveQueuePair(this, attributes);
        qp.create("create QP on " + describe());
        context.adopt(qp);
        return qp;
    }

    @Override
    protected QueuePair implOpenQueuePair(QueuePairOpenAttributes a) throws VerbsException {
        int number = a.number();
        String verb = "open QP 0x" + Integer.toHexString(number) + " of " + describe();
        QueuePairInitAttributes.Builder b = QueuePairInitAttributes.builderXrcReceive();
        Object user = a.userContext();
        ShmXrcReceiveQueuePair qp = new ShmXrcReceiveQueuePair(this, (user == null ? b : b.userContext(user)).build());
        qp.open(verb, number, TIMEOUT);
        context.adopt(qp);
        return qp;
    }

    ShmContext shmContext() {
        return context;
    }

    @Override
    public String describe() {
        return "XRC domain " + (key.isPrivate() ? "" : "of inode " + Long.toUnsignedString(key.low()) + " ") + "of "
                + context.describe();
    }

    @Override
    protected void implClose() {
        context.domains().release(key);
    }
}
