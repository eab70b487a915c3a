// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import org.verbena.linux.spi.Downcall;
import org.verbena.linux.spi.SharedLibrary;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.Verbs;

/**
 * Queue pairs of a libibverbs that loops back, which is compiled from the sources in the jar: the rest is the cost of a
 * call. Needs gcc.
 */
@State(Scope.Thread)
public class RdmaEnds {
    /** Calls of a loop in C. */
    static final int CALLS = 1000;
    private static final List<String> SOURCES = List.of("mock.c", "mock_verbs.c", "mock_data.c");

    Context context;
    MemoryRegion region;
    int rkey;
    long remote;
    CompletionQueue cq;
    CompletionQueue extendedCq;
    QueuePair qp;
    QueuePair extendedQp;

    private final Arena arena = Arena.ofAuto();
    private final MemorySegment request = arena.allocate(128, 8);
    private final MemorySegment element = arena.allocate(16, 8);
    private final MemorySegment receive = arena.allocate(32, 8);
    private final MemorySegment completions = arena.allocate(16 * 48, 8);
    private long nativeQp;
    private long nativeCq;
    private long nativeExtendedQp;
    private long nativeExtendedCq;
    private MemorySegment timePost;
    private MemorySegment timeReceive;
    private MemorySegment timePoll;
    private MemorySegment timePostAndPoll;
    private MemorySegment timeExtendedPost;
    private MemorySegment timeExtendedPoll;
    private MemorySegment timeExtendedPostAndPoll;

    /** Makes the compiled libibverbs that of this JVM. To be called before the first list of devices, which loads one. */
    static void load() {
        System.setProperty("verbena.ibverbs", Library.PATH);
    }

    /** Opens, connects each queue pair with itself. */
    @Setup(Level.Trial)
    public void open() throws IOException {
        load();
        context = Verbs.open("mock0");
        SharedLibrary mock = SharedLibrary.open(Library.PATH);
        Downcall.call(mock.find("mock_endless"), 1, 0, 0, 0, 0, 0);
        ProtectionDomain pd = context.allocateProtectionDomain();
        region = pd.allocate(4096, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
        rkey = region.rkey();
        remote = region.address() + 64;
        cq = context.createCompletionQueue(100);
        extendedCq = context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(100).fields(
                CompletionQueueAttributes.STANDARD_FIELDS | CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP)
                .build());
        extendedQp = connected(pd.createQueuePair(QueuePairInitAttributes.builder(extendedCq, extendedCq)
                .sendOperations(SendOperations.WRITE).build()));
        nativeExtendedQp = argument(mock, "ibv_modify_qp");
        extendedCq.startPoll();
        nativeExtendedCq = argument(mock, "start_poll");
        qp = connected(pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(16).build()));
        nativeQp = argument(mock, "ibv_modify_qp");
        cq.startPoll();
        nativeCq = argument(mock, "poll_cq");
        timePost = mock.find("mock_time_post");
        timeReceive = mock.find("mock_time_post_recv");
        timePoll = mock.find("mock_time_poll");
        timePostAndPoll = mock.find("mock_time_post_and_poll");
        timeExtendedPost = mock.find("mock_time_wr_post");
        timeExtendedPoll = mock.find("mock_time_poll_ex");
        timeExtendedPostAndPoll = mock.find("mock_time_wr_post_and_poll");
        element.set(ValueLayout.JAVA_LONG, 0, region.address());
        element.set(ValueLayout.JAVA_INT, 8, 8);
        element.set(ValueLayout.JAVA_INT, 12, region.lkey());
        request.set(ValueLayout.JAVA_LONG, 16, element.address()); // struct ibv_send_wr: an RDMA WRITE of 8 bytes
        request.set(ValueLayout.JAVA_INT, 24, 1);
        request.set(ValueLayout.JAVA_LONG, 40, remote);
        request.set(ValueLayout.JAVA_INT, 48, rkey);
        receive.set(ValueLayout.JAVA_LONG, 16, element.address()); // struct ibv_recv_wr
        receive.set(ValueLayout.JAVA_INT, 24, 1);
    }

    /** The first argument of the last call of a verb: the address of the object. */
    private long argument(SharedLibrary mock, String verb) {
        return Downcall.call(mock.find("mock_argument"), arena.allocateFrom(verb).address(), 0, 0, 0, 0, 0);
    }

    /** Compiled once in a JVM, which loads the library of {@code rdmacore} once. */
    private static final class Library {
        static final String PATH = compile();

        private Library() {}

        private static String compile() {
            try {
                Path folder = Files.createTempDirectory("verbena-bench");
                folder.toFile().deleteOnExit();
                Path library = compile(folder);
                library.toFile().deleteOnExit(); // before its folder
                return library.toString();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        private static Path compile(Path folder) throws IOException, InterruptedException {
            Path library = folder.resolve("libibverbs.so.1");
            List<String> gcc = new ArrayList<>(List.of("gcc", "-O2", "-shared", "-fPIC", "-o", library.toString()));
            for (String s : Stream.concat(SOURCES.stream(), Stream.of("mock.h")).toList()) {
                Path file = folder.resolve(s);
                try (InputStream in = RdmaEnds.class.getResourceAsStream("/mock/" + s)) {
                    if (in == null) {
                        throw new IllegalStateException("the jar has no mock/" + s);
                    }
                    Files.copy(in, file);
                    file.toFile().deleteOnExit();
                }
                if (s.endsWith(".c")) {
                    gcc.add(file.toString());
                }
            }
            int code = new ProcessBuilder(gcc).inheritIO().start().waitFor();
            if (code != 0) {
                throw new IllegalStateException("gcc ended with " + code);
            }
            return library;
        }
    }

    private static QueuePair connected(QueuePair qp) throws IOException {
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(7).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(Gid.parse(
                "::ffff:127.0.0.1"))).pathMtu(1024).destinationQueuePair(qp.number()).rqPsn(0).maxDestReadAtomic(1)
                .minRnrTimer(12).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).timeout(14).retryCount(7).rnrRetry(7).sqPsn(0)
                .maxReadAtomic(1).build());
        return qp;
    }

    /** A loop in C: {@code ibv_post_send} of an RDMA WRITE of 8 bytes. */
    long timePost() {
        request.set(ValueLayout.JAVA_INT, 32, 0);
        return Downcall.call(timePost, nativeQp, request.address(), CALLS, 0, 0, 0);
    }

    /** A loop in C: {@code ibv_post_recv}. */
    long timeReceive() {
        return Downcall.call(timeReceive, nativeQp, receive.address(), CALLS, 0, 0, 0);
    }

    /** A loop in C: {@code ibv_poll_cq} that finds nothing. */
    long timePoll() {
        return Downcall.call(timePoll, nativeCq, completions.address(), CALLS, 0, 0, 0);
    }

    /** A loop in C: {@code ibv_post_send} of a signalled write, {@code ibv_poll_cq} that finds its completion. */
    long timePostAndPoll() {
        request.set(ValueLayout.JAVA_INT, 32, 2);
        return Downcall.call(timePostAndPoll, nativeQp, request.address(), nativeCq, completions.address(), CALLS, 0);
    }

    /** A loop in C: {@code ibv_wr_start}, {@code _rdma_write}, {@code _set_sge_list}, {@code _complete}. */
    long timeExtendedPost() {
        return Downcall.call(timeExtendedPost, nativeExtendedQp, element.address(), rkey, remote, CALLS, 0);
    }

    /** A loop in C: {@code ibv_start_poll} that finds nothing. */
    long timeExtendedPoll() {
        return Downcall.call(timeExtendedPoll, nativeExtendedCq, CALLS, 0, 0, 0, 0);
    }

    /** A loop in C: a signalled write as above, its completion by the cursor with time stamp and length. */
    long timeExtendedPostAndPoll() {
        long nanos = Downcall.call(timeExtendedPostAndPoll, nativeExtendedQp, element.address(), rkey, remote,
                nativeExtendedCq, CALLS);
        if (nanos == 0) {
            throw new IllegalStateException("there is no completion");
        }
        return nanos;
    }

    /** Closes the device. */
    @TearDown(Level.Trial)
    public void close() throws IOException {
        context.close();
    }
}
