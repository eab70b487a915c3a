// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.kernel;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.NetworkAddresses;
import org.verbena.stack.ip.AddressMap;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.ip.Ipv4Address;

/** The addresses that the kernel has on an interface. */
final class KernelAddresses {
    private List<IpAddress> all = List.of();
    private final RandomGenerator random;
    private AddressMap<IpAddress> own;
    private Ipv4Address[] subnets = new Ipv4Address[0];

    KernelAddresses(RandomGenerator random) {
        this.random = random;
        own = new AddressMap<>(random);
    }

    /** Takes those of an interface. */
    void refresh(List<NetworkAddresses.Entry> entries, int interfaceIndex) {
        List<IpAddress> found = new ArrayList<>();
        List<Ipv4Address> ipv4 = new ArrayList<>();
        for (NetworkAddresses.Entry e : entries) {
            if (e.interfaceIndex() == interfaceIndex) {
                IpAddress a = IpAddress.of(e.address());
                found.add(a);
                if (a.isIpv4()) {
                    ipv4.add(new Ipv4Address((int) a.low(), e.prefixLength(), 0));
                }
            }
        }
        found.sort(Comparator.comparing((IpAddress a) -> !a.isIpv4()).thenComparing(IpAddress::isLinkLocal));
        all = List.copyOf(found);
        own = new AddressMap<>(random);
        all.forEach(a -> own.put(a.high(), a.low(), a));
        subnets = ipv4.toArray(Ipv4Address[]::new);
    }

    /** IPv4 before, and addresses that are good on this link only at the end. */
    List<IpAddress> all() {
        return all;
    }

    boolean isOwn(long high, long low) {
        return own.get(high, low) != null;
    }

    boolean isBroadcast(int a) {
        for (Ipv4Address s : subnets) {
            if (s.isBroadcast(a)) {
                return true;
            }
        }
        return a == Ipv4Address.LIMITED_BROADCAST;
    }

    /** The broadcast addresses of all subnets. */
    List<IpAddress> broadcasts() {
        List<IpAddress> found = new ArrayList<>();
        found.add(IpAddress.ofIpv4(Ipv4Address.LIMITED_BROADCAST));
        for (Ipv4Address s : subnets) {
            IpAddress a = IpAddress.ofIpv4(s.broadcast());
            if (s.isBroadcast(s.broadcast()) && !found.contains(a)) {
                found.add(a);
            }
        }
        return found;
    }

    /** The first of a version of IP; null if there is none. */
    @Nullable
    IpAddress first(boolean ipv4) {
        for (IpAddress a : all) {
            if (a.isIpv4() == ipv4) {
                return a;
            }
        }
        return null;
    }
}
