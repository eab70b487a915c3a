// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * The listener's end of one connection: receives the files of a sender, one after the other. Used by one thread.
 */
final class CopyReceiver {
    private final CopyChannel channel;
    private final CopyTree tree;
    private final Consumer<CopyReport.Outcome> report;
    private final CopyCommits commits;
    private final List<MadeDirectory> directories = new ArrayList<>();
    private @Nullable CopyTarget current;
    private boolean offered;
    /** The current file has failed, and the sender may not know yet. */
    private boolean failed;
    private int lastId;
    private long started;

    private record MadeDirectory(CopyMessage.Directory message, Path path) {}

    CopyReceiver(CopyChannel channel, CopyTree tree, Executor disk, Consumer<CopyReport.Outcome> report) {
        this.channel = channel;
        this.tree = tree;
        commits = new CopyCommits(disk);
        this.report = report;
    }

    /** Serves the sender until it says good-bye; throws if the connection ends before. */
    void run() throws IOException {
        try {
            boolean more = true;
            while (more) {
                sendResults();
                CopyMessage m = !commits.isEmpty() ? channel.next(CopyCommits.LOOK) : channel.next();
                if (m != null) {
                    more = handle(m);
                }
            }
            finish();
        } finally {
            CopyTarget t = current;
            if (t != null) {
                t.close();
            }
            awaitCommits();
        }
    }

    private boolean handle(CopyMessage message) throws IOException {
        switch (message) {
            case CopyMessage.File m -> file(m);
            case CopyMessage.Directory m -> directory(m);
            case CopyMessage.Prefix m -> prefix(m);
            case CopyMessage.Chunk m -> chunk(m);
            case CopyMessage.End m -> end(m);
            case CopyMessage.Cancel m -> cancel(m);
            case CopyMessage.Bye _ -> {
                requireIdle("BYE");
                return false;
            }
            default -> throw CopyFailure.protocol("a message that only a listener sends");
        }
        return true;
    }

    private void requireIdle(String message) throws CopyFailure {
        if (current != null) {
            throw CopyFailure.protocol(message + " in the middle of a file");
        }
    }

    private void next(int id, String message) throws CopyFailure {
        requireIdle(message);
        if (id != lastId + 1) {
            throw CopyFailure.protocol("number " + id + " after " + lastId);
        }
        lastId = id;
        started = System.nanoTime();
    }

    private void file(CopyMessage.File m) throws IOException {
        next(m.id(), "FILE");
        offered = false;
        failed = false;
        CopyTarget t;
        try {
            t = CopyTarget.open(tree, m, channel::tick);
        } catch (IOException e) {
            CopyFailure f = rethrowFatal(CopyFailure.at(tree.root(), "the listener cannot create \"" + m.path() + "\"",
                    e));
            send(CopyCommits.result(m.id(), f), CopyCommits.outcome(m, f));
            return;
        }
        current = t;
        try {
            if (t.offered() == 0) {
                start(t, false);
                return;
            }
            offered = true;
            channel.send(new CopyMessage.Offer(m.id(), t.offered()));
            while (t.hashOffered() > 0) {
                channel.tick();
            }
        } catch (IOException e) {
            fail(t, e);
        }
    }

    private void start(CopyTarget t, boolean resume) throws IOException {
        t.start(resume);
        channel.send(t.grant(channel.protectionDomain()));
    }

    private void prefix(CopyMessage.Prefix m) throws IOException {
        CopyTarget t = current(m, "PREFIX");
        if (!offered) {
            throw CopyFailure.protocol("PREFIX without OFFER");
        }
        offered = false;
        if (!failed) {
            try {
                start(t, t.verified() == t.offered() && t.sha256().equals(m.sha256()));
            } catch (IOException e) {
                fail(t, e);
            }
        }
    }

    private void chunk(CopyMessage.Chunk m) throws IOException {
        CopyTarget t = current;
        if (t == null || offered) {
            throw CopyFailure.protocol("a chunk outside of a file");
        }
        if (failed) {
            return;
        }
        try {
            t.chunk(m.index());
            boolean windowDone = t.isWindowDone();
            if (windowDone) {
                t.closeWindow();
            }
            if (windowDone || t.verified() / CopyProtocol.CHUNK % CopyProtocol.PROGRESS_EVERY == 0) {
                channel.send(new CopyMessage.Progress(t.source().id(), t.verified()));
            }
            if (windowDone && !t.isComplete()) {
                channel.send(t.grant(channel.protectionDomain()));
            }
        } catch (IOException e) {
            fail(t, e);
        }
    }

    private void end(CopyMessage.End m) throws IOException {
        CopyTarget t = current(m, "END");
        if (failed) {
            close(t);
            return;
        }
        if (offered || !t.isComplete()) {
            throw CopyFailure.protocol("END after " + t.verified() + " of " + t.source().size() + " bytes");
        }
        if (!t.sha256().equals(m.sha256())) {
            t.discard();
            close(t);
            CopyFailure f = new CopyFailure(CopyStatus.VERIFICATION, "what arrived of \"" + t.source().path()
                    + "\" is not what was sent: the SHA-256 differs; the old file is untouched");
            send(CopyCommits.result(m.id(), f), CopyCommits.outcome(t.source(), f));
            return;
        }
        current = null;
        commits.submit(t, started);
        while (commits.isFull()) {
            pause();
        }
    }

    private void cancel(CopyMessage.Cancel m) throws IOException {
        CopyTarget t = current(m, "CANCEL");
        if (!failed) {
            if (m.status() == CopyStatus.CHANGED) {
                t.discard();
            }
            CopyFailure f = new CopyFailure(m.status(), "the sender gave up: " + m.text());
            send(CopyCommits.result(m.id(), f), CopyCommits.outcome(t.source(), f));
        }
        close(t);
    }

    private CopyTarget current(CopyMessage.Numbered m, String message) throws CopyFailure {
        CopyTarget t = current;
        if (t == null || t.source().id() != m.id()) {
            throw CopyFailure.protocol(message + " of a file that is not on its way");
        }
        return t;
    }

    private void close(CopyTarget t) throws IOException {
        current = null;
        t.close();
    }

    /** The current file has failed here; its window stays until the sender has answered. */
    private void fail(CopyTarget t, IOException e) throws IOException {
        CopyFailure f = rethrowFatal(CopyFailure.at(tree.root(), "the listener cannot write \"" + t.source().path()
                + "\"", e));
        failed = true;
        send(CopyCommits.result(t.source().id(), f), CopyCommits.outcome(t.source(), f));
    }

    private static CopyFailure rethrowFatal(CopyFailure f) throws CopyFailure {
        if (f.status().isFatal()) {
            throw f;
        }
        return f;
    }

    private void directory(CopyMessage.Directory m) throws IOException {
        next(m.id(), "DIRECTORY");
        try {
            Path made = tree.directory(m.path());
            directories.add(new MadeDirectory(m, made));
            commits.made(made);
        } catch (IOException e) {
            directoryFailed(m, e);
        }
    }

    private void directoryFailed(CopyMessage.Directory m, IOException e) throws CopyFailure {
        CopyFailure f = CopyFailure.at(tree.root(), "the listener cannot create \"" + m.path() + "\"", e);
        send(CopyCommits.result(m.id(), f),
                new CopyReport.Outcome(m.path().toString(), true, 0, 0, null, 0, f.status(), f.sentence()));
    }

    /** Everything has arrived: only the directories are left, whose times must not change any more after that. */
    private void finish() throws IOException {
        while (!commits.isEmpty()) {
            pause();
        }
        commits.sync(channel::tick);
        for (MadeDirectory d : directories.reversed()) {
            try {
                CopySource.setAttributes(d.path(), d.message().mode(), d.message().modified());
            } catch (IOException e) {
                directoryFailed(d.message(), e);
                continue;
            }
            channel.send(new CopyMessage.Result(d.message().id(), CopyStatus.OK, 0, ""));
        }
        channel.send(new CopyMessage.Goodbye());
        channel.awaitDisconnect();
    }

    private void pause() throws CopyFailure {
        sendResults();
        channel.tick();
        CopyCommits.pause();
    }

    private void sendResults() throws CopyFailure {
        for (CopyCommits.Committed c = commits.poll(); c != null; c = commits.poll()) {
            send(c.result(), c.outcome());
        }
    }

    /** The connection has ended; files that were handed over are still completed. */
    private void awaitCommits() {
        while (!commits.isEmpty()) {
            CopyCommits.Committed c = commits.poll();
            if (c != null) {
                report.accept(c.outcome());
            } else {
                CopyCommits.pause();
            }
        }
    }

    private void send(CopyMessage.Result result, CopyReport.Outcome outcome) throws CopyFailure {
        report.accept(outcome);
        channel.send(result);
    }
}
