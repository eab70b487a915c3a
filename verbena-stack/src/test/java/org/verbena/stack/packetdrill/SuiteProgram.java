// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Runs suites of scripts in Linux's dialect, which {@code config/packetdrill-suites} fetches, against the stack, over IPv4
 * and IPv6: each script holds, or its line in the expectations says why not.
 */
final class SuiteProgram {
    private SuiteProgram() {}

    /**
     * Runs one suite.
     *
     * @param args the name of the suite, its directory, the file of expectations, a regular expression of scripts, and microseconds by which times may differ
     */
    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[1]);
        Pattern only = Pattern.compile(args[3]);
        List<Suite.Result> results = Suite.runOverBoth(directory, Profile.forLinux().withTolerance(Long.parseLong(
                args[4])), StackTarget::openForLinux)
                .stream().filter(r -> only.matcher(r.path()).find()).toList();
        if (results.isEmpty()) {
            System.out.println(args[0] + ": no script below " + directory + " has a path with " + only);
            System.exit(1);
        }
        Expectations expectations = new Expectations(Files.readAllLines(Path.of(args[2])));
        System.out.print(new SuiteReport(results));
        List<String> surprises = expectations.surprises(results, p -> only.matcher(p).find());
        surprises.forEach(s -> System.out.println("PROBLEM " + s));
        System.out.println(args[0] + ": " + expectations.sum(results));
        System.exit(surprises.isEmpty() ? 0 : 1);
    }
}
