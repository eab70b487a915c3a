package org.verbena.cli;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** The devices that a process measures with; each is opened once. */
final class PerfDevices implements AutoCloseable {
    private final Map<String, Context> open = new HashMap<>();

    Context get(String name) throws VerbsException {
        Context c = open.get(name);
        if (c == null) {
            c = Verbs.open(name);
            open.put(name, c);
        }
        return c;
    }

    /** The device to take when none was named: that for the processes of one host, if there is one. */
    static String first() throws PerfException {
        List<Device> devices = Verbs.devices();
        if (devices.isEmpty()) {
            List<String> problems = Verbs.problems();
            throw new PerfException("there is no RDMA device to measure"
                    + (problems.isEmpty() ? ": no provider is installed" : ": " + String.join("; ", problems)));
        }
        return devices.stream().filter(d -> d.provider().equals("shm")).findFirst().orElse(devices.getFirst()).name();
    }

    @Override
    public void close() throws VerbsException {
        for (Context c : open.values()) {
            c.close();
        }
    }
}
