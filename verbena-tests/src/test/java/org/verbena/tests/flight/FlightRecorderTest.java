// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.flight;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import jdk.jfr.Category;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Sys;
import org.verbena.testkit.Await;
import org.verbena.testkit.KernelThread;
import org.verbena.tests.Repository;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.RemoteObject;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkCompletion;

/** Events of the Java Flight Recorder. */
class FlightRecorderTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int BYTES = 4096;

    @TempDir private Path folder;

    /** Two queue pairs of one context that are connected with each other. */
    private static final class Pair implements AutoCloseable {
        final Context context = Verbs.open("shm0");
        final ProtectionDomain pd = context.allocateProtectionDomain();
        final CompletionChannel channel = context.createCompletionChannel();
        final CompletionQueue cqA = context.createCompletionQueue(16);
        final CompletionQueue cqB = context
                .createCompletionQueue(CompletionQueueAttributes.builder().cqe(16).channel(channel).build());
        final MemoryRegion region = pd.allocate(BYTES, AccessFlags.ALL);
        final QueuePair a = pd.createQueuePair(QueuePairInitAttributes.builder(cqA, cqA).maxSendWr(8).build());
        final QueuePair b = pd.createQueuePair(QueuePairInitAttributes.builder(cqB, cqB).maxReceiveWr(8).build());

        Pair() throws VerbsException {
            this(true);
        }

        Pair(boolean both) throws VerbsException {
            connect(a, b);
            if (both) {
                connect(b, a);
            }
        }

        private void connect(QueuePair qp, QueuePair peer) throws VerbsException {
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(AccessFlags.ALL)
                    .build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(context.queryGid(1, 0)))
                    .pathMtu(4096).destinationQueuePair(peer.number()).rqPsn(0).maxDestReadAtomic(1).minRnrTimer(12)
                    .build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTS).timeout(18).retryCount(7).rnrRetry(7).sqPsn(0)
                    .maxReadAtomic(1).build());
        }

        void send(long wrId) {
            assertThat(a.sendQueue().postSend(wrId, SendFlags.SIGNALED, region, 0, 8)).isZero();
        }

        void receive(long wrId) {
            assertThat(b.receiveQueue().post(wrId, region, 1024, 64)).isZero();
        }

        static WorkCompletion await(CompletionQueue cq) {
            WorkCompletion[] one = WorkCompletion.array(1);
            Await.until(LIMIT, () -> cq.poll(one) == 1, () -> "no completion");
            return one[0];
        }

        @Override
        public void close() throws VerbsException {
            context.close();
        }
    }

    private static List<RecordedEvent> of(List<RecordedEvent> events, String name, QueuePair qp) {
        return events.stream().filter(e -> e.getEventType().getName().equals("org.verbena." + name))
                .filter(e -> e.getInt("queuePair") == qp.number()).toList();
    }

    @Test
    void bothEndsOfAConnectionAreRecorded() throws Exception {
        try (Recorded r = new Recorded(); Pair p = new Pair()) {
            p.receive(1);
            p.send(2);
            Pair.await(p.cqB);
            Pair.await(p.cqA);
            p.close();
            List<RecordedEvent> all = r.end(folder);
            for (QueuePair qp : List.of(p.a, p.b)) {
                assertThat(of(all, "Connection", qp)).extracting(e -> e.getString("change"))
                        .containsExactly("connected", "disconnected");
                assertThat(of(all, "Connection", qp)).allSatisfy(e -> {
                    assertThat(e.getString("device")).isEqualTo("shm0");
                    assertThat(e.getInt("peerQueuePair")).isEqualTo(qp == p.a ? p.b.number() : p.a.number());
                    assertThat(e.getLong("peerProcess")).isEqualTo(Sys.pid());
                    assertThat(e.getStackTrace()).isNull();
                });
                assertThat(of(all, "Error", qp)).isEmpty();
                assertThat(of(all, "Retry", qp)).isEmpty();
            }
        }
    }

    @Test
    void errorAndFollowingStateAreRecordedOnce() throws Exception {
        try (Recorded r = new Recorded(); Pair p = new Pair()) {
            assertThat(p.a.sendQueue().postWrite(77, SendFlags.SIGNALED, p.region, 0, 8, p.region.rkey() + 1,
                    p.region.address())).isZero();
            assertThat(Pair.await(p.cqA).status()).isEqualTo(WcStatus.REM_ACCESS_ERR);
            p.send(78); // is flushed, which is not a separate error
            assertThat(Pair.await(p.cqA).status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
            Await.until(LIMIT, () -> p.b.state() == QueuePairState.ERR, () -> "b is in " + p.b.state());
            Await.until(LIMIT, () -> p.context.awaitAsyncEvent(Duration.ofMillis(10)) != null, () -> "no event");
            List<RecordedEvent> all = r.end(folder);
            List<RecordedEvent> errors = of(all, "Error", p.a);
            assertThat(errors).filteredOn(e -> !e.getString("status").isEmpty()).singleElement().satisfies(e -> {
                assertThat(e.getString("status")).isEqualTo("REM_ACCESS_ERR");
                assertThat(e.getString("operation")).isEqualTo("RDMA_WRITE");
                assertThat(e.getLong("wrId")).isEqualTo(77);
                assertThat(e.getString("device")).isEqualTo("shm0");
            });
            assertThat(errors).filteredOn(e -> e.getString("status").isEmpty()).singleElement()
                    .satisfies(e -> assertThat(e.getString("reason")).isEqualTo("REM_ACCESS_ERR for wrId 77"));
            assertThat(of(all, "Error", p.b)).singleElement().satisfies(
                    e -> assertThat(e.getString("reason")).startsWith("the peer's request was refused"));
        }
    }

    @Test
    void failedReceiveIsASeparateError() throws Exception {
        try (Recorded r = new Recorded(); Pair p = new Pair()) {
            assertThat(p.b.receiveQueue().post(5, p.region, 1024, 4)).isZero();
            p.send(6); // of 8 bytes
            assertThat(Pair.await(p.cqB).status()).isEqualTo(WcStatus.LOC_LEN_ERR);
            Pair.await(p.cqA);
            List<RecordedEvent> all = r.end(folder);
            assertThat(of(all, "Error", p.b)).filteredOn(e -> !e.getString("status").isEmpty()).singleElement()
                    .satisfies(e -> {
                        assertThat(e.getString("status")).isEqualTo("LOC_LEN_ERR");
                        assertThat(e.getString("operation")).isEqualTo("RECV");
                        assertThat(e.getLong("wrId")).isEqualTo(5);
                    });
        }
    }

    @Test
    void waitingRequestIsRecordedOnce() throws Exception {
        try (Recorded r = new Recorded(); Pair p = new Pair()) {
            p.send(1);
            WorkCompletion[] none = WorkCompletion.array(1);
            for (int i = 0; i < 100; i++) {
                assertThat(p.cqA.poll(none)).isZero(); // is tried again and again
            }
            p.receive(2);
            assertThat(Pair.await(p.cqA).status()).isZero();
            Pair.await(p.cqB);
            p.receive(3);
            p.send(4);
            Pair.await(p.cqA);
            List<RecordedEvent> all = r.end(folder);
            assertThat(of(all, "Retry", p.a)).singleElement()
                    .satisfies(e -> assertThat(e.getString("reason")).isEqualTo("the peer has posted no receive"));
            assertThat(of(all, "Retry", p.b)).isEmpty();
        }
    }

    @Test
    void requestWithoutAPeerIsRecordedOnce() throws Exception {
        try (Recorded r = new Recorded(); Pair p = new Pair(false)) {
            p.send(1);
            WorkCompletion[] none = WorkCompletion.array(1);
            for (int i = 0; i < 20; i++) {
                assertThat(p.cqA.poll(none)).isZero();
            }
            p.connect(p.b, p.a);
            p.receive(2);
            assertThat(Pair.await(p.cqA).status()).isZero();
            List<RecordedEvent> retries = of(r.end(folder), "Retry", p.a);
            assertThat(retries).filteredOn(e -> e.getString("reason").equals("the peer does not answer")).hasSize(1);
        }
    }

    @Test
    void sleepIsRecordedWithItsDuration() throws Exception {
        try (Recorded r = new Recorded(); Pair p = new Pair()) {
            p.cqB.requestNotify(false);
            p.receive(1);
            Thread sleeper = Thread.currentThread();
            Path folderOfSleeper = KernelThread.self();
            Thread.ofPlatform().daemon().start(() -> {
                KernelThread.awaitAsleep(folderOfSleeper);
                p.send(2);
            });
            assertThat(p.channel.await(LIMIT)).isSameAs(p.cqB);
            List<RecordedEvent> all = r.end(folder);
            assertThat(all).filteredOn(e -> e.getEventType().getName().equals("org.verbena.WakeUp"))
                    .filteredOn(e -> e.getString("by").equals(p.channel.describe())).singleElement().satisfies(e -> {
                        assertThat(e.getString("device")).isEqualTo("shm0");
                        assertThat(e.getDuration()).isPositive();
                        assertThat(e.getThread().getJavaName()).isEqualTo(sleeper.getName());
                    });
        }
    }

    @Test
    void nonzeroCountersAreRecorded() throws Exception {
        try (Recorded r = new Recorded(); Pair p = new Pair()) {
            for (int i = 0; i < 3; i++) {
                p.receive(i);
                p.send(i);
                Pair.await(p.cqB);
                Pair.await(p.cqA);
            }
            List<RecordedEvent> all = r.end(folder);
            List<RecordedEvent> counters = all.stream()
                    .filter(e -> e.getEventType().getName().equals("org.verbena.Counter")).toList();
            assertThat(counters).allSatisfy(e -> assertThat(e.getLong("value")).isNotZero());
            assertThat(counters).filteredOn(e -> e.getString("objectType").equals("QP"))
                    .filteredOn(e -> e.getInt("number") == p.a.number())
                    .filteredOn(e -> e.getString("samplePoint").equals("QP_TX_SENDS")).singleElement()
                    .satisfies(e -> assertThat(e.getLong("value")).isEqualTo(3));
            RemoteObject port = RemoteProcess.current().objects(0).stream()
                    .filter(o -> o.type() == ObjectType.PORT).findFirst().orElseThrow();
            assertThat(counters).filteredOn(e -> e.getString("objectType").equals("PORT")
                    && e.getLong("context") == port.context())
                    .anySatisfy(e -> {
                        assertThat(e.getString("samplePoint")).isEqualTo("PORT_TX_SEND_BYTES");
                        assertThat(e.getLong("value")).isEqualTo(24);
                        assertThat(e.getInt("number")).isEqualTo(1);
                        assertThat(e.getString("device")).isEqualTo("shm0");
                    });
        }
    }

    /** The labels that people see, and the text of the document. */
    @Test
    void everyEventAndFieldHasALabelAndIsDocumented() throws Exception {
        try (Recorded r = new Recorded(); Pair p = new Pair()) {
            assertThat(p.a.state()).isEqualTo(QueuePairState.RTS);
            p.close();
            r.end(folder);
        }
        String document = Files.readString(Repository.root().resolve("docs/jfr.md"));
        for (EventType type : FlightRecorder.getFlightRecorder().getEventTypes()) {
            if (type.getName().startsWith("org.verbena.")) {
                assertThat(type.getAnnotation(Category.class).value()).containsExactly("Verbena");
                assertThat(type.getLabel()).isNotBlank();
                assertThat(type.getDescription()).isNotBlank();
                assertThat(document).contains("`" + type.getName() + "`");
                for (ValueDescriptor field : type.getFields()) {
                    assertThat(field.getAnnotation(Label.class)).isNotNull();
                    if (!List.of("startTime", "duration", "eventThread", "stackTrace").contains(field.getName())) {
                        assertThat(document).contains("`" + field.getName() + "`");
                    }
                }
            }
        }
    }
}
