// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Memfd;
import org.verbena.verbs.Device;
import org.verbena.verbs.Verbs;

/** Whether this process can share memory. */
public final class SharedMemory {
    /** Memory that a connection needs at least, in bytes. */
    private static final int PROBE = 4096;
    /** As large as the files are that it lies in: a process may have a limit for that. */
    private static final long FILE = 1 << 30;

    private SharedMemory() {}

    /** Why it cannot, as the end of a sentence; null if it can. Tries it, and leaves nothing behind. */
    public static @Nullable String problem() {
        Problem p = find();
        return p == null ? null : p.text;
    }

    /** As {@link #problem}, for a caller that reports it: connections that fail for it do not report it again. */
    public static @Nullable String problemToReport() {
        Problem p = find();
        if (p == null) {
            return null;
        }
        StreamEngine.isLogged(p.reason);
        return p.text;
    }

    /** Whether it cannot for want of something that may be there later. */
    static boolean isExhausted() {
        Problem p = find();
        return p != null && p.reason != FallbackReason.UNAVAILABLE;
    }

    private record Problem(FallbackReason reason, String text) {}

    private static @Nullable Problem find() {
        String device = System.getProperty(Sessions.DEVICE);
        if (device != null && Verbs.devices().stream().noneMatch(d -> d.name().equals(device))) {
            return new Problem(FallbackReason.UNAVAILABLE, "there is no device '" + device + "' (see -D"
                    + Sessions.DEVICE + "); there are "
                    + Verbs.devices().stream().map(Device::name).collect(Collectors.joining(", ")));
        }
        try (Fd fd = Memfd.create("verbena-probe", FILE)) {
            Memfd.allocate(fd, 0, PROBE);
            return null;
        } catch (LinuxException e) {
            return new Problem(StreamEngine.reason(e), "there is no shared memory (" + e.getMessage() + ")");
        } catch (IllegalCallerException | LinkageError e) {
            return new Problem(FallbackReason.UNAVAILABLE, "there is no native access (" + firstWords(e) + ")");
        }
    }

    private static String firstWords(Throwable e) {
        Throwable t = e;
        while (t.getCause() != null && t.getCause() != t) {
            t = t.getCause();
        }
        return t.getMessage() == null ? t.toString() : t.getMessage();
    }
}
