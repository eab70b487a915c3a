package org.verbena.bench.jmh;

import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Two connected queue pairs of roce_lo, whose packets pass through the kernel. */
@State(Scope.Thread)
public class RoceEnds extends Ends {
    /** For JMH. */
    public RoceEnds() {
        super("roce_lo");
    }
}
