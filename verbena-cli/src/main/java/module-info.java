// SPDX-License-Identifier: Apache-2.0
/** The {@code verbena} command. */
module org.verbena.cli {
    requires com.fasterxml.jackson.databind;
    requires HdrHistogram;
    requires info.picocli;
    requires java.management;
    requires jdk.attach;
    requires jdk.management;
    requires org.jline.reader;
    requires org.jline.terminal;
    requires org.jline.terminal.ffm;
    requires static org.jspecify;
    requires org.verbena.erm;
    requires org.verbena.linux;
    requires org.verbena.sockets;
    requires org.verbena.stack;
    requires org.verbena.telemetry;
    requires org.verbena.verbs;
    requires static org.verbena.xdp; // only monitor needs it

    opens org.verbena.cli to info.picocli;
    opens org.verbena.cli.copy to info.picocli;
    opens org.verbena.cli.doctor to info.picocli;
    opens org.verbena.cli.example to info.picocli;
    opens org.verbena.cli.interop to info.picocli;
    opens org.verbena.cli.netcat to info.picocli;
    opens org.verbena.cli.perf to info.picocli;
    opens org.verbena.cli.perf.run to info.picocli;
    opens org.verbena.cli.rules to info.picocli;
    opens org.verbena.cli.sockperf to info.picocli;
    opens org.verbena.cli.stat to info.picocli;
    opens org.verbena.cli.support to info.picocli;
    opens org.verbena.cli.why to info.picocli;
}
