// SPDX-License-Identifier: Apache-2.0
import org.verbena.verbs.*;

/** Written for the next version, and refuses to run with less. */
public final class Demanding {
    private Demanding() {}

    public static void main(String[] args) {
        try {
            Verbs.require(Verbs.API_LEVEL);
            Say.line("runs with", Verbs.apiLevel());
        } catch (VerbsException e) {
            Say.line("refused", e.getMessage());
            System.exit(3);
        }
    }
}
