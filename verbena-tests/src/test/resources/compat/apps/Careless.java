// SPDX-License-Identifier: Apache-2.0
/** Written for the next version, without a check. */
public final class Careless {
    private Careless() {}

    public static void main(String[] args) throws Exception {
        try (Traffic t = new Traffic()) {
            t.run();
            NewCalls.guarded(t);
        }
    }
}
