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
    private final Map<String, Context> open = new HashMap<>();
    private final Set<String> ofStreams = new HashSet<>();
    /** The one to take whatever is asked for; empty for none. */
    private final String own;

    /** Those that are asked for. */
    public OpenDevices() {
        this("");
    }

    /** One device, for a listener whose peer knows its own device's name only. */
    public OpenDevices(String own) {
        this.own = own;
    }

    /** The one to take whatever is asked for; empty for none. */
    public String own() {
        return own;
    }

    /** Streams are about to open a device, which one process can do once, and keep it. */
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

    /** The device to take when none was named: that for the processes of one host, if there is one. */
    public static String first() throws CommandException {
        List<Device> devices = inOrder(Verbs.devices());
        if (devices.isEmpty()) {
            List<String> problems = Verbs.problems();
            throw new CommandException("there is no RDMA device to measure"
                    + (problems.isEmpty() ? ": no provider is installed" : ": " + String.join("; ", problems)));
        }
        return devices.getFirst().name();
    }

    /** The first that can do something, {@link Feature}; the empty word is anything. */
    public static String first(String feature) throws IOException {
        if (feature.isEmpty()) {
            return first();
        }
        String found = null;
        for (Device d : inOrder(Verbs.devices())) {
            try (Context c = Verbs.open(d.name())) {
                // of those that reach other hosts only one process has each
                if (c.supports(feature) && (found == null || d.name().equals(OwnAddresses.DEVICE))) {
                    found = d.name();
                }
            } catch (VerbsException e) {
                // in use by another process: so is its name for a program that asks for it
            }
        }
        if (found == null) {
            throw new CommandException("no device here can do that (" + feature + "): see 'verbena devices'");
        }
        return found;
    }

    /** That for the processes of one host first, then RoCE in Java, then the others. */
    public static List<Device> inOrder(List<Device> devices) {
        return devices.stream().sorted(Comparator.comparingInt(OpenDevices::rank)).toList();
    }

    private static int rank(Device d) {
        return switch (d.provider()) {
            case "shm" -> 0;
            case "roce" -> 1;
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
