// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The commands in backticks that scripts for Linux use: options of the stack, and what has no effect on it. */
final class LinuxCommands {
    private static final Pattern SYSCTL = Pattern.compile("sysctl(?: -[qew])+((?: +[\\w./]+=(?:\"[^\"]*\"|\\S+))+)");
    private static final Pattern SETTER = Pattern.compile(
            "(?:\\.\\./|\\./)(?:[\\w.]+/)*set_sysctls\\.py((?: +/proc/sys/[\\w./]+=(?:\"[^\"]*\"|\\S+))+)");
    private static final Pattern ASSIGNMENT = Pattern.compile("([\\w./]+)=(?:\"([^\"]*)\"|(\\S+))");
    private static final Pattern PRODUCT = Pattern.compile("\\$\\(\\(([\\d*]+)\\)\\)");
    private static final Pattern DEFAULTS = Pattern.compile("(?:\\.\\./|\\./)(?:[\\w.]+/)*defaults\\.sh");
    private static final Pattern NOTHING = Pattern.compile("(?:/tmp/sysctl_restore_\\$\\{PPID\\}\\.sh"
            + "|ip tcp_metrics flush all|nstat(?: -n)?|tc qdisc add dev tun0 root pfifo|ethtool -K tun0 .*)");
    private static final Set<String> SILENT = Set.of("> /dev/null", "2>&1", "2>/dev/null");

    private LinuxCommands() {}

    static void run(String text, Target target) throws Failure {
        for (String line : text.replaceAll("\\\\\\s*\\n", " ").split("[\\n;]", -1)) {
            String command = line.replaceFirst("(^|\\s)#.*", "");
            for (String s : SILENT) {
                command = command.replace(s, "");
            }
            if (!command.isBlank()) {
                one(PRODUCT.matcher(command.strip().replaceAll("\\s+", " ")).replaceAll(m -> product(m.group(1))),
                        target);
            }
        }
    }

    private static String product(String factors) {
        long product = 1;
        for (String f : factors.split("\\*", -1)) {
            product *= Long.parseLong(f);
        }
        return Long.toString(product);
    }

    private static void one(String command, Target target) throws Failure {
        Matcher sysctl = SYSCTL.matcher(command);
        Matcher setter = SETTER.matcher(command);
        if (sysctl.matches()) {
            set(sysctl.group(1), target);
        } else if (setter.matches()) {
            set(setter.group(1).replace("/proc/sys/", ""), target);
        } else if (!DEFAULTS.matcher(command).matches() && !NOTHING.matcher(command).matches()) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "command " + command);
        }
    }

    private static void set(String assignments, Target target) throws Failure {
        Matcher m = ASSIGNMENT.matcher(assignments);
        while (m.find()) {
            String name = m.group(1).replace('/', '.');
            String value = m.group(2) == null ? m.group(3) : m.group(2);
            if (!target.sysctl(name, value)) {
                throw new Failure(Failure.Kind.UNSUPPORTED, "needs option " + name + "=" + value);
            }
        }
    }
}
