// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The commands in backticks that scripts of FreeBSD's suite use. */
final class Commands {
    private static final Pattern SYSCTL = Pattern.compile("sysctl -w ([\\w.]+)=(\\S+)");
    private static final Pattern SOCKSTAT = Pattern.compile("sockstat(?<options>( -[46s]| -P tcp| -p \\d+)*)"
            + "(?<owned> \\| grep packetdril)? \\| grep -c (?<state>\\w+) \\| grep (?<count>\\d+)");
    private static final Pattern PORT = Pattern.compile("-p (\\d+)");
    private static final Pattern TCPDROP = Pattern.compile("tcpdrop -s (\\w+)");

    private Commands() {}

    static void run(String command, Target target) throws Failure {
        Matcher m = SYSCTL.matcher(command);
        if (m.matches()) {
            if (!target.sysctl(m.group(1), m.group(2))) {
                throw new Failure(Failure.Kind.UNSUPPORTED, "needs option " + m.group(1) + "=" + m.group(2));
            }
            return;
        }
        m = SOCKSTAT.matcher(command);
        if (m.matches()) {
            Matcher port = PORT.matcher(m.group("options"));
            long found = target.count(m.group("state"), port.find() ? Integer.parseInt(port.group(1)) : 0,
                    m.group("owned") != null);
            if (found != Long.parseLong(m.group("count"))) {
                throw new Failure(Failure.Kind.COMMAND, m.group("count") + " connections in " + m.group("state")
                        + " expected, there are " + found);
            }
            return;
        }
        m = TCPDROP.matcher(command);
        if (m.matches()) {
            target.drop(m.group(1));
            return;
        }
        throw new Failure(Failure.Kind.UNSUPPORTED, "command " + command.lines().findFirst().orElse(""));
    }
}
