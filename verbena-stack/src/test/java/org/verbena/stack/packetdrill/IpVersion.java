// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.net.InetAddress;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.ip.IpAddress;

/** What a script's packets and sockets are of, named as packetdrill's option {@code --ip_version} does; with packetdrill's addresses. */
public enum IpVersion {
    /** Everything is of IPv4. */
    IPV4("192.168.0.1", "192.0.2.1"),
    /** Packets are of IPv4, and sockets of IPv6, with mapped addresses. */
    IPV4_MAPPED_IPV6("192.168.0.1", "192.0.2.1"),
    /** Everything is of IPv6. */
    IPV6("fd3d:fa7b:d17d::1", "2001:db8::1");

    private final String local;
    private final String remote;

    IpVersion(String local, String remote) {
        this.local = local;
        this.remote = remote;
    }

    /** The version of a name; null if there is none. */
    static @Nullable IpVersion named(String name) {
        for (IpVersion v : values()) {
            if (v.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(name)) {
                return v;
            }
        }
        return null;
    }

    /** Whether sockets are of IPv6 where a script leaves that open. */
    boolean ipv6Sockets() {
        return this != IPV4;
    }

    /** The address of the stack. */
    IpAddress local() {
        return IpAddress.of(InetAddress.ofLiteral(local));
    }

    /** That of the peer. */
    IpAddress remote() {
        return IpAddress.of(InetAddress.ofLiteral(remote));
    }
}
