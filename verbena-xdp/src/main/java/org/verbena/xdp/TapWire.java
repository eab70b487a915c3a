// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Tap;
import org.verbena.linux.TapSettings;
import org.verbena.verbs.VerbsException;

/** An open TAP interface, with a header for the kernel before each frame. */
final class TapWire implements Wire {
    /** An interface becomes free a little after the process that had it has ended. */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    /** The kernel sends on it a little after it was opened: a work queue switches it on. */
    private static final long CARRIER_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    /** What has an interface in this process, by network namespace and interface. */
    private static final Map<String, String> OWNERS = new ConcurrentHashMap<>();

    private final Tap tap;
    private final String place;
    private final TapSender sender;
    private final TapReceiver receiver;

    private TapWire(Tap tap, String place, TapSender sender, TapReceiver receiver) {
        this.tap = tap;
        this.place = place;
        this.sender = sender;
        this.receiver = receiver;
    }

    static TapWire open(String verb, XdpQueuePair qp, TapDevice device, WireMemory memory) throws VerbsException {
        String place = QueueSocket.namespace() + "/" + device.index();
        Tap tap = open(verb, device, place);
        try {
            tap.setOffloads(true, true);
            awaitCarrier(verb, device);
            TapSender sender = new TapSender(qp.sends(), tap, memory);
            TapReceiver receiver = new TapReceiver(qp.receives(), tap, ((TapFlows) qp.flows()).index, qp
                    .initAttributes().maxReceiveWr());
            OWNERS.put(place, qp.describe());
            return new TapWire(tap, place, sender, receiver);
        } catch (LinuxException e) {
            tap.close();
            throw new VerbsException(verb, e);
        } catch (VerbsException | RuntimeException e) {
            tap.close();
            throw e;
        }
    }

    private static Tap open(String verb, TapDevice device, String place) throws VerbsException {
        String name = device.current(verb).name();
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (true) {
            TapSettings settings = device.settings(verb); // opening one that is not there would make it
            try {
                return Tap.openTap(name);
            } catch (LinuxException e) {
                if (e.errno() != Errno.EBUSY || System.nanoTime() - deadline > 0) {
                    throw refusal(verb, name, place, settings, e);
                }
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private static VerbsException refusal(String verb, String name, String place, TapSettings settings,
            LinuxException e) {
        return switch (e.errno()) {
            case Errno.EBUSY -> new VerbsException(verb, Errno.EBUSY, "a TAP interface has one queue pair, and " + name
                    + " is in use by " + OWNERS.getOrDefault(place, "another process"));
            case Errno.EPERM -> new VerbsException(verb, Errno.EPERM, "the interface " + name
                    + " was made for another user. For this one: ip tuntap add dev NAME mode tap user USER");
            case Errno.EACCES -> new VerbsException(verb, Errno.EACCES, "this user may not open " + TapSettings.DEVICE
                    + ": chmod 666 " + TapSettings.DEVICE + ", as root");
            case Errno.EINVAL -> new VerbsException(verb, Errno.EINVAL, settings.multiQueue()
                    ? "the interface " + name + " was made with multi_queue: make it again without that"
                    : "the interface " + name + " is no TAP interface");
            default -> new VerbsException(verb, e);
        };
    }

    /** Until then the kernel drops what it has to send. */
    private static void awaitCarrier(String verb, TapDevice device) throws VerbsException {
        long deadline = System.nanoTime() + CARRIER_PATIENCE_NANOS;
        while (device.settings(verb).on() && !device.current(verb).up() && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    @Override
    public FrameSender sender() {
        return sender;
    }

    @Override
    public FrameReceiver receiver() {
        return receiver;
    }

    @Override
    public Fd fd() {
        return tap.fd();
    }

    @Override
    public void close() {
        OWNERS.remove(place);
        try {
            tap.setOffloads(false, false); // the next one who opens it may expect whole packets
        } catch (LinuxException e) {
            XdpLog.log(System.Logger.Level.DEBUG, "the interface is gone", e);
        }
        tap.close();
    }
}
