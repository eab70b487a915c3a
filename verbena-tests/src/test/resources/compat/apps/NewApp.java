// SPDX-License-Identifier: Apache-2.0
import org.verbena.verbs.*;

/** Written for the next version; asks before it calls what the first one did not have. */
public final class NewApp {
    private NewApp() {}

    public static void main(String[] args) throws Exception {
        Say.line("compiled for", Verbs.API_LEVEL);
        Say.line("runs with", Verbs.apiLevel());
        Verbs.problems().forEach(p -> Say.line("problem", p));
        try (Traffic t = new Traffic()) {
            t.run();
            if (t.a.supports(Feature.BEACON)) {
                NewCalls.guarded(t);
            } else {
                Say.line("beacon", "not here");
            }
            if (Verbs.apiLevel() >= 2) {
                NewCalls.unguarded(t);
            }
        }
        Say.line("end", "closed");
    }
}
