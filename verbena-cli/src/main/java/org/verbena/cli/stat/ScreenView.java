// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.io.IOException;
import java.util.List;

/**
 * What a {@link StatScreen} shows, without a terminal: samples and keys go in, lines come out. Called by one thread.
 *
 * @param <S> a sample
 */
interface ScreenView<S> {
    /** Whether the terminal has block characters to draw rates with; otherwise they are drawn in ASCII. */
    void drawsBlocks(boolean has);

    /** What to sample, a number that the {@link Source} knows. */
    long wanted();

    boolean isPaused();

    boolean hasQuit();

    /** A sample of what was {@link #wanted}; a late one is ignored. */
    void show(long of, S sample);

    /** What was wanted could not be sampled. */
    void lost(long of, String why);

    /** A key. */
    void press(StatKey key);

    /** The screen, for a terminal of this size. */
    List<StatLine> lines(int rows, int columns);

    /** Where samples come from; called by one thread, another than that of the view. */
    interface Source<S> {
        /**
         * Samples.
         *
         * @throws StatFailure.Ended if it has ended since the first sample
         * @throws IOException if it cannot be sampled
         */
        S look(long wanted) throws IOException, StatFailure.Ended, InterruptedException;

        /** Treats the next sample as the first one. */
        default void forget() {}
    }
}
