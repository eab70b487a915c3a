// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.openjdk;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** Runs one JUnit class in a JVM of its own: exit code 0 if at least one test was found and none failed. */
final class JUnitMain {
    private JUnitMain() {}

    public static void main(String[] args) throws ReflectiveOperationException {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(Class.forName(args[0])))
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, listener);
        listener.getSummary().printFailuresTo(new PrintWriter(System.out, true, StandardCharsets.UTF_8), 40);
        listener.getSummary().printTo(new PrintWriter(System.out, true, StandardCharsets.UTF_8));
        boolean good = listener.getSummary().getTestsFoundCount() > 0 && listener.getSummary()
                .getTotalFailureCount() == 0;
        System.exit(good ? 0 : 1);
    }
}
