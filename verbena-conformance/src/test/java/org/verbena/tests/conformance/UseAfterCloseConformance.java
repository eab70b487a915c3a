// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.CompletionQueueModification;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionManager;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Context;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.CounterTarget;
import org.verbena.verbs.Counters;
import org.verbena.verbs.DatagramService;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.EnhancedConnection;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryRegionAttributes;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ParentDomainAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairOpenAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.RateLimit;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.RwqIndirectionTable;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.ThreadDomain;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;
import org.verbena.verbs.WorkCompletion;
import org.verbena.verbs.WorkQueue;
import org.verbena.verbs.WorkQueueInitAttributes;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.XrcDomainAttributes;

/**
 * Every method of every object, called after the object was closed: methods that may fail report {@code EINVAL},
 * methods that may not fail return, and nothing else happens. Methods are found in the classes, so those that are added
 * later are called too.
 */
abstract class UseAfterCloseConformance extends Conformance {
    /** Objects that a provider may lack. */
    private static final Set<Class<?>> NOT_MADE = Set.of(Flow.class, WorkQueue.class, RwqIndirectionTable.class);
    /** Methods that a closed object still supports. */
    private static final Set<String> STILL_ANSWERS = Set.of("Context.queryDevice()", "Context.close()",
            "Connection.disconnect()", "Connection.awaitEvent(Duration)");
    /** Throws for type XRC_RECV, open or closed: there is none. */
    private static final String NO_DOMAIN = "QueuePair.protectionDomain()";
    /** Methods that only providers call. */
    private static final Set<String> PROVIDERS = Set.of("Context.raise(AsyncEvent)", "Context.adopt(VerbsObject)");

    UseAfterCloseConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    @FunctionalInterface
    private interface Closed {
        Object make(End end) throws Exception;
    }

    private static Map<Class<?>, Closed> closed() {
        Map<Class<?>, Closed> all = new LinkedHashMap<>();
        all.put(Context.class, e -> {
            e.context.close();
            return e.context;
        });
        all.put(ConnectionManager.class, e -> {
            ConnectionManager cm = e.context.connectionManager();
            e.context.close();
            return cm;
        });
        all.put(ProtectionDomain.class, e -> gone(e.context.allocateProtectionDomain()));
        all.put(ThreadDomain.class, e -> {
            needs(e.context, Feature.THREAD_DOMAIN);
            return gone(e.context.allocateThreadDomain());
        });
        all.put(CompletionChannel.class, e -> gone(e.context.createCompletionChannel()));
        all.put(CompletionQueue.class, e -> gone(e.context.createCompletionQueue(CompletionQueueAttributes.builder()
                .channel(e.context.createCompletionChannel()).build())));
        all.put(AddressHandle.class, e -> gone(e.pd.createAddressHandle(path(e))));
        all.put(MemoryRegion.class, e -> gone(e.pd.allocate(4096, AccessFlags.ALL)));
        all.put(MemoryWindow.class, e -> gone(e.pd.allocateMemoryWindow(MemoryWindow.TYPE_1)));
        all.put(DeviceMemory.class, e -> {
            needs(e.context, Feature.DEVICE_MEMORY);
            return gone(e.context.allocateDeviceMemory(4096, 0));
        });
        all.put(SharedReceiveQueue.class,
                e -> gone(e.pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(4).build())));
        all.put(XrcDomain.class, e -> gone(domain(e)));
        all.put(Counters.class, e -> {
            needs(e.context, Feature.COUNTERS);
            return gone(e.context.createCounters());
        });
        all.put(QueuePair.class, e -> gone(e.queuePair()));
        all.put(SendQueue.class, e -> gone(e.queuePair()).sendQueue());
        all.put(ReceiveQueue.class, e -> gone(e.queuePair()).receiveQueue());
        all.put(ConnectionListener.class,
                e -> gone(Listening.on(e, 0)));
        all.put(Connection.class, e -> gone(connection(e)));
        all.put(DatagramService.class, e -> {
            needs(e.context, Feature.DATAGRAM_SERVICE);
            return gone(e.context.connectionManager().provide(new InetSocketAddress(0), e.queuePairOfType(
                    QueuePairType.UD)));
        });
        return all;
    }

    /** More instances of some types, since other kinds of them behave differently. */
    private static Map<String, Closed> otherKinds() {
        Map<String, Closed> all = new LinkedHashMap<>();
        all.put("SharedReceiveQueue of XRC", e -> {
            XrcDomain d = domain(e);
            return gone(e.pd.createSharedReceiveQueue(XrcEnd.queue(d, e.receiveCq).maxWr(4).build()));
        });
        all.put("QueuePair of type XRC_RECV", e -> gone(target(domain(e))));
        all.put("QueuePair of type XRC_RECV with another handle", e -> {
            XrcDomain d = domain(e);
            return gone(d.openQueuePair(QueuePairOpenAttributes.builder().number(target(d).number())
                    .type(QueuePairType.XRC_RECV).build()));
        });
        all.put("SendQueue of type XRC_RECV", e -> gone(target(domain(e))).sendQueue());
        all.put("ReceiveQueue of type XRC_RECV", e -> gone(target(domain(e))).receiveQueue());
        all.put("SendQueue of type XRC_SEND", e -> {
            domain(e);
            return gone(e.queuePairOfType(QueuePairType.XRC_SEND)).sendQueue();
        });
        return all;
    }

    private static XrcDomain domain(End e) throws VerbsException {
        needs(e.context, Feature.XRC);
        return e.context.openXrcDomain(XrcEnd.privateDomain());
    }

    private static QueuePair target(XrcDomain d) throws VerbsException {
        return d.createQueuePair(QueuePairInitAttributes.builderXrcReceive().build());
    }

    private static <T extends VerbsObject> T gone(T o) throws VerbsException {
        o.close();
        assertThat(o.isClosed()).isTrue();
        return o;
    }

    private static AddressVector path(End e) throws VerbsException {
        return AddressVector.builder(e.context.queryGid(1, 0)).port(1).sourceGidIndex(0).build();
    }

    private static Connection connection(End e) throws Exception {
        try (ConnectionListener l = Listening.on(e, 0)) {
            InetSocketAddress at = e.fixture.listenerAt(l.localAddress());
            QueuePair qp = e.queuePair();
            e.start(x -> x.context.connectionManager().connect(x.qp, at, ConnectionParameters.defaults())
                    .isConnected());
            Connection c = Objects.requireNonNull(l.awaitRequest(Await.LIMIT)).accept(qp,
                    ConnectionParameters.defaults());
            e.join();
            return c;
        }
    }

    /** An argument of each type that methods take. */
    private static Map<Class<?>, Object> arguments(End e, Arena arena) throws VerbsException {
        Map<Class<?>, Object> all = new HashMap<>();
        all.put(int.class, 1);
        all.put(long.class, 8L);
        all.put(boolean.class, false);
        all.put(String.class, "x");
        all.put(Duration.class, Duration.ZERO);
        all.put(List.class, List.of());
        all.put(MemorySegment.class, arena.allocate(4096));
        all.put(InetSocketAddress.class, new InetSocketAddress("localhost", 0));
        all.put(ConnectionParameters.class, ConnectionParameters.defaults());
        all.put(WorkCompletion[].class, WorkCompletion.array(2));
        all.put(CompletionQueueAttributes.class, CompletionQueueAttributes.builder().build());
        all.put(CompletionQueueModification.class, CompletionQueueModification.moderate(1, 1));
        all.put(QueuePairAttributes.class, QueuePairAttributes.to(QueuePairState.RESET).build());
        all.put(QueuePairInitAttributes.class, e.initAttributes());
        all.put(MemoryRegionAttributes.class, MemoryRegionAttributes.builder(0).memory(arena.allocate(64)).build());
        all.put(ParentDomainAttributes.class, ParentDomainAttributes.builder().protectionDomain(e.pd).build());
        all.put(WorkQueueInitAttributes.class, WorkQueueInitAttributes.builder(e.pd, e.receiveCq).build());
        all.put(FlowAttributes.class, FlowAttributes.builder().build());
        all.put(CounterAttachAttributes.class, CounterAttachAttributes.of(SamplePoint.DEVICE_PEERS, 0));
        all.put(CounterTarget.class, e.context);
        all.put(long[].class, new long[4]);
        all.put(byte[].class, new byte[4]);
        all.put(Gid.class, new Gid(0xffL << 56, 1));
        all.put(RateLimit.class, RateLimit.of(1, 1, 1));
        all.put(EnhancedConnection.class, EnhancedConnection.of(1, 1));
        all.put(AddressVector.class, path(e));
        all.put(AddressHandle.class, e.pd.createAddressHandle(path(e)));
        all.put(AsyncEvent.class, AsyncEvent.builder(0, e.qp).build());
        all.put(QueuePair.class, e.qp);
        all.put(MemoryRegion.class, e.region);
        all.put(ProtectionDomain.class, e.pd);
        all.put(MemoryWindow.class, e.pd.allocateMemoryWindow(MemoryWindow.TYPE_1));
        if (e.context.supports(Feature.DEVICE_MEMORY)) {
            all.put(DeviceMemory.class, e.context.allocateDeviceMemory(4096, 0));
        }
        all.put(SharedReceiveQueueAttributes.class, SharedReceiveQueueAttributes.builder().maxWr(4).build());
        all.put(XrcDomainAttributes.class, XrcEnd.privateDomain());
        all.put(QueuePairOpenAttributes.class,
                QueuePairOpenAttributes.builder().number(1).type(QueuePairType.XRC_RECV).build());
        all.put(VerbsObject.class, e.pd);
        return all;
    }

    private static Stream<Method> methods(Class<?> c) {
        return ApiMethods.methods(c).stream().filter(m -> !Modifier.isStatic(m.getModifiers()))
                .filter(m -> !PROVIDERS.contains(ApiMethods.signature(m)));
    }

    @Test
    void everyKindOfObjectIsTested() {
        Set<Class<?>> objects = ApiMethods.classes().stream().filter(VerbsObject.class::isAssignableFrom)
                .filter(c -> c != VerbsObject.class).collect(Collectors.toSet());
        assertThat(Stream.concat(closed().keySet().stream().filter(VerbsObject.class::isAssignableFrom),
                NOT_MADE.stream())).containsExactlyInAnyOrderElementsOf(objects);
    }

    @TestFactory
    Stream<DynamicTest> closedObjectRefusesCalls() {
        return Stream.concat(
                closed().entrySet().stream().map(c -> test(c.getKey().getSimpleName(), c.getValue())),
                otherKinds().entrySet().stream().map(c -> test(c.getKey(), c.getValue())));
    }

    private DynamicTest test(String name, Closed kind) {
        return DynamicTest.dynamicTest(name, () -> {
            try (End e = End.open(fixture, EndOptions.defaults());
                    Arena arena = Arena.ofConfined()) {
                Map<Class<?>, Object> arguments = arguments(e, arena);
                Object closed = kind.make(e);
                for (Method m : methods(type(closed)).toList()) {
                    call(m, closed, arguments);
                }
            }
        });
    }

    /** The API class of an object. */
    private static Class<?> type(Object o) {
        Class<?> c = o.getClass();
        while (!ApiMethods.classes().contains(c)) {
            c = c.getSuperclass();
        }
        return c;
    }

    private static void call(Method m, Object closed, Map<Class<?>, Object> arguments) throws Exception {
        String name = ApiMethods.signature(m);
        if (!arguments.containsKey(DeviceMemory.class) && List.of(m.getParameterTypes()).contains(DeviceMemory.class)) {
            return; // the device has none
        }
        Object[] args = Arrays.stream(m.getParameterTypes()).map(t -> {
            assertThat(arguments).as("an argument for " + name).containsKey(t);
            return arguments.get(t);
        }).toArray();
        boolean mayFail = Arrays.asList(m.getExceptionTypes()).contains(VerbsException.class)
                && !STILL_ANSWERS.contains(name);
        try {
            Object answer = m.invoke(closed, args);
            assertThat(mayFail).as("%s answered %s", name, answer).isFalse();
            if (isPost(m)) {
                assertThat(answer).as(name).isEqualTo(Errno.EINVAL);
            }
        } catch (InvocationTargetException x) {
            Throwable t = x.getCause();
            if (closed instanceof QueuePair q && q.type() == QueuePairType.XRC_RECV && name.equals(NO_DOMAIN)) {
                assertThat(t).as(name).isInstanceOf(IllegalStateException.class);
                return;
            }
            assertThat(mayFail).as("%s threw %s", name, t).isTrue();
            assertThat(t).as(name).isInstanceOf(VerbsException.class);
            VerbsException v = (VerbsException) t;
            if (v.errno() != Errno.EOPNOTSUPP) { // an unsupported method need not check whether the object is open
                assertThat(Errno.name(v.errno())).as(name + ": " + v.getMessage()).isEqualTo("EINVAL");
                assertThat(v.getMessage()).as(name).contains("closed");
            }
        }
    }

    private static boolean isPost(Method m) {
        return m.getReturnType() == int.class && (m.getDeclaringClass() == SendQueue.class
                || m.getDeclaringClass() == ReceiveQueue.class || m.getName().equals("startPoll")
                || m.getName().equals("requestNotify") || m.getName().equals("bindMemoryWindow"));
    }
}
