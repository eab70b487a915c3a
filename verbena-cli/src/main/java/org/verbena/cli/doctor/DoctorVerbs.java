// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import com.fasterxml.jackson.databind.JsonNode;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Prctl;
import org.verbena.telemetry.CounterFolder;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * The main job itself: two queue pairs connect; one writes a pattern into memory that the other has allocated, adds to
 * a word behind it and sends a message; the other checks its memory and answers. Finally the first one reads memory
 * that the other has registered, which involves the kernel if they are two processes.
 */
final class DoctorVerbs {
    static final String DEVICE = "shm0";
    private static final int PATTERN = 64 << 10;
    private static final int REGION = PATTERN + 64;
    private static final int TEXT = PATTERN + 8;
    private static final long ADDED = 41;
    private static final Duration LIMIT = Duration.ofSeconds(15);
    private static final Duration SLICE = Duration.ofMillis(50);
    private static final long PAUSE_NANOS = 20_000;
    private static final long NOBODY = 0;
    private static final String OBJECTS = "objects";
    private static final String UNSEEN = "unseen";
    private static final String READ = "read";
    private static final String REASON = "reason";

    /** The exchange with a second process, which three checks evaluate; run once. */
    private final FutureTask<JsonNode> pair = new FutureTask<>(DoctorVerbs::pair);

    /** Both ends in this process, each with a context of its own. */
    static DoctorFinding within() throws Exception {
        try (Context context = Verbs.open(DEVICE);
                ConnectionListener listener = listen(context)) {
            InetSocketAddress address = listener.localAddress();
            FutureTask<Map<String, String>> other = new FutureTask<>(() -> initiate(address, NOBODY));
            Thread.ofPlatform().daemon().name("doctor-initiator").start(other);
            target(context, listener, other);
        }
        return DoctorFinding.ok("opened shm0, connected two queue pairs; WRITE of 64 KiB, atomic add, SEND both ways,"
                + " READ: every byte right");
    }

    private static ConnectionListener listen(Context context) throws VerbsException {
        return context.connectionManager().listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    /** The other end in a second process. */
    DoctorFinding between() throws Exception {
        answer();
        return DoctorFinding.ok("the same with a second process of this user, which mapped this one's memory");
    }

    private JsonNode answer() throws Exception {
        pair.run(); // the second call does nothing, and get waits for the first
        return get(pair);
    }

    private static <T> T get(FutureTask<T> task) throws Exception {
        try {
            return task.get(DoctorCommand.CHILD_LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    /** A READ of memory that was registered: process_vm_readv, for which a process needs the ptrace right. */
    DoctorFinding registered() throws LinuxException {
        int scope = Prctl.yamaScope();
        String state = (scope < 0 ? "no Yama" : "kernel.yama.ptrace_scope " + scope) + "; this process is "
                + (Prctl.isDumpable() ? "dumpable" : "not dumpable");
        JsonNode answer;
        try {
            answer = answer();
        } catch (Exception e) {
            return DoctorFinding.no("not tried, for two processes do not connect; " + state, "see processes");
        }
        if (answer.path(READ).asText().equals(WcStatus.toString(WcStatus.SUCCESS))) {
            return DoctorFinding.ok("READ of registered memory by a second process done; " + state);
        }
        return DoctorFinding.limited("READ of registered memory by a second process: " + answer.path(READ).asText()
                + " (" + answer.path(REASON).asText() + "); " + state, remedy(scope));
    }

    /** Whether another process of this user sees the objects of this one, through its counter file. */
    DoctorFinding counters() {
        CounterFolder folder = CounterFolder.own();
        JsonNode answer;
        try {
            answer = answer();
        } catch (Exception e) {
            return DoctorFinding.no("not tried, for two processes do not connect; " + folder.path(), "see processes");
        }
        int objects = answer.path(OBJECTS).asInt();
        if (objects > 0) {
            return DoctorFinding.ok("a second process saw " + objects + " objects of this one, by a file in " + folder
                    .path());
        }
        return DoctorFinding.limited("a second process saw none of this one's objects, by a file in " + folder.path()
                + ": " + answer.path(UNSEEN).asText("it shows none"),
                "everything but looking at other processes works all the same. Let " + folder.path()
                        + " be a folder of this user alone, on a tmpfs with free space");
    }

    private static String remedy(int scope) {
        return "use memory that Verbena allocates (ProtectionDomain.allocate), or " + (scope > 1
                ? "sysctl kernel.yama.ptrace_scope=1"
                : "let both processes have the same user and be dumpable, and allow process_vm_readv in the container's"
                        + " seccomp filter");
    }

    private static JsonNode pair() throws Exception {
        try (Context context = Verbs.open(DEVICE);
                ConnectionListener listener = listen(context)) {
            FutureTask<JsonNode> child = new FutureTask<>(() -> DoctorChild.ask(List.of(), "peer:"
                    + listener.localAddress().getPort() + ":" + ProcessHandle.current().pid(),
                    DoctorCommand.CHILD_LIMIT));
            Thread.ofPlatform().daemon().name("doctor-peer").start(child);
            return target(context, listener, child);
        }
    }

    /** The work of the second process for the first one; it prints the result of {@link #initiate}. */
    static String peer(int port, long first) throws IOException {
        return DoctorChild.print(initiate(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), first));
    }

    /** The end that is written to; {@code other} ends when the other end has done everything, or cannot. */
    private static <T> T target(Context context, ConnectionListener listener, FutureTask<T> other) throws Exception {
        try (Arena arena = Arena.ofShared()) {
            ProtectionDomain pd = context.allocateProtectionDomain();
            MemoryRegion region = pd.allocate(REGION, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE
                    | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC);
            MemorySegment memory = arena.allocate(PATTERN, 64);
            fill(memory);
            MemoryRegion registered = pd.register(memory, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
            CompletionQueue cq = context.createCompletionQueue(4);
            QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build());
            byte[] where = ByteBuffer.allocate(24).putLong(region.address()).putInt(region.rkey()).putLong(registered
                    .address()).putInt(registered.rkey()).array();
            Connection connection = request(listener, other).accept(qp, ConnectionParameters.builder().privateData(
                    where).build());
            post(qp.receiveQueue().post(1, region, TEXT, 8));
            require(await(cq, other), qp);
            long word = region.segment().get(ValueLayout.JAVA_LONG, PATTERN);
            if (word != ADDED || !isPattern(region.segment())) {
                throw new DoctorChild.Failed("the bytes that arrived are not those that were written");
            }
            post(qp.sendQueue().postSend(2, SendFlags.SIGNALED, region, TEXT, 8));
            require(await(cq, other), qp);
            T answer = get(other);
            connection.disconnect();
            registered.close();
            return answer;
        }
    }

    private static ConnectionRequest request(ConnectionListener listener, FutureTask<?> other) throws Exception {
        while (true) {
            ConnectionRequest request = listener.awaitRequest(SLICE);
            if (request != null) {
                return request;
            }
            requireRunning(other);
        }
    }

    /** Throws the reason why the other end has ended, if it has. */
    private static void requireRunning(FutureTask<?> other) throws Exception {
        if (other.isDone()) {
            throw new DoctorChild.Failed("the other end ended too early: " + get(other));
        }
    }

    /**
     * The end that writes. Returns how its READ of registered memory ended, and why, and how many objects of the other
     * process it has seen, or why none.
     */
    private static Map<String, String> initiate(InetSocketAddress address, long other) throws IOException {
        try (Context context = Verbs.open(DEVICE)) {
            ProtectionDomain pd = context.allocateProtectionDomain();
            MemoryRegion region = pd.allocate(REGION, AccessFlags.LOCAL_WRITE);
            CompletionQueue cq = context.createCompletionQueue(4);
            QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(4).build());
            Connection connection = context.connectionManager().connect(qp, address, ConnectionParameters.defaults());
            ByteBuffer where = ByteBuffer.wrap(connection.privateData());
            long to = where.getLong();
            int key = where.getInt();
            long registered = where.getLong();
            int registeredKey = where.getInt();
            fill(region.segment().asSlice(0, PATTERN));
            post(qp.receiveQueue().post(1, region, TEXT, 8));
            SendQueue batch = qp.sendQueue().start()
                    .write(2, SendFlags.NONE, key, to).sge(region, 0, PATTERN)
                    .fetchAndAdd(3, SendFlags.NONE, key, to + PATTERN, ADDED).sge(region, TEXT + 16, 8)
                    .send(4, SendFlags.SIGNALED).sge(region, PATTERN, 8);
            post(batch.complete());
            require(await(cq), qp); // the SEND, or the answer to it
            require(await(cq), qp);
            Map<String, String> answer = new LinkedHashMap<>(look(other));
            region.segment().fill((byte) 0);
            post(qp.sendQueue().postRead(5, SendFlags.SIGNALED, region, 0, PATTERN, registeredKey, registered));
            int status = await(cq);
            answer.put(READ, WcStatus.toString(status));
            answer.put(REASON, status == WcStatus.SUCCESS ? "" : qp.errorReason());
            if (status == WcStatus.SUCCESS && !isPattern(region.segment())) {
                throw new DoctorChild.Failed("the bytes that were read are not those that are there");
            }
            return answer;
        }
    }

    private static Map<String, String> look(long pid) {
        if (pid == NOBODY) {
            return Map.of();
        }
        try (RemoteProcess process = RemoteProcess.open(pid)) {
            return Map.of(OBJECTS, Integer.toString(process.objects(0).size()));
        } catch (VerbsException e) {
            return Map.of(UNSEEN, DoctorFinding.sentence(e));
        }
    }

    private static void fill(MemorySegment memory) {
        for (int i = 0; i < PATTERN; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + (i >> 8)));
        }
    }

    private static boolean isPattern(MemorySegment memory) {
        for (int i = 0; i < PATTERN; i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != (byte) (i * 31 + (i >> 8))) {
                return false;
            }
        }
        return true;
    }

    private static void post(int error) throws LinuxException {
        if (error != 0) {
            throw new LinuxException("post", error);
        }
    }

    private static void require(int status, QueuePair qp) throws DoctorChild.Failed {
        if (status != WcStatus.SUCCESS) {
            throw new DoctorChild.Failed("a request ended with " + WcStatus.toString(status) + ": " + qp.errorReason());
        }
    }

    /** The status of the next completion, unless the other end has ended. */
    private static int await(CompletionQueue cq, FutureTask<?> other) throws Exception {
        while (cq.startPoll() != 0) {
            boolean done = other.isDone();
            if (cq.startPoll() == 0) {
                break;
            }
            if (done) {
                requireRunning(other);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return take(cq);
    }

    /** The status of the next completion. */
    private static int await(CompletionQueue cq) throws LinuxException {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (cq.startPoll() != 0) {
            if (System.nanoTime() > deadline) {
                throw new LinuxException("completion of a request", Errno.ETIMEDOUT);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return take(cq);
    }

    private static int take(CompletionQueue cq) {
        int status = cq.status();
        cq.endPoll();
        return status;
    }
}
