// SPDX-License-Identifier: Apache-2.0
import org.verbena.verbs.*;

/** Opens a device whose provider calls a missing method. */
public final class Lazy {
    private Lazy() {}

    public static void main(String[] args) {
        try {
            Verbs.open("lazy0");
        } catch (VerbsException e) {
            System.out.println(e.getMessage());
        }
    }
}
