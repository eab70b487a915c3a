package org.verbena.sockets.stream;

/**
 * What is due when this process ends with connections open. The kernel ends them in order, but for those whose TCP socket has
 * something unread, which it resets: and that may be a doorbell, of which the program knows nothing.
 */
final class ExitHook {
    static {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(ExitHook::run, "verbena-exit"));
        } catch (IllegalStateException endsAlready) {
            // what is left from now on is not taken
        }
    }

    private ExitHook() {}

    /** Idempotent. */
    static void install() {}

    private static void run() {
        for (Stream stream : StreamCounters.open()) {
            if (stream instanceof RingStream rings) {
                rings.in().exit();
            }
        }
    }
}
