// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The devices that rules may name: RoCEv2 over a network interface, and the kernel's RDMA devices. They are searched
 * for with the JDK's classes for interfaces and files: rules are checked before the program begins, and may be the
 * agent's first and last use of Verbena in it.
 */
public final class RuleDevices {
    private static final String PREFIX = "roce_";
    private static final Path RDMA = Path.of("/sys/class/infiniband");

    private RuleDevices() {}

    /** @throws IllegalArgumentException for the first rule whose device cannot be used, with its place */
    static void check(List<Rule> rules) {
        for (Rule rule : rules) {
            String device = rule.device();
            String problem = device == null ? null : problem(device);
            if (problem != null) {
                throw new IllegalArgumentException(rule.place().source() + ", line " + rule.place().line() + ": "
                        + problem);
            }
        }
    }

    /** Why a device of this machine cannot be used, as a sentence without its end; null if it can. */
    public static @Nullable String problem(String device) {
        try {
            if (!device.startsWith(PREFIX)) {
                return Files.exists(RDMA.resolve(device))
                        ? null
                        : "device '" + device
                                + "' is not one that reaches other hosts: those are called roce_ and the name of a"
                                + " network interface, or as an RDMA device of the kernel; there are " + names();
            }
            NetworkInterface found = NetworkInterface.getByName(device.substring(PREFIX.length()));
            if (found == null) {
                return "there is no device '" + device + "', for there is no such network interface; there are "
                        + names();
            }
            return found.isLoopback()
                    ? "device '" + device + "' reaches this host alone, where 'use stream' needs no device"
                    : null;
        } catch (SocketException e) {
            return "device '" + device + "' cannot be searched for: " + e.getMessage();
        }
    }

    private static String names() throws SocketException {
        Stream<String> own = NetworkInterface.networkInterfaces().map(NetworkInterface::getName).filter(n -> !n.equals(
                "lo")).map(n -> PREFIX + n);
        String[] kernels = RDMA.toFile().list();
        String all = Stream.concat(own, kernels == null ? Stream.of() : Stream.of(kernels).sorted())
                .collect(Collectors.joining(", "));
        return all.isEmpty() ? "none" : all;
    }
}
