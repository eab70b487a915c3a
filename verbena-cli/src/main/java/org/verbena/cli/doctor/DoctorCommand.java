// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.Terminal;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Sys;

/** {@code verbena doctor}: what this machine supports, and how to enable what it does not. */
@Command(name = "doctor", description = {"Tries what Verbena needs, and what it could use, on this machine.",
    "The exit code is 0 only if verbs over shm0 work."})
public final class DoctorCommand implements Callable<Integer> {
    /** How long a second process may take. */
    static final Duration CHILD_LIMIT = Duration.ofSeconds(40);

    private static final Duration LIMIT = Duration.ofSeconds(25);
    private static final Duration LONG_LIMIT = CHILD_LIMIT.plusSeconds(10);
    private static final String MAIN = "Verbs over shm0";
    private static final String MORE = "Sockets and other devices";
    private static final String PEER = "peer:";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(names = "--json", description = "Print JSON.") private boolean json;

    /** The role of this process for another one. */
    @Option(names = "--as", hidden = true, paramLabel = "ROLE") private @Nullable String role;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        if (role != null) {
            DoctorChild.endsWithParent(CHILD_LIMIT);
            out.println(play(role));
            out.flush();
            return 0;
        }
        boolean granted = Sys.class.getModule().isNativeAccessEnabled(); // before a call changes the result
        Ansi ansi = Terminal.OUT.colours().ansi();
        rehearse(ansi);
        DoctorReport report = new DoctorReport(out, ansi);
        List<DoctorCheck.Line> lines = DoctorRunner.run(checks(granted), MAIN::equals, json
                ? line -> {}
                : report::print);
        if (json) {
            out.println(DoctorReport.json(lines));
        } else {
            report.summary(lines);
        }
        out.flush();
        return lines.stream().allMatch(DoctorCheck.Line::isFit) ? 0 : ExitCode.FAILURE;
    }

    /**
     * Reports a failure without output, so that every class of a report is loaded: a check may exhaust the descriptors,
     * and a class that cannot be loaded then is unusable in this JVM for good.
     */
    private static void rehearse(Ansi ansi) throws IOException {
        DoctorReport report = new DoctorReport(new PrintWriter(Writer.nullWriter()), ansi);
        DoctorCheck fails = main("rehearsal", "nothing", () -> {
            throw new ExecutionException(new LinuxException("rehearse", Errno.EMFILE));
        });
        List<DoctorCheck.Line> lines = DoctorRunner.run(List.of(fails), MAIN::equals, report::print);
        report.summary(lines);
        DoctorReport.json(lines);
        ZoneId _ = ZoneId.systemDefault(); // messages that a provider logs meanwhile have a time
    }

    private String play(String what) throws Exception {
        if (what.startsWith(PEER)) {
            String[] words = what.split(":", 3); // peer, port, process
            try {
                return DoctorVerbs.peer(Integer.parseInt(words[1]), Long.parseLong(words[words.length - 1]));
            } catch (NumberFormatException e) {
                throw unknown(what);
            }
        }
        return switch (what) {
            case "rdma" -> finding(DoctorRdma.look());
            case "xdp" -> finding(DoctorXdp.runInUserNamespace());
            default -> throw unknown(what);
        };
    }

    private ParameterException unknown(String what) {
        return new ParameterException(spec.commandLine(), "unknown role '" + what + "'");
    }

    private static String finding(DoctorFinding f) throws IOException {
        return DoctorChild.print(DoctorReport.json(f));
    }

    static List<DoctorCheck> checks(boolean granted) {
        DoctorVerbs verbs = new DoctorVerbs();
        return List.of(
                main("java", "everything", DoctorHost::java),
                main("native", "everything", () -> DoctorHost.nativeAccess(granted)),
                main("kernel", "everything", DoctorHost::kernel),
                main("memory", "memory that is allocated", DoctorHost::memory),
                main("memfd", "memory that processes share", DoctorHost::memfd),
                main("files", "connections to many peers", DoctorHost::files),
                new DoctorCheck("verbs", MAIN, "the main job", true, LIMIT, DoctorVerbs::within),
                new DoctorCheck("processes", MAIN, "the main job", true, LONG_LIMIT, verbs::between),
                new DoctorCheck("ptrace", MAIN, "memory that is registered, not allocated", false, LONG_LIMIT,
                        verbs::registered),
                new DoctorCheck("counters", MAIN, "looking at other processes", false, LONG_LIMIT, verbs::counters),
                more("capabilities", "raw packets, programs in the kernel", DoctorHost::capabilities),
                more("memlock", "memory for devices and for raw packets", DoctorHost::memlock),
                more("sock_diag", "finding the process at the other end", DoctorKernel::sockDiag),
                more("bpf", "flows of raw packets", DoctorKernel::bpf),
                new DoctorCheck("af_xdp", MORE, "raw packets of any interface", false, LONG_LIMIT, DoctorXdp::run),
                more("xdp", "raw packets of any interface", DoctorPackets::xdp),
                more("tap", "raw packets without privileges", DoctorPackets::tap),
                unused("io_uring", "fewer system calls", DoctorKernel::ioUring),
                more("roce", "verbs between machines, without RDMA hardware", DoctorRoce::run),
                new DoctorCheck("rdma", MORE, "verbs between machines", false, LONG_LIMIT, DoctorRdma::run),
                unused("smc", "comparison with the kernel's sockets over RDMA", DoctorKernel::smc),
                unused("udmabuf", "device memory without a device", DoctorKernel::udmabuf),
                unused("devmem", "receiving into the memory of a device", DoctorKernel::devmem));
    }

    private static DoctorCheck main(String name, String neededFor, Callable<DoctorFinding> probe) {
        return new DoctorCheck(name, MAIN, neededFor, false, LIMIT, probe);
    }

    private static DoctorCheck unused(String name, String neededFor, Callable<DoctorFinding> probe) {
        return new DoctorCheck(name, DoctorCheck.UNUSED, neededFor, false, LIMIT, probe);
    }

    private static DoctorCheck more(String name, String neededFor, Callable<DoctorFinding> probe) {
        return new DoctorCheck(name, MORE, neededFor, false, LIMIT, probe);
    }
}
