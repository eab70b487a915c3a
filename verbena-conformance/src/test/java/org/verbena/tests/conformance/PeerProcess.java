// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.verbena.testkit.Await;
import org.verbena.testkit.Jvm;
import org.verbena.testkit.KernelThread;
import org.verbena.verbs.VerbsException;

/** A second JVM on the same class path that does what it is told, see {@link ConformancePeer}. */
final class PeerProcess implements AutoCloseable {
    private static final int REPLY_SECONDS = 100;

    private final Process process;
    private final ObjectOutputStream out;
    /** What the process has answered; an {@link IOException} when it does so no more. */
    private final BlockingQueue<Object> replies = new LinkedBlockingQueue<>();

    private PeerProcess(Process process, ObjectOutputStream out) {
        this.process = process;
        this.out = out;
        Thread.ofPlatform().daemon().name("conformance-replies").start(this::read);
    }

    private void read() {
        try (DataInputStream in = new DataInputStream(process.getInputStream())) {
            while (true) {
                replies.add(Replies.read(in));
            }
        } catch (IOException e) {
            replies.add(e);
        } catch (ClassNotFoundException e) {
            replies.add(new IOException(e));
        }
    }

    private Replies.Reply reply() throws IOException {
        try {
            Object reply = replies.poll(REPLY_SECONDS, TimeUnit.SECONDS);
            if (reply instanceof IOException e) {
                replies.add(e); // for later calls
                throw new IOException(e);
            }
            if (reply == null) {
                throw new AssertionError("no answer from the second JVM");
            }
            return (Replies.Reply) reply;
        } catch (InterruptedException e) {
            throw new AssertionError("no answer from the second JVM", e);
        }
    }

    /** A fresh JVM, with further options if there are any. */
    static PeerProcess start(ConformanceFixture fixture, String... options) {
        return options.length == 0
                ? Peers.of(fixture).fresh()
                : start(fixture.getClass(), PeerArchive.classPath(), List.of(options));
    }

    /** The beginning of the command of all peers. */
    static List<String> java() {
        return Jvm.command(Jvm.NATIVE_ON_CLASS_PATH, "-Xmx512m");
    }

    static PeerProcess start(Class<?> fixture, List<String> classPath, List<String> options) {
        List<String> command = java();
        command.addAll(options);
        command.addAll(classPath);
        command.addAll(List.of(ConformancePeer.class.getName(), fixture.getName()));
        try {
            Process p = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            try {
                ObjectOutputStream out = new ObjectOutputStream(p.getOutputStream());
                out.flush();
                PeerProcess peer = new PeerProcess(p, out);
                peer.reply(); // it has started
                return peer;
            } catch (IOException | AssertionError e) {
                p.destroyForcibly();
                throw e;
            }
        } catch (IOException e) {
            throw new AssertionError("the second JVM did not start: " + command, e);
        }
    }

    /** Does a job there, and brings back its result or throws what it threw. */
    @SuppressWarnings("unchecked") // the job says so
    <R> R run(ProcessJob<R> job) throws VerbsException {
        return (R) ask(0, job);
    }

    /** The same with a job at the end that has that number there. */
    @SuppressWarnings("unchecked") // the job says so
    <R> R run(int end, Job<R> job) throws VerbsException {
        return (R) ask(end, job);
    }

    private synchronized Object ask(int end, Serializable job) throws VerbsException {
        Replies.Reply reply;
        try {
            out.writeInt(end);
            out.writeObject(job);
            out.reset();
            out.flush();
            reply = reply();
        } catch (IOException e) {
            throw new AssertionError("the second JVM " + (process.isAlive() ? "cannot be talked to" : "has died"), e);
        } catch (AssertionError e) {
            kill();
            throw e;
        }
        if (reply.failed()) {
            switch (reply.value()) {
                case VerbsException e -> throw e;
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                default -> throw new AssertionError((Throwable) reply.value());
            }
        }
        return reply.value();
    }

    /** Whether the jobs that it has done have left no end and no thread. */
    boolean isIdle() {
        try {
            return run(fixture -> ConformancePeer.isIdle());
        } catch (VerbsException | RuntimeException | AssertionError e) {
            return false;
        }
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Ends the process as {@code kill -9} does, and waits until it is gone. */
    void kill() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(Await.LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("process " + process.pid() + " does not die");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sends a signal, {@code STOP} for instance. */
    void signal(String name) {
        try {
            Process p = new ProcessBuilder("kill", "-" + name, Long.toString(pid())).inheritIO().start();
            if (!p.waitFor(Await.LIMIT.toSeconds(), TimeUnit.SECONDS) || p.exitValue() != 0) {
                throw new AssertionError("process " + pid() + " cannot be sent " + name);
            }
            if (name.equals("STOP")) {
                Await.until("all threads stand still", () -> KernelThread.areStopped(pid()));
            }
        } catch (IOException e) {
            throw new AssertionError("kill does not start", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Has the process end by itself, as the end of its input tells it, and does not wait for that. */
    void release() {
        try {
            out.close();
        } catch (IOException alreadyDead) {
            process.destroyForcibly();
        }
    }

    /** The same, and waits until it is gone. */
    @Override
    public void close() {
        try {
            out.close();
            if (!process.waitFor(Await.LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                kill();
            }
        } catch (IOException alreadyDead) {
            kill();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            kill();
        }
    }

    /** Options with the class path of this JVM and a folder before it. */
    static List<String> classPathWith(Path folder) {
        return List.of("-cp", folder + File.pathSeparator + System.getProperty("java.class.path"));
    }
}
