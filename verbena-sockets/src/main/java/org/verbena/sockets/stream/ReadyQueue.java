package org.verbena.sockets.stream;

/**
 * Where peers put the streams of one selector that became ready: a list, so that a selector looks at what is ready and
 * never at what is not. One thread at a time polls.
 *
 * {@snippet :
 * queue.poll();                      // tells the listeners of what became ready
 * if (queue.sleep()) {               // from here on peers ring the doorbell of a stream that becomes ready
 *     kernelSelector.select(timeout);
 *     queue.awake();
 * }
 * }
 */
public final class ReadyQueue implements AutoCloseable {
    /** An empty queue. */
    public ReadyQueue() {}

    /**
     * Calls the listeners of the streams that became ready since the last call. No system call.
     *
     * @return how many
     */
    public int poll() {
        return 0;
    }

    /**
     * Announces that nobody polls from now on.
     *
     * @return false if something became ready meanwhile: then nothing is announced, and polling goes on
     */
    public boolean sleep() {
        return true;
    }

    /** Takes {@link #sleep} back. */
    public void awake() {}

    /** Gives back what peers may write to. Idempotent. */
    @Override
    public void close() {}
}
