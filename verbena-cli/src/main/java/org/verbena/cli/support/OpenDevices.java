// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** The devices that a command has open, each once. */
public final class OpenDevices implements AutoCloseable {
    /** The provider of devices for raw packets. */
    private static final String PACKETS = "xdp";

    private final Map<String, Context> open = new HashMap<>();
    private final Set<String> ofStreams = new HashSet<>();
    /** The device to use for every request; empty for none. */
    private final String own;

    /** Opens devices on request. */
    public OpenDevices() {
        this("");
    }

    /** One device, for a listener whose peer knows only the name of its own device. */
    public OpenDevices(String own) {
        this.own = own;
    }

    /** The device to use for every request; empty for none. */
    public String own() {
        return own;
    }

    /** Streams are about to open a device and keep it, which only one process can do, once. */
    public void leaveToStreams(String name) throws VerbsException {
        Context c = open.remove(name);
        if (c != null) {
            c.close();
        }
        ofStreams.add(name);
    }

    public Context get(String asked) throws IOException {
        String name = own.isEmpty() ? asked : own;
        if (ofStreams.contains(name)) {
            throw new CommandException("the streams of this process have " + name
                    + " since remote memory was measured: start verbena perf --listen anew for verbs");
        }
        Context c = open.get(name);
        if (c == null) {
            c = Verbs.open(name);
            open.put(name, c);
        }
        return c;
    }

    /** The default device: that for the processes of one host, if there is one, and never one for raw packets. */
    public static String first() throws CommandException {
        List<Device> devices = forMessages(Verbs.devices());
        if (devices.isEmpty()) {
            List<String> problems = Verbs.problems();
            throw new CommandException("there is no RDMA device to measure"
                    + (problems.isEmpty() ? ": no provider is installed" : ": " + String.join("; ", problems)));
        }
        return devices.getFirst().name();
    }

    /** The first that has a {@link Feature}; the empty name means any. */
    public static String first(String feature) throws IOException {
        if (feature.isEmpty()) {
            return first();
        }
        String found = null;
        for (Device d : inOrder(Verbs.devices())) {
            try (Context c = Verbs.open(d.name())) {
                // a device that reaches other hosts can be open in one process only
                if (c.supports(feature) && (found == null || d.name().equals(OwnAddresses.DEVICE))) {
                    found = d.name();
                }
            } catch (VerbsException e) {
                // in use by another process: requesting it by name fails as well
            }
        }
        if (found == null) {
            throw new CommandException("no device here can do that (" + feature + "): see 'verbena devices'");
        }
        return found;
    }

    /** All but those that have queue pairs of type RAW_PACKET alone, in order. */
    static List<Device> forMessages(List<Device> devices) {
        return inOrder(devices).stream().filter(d -> !d.provider().equals(PACKETS)).toList();
    }

    /** The device for the processes of one host first, then RoCE in Java, then others, and those for raw packets last. */
    public static List<Device> inOrder(List<Device> devices) {
        return devices.stream().sorted(Comparator.comparingInt(OpenDevices::rank)).toList();
    }

    private static int rank(Device d) {
        return switch (d.provider()) {
            case "shm" -> 0;
            case "roce" -> 1;
            case PACKETS -> 3;
            default -> 2;
        };
    }

    @Override
    public void close() throws VerbsException {
        for (Context c : open.values()) {
            c.close();
        }
    }
}
