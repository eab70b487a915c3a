package org.verbena.tests.conformance;

import org.verbena.verbs.XrcDomainAttributes;

/** What tests of XRC make. */
final class XrcEnd {
    private XrcEnd() {}

    /** A domain that nobody else can open. */
    static XrcDomainAttributes privateDomain() {
        return XrcDomainAttributes.builder().fd(-1).openFlags(XrcDomainAttributes.CREATE).build();
    }
}
