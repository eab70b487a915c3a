// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs JUnit classes, in the JVM that {@link NettySuite} starts, and prints a line for each test method. */
final class NettySuiteMain {
    private NettySuiteMain() {}

    public static void main(String[] args) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(Arrays.stream(args).map(DiscoverySelectors::selectClass).toList())
                .configurationParameter("junit.jupiter.execution.timeout.default", "60 s")
                .configurationParameter("junit.jupiter.execution.timeout.thread.mode.default", "SEPARATE_THREAD")
                .build();
        Verdicts verdicts = new Verdicts();
        LauncherFactory.create().execute(request, verdicts);
        verdicts.all.forEach((test, verdict) -> System.out.println("verdict " + test + " " + verdict));
        System.out.println("end");
        System.exit(0);
    }

    private static final class Verdicts implements TestExecutionListener {
        /** Of a test that ran several times the first of these counts. */
        private static final List<String> ORDER = List.of("FAILED", "SUCCESSFUL", "ABORTED");

        final Map<String, String> all = new TreeMap<>();

        @Override
        public synchronized void executionFinished(TestIdentifier id, TestExecutionResult result) {
            if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                System.out.println("FAILED " + id.getUniqueId());
                result.getThrowable().ifPresent(t -> t.printStackTrace(System.out));
            }
            String test = id.getSource().map(s -> s instanceof MethodSource m
                    ? m.getClassName().replaceAll(".*\\.", "") + "#" + m.getMethodName()
                    : "").orElse("");
            if (id.isTest() && !test.isEmpty()) {
                all.merge(test, result.getStatus().toString(), (a, b) -> ORDER.indexOf(a) < ORDER.indexOf(b) ? a : b);
            } else if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                all.put(id.getDisplayName() + "#", "FAILED");
            }
        }
    }
}
