// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Runs checks, each on a thread of its own, and passes their lines on in the order of the checks. An exception of a
 * check is its finding; a check that does not answer in time is abandoned, since its thread is a daemon.
 */
final class DoctorRunner {
    private DoctorRunner() {}

    /**
     * Runs the checks of the groups that {@code alone} names one after the other, so that none lacks descriptors or
     * memory that another one uses; then all others at once.
     */
    static List<DoctorCheck.Line> run(List<DoctorCheck> checks, Predicate<String> alone,
            Consumer<DoctorCheck.Line> listener) {
        List<DoctorCheck.Line> lines = new ArrayList<>();
        List<DoctorCheck> together = new ArrayList<>();
        for (DoctorCheck c : checks) {
            if (alone.test(c.group())) {
                lines.addAll(atOnce(List.of(c), listener));
            } else {
                together.add(c);
            }
        }
        lines.addAll(atOnce(together, listener));
        return lines;
    }

    private static List<DoctorCheck.Line> atOnce(List<DoctorCheck> checks, Consumer<DoctorCheck.Line> listener) {
        long began = System.nanoTime();
        List<FutureTask<DoctorFinding>> tasks = new ArrayList<>();
        for (DoctorCheck c : checks) {
            FutureTask<DoctorFinding> task = new FutureTask<>(() -> guarded(c));
            tasks.add(task);
            try {
                Thread.ofPlatform().daemon().name("doctor-" + c.name()).start(task);
            } catch (OutOfMemoryError noThread) {
                task.run(); // runs here then, without a time limit
            }
        }
        List<DoctorCheck.Line> lines = new ArrayList<>();
        for (int i = 0; i < checks.size(); i++) {
            DoctorCheck c = checks.get(i);
            DoctorCheck.Line line = new DoctorCheck.Line(c, await(tasks.get(i), c, began));
            lines.add(line);
            listener.accept(line);
        }
        return lines;
    }

    @SuppressWarnings("CatchAndPrintStackTrace") // for users who set VERBENA_DEBUG
    private static DoctorFinding guarded(DoctorCheck c) {
        try {
            return c.probe().call();
        } catch (Throwable thrown) {
            if (System.getenv("VERBENA_DEBUG") != null) {
                thrown.printStackTrace();
            }
            return DoctorFinding.failed(thrown);
        }
    }

    private static DoctorFinding await(FutureTask<DoctorFinding> task, DoctorCheck c, long began) {
        try {
            long left = c.limit().toNanos() - (System.nanoTime() - began);
            return task.get(Math.max(0, left), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            task.cancel(true);
            return DoctorFinding.no("no answer within " + c.limit().toSeconds() + " s",
                    "try again when the machine is idle; what hangs is shown by jstack " + ProcessHandle.current()
                            .pid() + " while it runs");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return DoctorFinding.no("interrupted", "try again");
        } catch (CancellationException | ExecutionException e) {
            return DoctorFinding.failed(e);
        }
    }
}
