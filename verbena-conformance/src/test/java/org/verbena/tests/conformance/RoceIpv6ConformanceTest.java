// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.lang.reflect.Method;
import java.net.InetAddress;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkAddresses;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Await;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** Groups of the suite over IPv6, in a network namespace with interfaces that have no other address. */
@ExtendWith({RoceIpv6ConformanceTest.InFull.class, RoceIpv6ConformanceTest.OwnNetwork.class})
class RoceIpv6ConformanceTest extends ConformanceSelection {
    /** The number of contexts that can be open. */
    private static final int INTERFACES = 24;
    /** For packets of 4096 bytes, like on loopback. */
    private static final int MTU = 9000;
    private static final String PREFIX = "six";

    /** All packets have addresses; buffers, the order of messages and events have not. */
    static final class InFull extends ThoroughGroups {
        InFull() {
            super("ScatterGather", "Order", "Events", "VirtualThreads");
        }
    }

    /** Runs all tests on one thread, which is in a new namespace; that ends with the thread. */
    static final class OwnNetwork implements BeforeAllCallback, AfterAllCallback, InvocationInterceptor {
        private static @Nullable ExecutorService inside;
        /** Why there is no namespace. */
        private static final AtomicReference<@Nullable Exception> FAILURE = new AtomicReference<>();

        @Override
        public void beforeAll(ExtensionContext extension) throws Exception {
            if (extension.getRequiredTestClass() == RoceIpv6ConformanceTest.class) { // and not for each group
                inside = Executors.newSingleThreadExecutor(work -> Thread.ofPlatform().daemon().unstarted(() -> run(
                        work)));
                try {
                    inside.submit(OwnNetwork::makeInterfaces).get();
                } catch (ExecutionException e) {
                    afterAll(extension);
                    if (e.getCause() instanceof LinuxException cause && cause.errno() == Errno.EPERM) {
                        System.out.println("SKIPPED: RoceIpv6ConformanceTest, only root with CAP_SYS_ADMIN and"
                                + " CAP_NET_ADMIN can make network namespaces: " + cause.getMessage());
                        Assumptions.abort("capabilities are missing");
                    }
                    throw e;
                }
            }
        }

        @Override
        public void afterAll(ExtensionContext extension) {
            if (extension.getRequiredTestClass() == RoceIpv6ConformanceTest.class && inside != null) {
                inside.shutdownNow();
                inside = null;
            }
        }

        private static void run(Runnable work) {
            try {
                NetworkNamespace.callInNew(() -> {
                    work.run();
                    return true;
                });
            } catch (InterruptedException e) {
                // the tests are over
            } catch (Exception e) { // before the work began, which itself throws nothing: the waiting thread gets the error
                FAILURE.set(e);
                work.run();
            }
        }

        private static boolean makeInterfaces() throws Exception {
            Exception none = FAILURE.get();
            if (none != null) {
                throw none;
            }
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                NetworkLinks.setUp(netlink, NetworkLinks.index(netlink, "lo")); // which is the route to local addresses
                for (int i = 0; i < INTERFACES; i += 2) {
                    NetworkLinks.createVeth(netlink, PREFIX + i, PREFIX + (i + 1));
                }
                for (int i = 0; i < INTERFACES; i++) {
                    int index = NetworkLinks.index(netlink, PREFIX + i);
                    NetworkLinks.setMtu(netlink, index, MTU);
                    NetworkLinks.setUp(netlink, index);
                    NetworkAddresses.add(netlink, index, InetAddress.ofLiteral("fd00:4791:" + i + "::1"), 64);
                }
                Await.until("interfaces that are up", () -> areUp(netlink), () -> "not all");
                return true;
            }
        }

        private static boolean areUp(Netlink netlink) throws VerbsException {
            try {
                return NetworkLinks.list(netlink).stream().filter(l -> l.up() && l.name().startsWith(PREFIX))
                        .count() == INTERFACES;
            } catch (LinuxException e) {
                throw new VerbsException("list interfaces", e);
            }
        }

        private static void proceed(Invocation<Void> invocation) throws Throwable {
            ExecutorService network = inside;
            if (network == null) {
                throw new IllegalStateException("no network");
            }
            Future<Void> test = network.submit(() -> {
                try {
                    return invocation.proceed();
                } catch (Exception | Error e) {
                    throw e;
                } catch (Throwable e) {
                    throw new AssertionError(e);
                }
            });
            try {
                test.get();
            } catch (InterruptedException e) { // out of time: the thread is needed for the next one
                test.cancel(true);
                throw e;
            } catch (ExecutionException e) {
                throw e.getCause() == null ? e : e.getCause();
            }
        }

        @Override
        public void interceptBeforeEachMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> called,
                ExtensionContext extension) throws Throwable {
            proceed(invocation);
        }

        @Override
        public void interceptTestMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> called,
                ExtensionContext extension) throws Throwable {
            proceed(invocation);
        }

        @Override
        public void interceptTestTemplateMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> called,
                ExtensionContext extension) throws Throwable {
            proceed(invocation);
        }
    }

    static final class Fixture extends RoceConformanceTest.Fixture {
        /** The address of an interface that no other context has. */
        @Override
        public Context open() throws VerbsException {
            for (int i = 0;; i++) {
                try {
                    synchronized (OPENING) {
                        return Verbs.open("roce_" + PREFIX + i);
                    }
                } catch (VerbsException e) {
                    if (e.errno() != Errno.EADDRINUSE || i == INTERFACES - 1) {
                        throw e;
                    }
                }
            }
        }
    }

    @Override
    protected ConformanceFixture fixture() {
        return new Fixture();
    }
}
