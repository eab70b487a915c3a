// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A row of the table: two commands, or one, and their expected results.
 *
 * @param family of addresses: 4 or 6
 * @param server started first; may be absent
 * @param ready when the server can be asked; empty for at once
 * @param netem what {@code tc netem} does to what virtual machines send and receive
 * @param expected what has to be found in the output, all of it
 * @param wire what has to be found in the capture: {@code roce}, {@code any}
 */
record Row(String name, int family, @Nullable Command server, List<String> ready, Command client,
        List<Netem> netem, List<Expectation> expected, Duration limit, String wire) {
    static final String SERVER = "server";
    static final String CLIENT = "client";

    /** A command and the place where it runs. */
    record Command(String place, String text) {
        private static final Pattern ASSIGNMENTS = Pattern.compile("^(?:\\w+=(?:'[^']*'|\\S*) +)+");
        private static final Pattern MAIN_CLASS = Pattern.compile(" org\\.verbena\\.\\S*\\.(\\w+)");
        private static final Pattern OURS = Pattern.compile("^(?:\\{verbena}|/share/verbena) (\\w+)");

        /** The name of the program, or of the class that a JVM starts with; of Verbena, which command. */
        String program() {
            String command = ASSIGNMENTS.matcher(text).replaceFirst("");
            Matcher main = MAIN_CLASS.matcher(command);
            if (main.find()) {
                return main.group(1);
            }
            Matcher ours = OURS.matcher(command);
            return ours.find()
                    ? "verbena " + ours.group(1)
                    : command.replaceFirst(" .*", "").replaceFirst(".*/", "");
        }
    }

    /** What has to be found in the output of a command, by its role: {@code server} or {@code client}. */
    record Expectation(String role, Pattern text) {}

    /** Of a place in the lab: addresses that are for documents, RFC 5737 and RFC 3849. */
    static String address(int family, int number) {
        return family == 4 ? "192.0.2." + number : "2001:db8::" + number;
    }

    /** Its name and, behind a slash, the family of addresses. */
    String title() {
        return name + "/" + family;
    }

    /** The places it needs. */
    Set<String> places() {
        Set<String> places = new LinkedHashSet<>();
        if (server != null) {
            places.add(server.place);
        }
        places.add(client.place);
        netem.forEach(n -> places.add(n.machine()));
        return places;
    }

    /** Whether one of its commands has this text. */
    boolean mentions(String text) {
        return client.text.contains(text) || (server != null && server.text.contains(text));
    }
}
