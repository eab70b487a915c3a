// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.linux.Errno;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairCreateFlags;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairOpenAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.XrcDomain;

/** A handle of an XRC domain. */
final class RoceXrcDomain extends XrcDomain {
    private final RoceContext context;
    private final XrcDomains.Domain domain;

    RoceXrcDomain(RoceContext context, XrcDomains.Domain domain) throws VerbsException {
        super(context);
        this.context = context;
        this.domain = domain;
        opened();
    }

    XrcDomains.Domain domain() {
        return domain;
    }

    @Override
    protected QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
        if (attributes.createFlags() != 0) {
            throw new VerbsException("create QP on " + describe(), Errno.EOPNOTSUPP, "type XRC_RECV of "
                    + context.describe() + " has no " + QueuePairCreateFlags.toString(attributes.createFlags()));
        }
        return context.createQueuePair(attributes, (init, number) -> new RoceQueuePair(context, this, init, number));
    }

    @Override
    protected QueuePair implOpenQueuePair(QueuePairOpenAttributes a) throws VerbsException {
        QueuePairCore target = domain.share(a.number());
        if (target == null) {
            throw new VerbsException("open QP 0x" + Integer.toHexString(a.number()) + " of " + describe(),
                    Errno.EINVAL, "the domain has no queue pair of that number");
        }
        QueuePairInitAttributes.Builder b = QueuePairInitAttributes.builderXrcReceive();
        Object user = a.userContext();
        try {
            RoceQueuePair qp = new RoceQueuePair(context, this, (user == null ? b : b.userContext(user)).build(),
                    target);
            context.adopt(qp);
            return qp;
        } catch (VerbsException e) { // the domain was closed meanwhile
            context.release(domain, target);
            throw e;
        }
    }

    @Override
    public String describe() {
        return "XRC domain " + domain.index + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        context.xrcDomains().release(domain);
    }
}
