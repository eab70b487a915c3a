// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;

import org.verbena.cli.perf.datagrams.PerfVeth;
import org.verbena.cli.perf.session.PerfClient;
import org.verbena.cli.perf.session.PerfOptions;
import org.verbena.cli.perf.session.PerfResult;
import org.verbena.cli.support.CommandException;

/**
 * Two fresh processes, one that listens and one that measures; this process only passes on the reports of the latter,
 * one per line: {@code BEGINS index count title}, {@code RESULT json}, {@code FAILED sentence}.
 */
final class PerfPair {
    private static final String LISTENING = "LISTENING ";
    private static final String BEGINS = "BEGINS ";
    private static final String RESULT = "RESULT ";
    private static final String FAILED = "FAILED ";
    private static final ObjectMapper JSON = new ObjectMapper();

    private PerfPair() {}

    /** Measures with two fresh processes. */
    static List<PerfResult> run(PerfOptions options, PerfClient.Watcher watcher) throws IOException {
        return run(options, List.of(), watcher);
    }

    /** Measures with two fresh processes that have more options for their JVMs. */
    static List<PerfResult> run(PerfOptions options, List<String> jvmOptions, PerfClient.Watcher watcher)
            throws IOException {
        if (!options.isRaw()) {
            return run(options, jvmOptions, watcher, "127.0.0.1", PerfPair::here);
        }
        return PerfVeth.inFar(pair -> run(options, jvmOptions, watcher, PerfVeth.LISTENER, measurement -> pair.inNear(
                measurement::call)));
    }

    @FunctionalInterface
    interface Measurement {
        List<PerfResult> call() throws IOException;
    }

    /** Where the measuring process is started. */
    @FunctionalInterface
    private interface Place {
        List<PerfResult> call(Measurement run) throws IOException;
    }

    private static List<PerfResult> here(Measurement run) throws IOException {
        return run.call();
    }

    private static List<PerfResult> run(PerfOptions options, List<String> jvmOptions, PerfClient.Watcher watcher,
            String address, Place near) throws IOException {
        try (PerfJvm server = new PerfJvm("listening", jvmOptions, List.of("--listen=" + address + ":0", "--once",
                "--worker"))) {
            String hello = server.line();
            if (hello == null || !hello.startsWith(LISTENING)) {
                throw new CommandException(orElse(server.verdict(), "the listening process does not start: it said "
                        + hello));
            }
            List<String> arguments = new ArrayList<>(options.arguments());
            arguments.addAll(List.of("--worker", "--connect=" + address + ":" + hello.substring(LISTENING.length())));
            return near.call(() -> {
                try (PerfJvm client = new PerfJvm("measuring", jvmOptions, arguments)) {
                    return collect(client, server, watcher);
                }
            });
        }
    }

    private static List<PerfResult> collect(PerfJvm client, PerfJvm server, PerfClient.Watcher watcher)
            throws IOException {
        List<PerfResult> results = new ArrayList<>();
        try {
            collect(client, server, watcher, results);
        } catch (IOException e) {
            if (client.interrupted() || server.interrupted()) {
                throw new PerfInterrupted(e);
            }
            throw e;
        }
        return results;
    }

    private static void collect(PerfJvm client, PerfJvm server, PerfClient.Watcher watcher, List<PerfResult> results)
            throws IOException {
        for (String line = client.line(); line != null; line = client.line()) {
            if (line.startsWith(BEGINS)) {
                String[] words = line.split(" ", 4);
                watcher.begins(Integer.parseInt(words[1]), Integer.parseInt(words[2]), words[3]);
            } else if (line.startsWith(RESULT)) {
                PerfResult r = PerfResult.fromJson(JSON.readTree(line.substring(RESULT.length())));
                results.add(r);
                watcher.ended(r);
            } else if (line.startsWith(FAILED)) {
                String reason = line.substring(FAILED.length());
                // If the other process has died, that is the reason; if it has only reported a failure, the failure
                // here is.
                throw new CommandException(orElse(server.killed(), reason));
            }
        }
        String verdict = client.verdict();
        if (verdict != null) {
            throw new CommandException(verdict);
        }
    }

    private static String orElse(@Nullable String a, String b) {
        return a == null ? b : a;
    }

    /** The reporting of the measuring process. */
    static final class Reporter implements PerfClient.Watcher {
        private final PrintWriter out;

        Reporter(PrintWriter out) {
            this.out = out;
        }

        static void listening(PrintWriter out, int port) {
            out.println(LISTENING + port);
            out.flush();
        }

        void failed(String sentence) {
            say(FAILED + sentence.replace('\n', ' '));
        }

        @Override
        public void begins(int index, int count, String title) {
            say(BEGINS + index + " " + count + " " + title);
        }

        @Override
        public void ended(PerfResult result) {
            say(RESULT + result.toLine());
        }

        private void say(String line) {
            out.println(line);
            out.flush();
        }
    }
}
