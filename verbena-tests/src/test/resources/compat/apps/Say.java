// SPDX-License-Identifier: Apache-2.0
import org.verbena.linux.Errno;
import org.verbena.verbs.VerbsException;

/** What the applications print, in a form that does not change from run to run. */
final class Say {
    /** Something that may be refused. */
    interface Attempt {
        Object run() throws Exception;
    }

    private Say() {}

    static void line(String what, Object value) {
        System.out.println(what + ": " + value);
    }

    /** Prints the result, or the errno if it was refused. */
    static void attempt(String what, Attempt attempt) throws Exception {
        Object result;
        try {
            result = attempt.run();
        } catch (VerbsException e) {
            result = Errno.name(e.errno());
        }
        line(what, result);
    }
}
