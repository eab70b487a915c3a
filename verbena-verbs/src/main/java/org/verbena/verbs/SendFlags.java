package org.verbena.verbs;

/** Flags of a send work request, {@code enum ibv_send_flags}; combined with {@code |}. */
public final class SendFlags {
    /** No flag. */
    public static final int NONE = 0;
    /** Starts only when all earlier reads and atomics of the queue have completed. */
    public static final int FENCE = 1;
    /** Makes a completion also on success. Queue pairs created with {@code sqSigAll} behave as if it were always set. */
    public static final int SIGNALED = 1 << 1;
    /** The peer's completion counts as solicited, see {@link CompletionQueue#requestNotify(boolean)}. */
    public static final int SOLICITED = 1 << 2;
    /** The data are taken when the request is posted; the buffer may be reused at once. */
    public static final int INLINE = 1 << 3;

    private static final Flags FLAGS = new Flags("FENCE", "SIGNALED", "SOLICITED", "INLINE");

    private SendFlags() {}

    /** The flags by name; unknown bits as a hexadecimal number. */
    public static String toString(int flags) {
        return FLAGS.toString(flags);
    }
}
